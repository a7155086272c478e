package engine

import (
	"math"
	"strings"
	"testing"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

func TestTakesReachThePeers(t *testing.T) {
	c := crowdOf(t, 3)
	l := c.everywhere("api", 1000)
	for i, n := range c.nodes {
		n.table.Take(l[i], l[i].Hash("ann"), c.now, int64(10*(i+1)))
	}
	c.run(200 * ms)
	for i, n := range c.nodes {
		if got := c.left(n, l[i], "ann"); got != 940 {
			t.Errorf("n%d: %d remain, want 940", n.id, got)
		}
		if !n.Quiet() {
			t.Errorf("n%d: not all acknowledged", n.id)
		}
	}
}

// What is urgent is told as soon as the gap allows, what is not waits for the sync
// interval, and then goes along in one drain.
func TestWhenNewsGoesOut(t *testing.T) {
	tests := []struct {
		name   string
		n      int64
		within int64 // ns until the peer knows
	}{
		{"far from the limit", 100, 100*ms + 2*ms},
		{"a quarter of what is left, of two nodes", 200, 2*ms + ms},
		{"just less than that", 199, 100*ms + 2*ms},
		{"all there is", 1000, 2*ms + ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := crowdOf(t, 2)
			l := c.everywhere("api", 1000)
			c.run(150 * ms)
			c.nodes[0].step(c.now) // a drain of everything may have been due just now
			start := c.now
			c.nodes[0].table.Take(l[0], l[0].Hash("ann"), c.now, tt.n)
			for c.left(c.nodes[1], l[1], "ann") == 1000 {
				if c.now-start > second {
					t.Fatal("nothing heard in a second")
				}
				c.run(ms / 10)
			}
			if took := c.now - start; took > tt.within {
				t.Errorf("took %d µs, want at most %d", took/1000, tt.within/1000)
			}
		})
	}
}

// A charge makes what a node holds unsent urgent, if it brings the key near its limit.
func TestChargesMakeUrgent(t *testing.T) {
	c := crowdOf(t, 2)
	l := c.everywhere("api", 1000)
	c.run(150 * ms)
	c.nodes[1].table.Take(l[1], l[1].Hash("ann"), c.now, 100) // of 1000: may wait
	c.run(ms)
	c.nodes[0].table.Take(l[0], l[0].Hash("ann"), c.now, 800)
	c.run(8 * ms)
	if got := c.left(c.nodes[0], l[0], "ann"); got != 100 {
		t.Errorf("%d remain 8 ms later, want 100: the peer's 100 became urgent", got)
	}
}

// Between two urgent drains lies the gap, however many entries become urgent.
func TestGapBoundsTheBatches(t *testing.T) {
	c := crowdOf(t, 2)
	l := c.everywhere("api", 1_000_000)
	c.nodes[0].table.Take(l[0], l[0].Hash("ann"), c.now, 1_000_000-2000)
	c.run(200 * ms)
	before, taken := c.nodes[0].sent, 0
	for range 1000 { // every 0.1 ms for 100 ms, each of which is urgent near the end
		if c.nodes[0].table.Take(l[0], l[0].Hash("ann"), c.now, 2).OK {
			taken++
		}
		c.run(ms / 10)
	}
	if batches := c.nodes[0].sent - before; batches > 100*int(ms)/int(c.nodes[0].Gap())+3 {
		t.Errorf("got %d frames in 100 ms with a gap of %d ms", batches, c.nodes[0].Gap()/ms)
	}
	if taken < 900 {
		t.Errorf("%d of 1000 takes admitted prove little", taken)
	}
}

func TestStepAsksForNoBusyLoop(t *testing.T) {
	c := crowdOf(t, 3)
	l := c.everywhere("api", 100)
	for _, n := range c.nodes {
		n.steps = 0
	}
	for i := range 1000 {
		c.nodes[i%3].table.Take(l[i%3], l[i%3].Hash("ann"), c.now, 1)
		c.run(10 * ms)
	}
	for _, n := range c.nodes {
		if n.steps > 3000 {
			t.Errorf("n%d: stepped %d times in 10 s of little traffic", n.id, n.steps)
		}
		if n.next <= c.now {
			t.Errorf("n%d: wants to be stepped at %d, and it is %d", n.id, n.next, c.now)
		}
	}
}

// case 27: fresh news counts in full, stale news pushes a key one burst into debt.
func TestAgeOfNewsBoundsTheDebt(t *testing.T) {
	tests := []struct {
		name           string
		age            int64
		left, forgiven int64 // left: events to wait for, negative
	}{
		{"fresh", 0, -300, 0},
		{"nearly stale", 5*second - 1, -300, 0},
		{"stale", 5 * second, -100, 200},
		{"very stale", 3600 * second, -100, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := crowdOf(t, 4)
			n := c.nodes[0]
			c.now += 2 * hour
			slow := table.Def{Kind: table.Bucket, Bucket: bucket.New(1, hour*24*30, 100), Shared: true}
			l := c.define(n, "api", slow, "")
			n.table.Take(l, l.Hash("ann"), c.now, 100)
			n.charge(c.now, &gossip.Charge{Origin: 2, Entry: gossip.Entry{Limit: l.ID(), Hash: l.Hash("ann"), N: 300, Start: c.now - tt.age}})
			wait := n.table.Peek(l, l.Hash("ann"), c.now, 1).RetryAfter
			if got := 1 - wait/(hour*24*30); got != tt.left {
				t.Errorf("the key stands at %d events, want %d", got, tt.left)
			}
			if got := n.table.Stats().Forgiven; got != tt.forgiven {
				t.Errorf("%d forgiven, want %d", got, tt.forgiven)
			}
		})
	}
}

// A lie of a peer is bounded by the debt, and never read as a full bucket.
func TestHugeCharge(t *testing.T) {
	c := crowdOf(t, 2)
	n := c.nodes[0]
	l := c.define(n, "api", perHour(100), "100/h")
	for _, start := range []int64{math.MinInt64, -1, c.now, math.MaxInt64} {
		for range 3 {
			n.charge(c.now, &gossip.Charge{Origin: 2, Entry: gossip.Entry{Limit: l.ID(), Hash: l.Hash("ann"), N: math.MaxInt64, Start: start}})
		}
		d := n.table.Peek(l, l.Hash("ann"), c.now, 1)
		if d.OK || d.Remaining != 0 || d.RetryAfter > 3*hour+10*second {
			t.Errorf("start %d: got %+v, want it in debt by at most a burst and 5 s", start, d)
		}
	}
}

// case 28
func TestAmountsOfAnUnknownLimitAreKept(t *testing.T) {
	for _, text := range []string{"100/h", "by the phase of the moon"} {
		c := crowdOf(t, 2)
		l := c.define(c.nodes[0], "api", perHour(100), text)
		c.nodes[0].table.Take(l, l.Hash("ann"), c.now, 60)
		c.run(200 * ms)
		c.nodes[0].table.Take(l, l.Hash("ann"), c.now, 5)
		c.run(200 * ms)
		mine := c.define(c.nodes[1], "api", perHour(200), "200/h")
		if got := c.left(c.nodes[1], mine, "ann"); got != 135 {
			t.Errorf("%s: %d remain of 200 under the new definition, want 135", text, got)
		}
		if got := c.left(c.nodes[1], mine, "bob"); got != 200 {
			t.Errorf("%s: %d remain of an unused key", text, got)
		}
	}
}

func TestLocalLimitIgnoresPeers(t *testing.T) {
	c := crowdOf(t, 2)
	shared := c.define(c.nodes[0], "api", perHour(100), "100/h")
	own := perHour(100)
	own.Shared = false
	local := c.define(c.nodes[1], "api", own, "100/h mode=local")
	c.nodes[0].table.Take(shared, shared.Hash("ann"), c.now, 60)
	c.run(200 * ms)
	if got := c.left(c.nodes[1], local, "ann"); got != 100 {
		t.Errorf("%d remain of a local limit after a peer's 60, want 100", got)
	}
}

// A definition whose number is not that of its name is a lie or an error; it is not used.
func TestDefinitionUnderAWrongNumber(t *testing.T) {
	c := crowdOf(t, 2)
	id := table.ID("api")
	c.nodes[1].learn(gossip.Definition{ID: id, Name: "other", Text: "1/h"})
	if c.nodes[1].table.Lookup(id) != nil {
		t.Error("it was taken over")
	}
	c.nodes[1].learn(gossip.Definition{ID: id, Name: "api", Text: "7/h"})
	if l := c.nodes[1].table.Lookup(id); l == nil || l.Def().Bucket.Burst() != 7 {
		t.Errorf("got %v of a right one", l)
	}
}

func TestTooManyLimitsOfPeers(t *testing.T) {
	c := &crowd{TB: t, now: second}
	n := c.add(table.Config{MaxLimits: 2})
	for _, name := range []string{"a", "b", "c"} {
		n.learn(gossip.Definition{ID: table.ID(name), Name: name, Text: "7/h"})
	}
	if len(c.notes) != 1 || !strings.Contains(c.notes[0], "c") || !strings.Contains(c.notes[0], table.ErrTooManyLimits.Error()) {
		t.Errorf("got notes %q, want one on c", c.notes)
	}
	n.charge(c.now, &gossip.Charge{Origin: 2, Entry: gossip.Entry{Limit: table.ID("c"), N: 5}})
	n.charge(c.now, &gossip.Charge{Origin: 2, Entry: gossip.Entry{Limit: table.ID("c"), N: -2}})
	if got := n.Dropped(); got != 5 {
		t.Errorf("%d events counted as dropped, want 5", got)
	}
}

func TestPoke(t *testing.T) {
	c := &crowd{TB: t, now: second}
	n := c.add(table.Config{})
	if !n.Poke() || n.Poke() {
		t.Error("want the first of two pokes to be the one that wakes")
	}
	if next := n.Step(c.now); next > c.now+n.Gap() {
		t.Errorf("poked, it wants to be stepped in %d µs, later than the gap", (next-c.now)/1000)
	}
	n.Step(c.now + n.Gap())
	if !n.Poke() {
		t.Error("want the first poke after a drain to wake again")
	}
}

//go:build unix

package main

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/fleet"
)

// Three nodes, one of them cut off while clients spend at both sides. Healed, all three count
// the sum to the event, within five seconds; and a bucket that both sides emptied is not
// locked for longer than it takes to fill, and an event.
func TestChaosCut(t *testing.T) {
	t.Parallel()
	const rate = 10
	cut, burst := long(time.Minute, 3*time.Second), 20
	if soaking() {
		burst = 100
	}
	limit := fmt.Sprintf("%d/s burst=%d", rate, burst)
	net := needNet(t, 3)
	a := startFleet(t, net, 3,
		"--limit", "hour=1000/"+window(20*time.Minute)+" algorithm=fixed-window",
		"--limit", "bucket="+limit)

	sums := fleet.NewBook(fleet.Key{Limit: "hour", Key: "a"}, fleet.Key{Limit: "hour", Key: "b"})
	perNode := 500 / (cut.Seconds() + 10) // at three nodes, to stay below 1000 a key
	spend := &fleet.Load{Book: sums, Keys: []int{0, 1}, Rate: perNode}
	floods := fleet.NewBook(fleet.Key{Limit: "bucket", Key: "a"}, fleet.Key{Limit: "bucket", Key: "b"})
	flood := &fleet.Load{Book: floods, Keys: []int{0, 1}, Rate: 60}
	defer spend.Stop()
	defer flood.Stop()

	spend.Attach(a.Nodes()...)
	a.must(net.Cut(3))
	flood.Attach(a.Nodes()...)
	time.Sleep(cut) // there is nothing to wait for but that it is over
	spend.Stop()
	a.must(net.Heal(3))
	healed := time.Now()
	took := a.agree(sums, 5*time.Second, 1000)
	t.Logf("cut for %v, agreed %v after the heal: %+v", cut, took, sums.Want())
	for i, w := range sums.Want() {
		if w.Told < 50 || !w.Exact() {
			t.Errorf("%v: %+v: want takes, and all answered", sums.Keys[i], w)
		}
	}

	// What is older than 5 s makes a debt of one burst at most; what is younger is repaid.
	owed := burst
	if !soaking() {
		owed = max(owed, int(math.Ceil(judge(t, floods, limit, fleet.Seen{MinNodes: 3}).Excess)))
	}
	lock := time.Second * time.Duration(owed+1) / rate
	time.Sleep(time.Until(healed.Add(lock + time.Second)))
	flood.Stop()
	for key, longest := range lockouts(floods, healed) {
		t.Logf("%v was locked for %v, %v allowed", floods.Keys[key], longest, lock)
		if longest > lock+time.Second {
			t.Errorf("%v was locked for %v after the heal, want at most %v", floods.Keys[key], longest, lock)
		}
	}
}

// lockouts is the longest time, by key, from the heal to an admission or between two.
func lockouts(b *fleet.Book, healed time.Time) []time.Duration {
	last, longest := make([]int64, len(b.Keys)), make([]int64, len(b.Keys))
	for i := range last {
		last[i] = healed.UnixNano()
	}
	step := func(key int32, at int64) {
		longest[key], last[key] = max(longest[key], at-last[key]), max(at, last[key])
	}
	end := int64(0)
	for _, s := range b.Spends() {
		end = max(end, s.Answered)
		if s.Outcome == fleet.Admitted {
			step(s.Key, s.Answered)
		}
	}
	all := make([]time.Duration, len(b.Keys))
	for key := range all {
		step(int32(key), end)
		all[key] = time.Duration(longest[key])
	}
	return all
}

// A fifth of all packets is lost, both ways at each node; then one node's words reach another
// no more, whose own still come. All is counted in the end, the first also while it lasts.
func TestChaosLoss(t *testing.T) {
	t.Parallel()
	net := needNet(t, 3)
	a := startFleet(t, net, 3, "--limit", "hour=100000/"+window(20*time.Minute)+" algorithm=fixed-window")
	b := fleet.NewBook(keys("hour", 20)...)
	spend := &fleet.Load{Book: b, Keys: indices(20), Rate: 100}
	defer spend.Stop()
	spread := func(fault string, within time.Duration) {
		t.Helper()
		spend.Attach(a.Nodes()...)
		time.Sleep(long(20*time.Second, 2*time.Second))
		spend.Stop()
		if fault == "cut" {
			a.must(net.Unblock(1, 3))
		}
		took := a.agree(b, within, 100000)
		t.Logf("%s: agreed after %v, %v", fault, took, b.Totals())
	}
	for slot := 1; slot <= 3; slot++ {
		a.must(net.Lose(slot, 20))
	}
	spread("loss", 20*time.Second)
	for slot := 1; slot <= 3; slot++ {
		a.must(net.Lose(slot, 0))
	}
	a.must(net.Block(1, 3))
	spread("cut", 5*time.Second)
	for i, w := range b.Want() {
		if w.Told == 0 || !w.Exact() {
			t.Errorf("%v: %+v: want takes, and all answered", b.Keys[i], w)
		}
	}
}

package stint_test

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// forgetful is node i with the least PartitionMemory there is.
func (r *rig) forgetful(i int) stint.Config {
	cfg := r.config(i)
	cfg.PartitionMemory, cfg.JoinTimeout = 2*time.Second, 2*time.Second
	return cfg
}

// lasting are limits of which what is spent counts for long.
func lasting(t *testing.T) (limits []stint.Limit) {
	for _, text := range []string{
		"1000/h algorithm=fixed-window", "1000/h algorithm=sliding-window", "1000/h algorithm=sliding-log",
		"1000/day calendar=day zone=Europe/Paris", "1000/month calendar=month", "1/day burst=1000",
	} {
		l, err := stint.ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		limits = append(limits, l)
	}
	return limits
}

// Two sides are apart for far longer than PartitionMemory, and than memberlist remembers
// the dead. They find each other again by themselves, and agree to the event on all that
// still counts: of windows, logs and slow buckets. Broken once: what was spent was
// forgotten after PartitionMemory, in the middle of its window.
func TestLongCutKeepsWhatCounts(t *testing.T) {
	inBubble(t, func(r *rig) {
		var nodes []*stint.Node
		for i := range 4 {
			nodes = append(nodes, r.open(r.forgetful(i)))
		}
		r.met(nodes...)
		limits := lasting(t)
		quick := stint.PerSecond(10).WithName("quick")
		want := int64(1000)
		spend := func(each int) {
			for i, n := range nodes {
				for _, l := range limits {
					n.AllowN("ann", l, int64(each+i))
				}
				n.Allow("bob", quick)
				want -= int64(each + i)
			}
		}
		spend(5)
		r.sync()
		r.net.Split(ip(0), ip(1))
		for range 10 {
			spend(2)
			time.Sleep(30 * time.Second)
		}
		for i, n := range nodes {
			if got := n.Stats().Nodes; got != 2 {
				t.Errorf("%s: got %d nodes on its side, want 2", n.Name(), got)
			}
			for _, m := range n.Members() {
				if apart := (m.Name < "n2") != (i < 2); apart && (m.State != "dead" || m.Backlog < len(limits) || m.Backlog > 2*(len(limits)+1)) {
					t.Errorf("%s: got a backlog of %d for %s, which is %s; want one entry for each key, and those under way as it was cut off", n.Name(), m.Backlog, m.Name, m.State)
				}
			}
		}
		r.net.Heal()
		healed := time.Now()
		r.met(nodes...)
		t.Logf("in touch %v after the heal", time.Since(healed))
		for _, l := range limits {
			r.checkRemaining(want, "ann", l, nodes...)
		}
		if d := nodes[0].Allow("bob", quick); d.RetryAfter > 1100*time.Millisecond {
			t.Errorf("got %+v after the heal, want a wait of at most (10+1)/R", d)
		}
		for _, n := range nodes {
			if s := n.Stats(); s.Lost != 0 || s.Malformed != 0 || s.Forgiven > 10 {
				t.Errorf("%s: lost %d, malformed %d, forgiven %d; want none but of the quick bucket", s.Name, s.Lost, s.Malformed, s.Forgiven)
			}
		}
	})
}

// A side that was away for longer than anything counts loses what it must, and says so;
// it is told nothing twice.
func TestTooLongACutIsCounted(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := []*stint.Node{r.open(r.forgetful(0)), r.open(r.forgetful(1))}
		r.met(nodes...)
		minute := stint.PerMinute(100).WithName("minute")
		minute.Algorithm = stint.FixedWindow
		nodes[0].AllowN("ann", minute, 10)
		r.sync()
		r.net.Split(ip(1))
		for range 20 {
			nodes[0].AllowN("ann", minute, 10)
			time.Sleep(20 * time.Second)
		}
		r.net.Heal()
		r.met(nodes...)
		nodes[0].AllowN("ann", minute, 10)
		r.sync()
		if here, there := nodes[0].Peek("ann", minute).Remaining, nodes[1].Peek("ann", minute).Remaining; there < here || there > 90 {
			t.Errorf("%d remain, and %d at the peer that was away: want as many, or more by what is lost", here, there)
		}
		if got := nodes[1].Stats().Lost; got == 0 {
			t.Error("nothing is counted as lost")
		}
		if got := nodes[0].Stats().Lost; got != 0 {
			t.Errorf("got %d drains lost of a peer that spent nothing", got)
		}
	})
}

// Who leaves just after a heal first tells what it spent in the cut.
func TestHealBeforeALeave(t *testing.T) {
	inBubble(t, func(r *rig) {
		var nodes []*stint.Node
		for i := range 3 {
			nodes = append(nodes, r.open(r.forgetful(i)))
		}
		r.met(nodes...)
		hourly := everyKind(100)[2]
		r.net.Split(ip(2))
		nodes[0].AllowN("ann", hourly, 10)
		nodes[2].AllowN("ann", hourly, 7)
		time.Sleep(time.Minute)
		r.net.Heal()
		r.within(20*time.Second, "they see each other", func() bool { return nodes[0].Stats().Nodes == 3 && nodes[2].Stats().Nodes == 3 })
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := nodes[0].Close(ctx); err != nil {
			t.Error(err)
		}
		r.checkRemaining(83, "ann", hourly, nodes[2])
	})
}

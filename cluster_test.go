package stint_test

import (
	"testing"
	"time"

	"github.com/stint-go/stint"
)

func TestCountsConverge(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(4)
		api := stint.PerDay(1000).WithName("api")
		var want int64 = 1000
		for i, n := range nodes {
			want -= admitted(n, "ann", api, 10*(i+1))
		}
		if want != 900 {
			t.Fatalf("%d of 100 far below the limit admitted", 1000-want)
		}
		r.sync()
		r.checkRemaining(want, "ann", api, nodes...)
		r.checkRemaining(1000, "bob", api, nodes...)
	})
}

// case 1
func TestAlternatingNodesShareOneEvent(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		one := stint.Limit{Name: "one", Events: 1, Per: 30 * time.Second}
		const step = 700 * time.Millisecond
		var passed []time.Duration
		start := time.Now()
		for i := 0; time.Since(start) < 5*time.Minute; i++ {
			if nodes[i%2].Allow("ann", one).OK {
				passed = append(passed, time.Since(start))
			}
			time.Sleep(step)
		}
		if len(passed) != 10 {
			t.Errorf("got %d admitted in 5 min, want one in each 30 s: %v", len(passed), passed)
		}
		for i := 1; i < len(passed); i++ {
			if gap := passed[i] - passed[i-1]; gap < 30*time.Second || gap > 30*time.Second+2*step {
				t.Errorf("got two admitted %v apart, want 30s, or the next call after", gap)
			}
		}
	})
}

// case 3
func TestSlowLimitBelowNumberOfNodes(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(5)
		three := stint.PerSecond(3).WithName("three")
		passed := int64(0)
		for i := range 600 {
			passed += admitted(nodes[i%5], "ann", three, 1)
			time.Sleep(100 * time.Millisecond)
		}
		if passed < 182 || passed > 188 {
			t.Errorf("got %d admitted in a minute, want 182 to 188", passed)
		}
	})
}

// case 4
func TestOneNodeMayTakeWhatTheClusterHas(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(10)
		api := stint.PerHour(100).WithName("api")
		if d := nodes[7].AllowN("ann", api, 60); !d.OK || d.Remaining != 40 {
			t.Errorf("got %+v of 60 on an idle key, want it admitted and 40 remaining", d)
		}
		r.sync()
		r.checkRemaining(40, "ann", api, nodes...)
		if d := nodes[2].AllowN("ann", api, 41); d.OK {
			t.Errorf("got 41 of 40 admitted")
		}
		if d := nodes[2].AllowN("ann", api, 40); !d.OK {
			t.Errorf("got %+v, want the other 40", d)
		}
	})
}

// case 9
func TestHammeringDoesNotExtendTheWait(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		five := stint.PerMinute(5).WithName("five")
		admitted(nodes[0], "ann", five, 5)
		r.sync()
		for i, n := range nodes {
			key := "ann"
			first := n.Allow(key, five)
			end := time.Now().Add(first.RetryAfter)
			if first.OK || first.RetryAfter <= 0 || first.RetryAfter > 12*time.Second {
				t.Fatalf("%s: got %+v, want a refusal for at most 12s", n.Name(), first)
			}
			for time.Until(end) > 10*time.Millisecond {
				for _, n := range nodes {
					if n.Allow(key, five).OK {
						t.Fatalf("admitted %v early", time.Until(end))
					}
				}
				if d := n.Allow(key, five); d.RetryAfter != time.Until(end) {
					t.Fatalf("%s: got a wait of %v, want %v as told before", n.Name(), d.RetryAfter, time.Until(end))
				}
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(time.Until(end))
			if d := n.Allow(key, five); !d.OK {
				t.Errorf("round %d: got %+v after the wait it asked for", i, d)
			}
			r.sync()
		}
	})
}

// case 28
func TestLimitDefinedLater(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		api := stint.PerHour(100).WithName("api")
		nodes[0].AllowN("ann", api, 60)
		r.sync()
		if got := nodes[1].Limits(); len(got) != 0 {
			t.Fatalf("got the limits %v before any was asked for", got)
		}
		if d := nodes[1].Allow("ann", api); !d.OK || d.Remaining != 39 {
			t.Errorf("got %+v, want 39 remaining of the first take under a limit that a peer had used", d)
		}
		r.sync()
		// The third knows the name by another rate: what is used counts all the same.
		r.checkRemaining(139, "ann", stint.PerHour(200).WithName("api"), nodes[2])
	})
}

// News that matters does not wait for the sync interval, and other news no longer.
func TestWhenPeersAreTold(t *testing.T) {
	inBubble(t, func(r *rig) {
		first, second := r.config(0), r.config(1)
		first.SyncInterval, second.SyncInterval = 2*time.Second, 2*time.Second
		nodes := []*stint.Node{r.open(first), r.open(second)}
		r.met(nodes...)
		api := stint.PerDay(1000).WithName("api")
		nodes[0].AllowN("ann", api, 600)
		time.Sleep(10 * time.Millisecond)
		r.checkRemaining(400, "ann", api, nodes[1])
		nodes[0].AllowN("bob", api, 1)
		r.within(2*time.Second+10*time.Millisecond, "the interval is over", func() bool { return nodes[1].Peek("bob", api).Remaining == 999 })
		nodes[0].AllowN("bob", api, 1)
		time.Sleep(10 * time.Millisecond)
		if got := nodes[1].Peek("bob", api).Remaining; got != 999 {
			t.Errorf("%d remain 10 ms after a take far from the limit, want it to wait for the interval", got)
		}
	})
}

// A definition travels with the amounts: who never asks about a limit himself still
// knows when its keys are full again, and forgets them.
func TestDefinitionsOfPeersAreKnown(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		for i := range 50 {
			nodes[0].AllowN(string(rune('a'+i)), stint.PerSecond(5).WithName("five"), 5)
		}
		r.sync()
		if got := nodes[1].Stats().Keys; got != 50 {
			t.Errorf("got %d keys of the peer's 50", got)
		}
		time.Sleep(10 * time.Second)
		for _, n := range nodes {
			if got := n.Stats().Keys; got != 0 {
				t.Errorf("%s: got %d keys long after all are full again, want none", n.Name(), got)
			}
		}
	})
}

package stint_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster/memnet"
)

// slow is a limit of which nothing comes back within a test: what is missing from its
// burst is, to the event, what was taken.
func slow(burst int64) stint.Limit {
	return stint.Limit{Name: "slow", Events: 1, Per: 24 * time.Hour, Burst: burst}
}

// case 19
func TestAmountsAgreeWhateverTheNetworkDoes(t *testing.T) {
	inBubble(t, func(r *rig) {
		const burst, keys = 10_000, 20
		nodes := r.cluster(4)
		r.net.SetFaults(memnet.Faults{Loss: 0.2, Duplicate: 0.2, Reorder: 0.2, Delay: 5 * time.Millisecond, Jitter: 20 * time.Millisecond})
		rnd := rand.New(rand.NewPCG(1, 19))
		taken := make(map[string]int64)
		for step := range 3000 {
			key := fmt.Sprint("key-", rnd.IntN(keys))
			events := rnd.Int64N(5) + 1
			if d := nodes[rnd.IntN(4)].AllowN(key, slow(burst), events); !d.OK {
				t.Fatalf("step %d: got %+v", step, d)
			}
			taken[key] += events
			switch {
			case step%100 == 50:
				r.net.BreakStreams(ip(rnd.IntN(4)), ip(rnd.IntN(4)))
			case step == 800:
				r.net.Split(ip(0), ip(1))
			case step == 1200:
				r.net.Split(ip(2))
			case step == 1600:
				r.net.Heal()
			case step == 2000:
				r.net.Cut(ip(1), ip(3)) // one way only
			case step == 2400:
				r.net.Heal()
			}
			time.Sleep(time.Duration(rnd.IntN(20)) * time.Millisecond)
		}
		r.within(60*time.Second, "all in touch and all told", func() bool {
			for _, n := range nodes {
				if n.Stats().Nodes != len(nodes) || !inStep(n) {
					return false
				}
			}
			return true
		})
		r.sync()
		r.within(10*time.Second, "all told", func() bool { return inStep(nodes[0]) && inStep(nodes[1]) && inStep(nodes[2]) && inStep(nodes[3]) })
		for key, n := range taken {
			r.checkRemaining(burst-n, key, slow(burst), nodes...)
		}
		for _, n := range nodes {
			if s := n.Stats(); s.Lost != 0 || s.Forgiven != 0 || s.Malformed != 0 {
				t.Errorf("%s: lost %d, forgiven %d, malformed %d; want none", s.Name, s.Lost, s.Forgiven, s.Malformed)
			}
		}
	})
}

// Promise 4: what was spent apart is repaid, but no key is locked out for longer than
// it takes to refill one burst and the take; what is cut off is counted.
func TestHealLocksNobodyOut(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(4)
		ten := stint.PerMinute(10).WithName("ten")
		r.net.Split(ip(0))
		r.net.Split(ip(1))
		r.net.Split(ip(2))
		for _, n := range nodes {
			if got := admitted(n, "ann", ten, 20); got != 10 {
				t.Errorf("%s: got %d admitted, cut off and idle before; want 10", n.Name(), got)
			}
		}
		time.Sleep(8 * time.Second)
		r.net.Heal()
		r.within(20*time.Second, "the news is in", func() bool {
			for _, n := range nodes {
				if n.Stats().Nodes != 4 || !inStep(n) || n.Stats().Forgiven == 0 {
					return false
				}
			}
			return true
		})
		longest := time.Duration(0)
		for _, n := range nodes {
			d := n.Allow("ann", ten)
			longest = max(longest, d.RetryAfter)
			if d.OK || d.RetryAfter > 66*time.Second {
				t.Errorf("%s: got %+v after the heal, want a wait of at most (10+1)/R = 66s", n.Name(), d)
			}
			// Of 40 spent, 20 are what one burst and its debt hold; a few came back.
			if got := n.Stats().Forgiven; got < 14 || got > 20 {
				t.Errorf("%s: got %d forgiven, want 14 to 20", n.Name(), got)
			}
		}
		time.Sleep(longest)
		for _, n := range nodes[:1] {
			if d := n.Allow("ann", ten); !d.OK {
				t.Errorf("%s: got %+v after the wait it asked for", n.Name(), d)
			}
		}
	})
}

// The same news, fresh, is charged in full: overshoot in touch is repaid to the event.
func TestOvershootInTouchIsRepaid(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(4)
		ten := stint.PerMinute(10).WithName("ten")
		total := int64(0)
		for _, n := range nodes { // all at one instant: nobody can know of the others
			total += admitted(n, "ann", ten, 20)
		}
		if total != 40 {
			t.Errorf("got %d admitted at one instant, want a burst a node", total)
		}
		time.Sleep(100 * time.Millisecond)
		for _, n := range nodes {
			if d := n.Peek("ann", ten); d.OK || d.RetryAfter < 185*time.Second || d.RetryAfter > 186*time.Second {
				t.Errorf("%s: got %+v, want a wait for 31 events", n.Name(), d)
			}
			if got := n.Stats().Forgiven; got != 0 {
				t.Errorf("%s: got %d forgiven, want none", n.Name(), got)
			}
		}
	})
}

// A side that is cut off goes on with what it knows.
func TestCutOffNodeGoesOn(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		nodes[0].AllowN("ann", slow(100), 30)
		r.sync()
		r.net.Split(ip(2))
		nodes[0].AllowN("ann", slow(100), 10)
		nodes[2].AllowN("ann", slow(100), 20)
		time.Sleep(30 * time.Second)
		r.checkRemaining(60, "ann", slow(100), nodes[:2]...)
		r.checkRemaining(50, "ann", slow(100), nodes[2])
		if got := nodes[2].Stats().Nodes; got != 1 {
			t.Errorf("got %d nodes from the side of one, want 1", got)
		}
		r.net.Heal()
		r.within(20*time.Second, "the amounts agree", func() bool {
			for _, n := range nodes {
				if n.Peek("ann", slow(100)).Remaining != 40 {
					return false
				}
			}
			return true
		})
	})
}

package sim

import (
	"testing"

	"github.com/stint-go/stint/gossip"
)

// Two sides are cut off from each other for eight times PartitionMemory. What still counts
// of what each spent is known to all after it, to the event: of windows and logs, and of
// slow buckets; nothing is lost or doubled. Of fast buckets, which have come back twice
// since, what is old is told no more.
func TestLongCut(t *testing.T) {
	seeds := uint64(20)
	if raceEnabled {
		seeds = 4
	}
	var sum Stats
	for seed := uint64(1); seed <= seeds; seed++ {
		w := New(Options{
			Seed: seed, Nodes: 5, Joins: seed%2 == 0, Alone: true,
			Lossy: true, // what is stale may be missing; that nothing is lost is looked at below
			Net:   Net{Delay: Millisecond, Jitter: 5 * Millisecond, Loss: 0.05, Double: 0.05, Reorder: 0.1},
			Limits: []Limit{
				{Name: "quota", Events: 1000, Per: 3600 * Second, Keys: 3, Algorithm: FixedWindow},
				{Name: "blink", Events: 20, Per: Second, Keys: 3, Algorithm: FixedWindow},
				{Name: "slide", Events: 1000, Per: 3600 * Second, Keys: 2, Algorithm: SlidingWindow},
				{Name: "diary", Events: 1000, Per: 3600 * Second, Keys: 2, Algorithm: SlidingLog},
				{Name: "hourly", Events: 500, Per: 3600 * Second, Burst: 500, Keys: 3},
				{Name: "many", Events: 30, Per: Second, Burst: 3, Keys: 60},
			},
			Ledger: gossip.Config{
				PartitionMemory: Second, Resend: 100 * Millisecond, Timeout: 500 * Millisecond, Keepalive: 150 * Millisecond,
				Settle: 200 * Millisecond, Grace: 500 * Millisecond,
			},
		})
		w.Meet(50 * Millisecond)
		_ = w.Run(Second)
		w.Drive(Load{PerSecond: 200}, 10*Second)
		w.After(2*Second, func() { w.sever(2) })
		if err := w.Run(10 * Second); err != nil {
			t.Error(err)
		}
		for i, n := range w.nodes {
			kept := 0
			for _, l := range n.engine.Links(n.now()) {
				if !l.Alive && l.Backlog > 0 {
					kept++
				}
			}
			if want := []int{3, 3, 2, 2, 2}[i]; kept != want {
				t.Errorf("seed %d: %v keeps something for %d peers, want %d", seed, n, kept, want)
			}
		}
		if err := w.Quiet(10 * Second); err != nil {
			t.Error(err)
		}
		if w.Stats.Lost > 0 {
			t.Errorf("seed %d: %d drains lost", seed, w.Stats.Lost)
		}
		sum.Add(&w.Stats)
	}
	if sum.Untold == 0 || sum.Windows < int(2*seeds) || sum.Logs == 0 {
		t.Errorf("found %d stale amounts dropped, %d windows and %d logs equal", sum.Untold, sum.Windows, sum.Logs)
	}
}

// sever cuts the first so many places off from the others, who declare each other dead.
func (w *World) sever(places int) {
	for a, n := range w.nodes {
		for b, m := range w.nodes {
			if (a < places) != (b < places) {
				w.partition(a, b, false)
				w.After(w.between(0, 300*Millisecond), func() { n.down(m) })
			}
		}
	}
}

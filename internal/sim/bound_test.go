package sim

import (
	"fmt"
	"testing"
)

// inTouch is a cluster in which promise 3 holds: everybody in touch, constant delay. It
// has been up for long enough for all links to be open and all announced.
func inTouch(seed uint64, nodes int, delay int64, l Limit) *World {
	w := New(Options{Seed: seed, Nodes: nodes, Limits: []Limit{l}, Net: Net{Delay: delay}, InTouch: true})
	w.Meet(Millisecond)
	_ = w.Run(2 * Second)
	return w
}

// someCluster is one of a seed's choosing, with traffic that overruns its limit or not.
func someCluster(seed uint64) (*World, Load) {
	w := New(Options{Seed: seed, Nodes: 1}) // for its chance only
	l := Limit{Name: "api", Events: 1 + w.rand.Int64N([]int64{10, 100, 2000}[w.rand.IntN(3)]), Per: Second, Keys: 1 + w.rand.IntN(2)}
	if w.chance(0.2) {
		l.Per = 30 * Second
	}
	l.Burst = 1 + w.rand.Int64N(2*l.Events)
	if w.chance(0.4) {
		l.Algorithm = Algorithm(w.rand.IntN(5))
		l.Events = max(l.Events, l.Burst)
	}
	load := Load{PerSecond: min(5000, max(1, l.rate(Second)*(0.5+5*w.rand.Float64())))}
	nodes := 2 + w.rand.IntN(7)
	if w.chance(0.3) {
		load.Most = 1 + w.rand.Int64N(l.Burst/4+1)
	}
	if w.chance(0.3) {
		load.On, load.Off = w.between(10*Millisecond, Second), w.between(10*Millisecond, Second)
	}
	for range nodes {
		load.Nodes = append(load.Nodes, w.rand.ExpFloat64())
	}
	return inTouch(seed, nodes, w.between(50*Microsecond, 50*Millisecond), l), load
}

// boundSeed is promise 3 after every admission in the cluster of a seed: near or far, of
// any size.
func boundSeed(seed uint64) (*World, error) {
	w, load := someCluster(seed)
	w.Drive(load, 2*Second)
	w.After(w.between(0, Second), func() { w.Burst(0, 0, int(w.opts.Limits[0].most())) })
	if err := w.Run(2 * Second); err != nil {
		return w, fmt.Errorf("%d nodes, τ %d µs, %+v: %w", w.opts.Nodes, w.opts.Net.Delay/Microsecond, load, err)
	}
	return w, nil
}

func TestBound(t *testing.T) {
	seeds := uint64(200)
	if raceEnabled {
		seeds = 20
	}
	var sum Stats
	for seed := uint64(1); seed <= seeds; seed++ {
		w, err := boundSeed(seed)
		if err != nil {
			t.Error(err)
		}
		sum.Add(&w.Stats)
	}
	t.Logf("%d seeds: largest excess ÷ bound %.2f", seeds, sum.Nearest)
	if sum.Nearest < 0.9 {
		t.Errorf("got at most %.2f of the bound: it says nothing", sum.Nearest)
	}
}

// The bound is reached: every node has spent as much as it may keep to itself, then all
// are struck at one instant.
func TestBoundIsReached(t *testing.T) {
	for _, delay := range []int64{Millisecond, 20 * Millisecond} {
		w := inTouch(1, 5, delay, Limit{Name: "api", Events: 100, Per: 3600 * Second, Burst: 100, Keys: 1})
		w.After(8*Millisecond, func() { w.Burst(0, 0, 8) }) // 92 left, θ 9
		w.After(40*Millisecond, func() { w.Burst(0, 0, 100) })
		if err := w.Run(50 * Millisecond); err != nil {
			t.Error(err)
		}
		t.Logf("τ %d ms: excess %.1f, bound %d", delay/Millisecond, w.Stats.Excess, w.Stats.Bound)
		if w.Stats.Nearest < 0.99 {
			t.Errorf("got %.3f of the bound, want all of it", w.Stats.Nearest)
		}
	}
}

// News that is urgent waits one gap at most. Broken once: a drain off the beat of the
// batches put every link behind the drains, and news waited for both, up to two gaps.
func TestUrgentNewsWaitsOneGap(t *testing.T) {
	for name, load := range map[string]Load{
		"even":         {PerSecond: 2000},
		"90 % on one":  {PerSecond: 2000, Nodes: []float64{36, 1, 1, 1, 1}},
		"now and then": {PerSecond: 5000, On: Second, Off: Second},
	} {
		w := inTouch(7, 5, Millisecond, perSecond(1000, 1000))
		w.Drive(load, 3*Second)
		if err := w.Run(3 * Second); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// So it does where more gaps than the window has frames fit a round trip. Broken once:
// the window was full, and news waited for an acknowledgement.
func TestUrgentNewsGoesFar(t *testing.T) {
	for _, nodes := range []int{2, 4} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			w := inTouch(2, nodes, 60*Millisecond, perSecond(1000, 1000))
			w.Drive(Load{PerSecond: 3000}, 3*Second)
			if err := w.Run(3 * Second); err != nil {
				t.Error(err)
			}
		})
	}
}

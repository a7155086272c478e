package sim

import "testing"

// apart is by how much the cluster times of two nodes differ at most.
func (w *World) apart() (most int64) {
	for _, n := range w.nodes {
		for _, m := range w.nodes {
			most = max(most, n.cluster()-m.cluster())
		}
	}
	return most
}

// Nodes in touch have one time, whatever their wall clocks show, over a network of any
// delay: they differ by no more than that, and what two clocks part by since the fastest
// frame between them, which is remembered for a minute.
func TestClusterTime(t *testing.T) {
	seeds := uint64(100)
	if raceEnabled {
		seeds = 10
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		o := Chaos(seed)
		o.Limits = rules[7:8]
		o.Ledger.PartitionMemory, o.Ledger.MaxBytes = 0, 0
		w := New(o)
		o.Skews = w.someSkews(o.Nodes)
		copy(w.skews, o.Skews)
		w.Meet(500 * Millisecond)
		if err := w.Run(25 * Second); err != nil {
			t.Error(err)
		}
		if got, most := w.apart(), o.Net.Delay+o.Net.Jitter+25*o.PPM*2*Microsecond; got > most {
			t.Errorf("seed %d: got %d µs apart, want at most %d: %v", seed, got/Microsecond, most/Microsecond, o.Skews)
		}
	}
}

// Case 13. Wall clocks jump while all are in touch: 11 s forward, 8 h back. The cluster's
// time does not, and a limit of an hour admits what it did.
func TestCase13(t *testing.T) {
	for _, by := range []int64{11 * Second, -8 * 3600 * Second} {
		for _, l := range kinds(50) {
			w := three(l)
			w.After(500*Millisecond, func() { w.SetWall(0, by) })
			w.Drive(Load{PerSecond: 100}, 3*Second)
			if err := w.Run(3 * Second); err != nil {
				t.Error(err)
			}
			if got := w.keys[0].total; got < 50 || got > 54 {
				t.Errorf("algorithm %d, %d s: got %d admitted, want 50 and what was under way", l.Algorithm, by/Second, got)
			}
			if got := w.apart(); got > w.opts.Net.Delay {
				t.Errorf("%d s: got %d µs apart", by/Second, got/Microsecond)
			}
		}
	}
}

// The same of a node that is alone, which has nobody to believe but its clock: forward it
// goes faster for a while; back it counts what is used in the window that it finds itself
// in, and waits for the end of that, no longer.
func TestCase13Alone(t *testing.T) {
	for _, by := range []int64{11 * Second, -8 * 3600 * Second} {
		for _, l := range kinds(50) {
			if l.bucket() || l.log() {
				continue // no wall clock comes in
			}
			w := New(Options{Seed: 1, Nodes: 1, Limits: []Limit{l}, Epoch: 1_699_999_200*Second + 600*Second})
			w.Take(0, Ask{0, 0, 50})
			_ = w.Run(Second)
			w.SetWall(0, by)
			_ = w.Run(Second)
			if got := w.Peek(0, 0, 0); got != 0 {
				t.Errorf("algorithm %d, %d s: got %d left, want none: minted", l.Algorithm, by/Second, got)
			}
			if err := w.Run(3000 * Second); err != nil {
				t.Error(err)
			}
			if got := w.Peek(0, 0, 0); l.Algorithm == FixedWindow && got != 50 {
				t.Errorf("%d s: got %d left in the next hour, want all", by/Second, got)
			}
			if _ = w.Run(3600 * Second); w.Peek(0, 0, 0) != 50 {
				t.Errorf("algorithm %d, %d s: got %d left an hour later: locked out", l.Algorithm, by/Second, w.Peek(0, 0, 0))
			}
		}
	}
}

// A node whose clock is 5 s or 5 h off joins others. From then on it neither mints nor
// locks out: it counts what they tell it in the windows that they mean, and so do they.
func TestSkewedNodeJoins(t *testing.T) {
	for _, by := range []int64{5 * Second, -5 * Second, 5 * 3600 * Second, -5 * 3600 * Second} {
		for _, l := range kinds(50) {
			w := New(Options{Seed: 1, Nodes: 4, Limits: []Limit{l}, Epoch: 1_699_999_200*Second + 600*Second, Skews: []int64{0, 0, 0, by}})
			late := w.nodes[3]
			for _, a := range w.nodes[:3] {
				for _, b := range w.nodes[:3] {
					if a != b {
						a.up(b, Millisecond)
					}
				}
			}
			_ = w.Run(Second)
			for _, n := range w.nodes[:3] {
				n.up(late, Millisecond)
				late.up(n, Millisecond)
			}
			_ = w.Run(Second)
			if got := w.apart(); got > w.opts.Net.Delay {
				t.Errorf("%d s: got %d µs apart", by/Second, got/Microsecond)
			}
			w.Take(0, Ask{0, 0, 20})
			w.Drive(Load{PerSecond: 100, Nodes: []float64{1, 1, 1, 5}}, 2*Second)
			if err := w.Run(2 * Second); err != nil {
				t.Error(err)
			}
			if got := w.keys[0].total; got < 50 || got > 54 {
				t.Errorf("algorithm %d, %d s: got %d admitted, want 50 and what was under way", l.Algorithm, by/Second, got)
			}
			if err := w.Quiet(10 * Second); err != nil {
				t.Error(err)
			}
		}
	}
}

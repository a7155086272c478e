package sim

import "testing"

// Cases 20 and 21. A limit of 100 of which 70 are used becomes one of 50 and then one of
// 200, on half of the nodes first: what is used stays used, wherever it is asked for.
func TestCase20And21(t *testing.T) {
	for _, l := range kinds(100) {
		w := New(Options{Seed: 1, Nodes: 4, Limits: []Limit{l}, Epoch: 1_699_999_200*Second + 60*Second})
		w.Meet(Millisecond)
		_ = w.Run(Second)
		w.Take(0, Ask{0, 0, 40})
		w.Take(1, Ask{0, 0, 30})
		_ = w.Run(300 * Millisecond)
		everywhere(t, w, "before", 30)
		for _, c := range []struct{ events, left int64 }{{50, 0}, {200, 130}, {100, 30}} {
			next := l
			next.Events, next.Burst = c.events, c.events
			old := w.Peek(3, 0, 0)
			w.Change(0, 0, next)
			w.Change(1, 0, next)
			_ = w.Run(300 * Millisecond)
			for place, want := range []int64{c.left, c.left, old, old} {
				if got := w.Peek(place, 0, 0); got != want {
					t.Errorf("algorithm %d, to %d on half: got %d left on node %d, want %d", l.Algorithm, c.events, got, place, want)
				}
			}
			w.ChangeAll(0, next)
			_ = w.Run(300 * Millisecond)
			everywhere(t, w, "changed", c.left)
		}
	}
}

// A limit of an hour changes while it is asked for and the network fails: counts of its
// windows are equal on all nodes once everybody has it, however nodes disagreed before.
func TestWindowsAgreeAfterChange(t *testing.T) {
	seeds := uint64(30)
	if raceEnabled {
		seeds = 4
	}
	var sum Stats
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, a := range []Algorithm{FixedWindow, SlidingWindow} {
			o := Chaos(seed)
			o.Ledger.MaxBytes, o.Ledger.PartitionMemory, o.Lossy, o.Skews = 0, 0, false, nil
			o.Epoch = 1_699_999_200 * Second
			o.Limits = []Limit{{Name: "a", Events: 100, Per: 3600 * Second, Keys: 2, Algorithm: a, Verbs: true}}
			w := New(o)
			w.Meet(50 * Millisecond)
			w.calm = true
			_ = w.Run(Second) // until all have joined
			w.calm = false
			w.Drive(Load{PerSecond: 100, Most: 3, Verbs: 0.2}, 2*Second)
			for i, events := range []int64{40, 300} {
				next := o.Limits[0]
				next.Events = events
				at := int64(i)*Second + 300*Millisecond
				w.After(at, func() { w.Change(0, 0, next); w.Change(1, 0, next) })
				w.After(at+400*Millisecond, func() { w.ChangeAll(0, next) })
			}
			for range 8 {
				w.someHarmlessFault(w.now + w.between(0, 2*Second))
			}
			if err := w.Run(2 * Second); err != nil {
				t.Errorf("algorithm %d: %v", a, err)
			}
			if err := w.Quiet(10 * Second); err != nil {
				t.Errorf("algorithm %d: %v", a, err)
			}
			sum.Add(&w.Stats)
		}
	}
	if want := 2 * int(seeds); sum.ChangedAlike < want {
		t.Errorf("found %d windows equal after a change, want at least %d", sum.ChangedAlike, want)
	}
}

// A window of another length counts what was used before in the one that is current when
// the change is made, and is alike everywhere from the next one on.
func TestOtherWindows(t *testing.T) {
	l := Limit{Name: "a", Events: 100, Per: 3600 * Second, Keys: 1, Algorithm: FixedWindow}
	w := three(l)
	w.Take(0, Ask{0, 0, 70})
	_ = w.Run(300 * Millisecond)
	next := l
	next.Per = 10 * Second
	w.Change(0, 0, next)
	_ = w.Run(300 * Millisecond)
	w.Take(0, Ask{0, 0, 5})
	w.Take(1, Ask{0, 0, 7})
	_ = w.Run(300 * Millisecond)
	w.ChangeAll(0, next)
	everywhere(t, w, "changed", 18)
	_ = w.Run(10 * Second)
	everywhere(t, w, "in the next window", 100)
	w.Take(2, Ask{0, 0, 9})
	_ = w.Run(300 * Millisecond)
	everywhere(t, w, "taken there", 91)
}

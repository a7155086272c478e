package sim

import "testing"

// Case 1. One per 30 s, two nodes, calls alternate: once a sync interval has passed,
// exactly one is admitted in 30 s, whichever node is asked.
func TestCase1(t *testing.T) {
	w := New(Options{Seed: 1, Nodes: 2, Limits: []Limit{{Name: "a", Events: 1, Per: 30 * Second, Burst: 1, Keys: 1}}})
	w.Meet(Millisecond)
	_ = w.Run(Second)
	for i := range int64(300) {
		w.After(i*Second+Millisecond, func() { w.Take(int(i%2), Ask{0, 0, 1}) })
	}
	if err := w.Run(300 * Second); err != nil {
		t.Error(err)
	}
	if got := w.keys[0].total; got != 10 {
		t.Errorf("got %d admitted in 300 s, want 10", got)
	}
}

// Case 3. Three per second, five nodes, ten per second asked for a minute.
func TestCase3(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		w := New(Options{Seed: seed, Limits: []Limit{{Name: "a", Events: 3, Per: Second, Burst: 3, Keys: 1}}})
		w.Meet(Millisecond)
		_ = w.Run(Second)
		w.Drive(Load{PerSecond: 10}, 60*Second)
		if err := w.Run(60 * Second); err != nil {
			t.Error(err)
		}
		if got, want := w.keys[0].total, w.keys[0].granted; got < want-1 || got > want+4 {
			t.Errorf("seed %d: got %d admitted in a minute, a central bucket %d", seed, got, want)
		}
	}
}

// Case 4. A node's share never refuses what the cluster has.
func TestCase4(t *testing.T) {
	w := New(Options{Seed: 1, Nodes: 10, Limits: []Limit{{Name: "a", Events: 100, Per: 60 * Second, Burst: 100, Keys: 1}}})
	w.Meet(Millisecond)
	_ = w.Run(Second)
	if !w.Take(7, Ask{0, 0, 60}) {
		t.Error("60 of 100 were refused")
	}
	if err := w.Quiet(Second); err != nil {
		t.Error(err)
	}
}

// Case 27. Two nodes are cut off from each other for eight seconds, and each admits the
// whole limit. What arrives then is larger than the limit: it is charged as debt of one
// burst at most, and never read as a full bucket.
func TestCase27(t *testing.T) {
	l := perSecond(10, 10)
	for _, hold := range []bool{false, true} {
		w := New(Options{Seed: 1, Nodes: 2, Limits: []Limit{l}})
		w.Meet(Millisecond)
		_ = w.Run(Second)
		w.partition(0, 1, hold)
		w.partition(1, 0, hold)
		w.Drive(Load{PerSecond: 100}, 8*Second)
		if err := w.Run(8 * Second); err != nil {
			t.Error(err)
		}
		if got := w.keys[0].total; got < 175 || got > 182 {
			t.Errorf("hold %v: got %d admitted on two sides, want about 2×90", hold, got)
		}
		if err := w.Quiet(4 * Second); err != nil {
			t.Error(err)
		}
		if w.Stats.Forgiven == 0 {
			t.Errorf("hold %v: nothing was forgiven", hold)
		}
	}
}

// Case 27, at the moment of the heal.
func TestHealLocksNoKeyOut(t *testing.T) {
	l := perSecond(10, 10)
	w := New(Options{Seed: 1, Nodes: 2, Limits: []Limit{l}})
	w.Meet(Millisecond)
	_ = w.Run(Second)
	w.partition(0, 1, false)
	w.partition(1, 0, false)
	w.Drive(Load{PerSecond: 100}, 8*Second)
	_ = w.Run(8 * Second)
	w.mend(0, 1)
	w.mend(1, 0)
	worst := int64(0)
	for range 3000 {
		_ = w.Run(Millisecond)
		for _, n := range w.nodes {
			hash := n.limits[0].Hash("k0")
			worst = max(worst, n.table.Peek(n.limits[0], hash, n.now(), 1).RetryAfter)
		}
	}
	if want := 11 * int64(Second) / 10; worst > want || worst < want-200*Millisecond {
		t.Errorf("got a wait of up to %d ms, want about (B+1)/R, %d ms", worst/Millisecond, want/Millisecond)
	}
	if w.err != nil {
		t.Error(w.err)
	}
}

// Case 28. A node hears of a limit that it does not know: what is spent is kept, and is
// right when the limit appears, whether peers could read its text or not.
func TestCase28(t *testing.T) {
	for _, opaque := range []bool{false, true} {
		l := Limit{Name: "a", Events: 100, Per: 3600 * Second, Burst: 100, Keys: 2, Without: 1, Opaque: opaque}
		w := New(Options{Seed: 1, Nodes: 3, Limits: []Limit{l}})
		w.Meet(Millisecond)
		for range 30 {
			w.After(Second, func() { w.Take(0, Ask{0, 0, 1}) })
			w.After(2*Second, func() { w.Take(1, Ask{0, 0, 1}) })
		}
		_ = w.Run(3 * Second)
		w.Define(2, 0)
		for k, want := range []int64{40, 100} {
			if got := w.Peek(2, 0, k); got != want {
				t.Errorf("opaque %v: got %d left of key %d, want %d", opaque, got, k, want)
			}
		}
		if !w.Take(2, Ask{0, 0, 40}) || w.Take(2, Ask{0, 0, 1}) {
			t.Errorf("opaque %v: not just 40 were left", opaque)
		}
		if err := w.Quiet(Second); err != nil {
			t.Errorf("opaque %v: %v", opaque, err)
		}
	}
}

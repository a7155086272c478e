package sim

import "testing"

// kinds are a limit of so many an hour by every algorithm.
func kinds(events int64) (limits []Limit) {
	for a := TokenBucket; a <= SlidingLog; a++ {
		limits = append(limits, Limit{Name: "a", Events: events, Per: 3600 * Second, Burst: events, Keys: 1, Algorithm: a})
	}
	return limits
}

// three is three nodes in touch, with one limit. An hour of the wall clock has just begun.
func three(l Limit) *World {
	w := New(Options{Seed: 1, Nodes: 3, Limits: []Limit{l}, Epoch: 1_699_999_200 * Second})
	w.Meet(Millisecond)
	_ = w.Run(Second)
	return w
}

// everywhere checks that so much is left on every node.
func everywhere(t *testing.T, w *World, what string, want int64) {
	t.Helper()
	for place := range w.nodes {
		if got := w.Peek(place, 0, 0); got != want {
			t.Errorf("%s: got %d left on node %d, want %d", what, got, place, want)
		}
	}
	if w.err != nil {
		t.Error(w.err)
	}
}

// Case 11. Of 100 that were held 37 are used, and 63 come back everywhere. The holder of
// another hold dies: it comes back when it expires, not before.
func TestCase11(t *testing.T) {
	for _, l := range kinds(200) {
		w := three(l)
		h := w.Hold(0, Ask{0, 0, 100}, 60*Second)
		_ = w.Run(200 * Millisecond)
		everywhere(t, w, "held", 100)
		w.Settle(1, h, 37)
		_ = w.Run(200 * Millisecond)
		everywhere(t, w, "settled elsewhere", 163)
		w.Hold(2, Ask{0, 0, 50}, 3*Second)
		_ = w.Run(200 * Millisecond)
		w.crash(2)
		w.restart(2)
		_ = w.Run(2500 * Millisecond)
		for place := range 2 {
			if got := w.Peek(place, 0, 0); got != 113 {
				t.Errorf("algorithm %d: got %d left with a hold whose maker is dead, want 113", l.Algorithm, got)
			}
		}
		if got := w.Peek(2, 0, 0); got != 113 {
			t.Errorf("algorithm %d: got %d left after a restart, want 113: both holds are told anew", l.Algorithm, got)
		}
		_ = w.Run(500 * Millisecond)
		everywhere(t, w, "expired", 163)
	}
}

// Case 23. A take is cancelled, another was made meanwhile: exactly what was taken comes
// back, everywhere.
func TestCase23(t *testing.T) {
	for _, l := range kinds(100) {
		w := three(l)
		w.Take(0, Ask{0, 0, 30})
		first := w.grants[0]
		_ = w.Run(300 * Millisecond)
		w.Take(0, Ask{0, 0, 5})
		w.Take(1, Ask{0, 0, 7})
		if got := w.Cancel(first); got != 30 {
			t.Errorf("algorithm %d: got %d back, want 30", l.Algorithm, got)
		}
		_ = w.Run(300 * Millisecond)
		everywhere(t, w, "cancelled", 88)
		if got := w.Return(2, Ask{0, 0, 20}); got != 12 {
			t.Errorf("algorithm %d: got %d back of 12 used, want all", l.Algorithm, got)
		}
		_ = w.Run(300 * Millisecond)
		everywhere(t, w, "returned elsewhere", 100)
	}
}

// What two nodes give back at once, of the same takes, lifts no key above full, and the
// next take counts in full everywhere.
func TestReturnedTwice(t *testing.T) {
	for _, l := range kinds(100) {
		w := three(l)
		w.Take(0, Ask{0, 0, 10})
		_ = w.Run(300 * Millisecond)
		w.Return(1, Ask{0, 0, 10})
		w.Reset(2, 0, 0)
		_ = w.Run(300 * Millisecond)
		everywhere(t, w, "given back twice", 100)
		w.Take(1, Ask{0, 0, 4})
		_ = w.Run(300 * Millisecond)
		everywhere(t, w, "taken again", 96)
	}
}

// A ban is in force on every node or, lifted by anyone, on none; the last word stands,
// though it meets an older one on the way.
func TestBansAgree(t *testing.T) {
	for _, l := range kinds(100) {
		w := three(l)
		w.Ban(0, 0, 0, 3600*Second)
		_ = w.Run(200 * Millisecond)
		everywhere(t, w, "banned", 0)
		w.partition(1, 2, true)
		w.partition(2, 1, true)
		w.Ban(1, 0, 0, 0)
		_ = w.Run(200 * Millisecond)
		w.Ban(0, 0, 0, 600*Second) // knows of the end of the first
		_ = w.Run(200 * Millisecond)
		w.Ban(2, 0, 0, 0)
		if err := w.Quiet(10 * Second); err != nil {
			t.Error(err)
		}
		everywhere(t, w, "lifted", 100)
	}
}

// A node tells one peer of a ban and of a hold, and dies. That peer tells the others.
// Broken once: a record travelled from its writer only, and a ban was in force on some
// nodes for as long as it lasted.
func TestRecordsOfTheDead(t *testing.T) {
	l := Limit{Name: "a", Events: 100, Per: 3600 * Second, Burst: 100, Keys: 2}
	for name, end := range map[string]func(*World){
		"crash":   func(w *World) { w.crash(0) },
		"goodbye": func(w *World) { w.leave(0, Millisecond) },
	} {
		w := three(l)
		w.partition(0, 2, false)
		w.Ban(0, 0, 0, 3600*Second)
		w.Hold(0, Ask{0, 1, 40}, 3600*Second)
		_ = w.Run(200 * Millisecond)
		end(w)
		_ = w.Run(4 * Second)
		if got := w.Peek(2, 0, 0); got != 0 {
			t.Errorf("%s: got %d left of a banned key", name, got)
		}
		if got := w.Peek(2, 0, 1); got != 60 {
			t.Errorf("%s: got %d left beside a hold of 40, want 60", name, got)
		}
		if err := w.Quiet(10 * Second); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package gossip

import "testing"

// Rule 4. A new incarnation of a name frees the dead one's cursor, but only when its own
// WELCOME has stated its numbers.
func TestNewIncarnationFreesTheOldCursor(t *testing.T) {
	for _, late := range []bool{false, true} { // the old one's death is noticed last
		w, a, b := pair(t)
		a.closed(b)
		if !late {
			a.down(b)
		}
		w.crash(b)
		a.spend(1, 2, 3)
		c := w.born("b")
		c.up(a)
		a.up(c)
		a.open(c)
		w.handAll(w.take(kind(a, kindHello)))
		if got := len(a.links); got != 2 {
			t.Fatalf("late %v: got %d cursors before the WELCOME, want 2", late, got)
		}
		w.settle()
		if late {
			if got := len(a.links); got != 2 {
				t.Fatalf("got %d cursors while both count as alive, want 2", got)
			}
			a.down(b)
		}
		if entries, _ := a.Size(); len(a.links) != 1 || entries != 0 {
			t.Errorf("late %v: got %d cursors and %d entries, want 1 and 0", late, len(a.links), entries)
		}
		if !maps3(c.heard[a.id].sums, 1, 2, 3) {
			t.Errorf("late %v: the new incarnation got %v", late, c.heard[a.id].sums)
		}
	}
}

// Rule 4. The news that the new one is there is no WELCOME: it may never get to speak,
// and the old one's death be false.
func TestOldCursorStaysUntilTheNewIncarnationSpeaks(t *testing.T) {
	w, a, b := pair(t)
	a.spend(1)
	c := w.born("b")
	a.up(c)
	a.closed(b)
	a.down(b)
	if got := len(a.links); got != 2 {
		t.Errorf("got %d cursors, want 2", got)
	}
	a.down(c)
	a.up(b)
	a.open(b)
	w.settle()
	if n, _ := b.Number(a.id); n != 1 || b.Lost() != 0 {
		t.Errorf("the old one after all: got number %d, lost %d; want 1, 0", n, b.Lost())
	}
}

// maps3 reports whether keys 0, 1, 2 have these sums.
func maps3(sums map[windowKey]int64, want ...int64) bool {
	for i, v := range want {
		if sums[about(1, uint64(i))] != v {
			return false
		}
	}
	return true
}

// A goodbye frees the cursor at once; the number is kept, for what is still under way.
func TestGoodbyeFreesAtOnce(t *testing.T) {
	w, a, b := pair(t)
	b.open(a)
	w.settle()
	b.spend(1)
	b.tick()
	late := w.take(kind(b, kindBatch))
	w.handAll(late)
	a.spend(9)
	b.bye()
	w.settle()
	if entries, _ := a.Size(); len(a.links) != 0 || entries != 0 {
		t.Errorf("got %d cursors and %d entries, want none", len(a.links), entries)
	}
	w.handAll(late)
	if n, _ := a.Number(b.id); n != 1 || len(a.charges) != 1 {
		t.Errorf("got number %d and %d charges, want 1 and 1", n, len(a.charges))
	}
}

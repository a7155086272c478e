package sim

import "testing"

// A node meets the next incarnation of a peer before it has noticed that the last one
// died, and then takes the new one for dead for a while. Broken once: the last one was
// taken for the heir of the next, whose cursor was freed, and drains were lost.
func TestFalseDeathBeforeTheTrueOne(t *testing.T) {
	w := New(Options{Seed: 1, Nodes: 2, Limits: []Limit{{Name: "a", Events: 100, Per: 3600 * Second, Burst: 100, Keys: 1}}})
	w.Meet(Millisecond)
	spend := func() {
		w.Take(0, Ask{0, 0, 1})
		_ = w.Run(500 * Millisecond)
	}
	spend()
	a, last := w.nodes[0], w.nodes[1]
	last.gone = true
	w.dead = append(w.dead, last)
	next := w.birth(1, -w.now)
	w.nodes[1] = next
	a.snap(a.links[last.id], Second)
	a.meet(next)
	next.meet(a)
	spend()
	a.down(next)
	spend()
	a.meet(next)
	spend()
	a.down(last)
	spend()
	if err := w.Quiet(Second); err != nil {
		t.Error(err)
	}
	if got, want := next.book.applied[0], a.book.admitted[0]-1; got < want {
		t.Errorf("got %d events of %d applied", got, want)
	}
}

// News of a peer that was declared dead while it was under way is charged in full: it is
// fresh. Broken once: the debt that it may cause was that of the nodes still alive.
func TestLastWordsAreChargedInFull(t *testing.T) {
	w := New(Options{Seed: 1, Nodes: 2, Limits: []Limit{perSecond(10, 10)}, Net: Net{Delay: 20 * Millisecond}})
	w.Meet(Millisecond)
	_ = w.Run(2 * Second)
	w.Burst(0, 0, 10)
	_ = w.Run(5 * Millisecond)
	w.nodes[0].down(w.nodes[1])
	if err := w.Run(100 * Millisecond); err != nil {
		t.Error(err)
	}
	n, k := w.nodes[0], w.keys[0]
	if got := n.book.applied[0]; got != 10 {
		t.Fatalf("got %d events applied, want 10", got)
	}
	if got := n.table.Stats().Forgiven; got != 0 {
		t.Errorf("got %d events forgiven", got)
	}
	if got, want := n.peek(k).ResetAfter, int64(k.central.full)-w.now; got < want {
		t.Errorf("full again in %d ms, a central bucket in %d", got/Millisecond, want/Millisecond)
	}
}

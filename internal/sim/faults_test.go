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

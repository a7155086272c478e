package gossip

import "testing"

// three are a, b and c in session with each other.
func three(t *testing.T) (w *world, a, b, c *node) {
	w = newWorld(t)
	a, b, c = w.born("a"), w.born("b"), w.born("c")
	w.meet()
	w.settle()
	w.skip(10 * ms)
	return w, a, b, c
}

// A node dies having told of a hold and a ban to one peer and not to another: the one tells
// the other, once, in the sessions they have.
func TestRecordsOfTheDead(t *testing.T) {
	w, a, b, c := three(t)
	a.put(a.holding(1, 90_000*ms))
	a.put(a.ban(7, true, 90_000*ms))
	a.tick()
	for _, p := range w.take(kind(a, kindBatch)) {
		if p.to == b {
			w.hand(p)
		}
	}
	w.crash(a)
	w.skip(10 * ms)
	w.settle()
	if len(c.news) != 0 || b.Head() != 0 {
		t.Errorf("before the death is known: got %d news, %d drains; want none", len(c.news), b.Head())
	}
	for range 2 {
		b.down(a)
		c.down(a)
		w.skip(10 * ms)
		w.settle()
	}
	if len(c.news) != 2 || len(b.news) != 2 || b.Head() != 1 || c.Head() != 0 {
		t.Errorf("got %d and %d news, %d and %d drains; want 2 and 2, 1 and 0", len(b.news), len(c.news), b.Head(), c.Head())
	}
}

// What comes from a peer that is dead already is told on at once, all of it in one drain.
func TestLastWords(t *testing.T) {
	w, a, b, c := three(t)
	for i := range uint64(5) {
		a.put(a.ban(i, true, 90_000*ms))
	}
	a.tick()
	last := w.take(func(p packet) bool { return kind(a, kindBatch)(p) && p.to == b })
	w.crash(a)
	b.down(a)
	c.down(a)
	w.handAll(last)
	w.skip(10 * ms)
	w.settle()
	if len(c.news) != len(b.news) || len(b.news) != 5 || int(b.Head()) != len(last) {
		t.Errorf("got %d and %d news in %d drains, want 5 and 5 in %d", len(b.news), len(c.news), b.Head(), len(last))
	}
}

// What is over for so long that no peer would take it in, and what this node has told
// itself, is not told again.
func TestOldRecordsOfTheDead(t *testing.T) {
	w, a, b, _ := three(t)
	a.put(a.ban(1, true, 1))
	a.put(a.ban(2, true, 90_000_000*ms))
	w.settle()
	b.put(b.ban(2, false, 90_000_000*ms))
	w.skip(b.cfg.PartitionMemory + 10*ms)
	head := b.Head()
	if b.down(a); b.Head() != head {
		t.Errorf("got %d drains, want none", b.Head()-head)
	}
}

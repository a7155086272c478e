package gossip

import (
	"slices"
	"testing"
)

// ends are the numbers at which the log can be cut.
func (n *node) ends() (ends []uint64) {
	for _, s := range n.log.segments {
		ends = append(ends, s.to)
	}
	return ends
}

// Rule 2. B sends (0, 1], the acknowledgement is lost, B redials and would coalesce
// (0, 2]; A states 1.
func TestEndOfUnacknowledgedBatchStaysABoundary(t *testing.T) {
	w, b, a := pair(t)
	b.spend(5)
	b.tick()
	w.handAll(w.take(kind(b, kindBatch)))
	w.take(kind(a, kindAck)) // lost
	b.spend(7)
	b.closed(a)
	b.spend(8)
	if got := b.ends(); !slices.Equal(got, []uint64{1, 3}) {
		t.Errorf("closed: got ends %v, want 1 and 3", got)
	}
	b.open(a)
	b.spend(9)
	if got := b.ends(); !slices.Equal(got, []uint64{1, 4}) {
		t.Errorf("redialled: got ends %v, want 1 and 4", got)
	}
	w.skip(10 * ms)
	w.settle()
	if n, _ := a.Number(b.id); n != 4 || a.Lost() != 0 || !b.Quiet() {
		t.Errorf("got number %d, lost %d, quiet %v; want 4, 0, true", n, a.Lost(), b.Quiet())
	}
	if got := a.heard[b.id].sums[about(1, 0)]; got != 29 {
		t.Errorf("got %d, want 29", got)
	}
}

// Rule 2. The same, but the peer dies and comes back in between.
func TestBoundariesOutliveAFalseDeath(t *testing.T) {
	w, b, a := pair(t)
	b.spend(5)
	b.tick()
	w.handAll(w.take(kind(b, kindBatch)))
	w.takeAll()
	b.closed(a)
	b.down(a)
	for range 10 {
		b.spend(1)
	}
	b.up(a)
	b.open(a)
	w.skip(10 * ms)
	w.settle()
	if got := a.heard[b.id].sums[about(1, 0)]; got != 15 || a.Lost() != 0 {
		t.Errorf("got %d, lost %d; want 15, 0", got, a.Lost())
	}
}

// Rule 2. A stated number that is no boundary moves up to the next, and the peer counts
// the difference.
func TestNumberAtNoBoundaryMovesUp(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.born("a"), w.born("b"), w.born("c")
	w.meet()
	w.settle()
	a.closed(c) // c stays at 0
	for range 3 {
		w.skip(10 * ms)
		a.spend(1)
		w.settle() // b follows to 3
	}
	a.closed(b)
	a.spend(1)
	l := a.link(b.id)
	l.cursor, l.flight = 4, nil // as if b's cursor had been given up
	a.settle()
	if got := a.ends(); !slices.Equal(got, []uint64{4}) {
		t.Fatalf("got ends %v, want 4 alone", got)
	}
	a.open(b)
	w.skip(10 * ms)
	w.settle()
	if n, _ := b.Number(a.id); n != 4 || b.Lost() != 1 {
		t.Errorf("got number %d, lost %d; want 4, 1", n, b.Lost())
	}
	a.open(c)
	w.skip(10 * ms)
	w.settle()
	if n, _ := c.Number(a.id); n != 4 || c.Lost() != 0 || !a.Quiet() {
		t.Errorf("the other peer: got number %d, lost %d; want 4, 0", n, c.Lost())
	}
}

// Rule 2. A batch that straddles the receiver's number is never applied, in whole or in
// part: it is dropped, and all that it covered is counted.
func TestStraddlingBatchIsCounted(t *testing.T) {
	w, b, a := pair(t)
	b.spend(5)
	w.settle()
	l := b.links[0]
	h := header{kindBatch, b.id, a.id, l.session, l.nonce}
	w.skip(10 * ms)
	b.told = append(b.told, nil, nil) // as the oracle shall see it
	s := segment{from: 0, to: 3, entries: []Entry{{1, 0, 9, w.now, 0}}}
	frame := encodeBatch(h, &batch{From: 0, To: 3, Parts: 1, Sent: w.now}, encodeBodies(&s, nil, 1000)[0])
	if err := a.Receive(w.now, b.id, frame); err != nil {
		t.Fatal(err)
	}
	if n, _ := a.Number(b.id); n != 3 || a.Lost() != 2 || len(a.charges) != 1 {
		t.Errorf("got number %d, lost %d, %d charges; want 3, 2, 1", n, a.Lost(), len(a.charges))
	}
}

// Rule 3. What a peer has no number for begins at the base, while the origin is young.
func TestMissingNumberForAYoungOrigin(t *testing.T) {
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	a.up(b)
	b.up(a)
	a.spend(1)
	a.spend(2)
	w.skip(2 * a.cfg.PartitionMemory)
	a.open(b)
	w.settle()
	if h := b.heard[a.id]; h.start != 0 || h.sums[about(1, 0)] != 3 {
		t.Errorf("got start %d, sums %v; want all from 0", h.start, h.sums)
	}
}

// Rule 3. The peer has forgotten the origin's number and says none: an origin of that
// age starts past everything it ever told anyone, in whatever batch.
func TestMissingNumberForAnOldOrigin(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.born("a"), w.born("b"), w.born("c")
	w.meet()
	w.settle()
	a.spend(1)
	w.settle() // both have 1
	a.closed(c)
	w.skip(10 * ms)
	a.spend(2)
	w.settle() // b has 2
	a.closed(b)
	a.spend(4) // nobody has 3
	w.skip(a.memory() + 1)
	c.tick()
	if _, known := c.Number(a.id); known {
		t.Fatal("c was to have forgotten")
	}
	a.link(c.id).acked = false // as if the cursor, too, had been forgotten meanwhile
	a.open(c)
	w.settle()
	if n, _ := c.Number(a.id); n != 3 || c.heard[a.id].sums[about(1, 0)] != 1+4 {
		t.Errorf("got number %d, sums %v; want 3, and 2 skipped", n, c.heard[a.id].sums)
	}
}

// Rule 3. An origin that has told nobody anything has nothing to double, whatever its age.
func TestMissingNumberForASilentOrigin(t *testing.T) {
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	a.up(b)
	b.up(a)
	a.spend(1)
	a.spend(2)
	w.skip(a.memory() + 1)
	a.open(b)
	w.settle()
	if got := b.heard[a.id].sums[about(1, 0)]; got != 3 {
		t.Errorf("got %d, want 3", got)
	}
}

// Rule 3. A machine that was suspended is younger by its own clock than it is: what a
// peer has acknowledged and no longer knows is still not told twice.
func TestMissingNumberAfterASuspension(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.born("a"), w.born("b"), w.born("c")
	w.meet()
	w.settle()
	a.closed(c) // c holds the log at 0
	a.spend(1)
	w.settle()
	w.skip(b.memory() + 1)
	a.clock -= b.memory()
	b.tick()
	if _, known := b.Number(a.id); known {
		t.Fatal("b was to have forgotten")
	}
	a.open(b)
	w.settle() // the oracle sees to it that nothing is doubled
	if n, _ := b.Number(a.id); n != 1 || !a.link(b.id).acked {
		t.Errorf("got number %d, want 1", n)
	}
}

// Clocks differ in speed: an origin counts as old well before its peers forget it.
func TestOldComesBeforeForgotten(t *testing.T) {
	w, a, _ := pair(t)
	a.up(w.born("c")) // holds the log at 0
	a.spend(1)
	w.settle()
	for _, slow := range []int64{0, 500, 1000} { // millionths
		age := a.memory() - a.memory()/1_000_000*slow
		if got := a.startFor(a.cfg.Born+age, newLink(9, 0), number{}); got != 1 {
			t.Errorf("clock slow by %d ppm: starts at %d what may be forgotten, want 1", slow, got)
		}
	}
}

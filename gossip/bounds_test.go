package gossip

import (
	"strings"
	"testing"
)

// Promise 8, case 14. An absent peer costs one entry a key, whatever number of drains it
// misses; batches that it may have got cost one more each.
func TestAbsentPeerCostsOneEntryPerKey(t *testing.T) {
	for _, inFlight := range []int{0, 3} {
		w, a, b := pair(t)
		for range inFlight {
			w.skip(10 * ms)
			a.spend(1, 1, 1)
			a.tick()
		}
		a.closed(b)
		size := 0
		for i := range 2000 {
			a.spend(1, int64(i), 1, -1)
			entries, bytes := a.Size()
			if want := 3*inFlight + 4; entries > want {
				t.Fatalf("after %d drains: got %d entries, want %d at most", i, entries, want)
			}
			if i == 10 {
				size = bytes
			} else if i > 10 && bytes > 2*size {
				t.Fatalf("after %d drains: got %d bytes, after 10 %d", i, bytes, size)
			}
		}
		if a.Head() != uint64(2000+inFlight) {
			t.Fatalf("got %d drains", a.Head())
		}
		if got := a.Links(w.now)[0]; got.Behind != a.Head() || got.Backlog != 3*inFlight+4 {
			t.Errorf("got behind %d, backlog %d", got.Behind, got.Backlog)
		}
		a.open(b)
		w.skip(10 * ms)
		w.settle()
		if entries, _ := a.Size(); entries != 0 || !a.Quiet() {
			t.Errorf("in flight %d: got %d entries after all is known, quiet %v", inFlight, entries, a.Quiet())
		}
	}
}

// A node that nobody hears keeps nothing.
func TestLoneNodeKeepsNothing(t *testing.T) {
	w := newWorld(t)
	a := w.born("a")
	a.spend(1, 2, 3)
	if entries, bytes := a.Size(); entries != 0 || bytes != 0 || a.Head() != 1 || !a.Quiet() || !a.Heard() {
		t.Errorf("got %d entries, %d bytes at drain %d", entries, bytes, a.Head())
	}
}

// Rule 6. Over the byte bound the cursors of dead peers go, the oldest first, then the
// slowest of the living; each counts its loss itself, and nothing is doubled.
func TestByteBoundGivesUpInOrder(t *testing.T) {
	const room = 20_000
	w := newWorld(t)
	names := []string{"a", "b", "c", "d", "e", "f"}
	for _, name := range names {
		w.born(name, func(c *Config) { c.MaxBytes = room })
	}
	a, b, c, d, e, f := w.live[0], w.live[1], w.live[2], w.live[3], w.live[4], w.live[5]
	for _, n := range w.live[1:] {
		a.up(n)
		n.up(a)
		a.open(n)
	}
	w.settle()
	step := func() {
		w.skip(10 * ms)
		a.spend(many(20)...)
		w.settle()
	}
	step()
	for _, n := range []*node{c, b, e, d} { // c falls silent first, then dies last but one…
		a.closed(n)
		step()
	}
	a.down(b)
	w.skip(ms)
	a.down(c)
	var order []string
	for range 3000 { // fresh keys until the bound has been met a few times
		a.append([]Entry{{1, w.rand.Uint64(), 1, w.now, 0}})
		w.skip(10 * ms)
		w.settle()
		if _, bytes := a.Size(); bytes > room {
			t.Fatalf("got %d bytes, want %d at most", bytes, room)
		}
		for _, n := range a.notes {
			order = append(order, w.node(n.Peer).name)
		}
		if a.notes = nil; len(order) >= 4 {
			break
		}
	}
	if got := strings.Join(order, ""); got != "bced" {
		t.Errorf("cursors were given up in the order %q, want the dead, oldest first, then the slowest", got)
	}
	for _, n := range []*node{b, c, d, e} {
		a.up(n)
		a.open(n)
	}
	w.skip(10 * ms)
	w.settle()
	for _, n := range w.live[1:] {
		if k, _ := n.Number(a.id); k != a.Head() || (n.Lost() > 0) != (n != f) {
			t.Errorf("%s: got number %d of %d, lost %d", n.name, k, a.Head(), n.Lost())
		}
	}
	if !a.Quiet() {
		t.Error("not quiet")
	}
}

// What a living peer was given up for while its session was open, and acknowledged too
// late, is asked for anew: it may have had it.
func TestGivenUpInMidSession(t *testing.T) {
	w, a, b := pair(t, func(c *Config) { c.MaxBytes = 3000 })
	w.auto = true
	w.skip(10 * ms)
	a.spend(1)
	a.tick()
	batch := w.takeAll()
	for i := range 100 {
		a.append([]Entry{{1, uint64(i), 1, w.now, 0}})
	}
	if len(a.redials) == 0 {
		t.Fatal("the bound was never met")
	}
	w.handAll(batch)
	w.pass(1000 * ms)
	if n, _ := b.Number(a.id); n != a.Head() || !a.Quiet() || len(b.notes) == 0 {
		t.Errorf("got number %d of %d, notes %v", n, a.Head(), b.notes)
	}
	applied := b.heard[a.id].sums
	if b.Lost()+uint64(len(applied)) < 100 {
		t.Errorf("lost %d, and %d keys applied of 100", b.Lost(), len(applied))
	}
}

// A dead peer's cursor is kept for PartitionMemory, to the nanosecond, and Tick asks to be
// called then.
func TestDeathIsRemembered(t *testing.T) {
	w, a, b := pair(t)
	a.closed(b)
	a.down(b)
	a.spend(1)
	a.tick()
	if want := w.now + a.cfg.PartitionMemory + 1; a.next != want {
		t.Errorf("Tick asks for %d, want %d", a.next, want)
	}
	w.skip(a.cfg.PartitionMemory)
	a.tick()
	if entries, _ := a.Size(); entries != 1 {
		t.Errorf("got %d entries, want 1", entries)
	}
	w.skip(1)
	a.tick()
	if entries, _ := a.Size(); entries != 0 || len(a.links) != 0 {
		t.Errorf("got %d entries, %d links; want none", entries, len(a.links))
	}
	if a.next <= w.now {
		t.Errorf("Tick asks for %d, and it is %d", a.next, w.now)
	}
}

// Frames that were handed out are not held on to.
func TestOutputForgets(t *testing.T) {
	_, a, b := pair(t)
	for range 3 {
		a.Open(a.time(), b.id)
		if len(a.Output().Frames) != 1 {
			t.Fatal("want one HELLO")
		}
	}
	a.Output()
	a.Output()
	for _, f := range append(a.out.Frames[:cap(a.out.Frames)], a.frames[:cap(a.frames)]...) {
		if f.Data != nil || f.Body != nil {
			t.Error("a frame of an earlier Output is still held")
		}
	}
}

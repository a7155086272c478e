package gossip

import (
	"math"
	"slices"
)

// take removes the frames that match from the wire and returns them.
func (w *world) take(match func(packet) bool) (taken []packet) {
	w.wire = slices.DeleteFunc(w.wire, func(p packet) bool {
		if match(p) {
			taken = append(taken, p)
			return true
		}
		return false
	})
	return taken
}

// takeAll empties the wire.
func (w *world) takeAll() []packet { return w.take(func(packet) bool { return true }) }

// kind matches frames of one kind from a node.
func kind(from *node, k uint8) func(packet) bool {
	return func(p packet) bool { return p.from == from && p.frame().header.kind == k }
}

func (p packet) frame() *frame {
	f, err := decodeFrame(p.data)
	if err != nil {
		panic(err)
	}
	return f
}

// handAll delivers frames in the order given.
func (w *world) handAll(ps []packet) {
	w.t.Helper()
	for _, p := range ps {
		w.hand(p)
	}
}

// settle delivers everything and ticks, in no time, until nothing is on the wire.
func (w *world) settle() {
	w.t.Helper()
	for range 10_000 {
		for _, n := range w.nodes() {
			n.tick()
		}
		if len(w.wire) == 0 {
			return
		}
		w.handAll(w.takeAll())
	}
	w.t.Fatal("the wire never falls quiet")
}

// pass lets time go by: ticks when they were asked for, deliveries 1 ms after sending.
func (w *world) pass(d int64) {
	w.t.Helper()
	for end := w.now + d; ; {
		next := int64(math.MaxInt64)
		if len(w.wire) > 0 {
			next = w.now + ms
		}
		for _, n := range w.nodes() {
			n.tick()
			if n.next <= n.time() {
				w.t.Fatalf("%s asks to be called at %d, and it is %d", n.name, n.next, n.time())
			}
			if n.next < math.MaxInt64 {
				next = min(next, n.next-n.clock)
			}
		}
		if len(w.wire) > 0 {
			next = min(next, w.now+ms)
		}
		if next > end {
			w.now = end
			return
		}
		due := w.takeAll()
		w.now = max(next, w.now+1)
		w.handAll(due)
	}
}

// skip lets time go by without anybody noticing.
func (w *world) skip(d int64) { w.now += d }

// meet makes all nodes know and dial each other.
func (w *world) meet() {
	for _, n := range w.nodes() {
		for _, m := range w.nodes() {
			if n != m {
				n.up(m)
			}
		}
	}
	for _, n := range w.nodes() {
		for _, m := range w.nodes() {
			if n != m {
				n.open(m)
			}
		}
	}
}

// verify checks what always holds of a ledger.
func (n *node) verify() {
	n.w.t.Helper()
	fail := func(format string, args ...any) {
		n.w.t.Helper()
		n.w.t.Fatalf(n.name+": "+format, args...)
	}
	at, bytes := n.log.base(), 0
	for _, s := range n.log.segments {
		if s.from != at || s.to <= s.from {
			fail("segment (%d, %d] follows %d", s.from, s.to, at)
		}
		keys := make(map[windowKey]bool, len(s.entries))
		for _, e := range s.entries {
			if k := keyOf(e); keys[k] {
				fail("segment (%d, %d] has key %v twice", s.from, s.to, k)
			} else {
				keys[k] = true
			}
		}
		named := make(map[RecordKey]bool, len(s.records))
		for _, k := range s.records {
			if named[k] {
				fail("segment (%d, %d] names %v twice", s.from, s.to, k)
			}
			named[k] = true
		}
		at, bytes = s.to, bytes+s.size()
	}
	if at != n.log.head {
		fail("the log ends at %d, its head is %d", at, n.log.head)
	}
	if bytes != n.log.bytes {
		fail("the log counts %d bytes and has %d", n.log.bytes, bytes)
	}
	if len(n.register.known) != len(n.register.ends) || len(n.register.known) > n.cfg.MaxRecords {
		fail("%d records are known, %d ends", len(n.register.known), len(n.register.ends))
	}
	for k := range n.register.tellers {
		if n.register.known[k] == nil {
			fail("who told %v is remembered, and it is not", k)
		}
	}
	for i, l := range n.links {
		if i > 0 && n.links[i-1].peer >= l.peer {
			fail("links out of order")
		}
		if n.log.boundary(l.cursor) != l.cursor {
			fail("cursor %d of %d is no boundary", l.cursor, l.peer)
		}
		for _, f := range l.flight {
			if n.log.boundary(f.to) != f.to {
				fail("end %d of a batch on its way to %d is no boundary", f.to, l.peer)
			}
		}
		if l.state >= starting && n.log.boundary(l.sent) != l.sent {
			fail("what %d was sent ends at %d, which is no boundary", l.peer, l.sent)
		}
	}
}

package sim

import "github.com/stint-go/stint/internal/table"

// Drain is the table's; what it emits is booked.
func (t *audited) Drain(urgentOnly bool, emit func(l *table.Limit, hash uint64, r table.Row)) (int64, bool) {
	b := &t.n.book
	b.all = b.all || !urgentOnly
	return t.Table.Drain(urgentOnly, func(l *table.Limit, hash uint64, r table.Row) {
		b.drained = append(b.drained, amount{t.n.w.spotOf(t.n.w.keyOf(l, hash), r.Start, r.Per), r.N})
		emit(l, hash, r)
	})
}

// entriesOf is how many entries fit a frame, and so a drain: one takes 28 bytes at most.
func (w *World) entriesOf() int {
	if m := w.opts.Ledger.MaxFrame; m > 0 {
		return max(m/28, 1)
	}
	return 1 << 62
}

// seal books what the engine's last call has put into the log.
func (n *Node) seal() {
	b := &n.book
	room := n.w.entriesOf()
	for head := n.engine.Ledger().Head(); uint64(len(b.drains)) < head; {
		count := min(len(b.drained), room)
		d := b.drained[:count:count]
		b.drained = b.drained[count:]
		b.drains = append(b.drains, d)
		for _, a := range d {
			n.leaves(a)
		}
		if n.w.tracing() && count > 0 {
			n.w.tracef("%v drain %d: %v", n, len(b.drains), d)
		}
	}
	if len(b.drained) > 0 {
		n.w.failf("%v drained %v and did not log it", n, b.drained)
	}
	if b.drained = nil; b.all {
		n.drainedAll()
	}
}

// leaves books one amount that is in a drain now. A bucket's is all there is of it.
func (n *Node) leaves(a amount) {
	b, k := &n.book, n.w.keys[n.w.spots[a.spot].key]
	if k.bucket() && !k.changed && a.n != b.unsent.at(a.spot) {
		n.w.failf("%v drained %d of %v, want %d", n, a.n, n.w.spots[a.spot], b.unsent.at(a.spot))
	}
	b.unsent.add(a.spot, -a.n)
	for _, i := range b.pending[k.index] {
		n.w.takes[i].drain = uint64(len(b.drains))
	}
	b.pending[k.index] = b.pending[k.index][:0]
}

// drainedAll checks that nothing was left unsent, but of windows so long past that they
// fell off, and of those that a jump of the clock has moved, or moved past.
func (n *Node) drainedAll() {
	b := &n.book
	b.all = false
	left := make(map[int]int64)
	for i, v := range b.unsent {
		s := n.w.spots[i]
		switch {
		case v == 0:
			continue
		case b.moved[s.key]:
			left[s.key] += v
		case s.per == 0 || n.cluster() < s.start+2*s.per:
			n.w.failf("%v drained everything but %d of %v", n, v, s)
		}
		n.swallowed(i, v)
	}
	for k, v := range left {
		if v < 0 && !n.w.keys[k].verbs {
			n.w.failf("%v drained %d events too many of key %d", n, -v, k)
		}
	}
	clear(b.moved)
}

// swallowed books that events are told of another window, or of none.
func (n *Node) swallowed(at int, events int64) {
	s := n.w.spots[at]
	k := n.w.keys[s.key]
	n.tell(at, -events)
	k.window(s.start).stray += events
	n.w.Stats.Swallowed += max(events, 0)
	n.w.tracef("%v's clock swallows %d of %v", n, events, s)
}

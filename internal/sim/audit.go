package sim

import "github.com/stint-go/stint/internal/table"

// audited is a table whose drains and charges the oracle sees.
type audited struct {
	*table.Table
	n *Node
}

// Drain is the table's; what it emits is booked.
func (t *audited) Drain(urgentOnly bool, emit func(l *table.Limit, hash uint64, n, start int64)) (int64, bool) {
	b := &t.n.book
	return t.Table.Drain(urgentOnly, func(l *table.Limit, hash uint64, n, start int64) {
		b.drained = append(b.drained, amount{t.n.w.keyOf(l, hash), n})
		emit(l, hash, n, start)
	})
}

// Charge is the table's; what is charged is booked as applied of the peer whose frame
// is being taken in.
func (t *audited) Charge(l *table.Limit, hash uint64, now, n, start, debt int64) {
	k := t.n.w.keyOf(l, hash)
	t.n.book.applied[k] += n
	t.n.book.charged = append(t.n.book.charged, amount{k, n})
	t.n.beforeCharge(k)
	t.Table.Charge(l, hash, now, n, start, debt)
	t.n.remember(k)
}

func (w *World) keyOf(l *table.Limit, hash uint64) int {
	k, ok := w.hash[handle{l.ID(), hash}]
	if !ok {
		w.failf("key %x of limit %x is nobody's", hash, l.ID())
	}
	return k
}

// receive takes in a frame and holds what it changed against the origin's book: the
// number moves over drains that are applied to the event, or counted as lost.
func (n *Node) receive(from *Node, data []byte) {
	ledger, b := n.engine.Ledger(), &n.book
	before, known := ledger.Number(from.id)
	lost := ledger.Lost()
	b.charged = b.charged[:0]
	n.act(func(now int64) {
		if err := n.engine.Receive(now, from.id, data); err != nil {
			n.w.failf("%v→%v: %v", from, n, err)
		}
	})
	after, knows := ledger.Number(from.id)
	a := b.accounts[from.id]
	switch lost = ledger.Lost() - lost; {
	case !knows: // it may have forgotten it just now: a late frame is no sign of life
		if len(b.charged) > 0 {
			n.w.failf("%v applied news of %v and forgot it", n, from)
		}
		return
	case !known:
		n.begins(from, after)
		before = after
	case after < before:
		n.w.failf("%v went back from %d to %d of %v", n, before, after, from)
	case lost > 0:
		n.w.Stats.Lost += int(lost)
		if after-before != lost {
			n.w.failf("%v skipped (%d, %d] of %v and counted %d", n, before, after, from, lost)
		}
		if !n.w.opts.Lossy {
			n.w.failf("%v lost (%d, %d] of %v", n, before, after, from)
		}
		a.lost = append(a.lost, stretch{before, after})
		a.number, before = after, after
	}
	n.w.matches(n, from, before, after)
	n.w.forgave(n)
}

// begins is the first START of an origin's log, or the first since it was forgotten.
func (n *Node) begins(from *Node, at uint64) {
	a := n.book.accounts[from.id]
	if a == nil {
		a = &account{start: at, number: at, applied: make([]int64, len(n.w.keys))}
		n.book.accounts[from.id] = a
		return
	}
	if at < a.number {
		n.w.failf("%v begins %v at %d and had %d already: doubled", n, from, at, a.number)
	}
	a.lost = append(a.lost, stretch{a.number, at})
	a.number = at
}

// matches checks that just the drains (before, after] were charged.
func (w *World) matches(n, from *Node, before, after uint64) {
	b := &n.book
	if before == after && len(b.charged) == 0 {
		return
	}
	a := b.accounts[from.id]
	a.number = after
	if after > uint64(len(from.book.drains)) {
		w.failf("%v is at %d of %v, which has drained %d times", n, after, from, len(from.book.drains))
		return
	}
	want := w.scratch()
	for _, d := range from.book.drains[before:after] {
		for _, x := range d {
			want[x.key] += x.n
		}
	}
	for _, c := range b.charged {
		a.applied[c.key] += c.n
		want[c.key] -= c.n
		if told := from.book.admitted[c.key] - from.book.unsent[c.key]; a.applied[c.key] > told {
			w.failf("%v has applied %d events of key %d of %v, which told %d: doubled", n, a.applied[c.key], c.key, from, told)
		}
	}
	for k, missing := range want {
		if missing != 0 {
			w.failf("%v applied (%d, %d] of %v with %d events missing of key %d", n, before, after, from, missing, k)
		}
	}
}

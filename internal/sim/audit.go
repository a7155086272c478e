package sim

import (
	"github.com/stint-go/stint/internal/table"
)

// audited is a table whose drains, charges and jumps of time the oracle sees.
type audited struct {
	*table.Table
	n *Node
}

// Charge is the table's; what is charged is booked, and counted, until the call that is
// under way is over and [Node.matches] or [Node.expires] has found where it came from.
func (t *audited) Charge(l *table.Limit, hash uint64, now int64, r table.Row, debt int64) {
	n, k := t.n, t.n.w.keyOf(l, hash)
	at := n.w.spotOf(k, r.Start, r.Per)
	n.book.charged = append(n.book.charged, amount{at, r.N})
	n.book.known.add(at, r.N)
	n.beforeCharge(k)
	n.tallies[k].charge(n, n.w.keys[k], r, l.Def().Kind)
	t.Table.Charge(l, hash, now, r, debt)
	n.remember(k)
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
	if err := n.engine.Receive(n.now(), from.id, data); err != nil {
		n.w.failf("%v→%v: %v", from, n, err)
	}
	n.heeds(readFrame(data).kind)
	after, knows := ledger.Number(from.id)
	lost = ledger.Lost() - lost
	n.audit(from, before, after, lost, known, knows)
	n.seal()
	n.step()
}

func (n *Node) audit(from *Node, before, after, lost uint64, known, knows bool) {
	b := &n.book
	a := b.accounts[from.id]
	switch {
	case !knows: // it may have forgotten it just now: a late frame is no sign of life
		n.balanced("news of " + from.name + ", and forgot it")
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
	n.matches(from, before, after)
	n.w.forgave(n)
}

// begins is the first START of an origin's log, or the first since it was forgotten.
func (n *Node) begins(from *Node, at uint64) {
	a := n.book.accounts[from.id]
	if a == nil {
		n.book.accounts[from.id] = &account{start: at, number: at}
		return
	}
	if at < a.number {
		n.w.failf("%v begins %v at %d and had %d already: doubled", n, from, at, a.number)
	}
	a.lost = append(a.lost, stretch{a.number, at})
	a.number = at
}

// matches checks that just the drains (before, after] were charged, each amount where it
// belongs. One whose window is over the origin may have dropped.
func (n *Node) matches(from *Node, before, after uint64) {
	w, b := n.w, &n.book
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
			want[x.spot] += x.n
		}
	}
	w.observeWindows(want, after-before)
	for _, c := range b.charged {
		k := w.spots[c.spot].key
		a.applied.add(c.spot, c.n)
		b.applied[k] += c.n
		want[c.spot] -= c.n
	}
	for _, c := range b.charged {
		s := w.spots[c.spot]
		if s.per != 0 || w.keys[s.key].verbs {
			continue
		}
		if told := from.book.admitted[s.key] - from.book.unsent.at(c.spot); a.applied.at(c.spot) > told {
			w.failf("%v has applied %d events of %v of %v, which told %d: doubled", n, a.applied.at(c.spot), s, from, told)
		}
	}
	for i, missing := range want {
		switch s := w.spots[i]; {
		case missing == 0:
		case from.over(s):
			w.Stats.Over++
		default:
			w.failf("%v applied (%d, %d] of %v with %d events missing of %v", n, before, after, from, missing, s)
		}
	}
}

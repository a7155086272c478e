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
// numbers move over drains that are applied to the event, or counted as lost.
func (n *Node) receive(from *Node, data []byte) {
	w, b, f := n.w, &n.book, readFrame(data)
	ledger := n.engine.Ledger()
	before, lost := n.numbers(from.id, w.before), ledger.Lost()
	w.before = before
	b.charged = b.charged[:0]
	n.expects(from, f)
	if err := n.engine.Receive(n.now(), from.id, data); err != nil {
		w.failf("%v→%v: %v", from, n, err)
	}
	n.takenOver()
	n.heeds(f.kind)
	n.audit(from, f, before, ledger.Lost()-lost)
	n.seal()
	n.hasServed(from, f)
	n.step()
}

// audit looks at each key's number of the origin's log. It moves over drains of a batch
// that continues it, and over those just the key's amounts in them were charged; or over
// drains that were counted as lost.
func (n *Node) audit(from *Node, f frame, before []number, lost uint64) {
	w := n.w
	after := n.numbers(from.id, w.after)
	w.after = after
	n.countLoss(f, before, after, lost)
	applied := w.applied[:0]
	for k, now := range after {
		if was := before[k]; now.known && now != was && n.moves(from, f, k, was, now.n) {
			applied = append(applied, k)
		}
	}
	w.applied = applied
	n.matches(from, applied, before, after)
	w.forgave(n)
}

// countLoss has the node count drains as lost only where it may.
func (n *Node) countLoss(f frame, before, after []number, lost uint64) {
	w := n.w
	if w.Stats.Lost += int(lost); lost > 0 && !w.opts.Lossy {
		w.failf("%v lost %d drains in a %v", n, lost, f)
	}
	skipped := uint64(0)
	for k := range after {
		if before[k].known && after[k].known && (f.kind != batch || before[k].n > f.from()) {
			skipped = max(skipped, after[k].n-before[k].n)
		}
	}
	if skipped > lost {
		w.failf("%v skipped %d drains in a %v and counted %d", n, skipped, f, lost)
	}
}

// moves takes a key's number on. It reports whether that applied what lay between.
func (n *Node) moves(from *Node, f frame, k int, was number, to uint64) bool {
	c := &n.account(from.id).keys[k]
	switch {
	case to < c.end():
		n.w.failf("%v is at %d of %v in key %d and had %d already: doubled", n, to, from, k, c.end())
	case !was.known:
		c.begin(to)
	case was.n != c.end():
		n.w.failf("%v was at %d of %v in key %d, and has %d in it", n, was.n, from, k, c.end())
	case f.kind == batch && was.n <= f.from():
		if !c.heard() {
			c.begin(was.n)
		}
		c.extend(to)
		return true
	default:
		c.begin(to)
	}
	return false
}

// matches checks that of the keys just what their new drains have in them was charged,
// each amount where it belongs. One whose window is over the origin may have dropped.
func (n *Node) matches(from *Node, keys []int, before, after []number) {
	w, b := n.w, &n.book
	if len(keys) == 0 {
		n.balanced("nothing new of " + from.name)
		return
	}
	a := b.accounts[from.id]
	want := w.scratch()
	first, last := after[keys[0]].n, uint64(0)
	for _, k := range keys {
		first, last = min(first, before[k].n), max(last, after[k].n)
	}
	if last > uint64(len(from.book.drains)) {
		w.failf("%v is at %d of %v, which has drained %d times", n, last, from, len(from.book.drains))
		return
	}
	for d := first + 1; d <= last; d++ {
		for _, x := range from.book.drains[d-1] {
			if k := w.spots[x.spot].key; d > before[k].n && d <= after[k].n && a.keys[k].covers(d) {
				want[x.spot] += x.n
			}
		}
	}
	w.observeWindows(want, last-first)
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
		case from.mayLack(s, missing):
			w.Stats.Untold++
		default:
			w.failf("%v applied (%d, %d] of %v with %d events missing of %v", n, first, last, from, missing, s)
		}
	}
}

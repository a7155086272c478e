package sim

// Change has a node define a limit anew. What is used stays used (cases 20 and 21): of
// the same windows to the event, and what counts for longer or shorter from now on as
// its algorithm has it.
func (w *World) Change(place, limit int, l Limit) {
	n := w.nodes[place]
	if n.gone || n.leaving || n.defs[limit] == l {
		return
	}
	old := n.defs[limit]
	w.tracef("%v has %s by %s from here on", n, l.Name, l.text())
	w.Stats.Changes++
	keys := w.keys[w.first[limit] : w.first[limit]+l.Keys]
	left := make([]int64, len(keys))
	for i, k := range keys {
		k.changed = true
		left[i] = n.peek(k).Remaining
	}
	n.act(func(int64) {
		n.defs[limit] = l
		n.define(limit)
		for i, k := range keys {
			n.tallies[k.index].convert(n, k, old, l)
			n.kept(k, old, l, left[i])
		}
	})
}

// convert carries an account over to another definition.
func (t *tally) convert(n *Node, k *key, old, l Limit) {
	switch {
	case old.windows() && l.windows() && old.Per == l.Per:
		if old.Algorithm != l.Algorithm { // what came late for a fixed window may not have been kept
			t.exact = max(t.exact, l.cut(n.cluster()))
		}
		return
	case l.windows():
		clear(t.counts)
		t.exact = l.cut(n.cluster()) + l.Per
	}
	t.loose = true
}

// kept checks that what was used still is. A bucket that takes over from another kind
// counts from the next nanosecond on, which may be worth an event for so long.
func (n *Node) kept(k *key, old, l Limit, left int64) {
	after, want := n.peek(k).Remaining, max(l.most()-(old.most()-left), 0)
	least := want
	switch {
	case n.banned(k) > 0:
		return
	case old.log() && l.log() || old.windows() && l.windows() && old.Algorithm != l.Algorithm:
		return // events count for shorter from now on, or longer
	case left == 0: // it may have been in debt
		least = 0
	case l.bucket() && !old.bucket():
		least--
	}
	if after < least || after > want {
		n.w.failf("%v has %d left of key %d after a change, want %d: %d of %d were", n, after, k.index, want, left, old.most())
	}
}

// rollOut has a limit changed on some nodes and then on all, and on those still to come.
func (w *World) rollOut(limit int, last int64) {
	l := w.someChange(w.opts.Limits[limit])
	begin := w.between(0, last/2)
	for place := range w.nodes {
		if w.chance(0.5) {
			w.After(begin+w.between(0, last/8), func() { w.Change(place, limit, l) })
		}
	}
	w.After(begin+w.between(0, last/3), func() { w.ChangeAll(limit, l) })
}

// ChangeAll has everybody define a limit anew, and whoever is born from here on.
func (w *World) ChangeAll(limit int, l Limit) {
	w.present[limit] = l
	for place := range w.nodes {
		w.Change(place, limit, l)
	}
}

// someChange is more, or less, or in other windows, or by another algorithm.
func (w *World) someChange(l Limit) Limit {
	switch w.rand.IntN(6) {
	case 0:
		l.Events, l.Burst = 1+l.Events/2, 1+l.Burst/2
	case 1, 2:
		l.Events, l.Burst = 2*l.Events, 2*l.Burst
	case 3:
		l.Per = l.Per * w.between(2, 20) / 10
	default:
		l.Algorithm = Algorithm(w.rand.IntN(5))
		if l.Burst == 0 {
			l.Burst = l.Events
		}
	}
	return l
}

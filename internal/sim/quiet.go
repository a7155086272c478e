package sim

import "math"

// checkQuiet is what must hold once everybody has heard everything.
func (w *World) checkQuiet() error {
	for _, n := range w.nodes {
		for _, origin := range w.nodes {
			if origin != n {
				w.checkAmounts(n, origin)
			}
		}
		if s := n.table.Stats(); s.Evicted > 0 || s.Overflowed > 0 {
			w.failf("%v had no room for its keys: the balances mean nothing", n)
		}
		w.forgave(n)
		n.checkCounts()
		for _, k := range w.keys {
			if k.bucket() {
				w.checkBalance(n, k)
			}
		}
	}
	w.checkRecords()
	for _, k := range w.keys {
		switch {
		case k.bucket():
			w.checkAlike(k)
		case k.windows():
			w.checkWindowsAlike(k)
		default:
			w.checkLogsAlike(k)
		}
	}
	return w.err
}

// checkAmounts is promise 2: everything that a living origin spent since a node began
// to hear it is applied there, to the event, but for what was counted as lost and for
// windows that were over before it left. Who joins has all there ever was.
func (w *World) checkAmounts(n, origin *Node) {
	a, head := n.book.accounts[origin.id], uint64(len(origin.book.drains))
	if head > 0 && !a.upTo(head) {
		w.failf("%v is quiet and has not all of %v", n, origin)
		return
	}
	if a == nil {
		return
	}
	want := w.scratch()
	for d := uint64(1); d <= head; d++ {
		for _, x := range origin.book.drains[d-1] {
			if a.keys[w.spots[x.spot].key].covers(d) {
				want[x.spot] += x.n
			}
		}
	}
	for i, v := range want {
		if s := w.spots[i]; a.applied.at(i) != v && !n.book.vague[s.key] && !origin.over(s) && !origin.mayLack(s, v-a.applied.at(i)) {
			w.failf("%v has applied %d events of %v of %v, which spent %d", n, a.applied.at(i), s, origin, v)
		}
	}
	for k := range a.keys {
		if w.opts.Joins && !w.opts.Lossy && !a.keys[k].whole(head) {
			w.failf("%v has of key %d of %v only %v of %d drains", n, k, origin, a.keys[k].spans, head)
		}
	}
}

// checkHandover is what a node may count on that leaves because it is quiet: whomever it
// sees has everything of it.
func (w *World) checkHandover(n *Node) {
	for _, m := range w.nodes {
		if m == n || m.gone || !n.knows[m.id] {
			continue
		}
		if a, head := m.book.accounts[n.id], uint64(len(n.book.drains)); n.book.unsentEvents() > 0 || head > 0 && !a.upTo(head) {
			w.failf("%v leaves and %v has not all of it", n, m)
		}
	}
	w.Stats.Handovers++
}

// checkBalance replays in order of time what a node was admitted and has heard: it must
// not have more left than that.
func (w *World) checkBalance(n *Node, k *key) {
	if k.changed || n.banned(k) > 0 || n.book.vague[k.index] {
		return
	}
	var c central
	for i := range w.takes {
		t := &w.takes[i]
		if t.key != k.index {
			continue
		}
		if a := n.book.accounts[t.by.id]; t.by == n || a != nil && a.keys[k.index].covers(t.drain) {
			c.charge(t.at, t.n, k.interval())
		}
	}
	most := math.Max(0, float64(k.Burst)-c.used(w.now, k.interval()))
	if got := float64(n.peek(k).Remaining); got > most+w.slack(k)+float64(w.forgiven(n)+k.refunded) {
		w.failf("%v has %.0f left of key %d, a central bucket %.3f", n, got, k.index, most)
	}
}

// checkAlike is the second half of promise 2: all balances are equal, give or take one,
// unless a bucket was full while news was under way.
func (w *World) checkAlike(k *key) {
	most := math.Max(0, float64(k.Burst)-k.central.used(w.now, k.interval()))
	for _, n := range w.nodes {
		if w.forgiven(n) > 0 || n.unheard(k) != 0 || !w.comparable(n, k) {
			return
		}
	}
	for _, n := range w.nodes {
		if got := float64(n.peek(k).Remaining); got < most-1-w.slack(k) {
			w.failf("%v has %.0f left of key %d, a central bucket %.3f", n, got, k.index, most)
		}
	}
	if most < float64(k.Burst)-1 {
		w.Stats.Compared++
	}
}

// comparable reports whether a node has discarded no refill of a key that news under
// way would have used: less than an event comes back in all that time, or its bucket was
// not full since the world began to be at odds. What was given back may have found the
// bucket full, too.
func (w *World) comparable(n *Node, k *key) bool {
	return !k.verbs && !k.changed && !n.book.vague[k.index] && (k.rate(w.now) < 0.5 || n.book.fullAt[k.index] < w.since)
}

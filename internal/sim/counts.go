package sim

import "github.com/stint-go/stint/internal/table"

// checkCounts holds what a node's table has in it, raw, against the naive account of it.
func (n *Node) checkCounts() {
	saved := make([]table.Saved, len(n.w.keys))
	logs := make([]int64, len(n.w.keys))
	n.table.Dump(n.now(), func(l *table.Limit, s *table.Saved) {
		k := n.w.keyOf(l, s.Hash)
		saved[k] = *s
		for _, e := range s.Log {
			if e.At > n.now()-n.limit(n.w.keys[k]).Per {
				logs[k] += e.N
			}
		}
	})
	for i, k := range n.w.keys {
		switch l, t := n.limit(k), &n.tallies[i]; {
		case n.limits[k.limit] == nil:
		case l.windows():
			n.checkWindows(k, &saved[i])
		case l.log():
			if want := t.moments.since(n.now() - l.Per); !t.loose && logs[i] != want {
				n.w.failf("%v has %d events in the log of key %d, want %d", n, logs[i], i, want)
			}
		}
	}
}

// checkWindows looks at the window ahead, the current one, and the one before if it
// still counts.
func (n *Node) checkWindows(k *key, s *table.Saved) {
	l, t := n.limit(k), &n.tallies[k.index]
	current := l.cut(n.cluster())
	least := current
	if l.Algorithm == SlidingWindow {
		least -= l.Per
	}
	for start := current + l.Per; start >= max(least, t.exact); start -= l.Per {
		got := int64(0)
		if i := (s.At - start) / l.Per; s.At >= start && i < int64(len(s.Counts)) {
			got = s.Counts[i]
		}
		if want := t.counts[start]; got != want {
			n.w.failf("%v has counted %d events of %v, want %d", n, got, spot{k.index, start, l.Per}, want)
		}
	}
}

// checkWindowsAlike is promise 2 for windows: of the current one everybody counts as
// much, to the event, if all was told to those who live and nobody's clock had some of
// it counted elsewhere.
func (w *World) checkWindowsAlike(k *key) {
	first := w.nodes[0]
	l := first.limit(k)
	if !l.windows() {
		return
	}
	start := l.cut(first.cluster())
	at := w.spotOf(k.index, start, l.Per)
	for _, n := range w.nodes {
		if n.limit(k) != l || start < n.tallies[k.index].exact || w.foreign[at] || n.unheardAt(at) != 0 {
			return
		}
	}
	want := first.tallies[k.index].counts[start]
	for _, n := range w.nodes {
		if got := n.tallies[k.index].counts[start]; got != want {
			w.failf("%v has counted %d events of %v, %v %d", n, got, w.spots[at], first, want)
		}
	}
	if want > 0 {
		w.Stats.Windows++
		if k.changed {
			w.Stats.ChangedAlike++
		}
	}
}

// checkLogsAlike is the same for logs so long that nothing has expired. A refund that
// came before what it gives back is lost: that node counts more.
func (w *World) checkLogsAlike(k *key) {
	first := w.nodes[0]
	if !first.limit(k).log() || k.Per < 60*Second {
		return
	}
	for _, n := range w.nodes {
		if t := &n.tallies[k.index]; n.unheard(k) != 0 || k.verbs && !n.heardAll(k) || t.loose || t.early {
			return
		}
	}
	want := first.tallies[k.index].moments.sum()
	for _, n := range w.nodes {
		if got := n.tallies[k.index].moments.sum(); got != want {
			w.failf("%v has %d events in the log of key %d, %v %d", n, got, k.index, first, want)
		}
	}
	if want > 0 {
		w.Stats.Logs++
	}
}

// heardAll reports whether a node has heard all that anybody ever told of a key.
func (n *Node) heardAll(k *key) bool {
	for _, o := range n.w.byID {
		if o == n || !o.book.active[k.index] {
			continue
		}
		a := n.book.accounts[o.id]
		if a == nil || !a.keys[k.index].whole(uint64(len(o.book.drains))) || o.gone && o.book.unsentEvents() > 0 {
			return false
		}
	}
	return true
}

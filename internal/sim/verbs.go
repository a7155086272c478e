package sim

import "github.com/stint-go/stint/internal/table"

// grant is a take that can be cancelled where it was made.
type grant struct {
	by   *Node
	key  *key
	n    int64
	mark table.Row
}

// Cancel gives back a take, to where it was taken. Case 23.
func (w *World) Cancel(g grant) int64 {
	if g.by.gone || g.by.leaving {
		return 0
	}
	return w.giveBack(g.by, g.key, g.n, g.mark)
}

// Return gives events back at a node that need not have taken them.
func (w *World) Return(place int, a Ask) int64 {
	n, k := w.nodes[place], w.key(a.Limit, a.Key)
	if n.gone || n.leaving {
		return 0
	}
	return w.giveBack(n, k, a.N, n.table.Mark(n.limits[a.Limit], n.now()))
}

func (w *World) giveBack(n *Node, k *key, events int64, mark table.Row) int64 {
	k.verbs = true
	l, before := n.limits[k.limit], n.peek(k)
	want, at := n.toGive(k, events, mark)
	given := n.table.Refund(l, l.Hash(k.name), n.now(), events, mark)
	w.tracef("%v gives back %d of %d of %s %s", n, given, events, k.Name, k.name)
	if want >= 0 && given != want || given < 0 || given > events {
		w.failf("%v gave back %d of %d events of key %d, want %d", n, given, events, k.index, want)
	}
	n.gave(k, given, at, mark)
	n.rises(k, before, given)
	return given
}

// toGive is how many of the events can be given back, -1 if that cannot be told, and
// where they are.
func (n *Node) toGive(k *key, events int64, mark table.Row) (give int64, at int) {
	l, t := n.limit(k), &n.tallies[k.index]
	switch used, known := t.used(n, k); {
	case l.windows():
		start, kept := n.lands(l, mark)
		at = n.w.spotOf(k.index, start, l.Per)
		least := l.cut(n.cluster())
		if l.Algorithm == SlidingWindow {
			least -= l.Per
		}
		if start < t.exact || !known {
			return -1, at
		}
		if !kept || start < least {
			return 0, at
		}
		return max(min(events, t.counts[start]), 0), at
	case l.log() && known && mark.Per == 0:
		if at = n.w.spotOf(k.index, 0, 0); mark.Start <= n.now()-l.Per {
			return 0, at
		}
		return min(events, used), at
	}
	return -1, n.w.spotOf(k.index, 0, 0)
}

// gave books what a node has given back.
func (n *Node) gave(k *key, events int64, at int, mark table.Row) {
	if events == 0 {
		return
	}
	n.unsure(k, at)
	n.tell(at, -events)
	switch l := n.limit(k); {
	case l.windows():
		n.tallies[k.index].add(n.w.spots[at].start, -events)
	case l.log():
		n.tallies[k.index].moments.count(mark.Start, -events)
	}
	n.w.Stats.Given += events
	n.w.unspend(k, events, n.w.spots[at].start)
}

// rises checks that so much has come back at most, and never above full: see has seen to
// that.
func (n *Node) rises(k *key, before table.Result, given int64) {
	if after := n.peek(k); before.OK && after.Remaining > before.Remaining+given || after.Remaining < before.Remaining {
		n.w.failf("%v gave back %d of key %d: %d left, before %d", n, given, k.index, after.Remaining, before.Remaining)
	}
}

// Reset gives back all that a node sees as used.
func (w *World) Reset(place, limit, kth int) {
	n, k := w.nodes[place], w.key(limit, kth)
	if n.gone || n.leaving {
		return
	}
	k.verbs = true
	n.peek(k)
	given := n.table.Reset(n.limits[limit], n.limits[limit].Hash(k.name), n.now())
	w.tracef("%v resets %s %s: %d", n, k.Name, k.name, given)
	l := n.limit(k)
	if !l.windows() {
		n.gave(k, given, w.spotOf(k.index, 0, 0), table.Row{Start: n.now()})
	} else {
		start := l.cut(n.cluster())
		n.clear(k, l, start)
		if l.Algorithm == SlidingWindow {
			n.clear(k, l, start-l.Per)
		}
	}
	if r := n.peek(k); n.banned(k) <= 0 && r.Remaining != l.most() {
		w.failf("%v reset key %d and has %d left of it", n, k.index, r.Remaining)
	}
}

// clear books that a node has given back all of a window.
func (n *Node) clear(k *key, l Limit, start int64) {
	at := n.w.spotOf(k.index, start, l.Per)
	n.unsure(k, at)
	n.gave(k, max(n.tallies[k.index].counts[start], 0), at, table.Row{})
}

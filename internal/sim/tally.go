package sim

import "github.com/stint-go/stint/internal/table"

// tally is what a node must have counted of a key by now, by a naive account of its own:
// events of each window there ever was, or of each moment of a log. A bucket has none.
type tally struct {
	counts  map[int64]int64 // by start, as the node cuts windows now
	exact   int64           // windows before this one may differ: the clock or the cut has moved
	moments moments
	loose   bool // the log may differ
	early   bool // something was given back before it was taken, and that is lost
}

// lands is the window that an amount from elsewhere counts in, as the node sees it now;
// ok is false if that is none of those that it keeps.
func (n *Node) lands(l Limit, r table.Row) (start int64, ok bool) {
	wall := n.cluster()
	current, at := l.cut(wall), r.Start
	switch {
	case r.Per == 0:
		at = min(n.table.Wall(r.Start), wall)
	case r.Per != l.Per || l.cut(r.Start) != r.Start:
		at = min(r.Start+r.Per-1, wall)
	}
	if at >= current+2*l.Per {
		at = current
	}
	return l.cut(at), at >= current-2*l.Per
}

// charge counts an amount from elsewhere.
func (t *tally) charge(n *Node, k *key, r table.Row, kind table.Kind) {
	switch l := n.limit(k); {
	case l.windows():
		start, ok := n.lands(l, r)
		n.w.observeLanding(n, k, r, start, ok)
		if ok {
			t.add(start, r.N)
		}
	case l.log():
		t.loose = t.loose || kind == table.Unknown || r.Per != 0
		now := n.now()
		if t.moments.forget(now - l.Per); r.Start <= now-l.Per {
			return
		}
		if r.N < 0 && t.moments.sum() < -r.N {
			t.early = true
			n.w.Stats.EarlyRefunds++
		}
		t.moments.count(min(r.Start, now), r.N)
	}
}

func (t *tally) add(start, events int64) {
	if t.counts == nil {
		t.counts = make(map[int64]int64)
	}
	t.counts[start] += events
}

// take counts what the node admits now. It returns what is news of it: a window that was
// below zero is settled first.
func (t *tally) take(n *Node, k *key, events int64) (news int64) {
	switch l := n.limit(k); {
	case l.windows():
		start := l.cut(n.cluster())
		settled := max(-t.counts[start], 0)
		t.add(start, settled+events)
		return settled + events
	case l.log():
		t.moments.count(n.now(), events)
	}
	return events
}

// used is how many events count at the node now; known is false if that cannot be told.
func (t *tally) used(n *Node, k *key) (used int64, known bool) {
	switch l := n.limit(k); {
	case l.windows():
		wall := n.cluster()
		start := l.cut(wall)
		used = max(t.counts[start], 0)
		if l.Algorithm == SlidingWindow {
			start -= l.Per
			left := start + 2*l.Per - wall
			used += (max(t.counts[start], 0)*left + l.Per - 1) / l.Per
		}
		return used, start >= t.exact
	case l.log():
		t.moments.forget(n.now() - l.Per)
		t.loose = t.loose || len(t.moments) > 200 // coarsened soon
		return t.moments.sum(), !t.loose
	}
	return 0, false
}

// blur says that what is counted now may have gone to other windows.
func (t *tally) blur(n *Node, k *key) {
	l := n.limit(k)
	t.exact = max(t.exact, l.cut(n.cluster())+l.Per)
	for start := range t.counts {
		t.exact = max(t.exact, start+l.Per)
		n.w.foreign[n.w.spotOf(k.index, start, l.Per)] = true
	}
	n.book.moved[k.index] = true
}

// unsure notes that the node takes from, or gives back to, a window of which it may have
// counted something else: what it will tell cannot be known before it does.
func (n *Node) unsure(k *key, at int) {
	if s := n.w.spots[at]; s.per != 0 && s.start < n.tallies[k.index].exact {
		n.w.foreign[at] = true
		n.book.moved[k.index] = true
	}
}

// see holds what a node answers against the account, and against its bans.
func (n *Node) see(k *key, r table.Result) {
	left := n.banned(k)
	used, known := n.tallies[k.index].used(n, k)
	most := n.limit(k).most()
	switch {
	case r.Remaining < 0 || r.Remaining > most:
		n.w.failf("%v has %d left of key %d, of %d at most", n, r.Remaining, k.index, most)
	case left > 0 && (r.OK || r.Remaining != 0 || r.RetryAfter < left):
		n.w.failf("%v should ban key %d for %d ms and answers %+v", n, k.index, left/Millisecond, r)
	case left <= 0 && r.Remaining > 0 && !r.OK:
		n.w.failf("%v bans key %d: %+v", n, k.index, r)
	case left <= 0 && known && r.Remaining != max(most-used, 0):
		n.w.failf("%v has %d left of key %d, and has counted %d of %d", n, r.Remaining, k.index, used, most)
	}
}

package sim

import "github.com/stint-go/stint/internal/table"

// Ask is one take of a key under a limit, by their places in Options.
type Ask struct {
	Limit, Key int
	N          int64
}

func (w *World) key(limit, k int) *key { return w.keys[w.first[limit]+k] }

// Take asks a node for events now, and has the oracle judge the answer. A node that is
// down or leaves answers no.
func (w *World) Take(place int, a Ask) bool {
	n, k := w.nodes[place], w.key(a.Limit, a.Key)
	if n.gone || n.leaving {
		return false
	}
	l := n.limits[a.Limit]
	if k.bucket() && k.asked.take(w.now, a.N, k.Limit) {
		k.granted += a.N
	}
	before := n.peek(k)
	n.foundFull(k.index, before)
	mark := n.table.Mark(l, n.now())
	r := n.table.Take(l, l.Hash(k.name), n.now(), a.N)
	n.judge(k, a.N, before, r)
	if r.OK {
		w.admit(n, k, a.N, mark)
		w.grants = append(w.grants, grant{n, k, a.N, mark})
	} else if before.OK && a.N <= before.Remaining {
		w.failf("%v refuses %d of key %d and has %d left", n, a.N, k.index, before.Remaining)
	}
	return r.OK
}

// TakeAll is Take for several keys, all or none.
func (w *World) TakeAll(place int, asks ...Ask) bool {
	n := w.nodes[place]
	if n.gone || n.leaving {
		return false
	}
	var all []table.Ask
	var before []table.Result
	for _, a := range asks {
		k := w.key(a.Limit, a.Key)
		all = append(all, table.Ask{Limit: n.limits[a.Limit], Hash: n.limits[a.Limit].Hash(k.name), N: a.N})
		before = append(before, n.peek(k))
		n.foundFull(k.index, before[len(before)-1])
	}
	into := make([]table.Result, len(asks))
	ok := n.table.TakeAll(all, n.now(), into)
	for i, a := range asks {
		k := w.key(a.Limit, a.Key)
		into[i].OK = ok
		n.judge(k, a.N, before[i], into[i])
		if ok {
			w.admit(n, k, a.N, n.table.Mark(n.limits[a.Limit], n.now()))
		}
	}
	return ok
}

// Peek is what is left of a key as a node sees it.
func (w *World) Peek(place, limit, k int) int64 {
	return w.nodes[place].peek(w.key(limit, k)).Remaining
}

// peek is what a node answers to somebody who only looks, which the oracle checks.
func (n *Node) peek(k *key) table.Result {
	if n.limits[k.limit] == nil {
		return table.Result{}
	}
	r := n.glance(k)
	n.see(k, r)
	return r
}

func (n *Node) glance(k *key) table.Result {
	l := n.limits[k.limit]
	if l == nil {
		return table.Result{}
	}
	return n.table.Peek(l, l.Hash(k.name), n.now(), 0)
}

// judge holds an answer against the balance before it: nothing is admitted beyond it, a
// refusal changes nothing (promise 5), and nobody is told to wait for longer than helps.
func (n *Node) judge(k *key, events int64, before, r table.Result) {
	w, after := n.w, n.glance(k)
	if w.tracing() {
		w.tracef("%v takes %d of %s %s: %v, %d left", n, events, k.Name, k.name, r.OK, after.Remaining)
	}
	switch {
	case r.OK && after.Remaining != before.Remaining-events:
		w.failf("%v took %d of %d of key %d: %d left", n, events, before.Remaining, k.index, after.Remaining)
	case !r.OK && (after.Remaining != before.Remaining || after.ResetAfter != before.ResetAfter):
		w.failf("%v refused and changed key %d: %+v, before %+v", n, k.index, after, before)
	case !r.OK && !n.limit(k).bucket() && events <= n.limit(k).most() && r.RetryAfter > max(3*n.limit(k).Per, n.banned(k)):
		w.failf("%v locks key %d out for %d ms", n, k.index, r.RetryAfter/Millisecond)
	}
	if !r.OK {
		w.Stats.Refused++
	}
}

// admit books an admission, and holds it against the judge of the whole cluster.
func (w *World) admit(n *Node, k *key, events int64, mark table.Row) {
	at := w.spotOf(k.index, mark.Start, mark.Per)
	news := n.tallies[k.index].take(n, k, events)
	n.tell(at, news)
	b := &n.book
	b.pending[k.index] = append(b.pending[k.index], len(w.takes))
	w.takes = append(w.takes, take{w.now, n, k.index, events, 0})
	w.admitted(n, k, events, at)
}

func (w *World) admitted(n *Node, k *key, events int64, at int) {
	w.Stats.Takes++
	n.unsure(k, at)
	w.spend(k, events, w.spots[at].start)
	n.remember(k.index)
	w.checkExcess(n, k, at)
	n.peek(k)
}

// foundFull notes that a bucket is full: news that is under way then may find refill
// discarded.
func (n *Node) foundFull(k int, r table.Result) {
	if r.ResetAfter == 0 {
		n.book.fullAt[k] = n.w.now
	}
}

func (n *Node) beforeCharge(k int) { n.foundFull(k, n.glance(n.w.keys[k])) }

package sim

import "github.com/stint-go/stint/internal/table"

// Ask is one take of a key under a limit, by their places in Options.
type Ask struct {
	Limit, Key int
	N          int64
}

// Take asks a node for events now, and has the oracle judge the answer. A node that is
// down or leaves answers no.
func (w *World) Take(place int, a Ask) bool {
	n := w.nodes[place]
	if n.gone || n.leaving {
		return false
	}
	l, k := n.limits[a.Limit], w.keys[w.first[a.Limit]+a.Key]
	hash := l.Hash(k.name)
	if k.asked.take(w.now, a.N, k.Limit) {
		k.granted += a.N
	}
	before := n.peek(k)
	n.foundFull(k.index, before)
	r := n.table.Take(l, hash, n.now(), a.N)
	n.judge(k, a.N, before, r)
	if r.OK {
		w.admit(n, k, a.N)
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
		k := w.keys[w.first[a.Limit]+a.Key]
		all = append(all, table.Ask{Limit: n.limits[a.Limit], Hash: n.limits[a.Limit].Hash(k.name), N: a.N})
		before = append(before, n.peek(k))
		n.foundFull(k.index, before[len(before)-1])
	}
	into := make([]table.Result, len(asks))
	ok := n.table.TakeAll(all, n.now(), into)
	for i, a := range asks {
		k := w.keys[w.first[a.Limit]+a.Key]
		into[i].OK = ok
		n.judge(k, a.N, before[i], into[i])
		if ok {
			w.admit(n, k, a.N)
		}
	}
	return ok
}

// Peek is what is left of a key as a node sees it.
func (w *World) Peek(place, limit, k int) int64 {
	return w.nodes[place].peek(w.keys[w.first[limit]+k]).Remaining
}

func (n *Node) peek(k *key) table.Result {
	l := n.limits[k.limit]
	if l == nil {
		return table.Result{}
	}
	return n.table.Peek(l, l.Hash(k.name), n.now(), 0)
}

// judge holds an answer against the balance before it: nothing is admitted beyond it, a
// refusal changes nothing (promise 5), and what remains is within 0 … burst.
func (n *Node) judge(k *key, events int64, before, r table.Result) {
	w, after := n.w, n.peek(k)
	if w.tracing() {
		w.tracef("%v takes %d of %s %s: %v, %d left", n, events, k.Name, k.name, r.OK, after.Remaining)
	}
	switch {
	case after.Remaining < 0 || after.Remaining > k.Burst:
		w.failf("%v has %d left of key %d, burst %d", n, after.Remaining, k.index, k.Burst)
	case r.OK && after.Remaining != before.Remaining-events:
		w.failf("%v took %d of %d of key %d: %d left", n, events, before.Remaining, k.index, after.Remaining)
	case !r.OK && (after.Remaining != before.Remaining || after.ResetAfter != before.ResetAfter):
		w.failf("%v refused and changed key %d: %+v, before %+v", n, k.index, after, before)
	}
	if !r.OK {
		w.Stats.Refused++
	}
}

// admit books an admission, and holds it against the central bucket.
func (w *World) admit(n *Node, k *key, events int64) {
	w.Stats.Takes++
	b := &n.book
	b.admitted[k.index] += events
	b.unsent[k.index] += events
	b.pending[k.index] = append(b.pending[k.index], len(w.takes))
	w.takes = append(w.takes, take{w.now, n, k.index, events, 0})
	k.total += events
	k.central.charge(w.now, events, k.interval())
	n.remember(k.index)
	w.checkExcess(n, k)
}

// foundFull notes that a bucket is full: news that is under way then may find refill
// discarded.
func (n *Node) foundFull(k int, r table.Result) {
	if r.ResetAfter == 0 {
		n.book.fullAt[k] = n.w.now
	}
}

func (n *Node) beforeCharge(k int) { n.foundFull(k, n.peek(n.w.keys[k])) }

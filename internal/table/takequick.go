package table

import "github.com/stint-go/stint/bucket"

// quickAsks is how many asks takeQuick serves: the usual few limits on one user.
const quickAsks = 4

// quick is an ask that takeQuick is at work on.
type quick struct {
	hash   uint64
	index  int // in asks
	s      *shard
	slot   int
	v      *version
	unsent int64 // once the take is made
	saved  bool
	was    bucketBody // if saved: the entry's body, whatever its kind, to put it back
}

// takeQuick is TakeAll where it is simple: all keys are known, none is banned, asked
// twice, of an old definition or kept in a log, and all takes pass. It makes them one
// after the other; where one does not pass, it puts everything back and reports false:
// nothing has happened then, and TakeAll has to look closer.
func (t *Table) takeQuick(asks []Ask, now int64, into []Result) bool {
	var few [quickAsks]quick
	picks := few[:len(asks)]
	for i := range asks { // in the order of the locks
		if asks[i].N <= 0 {
			return false
		}
		j := i
		for ; j > 0 && picks[j-1].hash > asks[i].Hash; j-- {
			picks[j].hash, picks[j].index = picks[j-1].hash, picks[j-1].index
		}
		picks[j].hash, picks[j].index = asks[i].Hash, i
	}
	n, ok, poke := 0, true, false
	for ; ok && n < len(picks); n++ {
		q := &picks[n]
		if q.s = t.shard(q.hash); n == 0 || q.s != picks[n-1].s {
			if !q.s.mu.TryLock() {
				q.s.wait()
			}
		}
		last := n+1 == len(picks) // refused, it has changed nothing
		ok = (n == 0 || q.hash != picks[n-1].hash) && t.spendQuick(q, &asks[q.index], now, last, &into[q.index])
	}
	for i := range picks[:n] {
		q := &picks[i]
		switch {
		case ok:
			more := t.admitQuick(q, &asks[q.index], now, into[q.index].Remaining)
			poke = poke || more
		case q.saved:
			q.s.entries[q.slot].bucketBody = q.was
		}
		if i+1 == n || q.s != picks[i+1].s {
			q.s.mu.Unlock()
		}
	}
	if poke {
		t.poke()
	}
	return ok
}

// spendQuick makes one take, if it is simple and passes.
func (t *Table) spendQuick(q *quick, a *Ask, now int64, last bool, r *Result) bool {
	v := a.Limit.current.Load()
	if q.slot = q.s.find(a.Hash, a.Limit.index); q.slot < 0 {
		return false
	}
	e := &q.s.entries[q.slot]
	if e.gen != v.gen || e.flags&banned != 0 || v.Kind != Bucket && v.Kind != Window {
		return false
	}
	if q.v = v; !last {
		q.saved, q.was = true, e.bucketBody
	}
	if v.Kind == Window {
		*r = t.spendWindow(e.window(), v, now, a.N, v.record)
		q.unsent = e.pending()
	} else {
		var unrecorded bucket.Run
		run := e.run(v, &unrecorded)
		r.Remaining, r.RetryAfter = v.Bucket.Spend(&e.state, run, now, a.N)
		r.ResetAfter = until(e.state, now)
		q.unsent = run.N
	}
	r.OK = r.RetryAfter == 0
	return r.OK
}

// admitQuick counts and marks a take. It reports whether to poke.
func (t *Table) admitQuick(q *quick, a *Ask, now, left int64) bool {
	q.s.of(a.Limit).admit(a.N)
	return q.v.record && t.markSpentLocked(q.s, q.slot, q.unsent, left, now)
}

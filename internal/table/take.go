package table

import (
	"math"

	"github.com/stint-go/stint/bucket"
)

// Result is the outcome of a take or a peek. Times are nanoseconds from its now.
type Result struct {
	OK         bool
	Remaining  int64 // events that could still be taken at once
	RetryAfter int64 // 0 if OK; else ≥ 1, or bucket.Never if waiting cannot help
	ResetAfter int64 // until the whole budget is back
}

// Take asks for n ≥ 0 events of a key at now. Refused, it changes nothing and inserts
// nothing; n = 0 is a peek. It allocates nothing, but for a shard's growth.
//
// If the table is full, a fresh key takes the place of an entry of its shard: of one at
// rest, or of the one of a small sample that will be at rest soonest; never of one at
// its limit or in debt, nor of one with something unsent. Where there is none such, the
// key is decided on the limit's one overflow entry.
func (t *Table) Take(l *Limit, hash uint64, now, n int64) Result {
	if n <= 0 {
		return t.Peek(l, hash, now, 0)
	}
	v := l.current.Load()
	s := t.shard(hash)
	if !s.mu.TryLock() {
		s.wait()
	}
	i := s.find(hash, l.index)
	if i < 0 || s.entries[i].gen != v.gen || v.Kind != Bucket {
		if i, v = t.readyLocked(s, l, hash, now, n); i < 0 {
			s.mu.Unlock()
			return t.takeAbsent(l, v, hash, now, n)
		}
	}
	e := &s.entries[i]
	var unrecorded bucket.Run
	run := e.run(v, &unrecorded)
	left, retry := v.Bucket.Spend(&e.state, run, now, n)
	reset := until(e.state, now)
	if retry > 0 {
		s.of(l).refuse(n)
		s.mu.Unlock()
		return Result{false, left, retry, reset}
	}
	s.of(l).admit(n)
	poke := v.record && t.markSpentLocked(s, i, run.N, left, now)
	s.mu.Unlock()
	if poke {
		t.poke()
	}
	return Result{true, left, 0, reset}
}

// readyLocked makes the entry ready to be decided on by the definition in force, which
// it returns with its slot; -1 if the decision needs no entry, or finds no room for it.
func (t *Table) readyLocked(s *shard, l *Limit, hash uint64, now, n int64) (int, *version) {
	v := l.current.Load() // under the lock: not older than any entry of the shard
	if v.Kind != Bucket {
		return -1, v
	}
	i := s.find(hash, l.index)
	switch {
	case i >= 0:
		l.refresh(&s.entries[i], v, now)
	case n <= v.Bucket.Burst():
		i = t.insertLocked(s, l, v, hash, now)
	}
	return i, v
}

// takeAbsent decides where readyLocked gave no entry.
func (t *Table) takeAbsent(l *Limit, v *version, hash uint64, now, n int64) Result {
	switch {
	case v.Kind != Bucket:
		r := flat(v.Kind)
		l.count(n, r.OK)
		return r
	case n > v.Bucket.Burst():
		l.count(n, false)
		return result(&v.Bucket, full, now, n, false)
	}
	t.overflowed.Add(1)
	return t.Take(l, l.overflow, now, n)
}

// Peek says whether a take of n would pass at now, and takes nothing.
func (t *Table) Peek(l *Limit, hash uint64, now, n int64) Result {
	n = max(n, 0)
	s := t.shard(hash)
	s.mu.Lock()
	v := l.current.Load()
	state, _ := t.lookLocked(s, l, v, hash, now)
	s.mu.Unlock()
	if v.Kind != Bucket {
		return flat(v.Kind)
	}
	after, ok := v.Bucket.Take(state, now, n)
	if !ok {
		state = after // the clock may have gone back
	}
	return result(&v.Bucket, state, now, n, ok)
}

// lookLocked returns the state of a key under v, the definition in force, and the slot
// of its entry, -1 if there is none. It moves the entry to v, so that what is said about
// it stays true.
func (t *Table) lookLocked(s *shard, l *Limit, v *version, hash uint64, now int64) (bucket.State, int32) {
	if v.Kind != Bucket {
		return full, -1
	}
	i := s.find(hash, l.index)
	if i < 0 {
		return full, -1
	}
	e := &s.entries[i]
	l.refresh(e, v, now)
	return e.state, int32(i)
}

func result(b *bucket.Limit, s bucket.State, now, n int64, ok bool) Result {
	r := Result{OK: ok, Remaining: b.Remaining(s, now), ResetAfter: b.ResetAfter(s, now)}
	if !ok {
		if r.RetryAfter = b.RetryAfter(s, now, n); r.RetryAfter == 0 {
			r.RetryAfter = bucket.Never // the end of time
		}
	}
	return r
}

// until is how long it takes from now until a bucket is full.
func until(s bucket.State, now int64) int64 {
	if s.At < now {
		return 0
	}
	d := s.At - now
	if s.Rem > 0 {
		d++
	}
	return d
}

// flat is every decision of a limit without entries.
func flat(k Kind) Result {
	if k == Unlimited {
		return Result{OK: true, Remaining: math.MaxInt64}
	}
	return Result{RetryAfter: bucket.Never}
}

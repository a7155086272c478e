package table

import "github.com/stint-go/stint/bucket"

// Result is the outcome of a take or a peek. Times are nanoseconds from its now.
type Result struct {
	OK         bool
	Remaining  int64 // events that could still be taken at once
	RetryAfter int64 // 0 if OK; else ≥ 1, or bucket.Never if waiting cannot help
	ResetAfter int64 // until the whole budget is back
}

// Take asks for n ≥ 0 events of a key at now. Refused, it changes nothing and inserts
// nothing; n = 0 is a peek. It allocates nothing, but for a shard's growth and that of a
// sliding log, and once for each window of a limit.
//
// If the table is full, a fresh key takes the place of an entry of its shard: of one at
// rest, or of the one of a small sample that carries least; never of one at its limit or
// in debt, nor of one with something unsent. Where there is none such, the key is decided
// on the limit's one overflow entry.
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
	if ready := i >= 0 && s.entries[i].gen == v.gen && s.entries[i].flags&banned == 0; !ready || v.Kind != Bucket {
		if ready && v.Kind.counts() {
			return t.decideLocked(s, l, v, i, now, n, true)
		}
		return t.takeLocked(s, l, hash, now, n, true)
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

// Hold is Take, but what it gets is not recorded as unsent: a record of the hold carries
// it to the peers.
func (t *Table) Hold(l *Limit, hash uint64, now, n int64) Result {
	if n <= 0 {
		return t.Peek(l, hash, now, 0)
	}
	s := t.shard(hash)
	s.mu.Lock()
	return t.takeLocked(s, l, hash, now, n, false)
}

// takeLocked is a take of n ≥ 1 events of any kind, with the shard locked; it unlocks it.
// News says that peers are to be told.
func (t *Table) takeLocked(s *shard, l *Limit, hash uint64, now, n int64, news bool) (r Result) {
	v := l.current.Load() // under the lock: not older than any entry of the shard
	if !v.Kind.counts() {
		s.mu.Unlock()
		r = flat(v.Kind)
		l.count(n, r.OK)
		return r
	}
	i := t.readyLocked(s, l, v, hash, now)
	left := t.banLeft(s, l, hash, now)
	if refused := left > 0 || n > v.most; i < 0 && !refused {
		if i = t.insertLocked(s, l, v, hash, now); i < 0 {
			s.mu.Unlock()
			t.overflowed.Add(1)
			return t.overflowTake(l, now, n, news)
		}
	} else if refused {
		if r = t.weighLocked(s, i, v, now, n); left > 0 {
			r.ban(left)
		}
		s.of(l).refuse(n)
		s.mu.Unlock()
		return r
	}
	return t.decideLocked(s, l, v, i, now, n, news)
}

// decideLocked is a take of the entry in slot i, which is ready for v; it unlocks the
// shard.
func (t *Table) decideLocked(s *shard, l *Limit, v *version, i int, now, n int64, news bool) Result {
	r, poke := t.spendLocked(s, i, v, now, n, news)
	if r.OK {
		s.of(l).admit(n)
	} else {
		s.of(l).refuse(n)
	}
	s.mu.Unlock()
	if poke {
		t.poke()
	}
	return r
}

// overflowTake decides a take for which there is no room.
func (t *Table) overflowTake(l *Limit, now, n int64, news bool) Result {
	s := t.shard(l.overflow)
	s.mu.Lock()
	return t.takeLocked(s, l, l.overflow, now, n, news)
}

// readyLocked returns the slot of a key's entry, made ready to be decided on by v, the
// definition in force, which has keys to count; -1 if there is none.
func (t *Table) readyLocked(s *shard, l *Limit, v *version, hash uint64, now int64) int {
	i := s.find(hash, l.index)
	if i >= 0 && s.entries[i].gen != v.gen {
		t.refreshLocked(s, i, l, v, now)
	}
	return i
}

// Peek says whether a take of n would pass at now, and takes nothing.
func (t *Table) Peek(l *Limit, hash uint64, now, n int64) Result {
	s := t.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	v := l.current.Load()
	if !v.Kind.counts() {
		return flat(v.Kind)
	}
	r := t.weighLocked(s, t.readyLocked(s, l, v, hash, now), v, now, max(n, 0))
	if left := t.banLeft(s, l, hash, now); left > 0 {
		r.ban(left)
	}
	return r
}

package table

// Borrow takes n ≥ 1 events of a bucket at now even if they are not there yet, and
// returns how long until they would have been, in nanoseconds: 0 if they were. Nothing is
// taken, and ok is false, of other kinds of limit, of a banned key, if n is more than the
// burst, or if so much was borrowed before that it can no longer be told from a clock
// that went back: see [bucket.Limit.Borrow].
func (t *Table) Borrow(l *Limit, hash uint64, now, n int64) (wait int64, ok bool) {
	s := t.shard(hash)
	s.mu.Lock()
	v := l.current.Load()
	if v.Kind != Bucket || n < 1 || n > v.most || t.banLeft(s, l, hash, now) > 0 {
		s.mu.Unlock()
		return 0, false
	}
	i := t.readyLocked(s, l, v, hash, now)
	if i < 0 {
		if i = t.insertLocked(s, l, v, hash, now); i < 0 {
			s.mu.Unlock()
			t.overflowed.Add(1)
			return t.Borrow(l, l.overflow, now, n)
		}
	}
	wait, poke, ok := t.borrowLocked(s, i, v, now, n)
	if ok {
		s.of(l).admit(n)
	}
	s.mu.Unlock()
	if poke {
		t.poke()
	}
	return wait, ok
}

func (t *Table) borrowLocked(s *shard, i int, v *version, now, n int64) (wait int64, poke, ok bool) {
	e := &s.entries[i]
	if e.state, wait, ok = v.Bucket.Borrow(e.state, now, n); !ok {
		return 0, false, false
	}
	if v.record {
		e.unsent = v.Bucket.Extend(e.unsent, now, n)
	}
	return wait, v.record && t.touchedLocked(s, i, v.Bucket.Remaining(e.state, now), now), true
}

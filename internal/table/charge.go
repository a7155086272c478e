package table

// Charge applies what was spent at another node: n events whose effective start was at
// start on this node's clock, without asking; n is negative for a refund, which never
// lifts a key above full. Debt bounds how far the key may be pushed below empty, in
// nanoseconds ([bucket.Limit.Debt]); what is cut off is counted as forgiven.
//
// An absent key is inserted as by Take; where there is no room, the limit's overflow
// entry is charged. Amounts of a limit of kind Unknown are added up until it is
// defined; those of unlimited and blocked limits are dropped.
func (t *Table) Charge(l *Limit, hash uint64, now, n, start, debt int64) {
	s := t.shard(hash)
	s.mu.Lock()
	v := l.current.Load()
	if n == 0 || v.Kind == Unlimited || v.Kind == Blocked {
		s.mu.Unlock()
		return
	}
	i := s.find(hash, l.index)
	if i < 0 && !traceless(v, now, n, start) {
		if i = t.insertLocked(s, l, v, hash, now); i < 0 {
			s.mu.Unlock()
			t.overflowed.Add(1)
			t.Charge(l, l.overflow, now, n, start, debt)
			return
		}
	}
	poke := i >= 0 && t.chargeLocked(s, l, v, i, now, n, start, debt)
	s.mu.Unlock()
	if poke {
		t.poke()
	}
}

// traceless reports whether a charge leaves a full bucket so long full that no fresh
// news of the key can make a difference of it.
func traceless(v *version, now, n, start int64) bool {
	if v.Kind == Unknown {
		return n < 0
	}
	return v.Bucket.RunFrom(n, start).M < restingAt(now)
}

// chargeLocked charges slot i. It reports whether to poke once the lock is free.
func (t *Table) chargeLocked(s *shard, l *Limit, v *version, i int, now, n, start, debt int64) bool {
	e := &s.entries[i]
	if v.Kind == Unknown {
		e.add(n, start)
		return false
	}
	l.refresh(e, v, now)
	b := &v.Bucket
	state, forgiven := b.Charge(e.state, now, b.RunFrom(n, start), debt)
	e.state = state
	t.forgiven.add(forgiven)
	if s.groups[i/groupSlots].dirty&slotBit(i) == 0 {
		return false
	}
	return t.markLocked(s, i, b.Remaining(state, now), now)
}

// add puts a charge on an entry of an unknown limit.
func (e *entry) add(n, start int64) {
	sum := int64(e.state.Rem)
	if n < 0 {
		sum = max(sum+n, 0)
	} else {
		sum = addSat(sum, n)
	}
	e.state.Rem = uint64(sum)
	e.state.At = max(e.state.At, start)
}

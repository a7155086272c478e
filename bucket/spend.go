package bucket

// Spend is Take, Extend and Remaining in one step, for the hot path: it asks for n ≥ 0
// events of s at now and, if it gets them, appends them to r. It returns how many
// events then remain and how long to wait for these n in nanoseconds: 0 if and only if
// they were admitted. Refused, s changes only as Take says, and r not at all.
func (l *Limit) Spend(s *State, r *Run, now, n int64) (left, retry int64) {
	used := int64(0)
	if s.At > now {
		used = s.At - now
	}
	if n != 1 || used > l.quick || uint64(now) > maxSpan {
		return l.spend(s, r, now, n)
	}
	used += l.one.ns
	if used > l.all.ns {
		return 0, used - l.all.ns
	}
	s.At = now + used
	r.N = addSat(r.N, 1)
	r.M = addSat(max(r.M, now), l.one.ns)
	return int64(uint64(l.all.ns-used) / l.num), 0
}

// spend is Spend for any numbers.
func (l *Limit) spend(s *State, r *Run, now, n int64) (left, retry int64) {
	next, ok := l.Take(*s, now, n)
	*s = next
	if !ok {
		if retry = l.RetryAfter(next, now, n); retry == 0 {
			retry = Never // the end of time
		}
	} else if n > 0 {
		*r = l.Extend(*r, now, n)
	}
	return l.Remaining(next, now), retry
}

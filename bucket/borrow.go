package bucket

// Borrow takes n ≥ 1 events at now, even if they are not there yet: ahead of time, on
// top of all that was borrowed before. It returns the new state and how long to wait, in
// nanoseconds from now, until the n events could have been taken.
//
// It reports false, and returns the old state, if n is more than the burst, or the key
// so far ahead that no debt of a cluster could explain it: beyond that, [Limit.Take]
// would hold the state for a clock that went back.
func (l *Limit) Borrow(s State, now, n int64) (_ State, wait int64, ok bool) {
	used := l.used(s, now)
	if used.ns > l.most {
		used = l.all
	}
	want := l.add(used, l.span(max(n, 0)))
	at := now + want.ns
	if n < 1 || n > l.burst || want.ns > min(l.most, maxSpan) || at < now {
		return s, 0, false
	}
	if want.after(l.all) {
		wait = l.sub(want, l.all).up()
	}
	return State{at, want.rem}, wait, true
}

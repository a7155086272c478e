package bucket

import "math/bits"

// Take asks for n events at now. Admitted, it returns the new state; refused, the
// old one: a refusal costs nothing. A take of more than the burst, or of a negative
// number, is refused; a take of 0 passes unless the key is in debt.
//
// Should the clock have gone back so far that no debt could explain the state, the
// bucket counts as empty at now, and that is the state returned, refused or not:
// nothing is minted and nobody waits for the old time to come round again.
func (l *Limit) Take(s State, now, n int64) (State, bool) {
	used := l.used(s, now)
	if used.ns > l.most {
		used = l.all
		s = State{addSat(now, used.ns), used.rem}
	}
	if n > l.burst || n < 0 {
		return s, false
	}
	used = l.add(used, l.span(n))
	if used.after(l.all) {
		return s, false
	}
	at := now + used.ns
	if at < now { // the end of time
		return s, false
	}
	return State{at, used.rem}, true
}

// used is how much of the burst is spent at now, as time until it is back.
func (l *Limit) used(s State, now int64) span {
	if s.At < now {
		return span{}
	}
	return span{subSat(s.At, now), s.Rem}
}

// Remaining is how many events could be taken at now: 0 … burst.
func (l *Limit) Remaining(s State, now int64) int64 {
	used := l.used(s, now)
	if !l.all.after(used) {
		return 0
	}
	return l.events(l.sub(l.all, used))
}

// RetryAfter is how long, in nanoseconds from now, until n events could be taken if
// nobody else took any: 0 if they could now, at least 1 otherwise, [Never] if n is
// more than the burst or negative.
func (l *Limit) RetryAfter(s State, now, n int64) int64 {
	if n > l.burst || n < 0 {
		return Never
	}
	want := l.add(l.used(s, now), l.span(n))
	if !want.after(l.all) {
		return 0
	}
	return l.sub(want, l.all).up()
}

// ResetAfter is how long, in nanoseconds from now, until the whole burst is back.
func (l *Limit) ResetAfter(s State, now int64) int64 { return l.used(s, now).up() }

// Convert carries a state over to a changed limit: the events in use at now stay in
// use, parts of one included, and come back at the new rate. A burst now smaller than
// what is in use leaves the key in debt.
func (l *Limit) Convert(s State, now int64, to *Limit) State {
	n, rest := l.divide(l.used(s, now))
	hi, lo := bits.Mul64(rest, to.num)
	part, left := bits.Div64(hi, lo, l.num) // rest/num of to's T, in 1/den ns: rest < num
	if left > 0 {
		part++ // up: to and fro mints nothing
	}
	back := to.add(to.span(n), span{int64(part / to.den), part % to.den})
	return State{addSat(now, back.ns), back.rem}
}

package bucket

// Run is a series of takes and refunds at one node, as another node needs to know
// it: N events, and M, the At that the run alone would have left on a full bucket, in
// nanoseconds. Applying it is
//
//	At ← max(At + N·T, M)
//
// The two terms are the two things a run can do: push a bucket that was in use N
// intervals on, or start from a full one. Applied in whatever order, takes leave At no
// earlier than the same takes in order of time would have: never more remaining.
//
// Where refunds outweigh takes N is negative, and M still counts: what was given back
// to a full bucket is lost, what was taken after it is not.
//
// Runs are made of times from 0 on. The zero Run is empty; one with N = 0 and another
// M is not.
type Run struct {
	N, M int64
}

// Extend appends a take of n events at now to a run; n is negative for a refund.
func (l *Limit) Extend(r Run, now, n int64) Run {
	return Run{addSat(r.N, n), l.shift(max(r.M, now), n)}
}

// Compose is the run of a and then b. It is exact: applying it equals applying a and
// then b, whatever the state. M is rounded up where T is not a whole number of
// nanoseconds, so that At may come out later by less than 1 ns, and never earlier.
func (l *Limit) Compose(a, b Run) Run {
	return Run{addSat(a.N, b.N), max(l.shift(a.M, b.N), b.M)}
}

// Start is the run's effective start, M − N·T: the time at which N events at once
// would have had the same effect. For takes it lies within the time that the run
// lasted; and it says the same as M whatever the receiver's rate is, so it is what
// travels.
func (l *Limit) Start(r Run) int64 { return l.shift(r.M, -max(r.N, -Never)) }

// RunFrom is the run of n events that started effectively at start: Start's inverse,
// with M rounded up by at most 1 ns.
func (l *Limit) RunFrom(n, start int64) Run { return Run{n, l.shift(start, n)} }

// shift is at + n·T in whole nanoseconds, rounded up.
func (l *Limit) shift(at, n int64) int64 { return l.move(span{at, 0}, n).up() }

// move is at + n·T, for an n of either sign.
func (l *Limit) move(at span, n int64) span {
	if n < 0 {
		return l.sub(at, l.span(-max(n, -Never)))
	}
	return l.add(at, l.span(n))
}

// Charge applies what happened elsewhere, without asking. At is not pushed further
// than debt nanoseconds beyond an empty bucket at now ([Limit.Debt],
// [Limit.DebtStale]), nor back from where it was by that; forgiven is the number of
// whole events, of the N, that were cut off so.
func (l *Limit) Charge(s State, now int64, r Run, debt int64) (_ State, forgiven int64) {
	old := span{s.At, s.Rem}
	at := l.move(old, r.N)
	if from := (span{r.M, 0}); from.after(at) {
		at = from
	}
	end := l.add(span{addSat(now, l.all.ns), l.all.rem}, span{max(debt, 0), 0})
	if old.after(end) {
		end = old
	}
	if at.after(end) {
		forgiven = min(l.events(l.sub(at, end)), max(r.N, 0))
		at = end
	}
	return State{at.ns, at.rem}, forgiven
}

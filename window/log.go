package window

import "math"

// MaxEvents is the most records that one log holds, at 16 bytes each. A log of more
// moments than that is coarsened: those within a 128th of the period are put together
// at the latest of them. It may then refuse for so much too long, and never admits more
// than the limit.
const MaxEvents = 256

// LogLimit is so many events in any span of so many nanoseconds, exactly. It is
// immutable, comparable, and safe for concurrent use; use it by pointer. Make one with
// [NewLog]: the zero LogLimit is not usable.
//
// Times are monotonic nanoseconds of one node, not cluster time: a log has no window to
// cut.
type LogLimit struct {
	events int64 // ≥ 1
	per    int64 // ns, 1 … maxPer
}

// Event is N ≥ 1 events at a time; they count until At and the limit's period are over.
type Event struct{ At, N int64 }

// Log is what is remembered of a key: its events, sorted by time, each time once, at most
// [MaxEvents]. Refused takes are not in it. Its array is used again; it is not safe for
// concurrent use. The empty Log is of a key that nothing was taken of.
type Log []Event

// NewLog is a limit of so many events in any span of so many nanoseconds. Values below 1
// count as 1, periods longer than 73 years are cut to that.
func NewLog(events, per int64) LogLimit {
	return LogLimit{max(events, 1), min(max(per, 1), maxPer)}
}

// Events is the most events that one take can get.
func (l *LogLimit) Events() int64 { return l.events }

// Per is how long an event counts, in nanoseconds.
func (l *LogLimit) Per() int64 { return l.per }

// Take asks for n ≥ 0 events at now. It returns how many events then remain and how long
// to wait for these n, in nanoseconds: 0 if and only if they were admitted, [Never] if n
// is more than the limit or negative. A take of 0 passes unless more is used than the
// limit. Refused, the log loses what has expired and is otherwise as before.
func (l *LogLimit) Take(log *Log, now, n int64) (left, retry int64) {
	l.expire(log, now)
	room := l.events - log.sum()
	if n > room || n < 0 {
		return max(room, 0), l.wait(*log, now, n)
	}
	if n > 0 {
		l.put(log, Event{now, n})
	}
	return room - n, 0
}

// Charge adds what happened elsewhere, without asking: n events at a time. A time after
// now counts as now, and what has expired is not counted.
//
// A negative n takes events out: those at that time, else the nearest before it, else the
// nearest after it, for news of one take may come with slightly different times. What
// stays then counts no shorter than what happened. Nothing is taken out of an empty log.
func (l *LogLimit) Charge(log *Log, now, at, n int64) {
	l.expire(log, now)
	at = min(at, now)
	switch {
	case l.expired(at, now):
	case n > 0:
		l.put(log, Event{at, n})
	case n < 0:
		log.remove(at, neg(n))
	}
}

// Used is how many events count at now. It may be more than the limit.
func (l *LogLimit) Used(log Log, now int64) int64 { return l.inForce(log, now).sum() }

// Remaining is how many events could be taken at now: 0 … events.
func (l *LogLimit) Remaining(log Log, now int64) int64 {
	return max(l.events-l.Used(log, now), 0)
}

// RetryAfter is how long, in nanoseconds from now, until n events could be taken if
// nobody else took any: 0 if they could now, else the least wait that is enough, [Never]
// if none is or n is negative.
func (l *LogLimit) RetryAfter(log Log, now, n int64) int64 {
	log = l.inForce(log, now)
	if n >= 0 && n <= l.events-log.sum() {
		return 0
	}
	return l.wait(log, now, n)
}

// wait is RetryAfter of a take that is refused, of a log without what has expired.
func (l *LogLimit) wait(log Log, now, n int64) int64 {
	if n < 0 || n > l.events {
		return Never
	}
	// From the newest on, as far as there is room beside n: the next must expire.
	room := l.events - n
	for i := len(log) - 1; i >= 0; i-- {
		if room -= log[i].N; room < 0 {
			return l.ends(log[i].At, now)
		}
	}
	return Never // not reached: it would not have been refused
}

// ends is how long from now what happened at a time counts.
func (l *LogLimit) ends(at, now int64) int64 {
	end := addSat(at, l.per)
	if end == math.MaxInt64 {
		return Never
	}
	return max(subSat(end, now), 1)
}

// ResetAfter is how long, in nanoseconds from now, until the whole budget is back.
func (l *LogLimit) ResetAfter(log Log, now int64) int64 {
	log = l.inForce(log, now)
	if len(log) == 0 {
		return 0
	}
	return l.ends(log[len(log)-1].At, now)
}

// AtRest reports whether nothing in the log counts at now or later.
func (l *LogLimit) AtRest(log Log, now int64) bool {
	return len(log) == 0 || l.expired(log[len(log)-1].At, now)
}

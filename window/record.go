package window

import "slices"

// expired reports whether what happened at a time no longer counts.
func (l *LogLimit) expired(at, now int64) bool { return subSat(now, at) >= l.per }

// early reports whether a time is so far ahead of now that the clock must have gone back.
// Less than a period ahead it may be of a take that came in front of this one.
func (l *LogLimit) early(at, now int64) bool { return subSat(at, now) > l.per }

// expire drops what has expired. What is further ahead than a period counts as if it
// happened now: the clock went back, nothing is minted, and nobody waits for the old
// time to come round again.
func (l *LogLimit) expire(log *Log, now int64) {
	gone := 0
	for gone < len(*log) && l.expired((*log)[gone].At, now) {
		gone++
	}
	if gone > 0 {
		*log = (*log)[:copy(*log, (*log)[gone:])]
	}
	kept := len(*log)
	for kept > 0 && l.early((*log)[kept-1].At, now) {
		kept--
	}
	if kept < len(*log) {
		n := (*log)[kept:].sum()
		*log = (*log)[:kept]
		l.put(log, Event{now, n})
	}
}

// inForce is the log as expire would leave it, without changing it: it allocates only if
// the clock went back.
func (l *LogLimit) inForce(log Log, now int64) Log {
	if len(log) > 0 && l.early(log[len(log)-1].At, now) {
		log = slices.Clone(log)
		l.expire(&log, now)
	}
	for len(log) > 0 && l.expired(log[0].At, now) {
		log = log[1:]
	}
	return log
}

// sum is the number of events.
func (log Log) sum() (n int64) {
	for _, e := range log {
		n = addSat(n, e.N)
	}
	return n
}

// find is the first record at or after a time, from the newest back: most come in order.
func (log Log) find(at int64) int {
	i := len(log)
	for i > 0 && log[i-1].At >= at {
		i--
	}
	return i
}

// put adds a record in its place.
func (l *LogLimit) put(log *Log, e Event) {
	i := log.find(e.At)
	if i < len(*log) && (*log)[i].At == e.At {
		(*log)[i].N = addSat((*log)[i].N, e.N)
		return
	}
	if len(*log) >= MaxEvents {
		l.coarsen(log)
		i = log.find(e.At)
	}
	log.grow()
	*log = (*log)[:len(*log)+1]
	copy((*log)[i+1:], (*log)[i:])
	(*log)[i] = e
}

// grow makes room for one more record, to powers of two.
func (log *Log) grow() {
	if len(*log) < cap(*log) {
		return
	}
	grown := make(Log, len(*log), min(max(2*cap(*log), 4), MaxEvents))
	copy(grown, *log)
	*log = grown
}

// grains is how many parts of a period a coarsened log tells apart.
const grains = 128

// coarsen puts records together that lie in one grain, at the latest of them. Grains are
// cut from time itself, so that a record stays in its grain however often this happens.
// All that is in force, and up to a period ahead, lies in 2·grains + 1 of them at most;
// in the one case that these are too many, grains are doubled.
func (l *LogLimit) coarsen(log *Log) {
	for grain := (l.per-1)/grains + 1; len(*log) >= MaxEvents; grain *= 2 {
		to := 0
		for i, e := range *log {
			if i > 0 && floorDiv((*log)[to].At, grain) == floorDiv(e.At, grain) {
				e.N = addSat((*log)[to].N, e.N)
			} else if i > 0 {
				to++
			}
			(*log)[to] = e
		}
		*log = (*log)[:to+1]
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// remove takes n events out: at a time and before it, then after it, the nearest first.
func (log *Log) remove(at, n int64) {
	i := log.find(at)
	after := i
	if i < len(*log) && (*log)[i].At == at {
		after++
	}
	for j := after - 1; j >= 0; j-- {
		n = (*log)[j].take(n)
	}
	for j := after; j < len(*log); j++ {
		n = (*log)[j].take(n)
	}
	*log = slices.DeleteFunc(*log, func(e Event) bool { return e.N <= 0 })
}

// take takes up to n events out of a record, and returns how many are still to be taken.
func (e *Event) take(n int64) int64 {
	taken := min(n, max(e.N, 0))
	e.N -= taken
	return n - taken
}

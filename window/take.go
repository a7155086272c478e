package window

import (
	"math"
	"math/bits"
)

// Take asks for n ≥ 0 events at wall, whose frame is f. It returns how many events then
// remain and how long to wait for these n, in nanoseconds: 0 if and only if they were
// admitted, [Never] if n is more than the limit or negative. A take of 0 passes unless
// more is used than the limit. Refused, s changes only as Roll says.
//
// charged is what a take added to the count of f's window: n, and what that count was
// below zero, which is settled first. So no refund that finds nothing to refund lifts a
// key above full, and those who are told what was charged count alike.
func (l *Limit) Take(s *State, f Frame, wall, n int64) (charged, left, retry int64) {
	i := l.Roll(s, f)
	room := l.events - l.used(s, i, f, wall)
	if n > room || n < 0 {
		return 0, max(room, 0), l.retryAfter(s, i, f, wall, n)
	}
	if n == 0 {
		return 0, room, 0
	}
	count := s.Counts[i]
	charged = n
	if count < 0 {
		charged = addSat(n, neg(count))
		count = 0
	}
	s.Counts[i] = count + n
	return charged, room - n, 0
}

// used is how many events count at wall; i is where s has the count of f's window.
func (l *Limit) used(s *State, i int, f Frame, wall int64) int64 {
	used := max(s.Counts[i], 0)
	if l.sliding {
		if before := s.Counts[i+1]; before > 0 {
			used = addSat(used, l.weigh(before, l.left(f, wall)))
		}
	}
	return used
}

// weigh is the part of count that counts while so much of its window is left in view, in
// whole events, rounded up.
func (l *Limit) weigh(count, left int64) int64 {
	per := uint64(l.per)
	hi, lo := bits.Mul64(uint64(count), uint64(left))
	if hi == 0 {
		q := lo / per
		if q*per < lo {
			q++
		}
		return int64(q)
	}
	q, r := bits.Div64(hi, lo, per) // left ≤ per: q ≤ count
	if r > 0 {
		q++
	}
	return int64(q)
}

// Used is how many events count at wall; of windows that slide rounded up. It may be more
// than the limit.
func (l *Limit) Used(s State, f Frame, wall int64) int64 {
	i := l.Roll(&s, f)
	return l.used(&s, i, f, wall)
}

// Remaining is how many events could be taken at wall: 0 … events.
func (l *Limit) Remaining(s State, f Frame, wall int64) int64 {
	return max(l.events-l.Used(s, f, wall), 0)
}

// RetryAfter is how long, in nanoseconds from wall, until n events could be taken if
// nobody else took any: 0 if they could now, else the least wait that is enough, [Never]
// if none is or n is negative.
func (l *Limit) RetryAfter(s State, f Frame, wall, n int64) int64 {
	i := l.Roll(&s, f)
	if n >= 0 && n <= l.events-l.used(&s, i, f, wall) {
		return 0
	}
	return l.retryAfter(&s, i, f, wall, n)
}

// retryAfter is RetryAfter of a take that is refused at wall.
func (l *Limit) retryAfter(s *State, i int, f Frame, wall, n int64) int64 {
	room := l.events - n
	if n < 0 || room < 0 {
		return Never
	}
	count, ahead := max(s.Counts[i], 0), int64(0)
	if i > 0 {
		ahead = max(s.Counts[0], 0)
	}
	left := l.left(f, wall)
	if !l.sliding {
		if ahead <= room {
			return after(wall, left)
		}
		return after(wall, max(subSat(f.After, wall), left))
	}
	before := max(s.Counts[i+1], 0)
	if view := l.view(before, room-count); view > 0 { // later in this window
		return after(wall, left-view)
	}
	if view := l.view(count, room-ahead); view > 0 { // in the next
		return after(wall, left+l.per-view)
	}
	return after(wall, left+2*l.per-l.view(ahead, room))
}

// view is the longest part of a window that can be left in view while count weighs no
// more than room: 0 if there must be none left.
func (l *Limit) view(count, room int64) int64 {
	switch {
	case room < 0:
		return 0
	case count <= room:
		return l.per
	}
	hi, lo := bits.Mul64(uint64(room), uint64(l.per))
	q, _ := bits.Div64(hi, lo, uint64(count)) // room < count: q < per
	return int64(q)
}

// after is a wait, unless it leads past the end of time.
func after(wall, wait int64) int64 {
	if addSat(wall, wait) == math.MaxInt64 {
		return Never
	}
	return max(wait, 1)
}

// ResetAfter is how long, in nanoseconds from wall, until the whole budget is back.
func (l *Limit) ResetAfter(s State, f Frame, wall int64) int64 {
	i := l.Roll(&s, f)
	last := 0 // windows from now on in which something counts
	switch {
	case i > 0 && s.Counts[0] > 0:
		last = 2
	case s.Counts[i] > 0:
		last = 1
	}
	left := l.left(f, wall)
	if !l.sliding {
		switch last {
		case 0:
			return 0
		case 1:
			return after(wall, left)
		}
		return after(wall, max(subSat(f.After, wall), left))
	}
	if last == 0 && s.Counts[i+1] <= 0 {
		return 0
	}
	return after(wall, left+int64(last)*l.per)
}

package window

import "math"

// Frame is where a moment of cluster time stands: in the window [From, To), after the
// window [Before, From) and ahead of [To, After).
type Frame struct{ Before, From, To, After int64 }

// Frame finds the windows around wall. With a calendar this takes about a microsecond:
// keep the frame for as long as it contains wall.
func (l *Limit) Frame(wall int64) Frame {
	if l.unit != None {
		return l.dates(wall)
	}
	in := wall % l.per
	if in < 0 {
		in += l.per
	}
	from, to := subSat(wall, in), addSat(wall, l.per-in)
	return Frame{subSat(from, l.per), from, to, addSat(to, l.per)}
}

// Contains reports whether wall is in the frame's own window, [From, To). The last
// window has no end.
func (f Frame) Contains(wall int64) bool {
	return f.From <= wall && (wall < f.To || f.To == math.MaxInt64)
}

// left is how much of the frame's window lies ahead of wall, in nanoseconds: at least 1,
// and with a period at most that, which a caller's wall from another window cannot break.
func (l *Limit) left(f Frame, wall int64) int64 {
	if l.unit != None {
		return max(subSat(f.To, wall), 1)
	}
	return min(max(subSat(l.per, subSat(wall, f.From)), 1), l.per) // To may be cut, at the end of time
}

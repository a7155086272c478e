package gossip

import "math"

// leastOf is the least value seen in about the last minute: of the current half
// minute and the one before. Clocks drift, so older ones do not count.
type leastOf struct{ window }

func (w *leastOf) see(now, v int64) {
	w.turn(now, 30_000_000_000)
	if w.nowSeen {
		v = min(v, w.current)
	}
	w.current, w.nowSeen = v, true
}

// least is 0 if nothing was seen.
func (w *leastOf) least(now int64) int64 {
	switch {
	case w.nowSeen && w.beforeSeen:
		return min(w.current, w.before)
	case w.nowSeen:
		return w.current
	}
	return w.before
}

// mostOf is the largest value seen in the last 10 to 20 s.
type mostOf struct{ window }

func (w *mostOf) see(now, v int64) {
	w.turn(now, 10_000_000_000)
	w.current, w.nowSeen = max(w.current, v), true
}

func (w *mostOf) most(now int64) int64 {
	w.turn(now, 10_000_000_000)
	return max(w.current, w.before)
}

// window is two neighbouring stretches of time and the extreme of each.
type window struct {
	turnedAt            int64
	current, before     int64
	nowSeen, beforeSeen bool
}

func (w *window) seen() bool { return w.nowSeen || w.beforeSeen }

func (w *window) turn(now, length int64) {
	if !w.seen() {
		w.turnedAt = now
		return
	}
	for i := 0; now-w.turnedAt >= length; i++ {
		if i == 2 {
			w.turnedAt = now
			return
		}
		w.before, w.beforeSeen = w.current, w.nowSeen
		w.current, w.nowSeen = 0, false
		w.turnedAt += length
	}
}

func addSat(a, b int64) int64 {
	if c := a + b; (c > a) == (b > 0) {
		return c
	}
	if b > 0 {
		return math.MaxInt64
	}
	return math.MinInt64
}

func subSat(a, b int64) int64 {
	if c := a - b; (c < a) == (b > 0) {
		return c
	}
	if b > 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

package window

import "slices"

// naive is a key under a limit with windows, as the list of all that happened, written
// for reading. Its numbers must be small enough for plain arithmetic.
type naive struct {
	l      *Limit
	newest int64 // start of the newest window that it was asked in, or charged for
	past   []happened
}

// happened is n events in the window that begins at from.
type happened struct{ from, n int64 }

func (m *naive) clone() *naive { return &naive{m.l, m.newest, slices.Clone(m.past)} }

// frame cuts windows of equal length by itself; of calendars it believes Frame, which has
// tests of its own.
func (m *naive) frame(wall int64) Frame {
	per := m.l.per
	if per == 0 {
		return m.l.Frame(wall)
	}
	from := int64(0)
	if wall >= 0 {
		from = wall / per * per
	} else {
		from = -((-wall + per - 1) / per * per)
	}
	return Frame{from - per, from, from + per, from + 2*per}
}

func (m *naive) count(from int64) (n int64) {
	for _, h := range m.past {
		if h.from == from {
			n += h.n
		}
	}
	return n
}

// positive is the count of a window, in which refunds can undo no more than there is.
func (m *naive) positive(from int64) int64 { return max(m.count(from), 0) }

// roll is how far the model remembers: where the clock went back by more than a window,
// what it had in use is all that is left.
func (m *naive) roll(f Frame) {
	if m.newest >= f.After {
		last := m.frame(m.newest)
		now, before := m.positive(last.From), m.positive(last.Before)
		used := max(now, before)
		if m.l.sliding {
			used = max(used, min(m.l.events, max(now+before, before+m.positive(last.Before-m.l.per))))
		}
		m.newest, m.past = f.From, []happened{{f.From, used}}
		return
	}
	m.move(f.From)
}

// move makes a window the newest, unless there is a newer one. The two before it are kept.
func (m *naive) move(from int64) {
	m.newest = max(m.newest, from)
	oldest := m.newest - 2*m.l.per
	if m.l.per == 0 {
		oldest = m.l.Frame(m.l.Frame(m.newest).Before).Before
	}
	m.past = slices.DeleteFunc(m.past, func(h happened) bool { return h.from < oldest })
}

// used is what counts at wall, for a model that was rolled there.
func (m *naive) used(f Frame, wall int64) int64 {
	used := m.positive(f.From)
	if m.l.sliding {
		used += (m.positive(f.Before)*(f.To-wall) + m.l.per - 1) / m.l.per
	}
	return used
}

// passes reports whether n could be taken at wall, if nothing happened until then.
func (m *naive) passes(wall, n int64) bool {
	m = m.clone()
	f := m.frame(wall)
	m.roll(f)
	return n >= 0 && n <= m.l.events-m.used(f, wall)
}

func (m *naive) take(wall, n int64) (charged int64, ok bool) {
	f := m.frame(wall)
	m.roll(f)
	if n < 0 || n > m.l.events-m.used(f, wall) {
		return 0, false
	}
	if n > 0 {
		n -= min(m.count(f.From), 0)
		m.past = append(m.past, happened{f.From, n})
	}
	return n, true
}

func (m *naive) charge(wall, from, per, n int64) bool {
	f := m.frame(wall)
	m.roll(f)
	own := m.frame(from)
	moment := from
	if own.From != from || own.To-from != per { // cut by another limit
		moment = min(from+per-1, wall)
	}
	w := m.frame(moment).From
	if w >= f.After {
		w = f.From
	}
	kept := w >= f.Before
	if m.l.per > 0 {
		kept = w >= max(m.newest, w)-2*m.l.per
	}
	if kept {
		m.move(w)
		m.past = append(m.past, happened{w, n})
	}
	return kept
}

// rests reports whether nothing is left that could matter from wall on.
func (m *naive) rests(wall int64) bool {
	for _, h := range m.past {
		f := m.frame(h.from)
		if m.count(h.from) != 0 && (wall < f.To || m.l.sliding && wall < f.After) {
			return false
		}
	}
	return true
}

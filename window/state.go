package window

// State is what is remembered of a key: the counts of the newest window that anything
// was counted in, of the one before, and of the one before that. A count may be negative:
// a refund may come before what it refunds. It may be above the limit: peers did not
// know. The zero State is of a key that nothing was taken of.
type State struct {
	From   int64 // start of the newest window, in cluster time
	Counts [3]int64
}

// Roll makes s stand at f, and returns which of its counts is that of f's own window.
//
// A state that is older moves on. One that is a single window ahead stays, for a peer's
// clock may be a little ahead, and then the count is Counts[1]; else it is Counts[0].
// If s is further ahead the clock went back: what s had used counts in f's window, so
// that nothing is minted, and no longer than that, so that nobody is locked out.
func (l *Limit) Roll(s *State, f Frame) (where int) {
	if s.From == f.From {
		return 0
	}
	return l.roll(s, f)
}

func (l *Limit) roll(s *State, f Frame) int {
	c := s.Counts
	switch from := s.From; {
	case from >= f.After:
		*s = State{f.From, [3]int64{l.fold(c)}}
	case from >= f.To:
		s.From = f.To
		return 1
	case from >= f.From:
		s.From = f.From
	case from >= f.Before:
		*s = State{f.From, [3]int64{0, c[0], c[1]}}
	case l.unit == None && from >= subSat(f.Before, l.per):
		*s = State{f.From, [3]int64{0, 0, c[0]}}
	default:
		*s = State{From: f.From}
	}
	return 0
}

// fold is what a state may have had in use, whether its current window was the newest or
// the one before. Two windows that slide are counted as the whole limit at most.
func (l *Limit) fold(c [3]int64) int64 {
	a, b, d := max(c[0], 0), max(c[1], 0), max(c[2], 0)
	used := max(a, b)
	if l.sliding {
		used = max(used, min(max(addSat(a, b), addSat(b, d)), l.events))
	}
	return used
}

// Charge adds what happened elsewhere, without asking: n events, or a refund if n is
// negative, of the window [from, from+per) as it was cut where they happened. f is the
// frame of now. It reports whether they were counted.
//
// A window of this limit's cut is charged if s keeps it: the one ahead, the current one,
// and those before. What is still further ahead is charged to the current one; what is
// older is counted nowhere. Where limits differ, as while a change is rolled out, the
// window is charged that contains the end of [from, from+per), or the current one if that
// is earlier.
func (l *Limit) Charge(s *State, f Frame, from, per, n int64) bool {
	i := l.Roll(s, f)
	end := addSat(from, subSat(per, 1))
	switch {
	case from == f.To && from < f.After && addSat(from, per) == f.After:
		if i == 0 {
			*s = State{f.To, [3]int64{0, s.Counts[0], s.Counts[1]}}
		}
		i = 0
	case end >= f.From:
	case end >= f.Before:
		i++
	case l.unit == None && end >= subSat(f.Before, l.per):
		i += 2
	default:
		return false
	}
	if i >= len(s.Counts) {
		return false
	}
	s.Counts[i] = addSat(s.Counts[i], n)
	return true
}

// AtRest reports whether nothing in s can matter at wall or later, so that s may be
// forgotten.
func (l *Limit) AtRest(s State, wall int64) bool {
	i := 0 // of the newest window that has a count
	for i < len(s.Counts) && s.Counts[i] == 0 {
		i++
	}
	age := subSat(wall, s.From)
	switch {
	case i == len(s.Counts):
		return true
	case l.sliding:
		return age >= int64(2-i)*l.per
	case l.unit == None:
		return age >= int64(1-i)*l.per
	case i > 0:
		return age >= 0
	case age < l.shortest():
		return false
	}
	return wall >= l.Frame(s.From).To
}

// shortest is less than any window of the calendar lasts.
func (l *Limit) shortest() int64 {
	const day = 20 * 3600 * 1_000_000_000
	switch l.unit {
	case Week:
		return 6 * day
	case Month:
		return 27 * day
	}
	return day
}

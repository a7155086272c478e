package bucket

// Used is how many events are in use at now, one that has come back in part included;
// more than the burst in debt.
func (l *Limit) Used(s State, now int64) int64 {
	n, rest := l.divide(l.used(s, now))
	if rest > 0 {
		n = addSat(n, 1)
	}
	return n
}

// Beyond is how many events more are in use at now than the burst, one in part included:
// 0 unless the key is in debt.
func (l *Limit) Beyond(s State, now int64) int64 {
	used := l.used(s, now)
	if !used.after(l.all) {
		return 0
	}
	n, rest := l.divide(l.sub(used, l.all))
	if rest > 0 {
		n = addSat(n, 1)
	}
	return n
}

// Later is the later of two states of a key: the one with fewer remaining. A state that
// is none of this limit's, because its Rem is too great, counts as the next nanosecond.
func (l *Limit) Later(a, b State) State {
	at, other := l.sane(a), l.sane(b)
	if other.after(at) {
		at = other
	}
	return State{at.ns, at.rem}
}

func (l *Limit) sane(s State) span {
	if s.Rem >= l.den {
		return span{addSat(s.At, 1), 0}
	}
	return span{s.At, s.Rem}
}

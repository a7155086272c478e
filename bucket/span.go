package bucket

import (
	"math"
	"math/bits"
)

// span is a length of time: whole nanoseconds and rem/den of one, with the den of
// its Limit.
type span struct {
	ns  int64
	rem uint64 // < den
}

// span is the time in which n ≥ 0 events come back: n·T, saturating.
func (l *Limit) span(n int64) span {
	if n == 1 {
		return l.one
	}
	hi, lo := bits.Mul64(uint64(n), l.num)
	if hi >= l.den {
		return span{math.MaxInt64, 0}
	}
	q, r := bits.Div64(hi, lo, l.den)
	if q > math.MaxInt64 {
		return span{math.MaxInt64, 0}
	}
	return span{int64(q), r}
}

// events is how many whole events come back in a span, saturating.
func (l *Limit) events(s span) int64 {
	n, _ := l.divide(s)
	return n
}

// divide is s/T: whole events, and what is left over in units of 1/den ns (below num).
func (l *Limit) divide(s span) (n int64, rest uint64) {
	hi, lo := bits.Mul64(uint64(s.ns), l.den)
	lo, carry := bits.Add64(lo, s.rem, 0)
	hi += carry
	if hi == 0 && lo <= math.MaxInt64 { // the common case, without a wide division
		return int64(lo / l.num), lo % l.num
	}
	if hi >= l.num {
		return math.MaxInt64, 0
	}
	q, r := bits.Div64(hi, lo, l.num)
	if q > math.MaxInt64 {
		return math.MaxInt64, 0
	}
	return int64(q), r
}

// add is a + b, saturating.
func (l *Limit) add(a, b span) span {
	ns, rem := addSat(a.ns, b.ns), a.rem+b.rem
	if rem >= l.den {
		ns, rem = addSat(ns, 1), rem-l.den
	}
	return span{ns, rem}
}

// sub is a − b, saturating.
func (l *Limit) sub(a, b span) span {
	ns, rem := subSat(a.ns, b.ns), a.rem-b.rem
	if a.rem < b.rem {
		ns, rem = subSat(ns, 1), rem+l.den
	}
	return span{ns, rem}
}

func (s span) after(t span) bool { return s.ns > t.ns || s.ns == t.ns && s.rem > t.rem }

// up is s in whole nanoseconds, rounded up.
func (s span) up() int64 {
	if s.rem > 0 {
		return addSat(s.ns, 1)
	}
	return s.ns
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

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

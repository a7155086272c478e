package bucket

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

const (
	second = int64(1e9)
	hour   = 3600 * second

	// far bounds the times of tests that compare with exact numbers: 73 years on
	// either side. Beyond it sums may saturate, and only the bounds hold.
	far = int64(1) << 61
)

// edges are the numbers at which int64 arithmetic goes wrong.
var edges = rapid.SampledFrom([]int64{
	math.MinInt64, math.MinInt64 + 1, math.MinInt64 / 2, -far - 1, -far, -1, 0, 1, 2, 3,
	math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, math.MaxUint32 + 1,
	far - 1, far, far + 1, 2*far - 1, 2 * far, 2*far + 1, math.MaxInt64 - 1, math.MaxInt64,
})

// number is any int64, edges and small numbers often.
var number = rapid.OneOf(edges, rapid.Int64Range(-100, 1000), rapid.Int64())

// usual draws limits as people write them.
var usual = rapid.Custom(func(t *rapid.T) *Limit {
	l := New(
		rapid.OneOf(rapid.Int64Range(1, 100), rapid.Int64Range(1, 1e9)).Draw(t, "events"),
		rapid.OneOf(
			rapid.SampledFrom([]int64{1, second, 60 * second, hour, 24 * hour}),
			rapid.Int64Range(1, 24*hour),
		).Draw(t, "per"),
		rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 1e6)).Draw(t, "burst"))
	return &l
})

// extreme draws limits of any three numbers.
var extreme = rapid.Custom(func(t *rapid.T) *Limit {
	l := New(number.Draw(t, "events"), number.Draw(t, "per"), number.Draw(t, "burst"))
	return &l
})

var anyLimit = rapid.OneOf(usual, extreme)

// stateOf draws states of a limit: At within ±bound of around.
func stateOf(l *Limit, around, bound int64) *rapid.Generator[State] {
	return rapid.Custom(func(t *rapid.T) State {
		return State{
			At:  around + rapid.Int64Range(-bound, bound).Draw(t, "at"),
			Rem: rapid.Uint64Max(l.den-1).Draw(t, "rem"),
		}
	})
}

// near is a distance that matters to a limit: up to three of its bursts.
func near(l *Limit) int64 { return min(l.all.ns, far/4)*3 + 1 }

// whole reports a limit whose T is a whole number of nanoseconds.
func whole(l *Limit) bool { return l.den == 1 }

// Exact numbers.

func exact(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func ratio(num, den uint64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(num), new(big.Int).SetUint64(den))
}

func sum(a, b *big.Rat) *big.Rat  { return new(big.Rat).Add(a, b) }
func diff(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
func prod(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func quo(a, b *big.Rat) *big.Rat  { return new(big.Rat).Quo(a, b) }

func later(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// floor is x rounded down, cut to what an int64 holds.
func floor(x *big.Rat) int64 {
	q := new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: down, as Denom > 0
	switch {
	case q.IsInt64():
		return q.Int64()
	case q.Sign() > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

func ceil(x *big.Rat) int64 {
	down := floor(x)
	if exact(down).Cmp(x) < 0 {
		return addSat(down, 1)
	}
	return down
}

// interval is a limit's T.
func interval(l *Limit) *big.Rat { return ratio(l.num, l.den) }

// events is n·T.
func events(l *Limit, n int64) *big.Rat { return prod(exact(n), interval(l)) }

// at is a state's exact time.
func at(l *Limit, s State) *big.Rat { return sum(exact(s.At), ratio(s.Rem, l.den)) }

func checkState(t rapid.TB, l *Limit, s State) {
	t.Helper()
	if s.Rem >= l.den {
		t.Fatalf("state %+v: Rem not below den %d", s, l.den)
	}
}

func mustPass(t testing.TB, l *Limit, s State, now, n int64) State {
	t.Helper()
	s, ok := l.Take(s, now, n)
	if !ok {
		t.Fatalf("take of %d at %d: refused, want admitted", n, now)
	}
	return s
}

func mustRefuse(t testing.TB, l *Limit, s State, now, n int64) {
	t.Helper()
	if got, ok := l.Take(s, now, n); ok {
		t.Fatalf("take of %d at %d: admitted, want refused", n, now)
	} else if got != s {
		t.Fatalf("refused take of %d at %d changed %+v to %+v", n, now, s, got)
	}
}

package bucket

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestSpan: n·T, and a span divided by T, of any size, or cut to an int64.
func TestSpan(t *testing.T) {
	rates := rapid.OneOf(anyLimit, rapid.Custom(func(t *rapid.T) *Limit {
		wide := rapid.Int64Range(1<<60, math.MaxInt64)
		l := New(wide.Draw(t, "events"), rapid.OneOf(wide, number).Draw(t, "per"), 1)
		return &l
	}))
	length := func(l *Limit, s span) *big.Rat { return sum(exact(s.ns), ratio(s.rem, l.den)) }
	rapid.Check(t, func(t *rapid.T) {
		l := rates.Draw(t, "limit")
		n := rapid.OneOf(number.Filter(func(n int64) bool { return n >= 0 }), rapid.Int64Min(0)).Draw(t, "n")
		want := events(l, n)
		if got := l.span(n); length(l, got).Cmp(want) != 0 && (holds(want) || got != (span{math.MaxInt64, 0})) {
			t.Fatalf("span(%d) = %+v, want %s", n, got, want)
		}

		s := span{rapid.Int64Min(0).Draw(t, "ns"), rapid.Uint64Max(l.den-1).Draw(t, "rem")}
		got, rest := l.divide(s)
		if got == math.MaxInt64 && quo(length(l, s), interval(l)).Cmp(exact(got)) >= 0 {
			return
		}
		if back := sum(events(l, got), ratio(rest, l.den)); back.Cmp(length(l, s)) != 0 || rest >= l.num {
			t.Fatalf("divide(%+v) = %d, %d", s, got, rest)
		}
	})
}

// TestSaturation: sums stop at the ends of int64.
func TestSaturation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, y := big.NewInt(a), big.NewInt(b)
		if got, want := addSat(a, b), floor(new(big.Rat).SetInt(new(big.Int).Add(x, y))); got != want {
			t.Fatalf("%d + %d = %d, want %d", a, b, got, want)
		}
		if got, want := subSat(a, b), floor(new(big.Rat).SetInt(new(big.Int).Sub(x, y))); got != want {
			t.Fatalf("%d − %d = %d, want %d", a, b, got, want)
		}
	})
}

// TestDivideCarries: a span whose length in units of 1/den ns just passes 64 bits.
func TestDivideCarries(t *testing.T) {
	l := New(1<<62-1, 1<<62+1, 1)
	got, rest := l.divide(span{4, 5}) // 2^64 + 1
	if got != 3 || rest != 1<<62-2 {
		t.Errorf("divide = %d, %d; want 3, %d", got, rest, int64(1<<62-2))
	}
}

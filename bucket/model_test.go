package bucket

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// naive is the bucket in exact fractions, written for reading.
type naive struct {
	t     *big.Rat // T
	burst int64
	most  int64
	at    *big.Rat // full again
}

func newNaive(l *Limit, s State) *naive {
	return &naive{t: interval(l), burst: l.burst, most: l.most, at: at(l, s)}
}

func (m *naive) span(n int64) *big.Rat { return prod(exact(n), m.t) }

func (m *naive) used(now int64) *big.Rat { return later(diff(m.at, exact(now)), exact(0)) }

func (m *naive) take(now, n int64) bool {
	empty := sum(exact(now), m.span(m.burst))
	if floor(m.used(now)) > m.most {
		m.at = empty
	}
	next := sum(later(m.at, exact(now)), m.span(n))
	if n < 0 || n > m.burst || next.Cmp(empty) > 0 {
		return false
	}
	m.at = next
	return true
}

func (m *naive) remaining(now int64) int64 {
	return max(0, floor(quo(diff(m.span(m.burst), m.used(now)), m.t)))
}

func (m *naive) retryAfter(now, n int64) int64 {
	if n < 0 || n > m.burst {
		return Never
	}
	return max(0, ceil(diff(sum(m.used(now), m.span(n)), m.span(m.burst))))
}

func (m *naive) resetAfter(now int64) int64 { return ceil(m.used(now)) }

// charge also says whether the exact time, before the cap and after it, is one that
// an int64 can hold.
func (m *naive) charge(now int64, r Run, debt int64) (forgiven int64, whole, held bool) {
	by := m.span(max(r.N, -Never))
	if !holds(by) { // counts as 292 years
		by = exact(Never * int64(by.Sign()))
	}
	to := later(sum(m.at, by), exact(r.M))
	end := sum(sum(exact(now), m.span(m.burst)), exact(max(debt, 0)))
	end = later(end, m.at)
	whole = holds(to)
	if to.Cmp(end) > 0 {
		forgiven = min(max(r.N, 0), floor(quo(diff(to, end), m.t)))
		to = end
	}
	m.at = to
	return forgiven, whole, holds(to)
}

func holds(x *big.Rat) bool {
	return x.Cmp(exact(math.MinInt64)) > 0 && x.Cmp(exact(math.MaxInt64)) < 0
}

// TestModel drives a limit of any three numbers and the naive bucket through the
// same operations, with amounts, runs and debts of any size (case 7).
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLimit.Draw(t, "limit")
		var s State
		var now int64
		m := newNaive(l, s)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now += rapid.OneOf(
				rapid.Int64Range(0, 3), rapid.Int64Range(0, near(l)), rapid.Int64Range(-near(l), 0),
				rapid.Int64Range(0, far),
			).Draw(t, "step")
			if now < -far || now > far {
				now = rapid.Int64Range(-far, far).Draw(t, "now")
			}
			n := rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, l.burst), number).Draw(t, "n")
			checkViews(t, l, s, m, now, n)
			if rapid.Bool().Draw(t, "take") {
				var ok bool
				s, ok = l.Take(s, now, n)
				if want := m.take(now, n); ok != want {
					t.Fatalf("Take(%d, %d) = %v, want %v", now, n, ok, want)
				}
			} else {
				s = checkCharge(t, l, s, m, now, n)
			}
			checkState(t, l, s)
			if got := at(l, s); holds(m.at) && got.Cmp(m.at) != 0 {
				t.Fatalf("At = %s, want %s", got.FloatString(12), m.at.FloatString(12))
			}
			if s.At < -far || s.At > far {
				s = State{At: now}
				m = newNaive(l, s)
			}
		}
	})
}

// checkCharge charges a run of n to both.
func checkCharge(t *rapid.T, l *Limit, s State, m *naive, now, n int64) State {
	r := Run{n, rapid.OneOf(rapid.Int64Range(now-near(l), now+near(l)), number).Draw(t, "m")}
	debt := rapid.OneOf(rapid.Int64Range(0, near(l)), number).Draw(t, "debt")
	s, forgiven := l.Charge(s, now, r, debt)
	want, whole, held := m.charge(now, r, debt)
	if held && whole && forgiven != want {
		t.Fatalf("Charge(%d, %+v, %d) forgave %d, want %d", now, r, debt, forgiven, want)
	}
	if forgiven < 0 || forgiven > max(r.N, 0) {
		t.Fatalf("Charge(%d, %+v, %d) forgave %d", now, r, debt, forgiven)
	}
	return s
}

func checkViews(t *rapid.T, l *Limit, s State, m *naive, now, n int64) {
	if got, want := l.Remaining(s, now), m.remaining(now); got != want {
		t.Fatalf("Remaining(%d) = %d, want %d", now, got, want)
	}
	if got, want := l.RetryAfter(s, now, n), m.retryAfter(now, n); got != want {
		t.Fatalf("RetryAfter(%d, %d) = %d, want %d", now, n, got, want)
	}
	if got, want := l.ResetAfter(s, now), m.resetAfter(now); got != want {
		t.Fatalf("ResetAfter(%d) = %d, want %d", now, got, want)
	}
}

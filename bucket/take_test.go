package bucket

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestRefusalCostsNothing: a refused take leaves the state as it was, and so does
// hammering on: the wait gets no longer (case 9).
func TestRefusalCostsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLimit.Draw(t, "limit")
		now := rapid.Int64Range(0, far/2).Draw(t, "now")
		s := stateOf(l, now, near(l)).Draw(t, "state")
		first := l.RetryAfter(s, now, 1)
		for range 20 {
			n := rapid.OneOf(rapid.Int64Range(1, l.burst), number).Draw(t, "n")
			got, ok := l.Take(s, now, n)
			if ok {
				continue
			}
			if got != s {
				t.Fatalf("refused take of %d changed %+v to %+v", n, s, got)
			}
		}
		if got := l.RetryAfter(s, now, 1); got != first {
			t.Fatalf("RetryAfter = %d, want %d as before", got, first)
		}
	})
}

// TestHammering: a client that asks every millisecond gets what one gets that asks
// when it may (case 9).
func TestHammering(t *testing.T) {
	l := New(1, second, 1)
	var s State
	admitted := 0
	for now := int64(0); now <= 60*second; now += ms {
		var ok bool
		if s, ok = l.Take(s, now, 1); ok {
			admitted++
		}
	}
	if admitted != 61 {
		t.Errorf("admitted %d, want 61: one at once and one a second", admitted)
	}
}

// TestRetryAfterIsTrue: waiting so long is always enough, 1 ns less never is, and a
// refusal never says 0 (case 17).
func TestRetryAfterIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLimit.Draw(t, "limit")
		now := rapid.Int64Range(0, far).Draw(t, "now")
		s := stateOf(l, now, min(near(l), far)).Draw(t, "state")
		n := rapid.OneOf(rapid.Int64Range(0, l.burst), number).Draw(t, "n")
		_, ok := l.Take(s, now, n)
		wait := l.RetryAfter(s, now, n)
		if ok != (wait == 0) || wait < 0 {
			t.Fatalf("Take(%d) = %v, RetryAfter = %d", n, ok, wait)
		}
		if wait == Never {
			if n >= 0 && n <= l.burst {
				t.Fatalf("take of %d of %d: never", n, l.burst)
			}
			return
		}
		if ok {
			return
		}
		if _, ok := l.Take(s, now+wait, n); !ok {
			t.Fatalf("take of %d refused after the %d ns of RetryAfter", n, wait)
		}
		if _, ok := l.Take(s, now+wait-1, n); ok {
			t.Fatalf("take of %d admitted 1 ns before the %d ns of RetryAfter", n, wait)
		}
	})
}

// TestViewsAgree: 0 ≤ remaining ≤ burst; what remains can be taken, and no more; and
// after ResetAfter all is back, 1 ns earlier it is not.
func TestViewsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLimit.Draw(t, "limit")
		now := rapid.Int64Range(0, far).Draw(t, "now")
		s := stateOf(l, now, min(near(l), far)).Draw(t, "state")
		got := l.Remaining(s, now)
		if got < 0 || got > l.Burst() {
			t.Fatalf("Remaining = %d of %d", got, l.Burst())
		}
		if _, ok := l.Take(s, now, got); !ok && got > 0 {
			t.Fatalf("take of the %d remaining refused", got)
		}
		if _, ok := l.Take(s, now, got+1); ok {
			t.Fatalf("take of %d admitted, %d remain", got+1, got)
		}
		wait := l.ResetAfter(s, now)
		full := State{At: now + wait}
		if used := l.used(s, now+wait); used != l.used(full, now+wait) {
			t.Fatalf("used after ResetAfter: %+v", used)
		}
		if wait > 0 && l.used(s, now+wait-1) == (span{}) {
			t.Fatalf("full 1 ns before ResetAfter of %d", wait)
		}
	})
}

// TestMoreThanBurstFirst: case 2.
func TestMoreThanBurstFirst(t *testing.T) {
	l := New(5, second, 5)
	mustRefuse(t, &l, State{}, 0, 6)
	if got := l.RetryAfter(State{}, 0, 6); got != Never {
		t.Errorf("RetryAfter = %d, want Never", got)
	}
	s := mustPass(t, &l, State{}, 0, 1)
	if got := l.Remaining(s, 0); got != 4 {
		t.Errorf("Remaining = %d, want 4", got)
	}
}

// TestNegativeTake: it is refused and mints nothing, and no wait helps it. RetryAfter
// once said 0, go on.
func TestNegativeTake(t *testing.T) {
	for _, l := range []Limit{New(5, second, 5), New(math.MaxInt64, 1, math.MaxInt64)} {
		s := mustPass(t, &l, State{}, 0, 5)
		for _, n := range []int64{-1, -3, math.MinInt64} {
			mustRefuse(t, &l, s, 0, n)
			if got := l.RetryAfter(s, 0, n); got != Never {
				t.Errorf("RetryAfter(%d) = %d, want Never", n, got)
			}
		}
	}
}

// TestEndOfTime: a take whose At no int64 can hold is refused, not wrapped (case 7).
func TestEndOfTime(t *testing.T) {
	l := New(1, second, 5)
	mustPass(t, &l, State{}, math.MaxInt64-second, 1)
	mustRefuse(t, &l, State{}, math.MaxInt64-second, 2)
}

// TestIdleForYears: case 7.
func TestIdleForYears(t *testing.T) {
	const years = 10 * 365 * 24 * hour
	l := New(math.MaxInt64-10, second, math.MaxInt64-10)
	s := mustPass(t, &l, State{}, 1, l.Burst())
	mustRefuse(t, &l, s, 1, 1)
	if got := l.Remaining(s, years); got != l.Burst() {
		t.Errorf("Remaining after ten years = %d, want %d", got, l.Burst())
	}
	s = mustPass(t, &l, s, years, l.Burst())
	mustRefuse(t, &l, s, years, 1)
	mustRefuse(t, &l, s, years, l.Burst())
}

// TestClockBack: a clock that steps back mints nothing and locks nobody out (case
// 13). By less than the debt of a large cluster it is taken for debt; by more, the
// bucket counts as empty from then on.
func TestClockBack(t *testing.T) {
	l := New(100, second, 100)
	now := 9 * hour
	s := mustPass(t, &l, State{}, now, 100)

	now -= 8 * hour
	s, ok := l.Take(s, now, 1)
	if ok {
		t.Fatal("the step back minted an event")
	}
	if got, want := l.RetryAfter(s, now, 1), second/100; got != want {
		t.Fatalf("RetryAfter = %d, want %d", got, want)
	}
	mustRefuse(t, &l, s, now, 1)
	s = mustPass(t, &l, s, now+second/100, 1)
	mustRefuse(t, &l, s, now+second/100, 1)

	// Forward by 11 s and back: what was taken meanwhile stays taken.
	now = 2 * hour
	s = mustPass(t, &l, s, now+11*second, 100)
	mustRefuse(t, &l, s, now, 1)
	if got, want := l.RetryAfter(s, now, 1), 11*second+second/100; got != want {
		t.Errorf("RetryAfter = %d, want %d", got, want)
	}
}

// TestClockWalk: whatever a clock does, a key is never admitted more than a burst and
// what came back while the clock went forward, and is never shut out for longer than
// the debt that a state may mean.
func TestClockWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Draw(t, "limit")
		now, forward, admitted := far/2, int64(0), int64(0)
		var s State
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			step := rapid.OneOf(
				rapid.Int64Range(0, near(l)/8),
				rapid.Int64Range(-near(l), 0),
				rapid.Int64Range(-l.most/2-10, 0),
			).Draw(t, "step")
			now, forward = now+step, forward+max(step, 0)
			if now < 0 {
				break
			}
			n := rapid.Int64Range(1, l.burst).Draw(t, "n")
			var ok bool
			if s, ok = l.Take(s, now, n); ok {
				admitted += n
			}
			if got, most := l.RetryAfter(s, now, n), addSat(l.most, l.span(n).up()); got > most {
				t.Fatalf("RetryAfter = %d, above %d", got, most)
			}
		}
		if most := floor(quo(sum(exact(forward), events(l, l.burst)), interval(l))); admitted > most {
			t.Fatalf("admitted %d, more than %d", admitted, most)
		}
	})
}

// TestFullDebtIsNoClock: a key as deep in debt as 1024 nodes may push it is not taken
// for one whose clock went back.
func TestFullDebtIsNoClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Filter(func(l *Limit) bool { return l.Debt(mostNodes) < far }).Draw(t, "limit")
		now := rapid.Int64Range(0, far/4).Draw(t, "now")
		s, _ := l.Charge(State{}, now, l.RunFrom(Never, now), l.Debt(mostNodes))
		got, ok := l.Take(s, now, 1)
		if ok || got != s {
			t.Fatalf("Take = %+v, %v; want %+v, refused", got, ok, s)
		}
	})
}

package bucket

import (
	"math"
	"testing"
)

// FuzzTake: three numbers make a limit, three a state and a time, one an ask. Nothing
// panics, wraps or mints; within 73 years of 0 the answers are those of the naive
// bucket.
func FuzzTake(f *testing.F) {
	f.Add(int64(1), second, int64(3), int64(0), uint64(0), int64(0), int64(1))
	f.Add(int64(100), hour, int64(100), 2*hour, uint64(0), hour, int64(7))
	f.Add(int64(700_000_000), second, int64(50), int64(71), uint64(3), int64(1), int64(50))
	f.Add(int64(55), 10_000*second, int64(1), int64(5), uint64(10), int64(5), int64(1))
	f.Add(int64(1), int64(math.MaxInt64), int64(math.MaxInt64), far, uint64(0), -far, int64(1))
	f.Add(int64(math.MaxInt64), int64(1), int64(math.MaxInt64), int64(0), uint64(1<<62), int64(0), int64(math.MaxInt64))
	f.Add(int64(2), int64(2*maxSpan+1), int64(5), int64(-1), uint64(1), int64(math.MaxInt64), int64(0))
	f.Add(int64(0), int64(-1), int64(math.MinInt64), int64(math.MinInt64), uint64(0), int64(math.MaxInt64), int64(-1))
	f.Add(int64(10), second, int64(10), int64(math.MaxInt64), uint64(0), int64(math.MinInt64), int64(3))
	f.Fuzz(func(t *testing.T, events, per, burst, tat int64, rem uint64, now, n int64) {
		l := New(events, per, burst)
		s := State{tat, rem % l.den}
		m := newNaive(&l, s)

		left := l.Remaining(s, now)
		if left < 0 || left > l.burst || l.burst < 1 {
			t.Fatalf("Remaining = %d of %d", left, l.burst)
		}
		wait := l.RetryAfter(s, now, n)
		if wait < 0 || l.ResetAfter(s, now) < 0 {
			t.Fatalf("a wait is negative: %d, %d", wait, l.ResetAfter(s, now))
		}
		got, ok := l.Take(s, now, n)
		if ok && (n < 0 || n > left || got.At < now) || got.Rem >= l.den {
			t.Fatalf("Take(%d) of %d left: %+v, %v", n, left, got, ok)
		}
		if tat < -far || tat > far || now < -far || now > far {
			return
		}
		if want := m.remaining(now); left != want {
			t.Fatalf("Remaining = %d, want %d", left, want)
		}
		if want := m.retryAfter(now, n); wait != want || ok != (wait == 0) {
			t.Fatalf("Take = %v, RetryAfter = %d, want %d", ok, wait, want)
		}
		if want := m.take(now, n); ok != want || at(&l, got).Cmp(m.at) != 0 {
			t.Fatalf("Take = %+v, %v, want %s, %v", got, ok, m.at, want)
		}
	})
}

// FuzzRun: any limit, any state, any two runs. Nothing panics or wraps; what is
// forgiven is a part of what was charged; within 73 years composition is exact.
func FuzzRun(f *testing.F) {
	f.Add(int64(1), second, int64(3), int64(0), uint64(0), int64(1), second, int64(2), 3*second, int64(0), second)
	f.Add(int64(3), int64(10), int64(9), int64(4), uint64(1), int64(-5), int64(7), int64(4), int64(30), int64(20), int64(9))
	f.Add(int64(700_000_000), second, int64(50), int64(71), uint64(3), int64(50), int64(90), int64(-7), int64(80), int64(90), int64(0))
	f.Add(int64(1), int64(1), int64(10), int64(0), uint64(0), int64(-7), int64(93), int64(5), int64(106), int64(110), int64(0))
	f.Add(int64(1), int64(math.MaxInt64), int64(1), int64(-1), uint64(0), int64(math.MaxInt64), int64(math.MinInt64),
		int64(math.MinInt64), int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64))
	f.Add(int64(math.MaxInt64), int64(1), int64(math.MaxInt64), int64(math.MinInt64), uint64(1<<62), int64(math.MaxInt64),
		int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, events, per, burst, tat int64, rem uint64, an, am, bn, bm, now, debt int64) {
		l := New(events, per, burst)
		s := State{tat, rem % l.den}
		a, b := Run{an, am}, Run{bn, bm}
		got, forgiven := l.Charge(s, now, a, debt)
		if forgiven < 0 || forgiven > max(a.N, 0) || got.Rem >= l.den {
			t.Fatalf("Charge(%+v) = %+v, forgiven %d", a, got, forgiven)
		}
		if a.N >= 0 && got.At < s.At {
			t.Fatalf("Charge(%+v) took %+v back to %+v", a, s, got)
		}
		ab := l.Compose(a, b)
		if r := l.Extend(a, now, bn); r.N != ab.N {
			t.Fatalf("Extend gives N = %d, Compose %d", r.N, ab.N)
		}
		back := l.RunFrom(a.N, l.Start(a))

		const bound = far / 8
		for _, x := range []int64{tat, am, bm, l.span(abs(an)).ns, l.span(abs(bn)).ns, abs(an), abs(bn)} {
			if abs(x) > bound {
				return
			}
		}
		if back.N != a.N || back.M < a.M || back.M > a.M+1 {
			t.Fatalf("RunFrom(Start) = %+v, want %+v", back, a)
		}
		checkAbove(t, &l, charged(&l, s, ab), at(&l, charged(&l, s, a, b)), 1)
	})
}

// abs is |n|, cut to what an int64 holds.
func abs(n int64) int64 { return max(n, -max(n, -Never)) }

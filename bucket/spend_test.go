package bucket

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Spend is Take, Extend and Remaining, by the quick way and the other.
func TestSpendIsTakeExtendRemaining(t *testing.T) {
	quick := 0
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64Range(0, 2_000), rapid.Int64Range(0, 1<<40), rapid.Int64())
		l := New(rapid.Int64Range(1, 1000).Draw(t, "events"), number.Draw(t, "per"), number.Draw(t, "burst"))
		now := number.Draw(t, "now")
		s := State{At: number.Draw(t, "at")}
		if l.den > 1 {
			s.Rem = rapid.Uint64Range(0, l.den-1).Draw(t, "rem")
		}
		r := Run{rapid.OneOf(number, rapid.Just(int64(math.MaxInt64))).Draw(t, "run n"), number.Draw(t, "run m")}
		n := rapid.OneOf(rapid.Just(int64(1)), rapid.Int64Range(0, 100)).Draw(t, "n")
		if n == 1 && l.den == 1 {
			quick++
		}

		wantS, ok := l.Take(s, now, n)
		wantR, wantLeft := r, l.Remaining(wantS, now)
		if ok && n > 0 {
			wantR = l.Extend(r, now, n)
		}
		wantRetry := int64(0)
		if !ok {
			if wantRetry = l.RetryAfter(wantS, now, n); wantRetry == 0 {
				wantRetry = Never
			}
		}

		left, retry := l.Spend(&s, &r, now, n)
		if left != wantLeft || retry != wantRetry || r != wantR {
			t.Fatalf("got %d left, %d to wait, run %v; want %d, %d, %v", left, retry, r, wantLeft, wantRetry, wantR)
		}
		if s != wantS && (s.At > now || wantS.At > now) { // what is full is full, whenever it became so
			t.Fatalf("got state %v, want %v", s, wantS)
		}
	})
	if quick == 0 {
		t.Error("no take went the quick way")
	}
}

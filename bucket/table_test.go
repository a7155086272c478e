package bucket

import (
	"math"
	"testing"
)

// ms is a thousandth of a second, in ns.
const ms = int64(1e6)

// TestTake goes through what one key asks, one line a take.
func TestTake(t *testing.T) {
	type step struct {
		now, n    int64 // ms, events
		ok        bool
		remaining int64 // after the take
		retry     int64 // ms, for the same again
		reset     int64 // ms
	}
	tests := []struct {
		name  string
		limit Limit
		steps []step
	}{
		{"burst, then the rate", New(1, second, 3), []step{
			{0, 1, true, 2, 0, 1000},
			{0, 1, true, 1, 0, 2000},
			{0, 1, true, 0, 1000, 3000},
			{0, 1, false, 0, 1000, 3000},
			{999, 1, false, 0, 1, 2001},
			{1000, 1, true, 0, 1000, 3000},
			{2500, 1, true, 0, 500, 2500},
			{10_000, 1, true, 2, 0, 1000},
		}},
		{"several at once", New(10, second, 10), []step{
			{0, 7, true, 3, 400, 700},
			{0, 7, false, 3, 400, 700},
			{0, 3, true, 0, 300, 1000},
			{400, 5, false, 4, 100, 600},
			{500, 5, true, 0, 500, 1000},
			{500, 10, false, 0, 1000, 1000},
			{1500, 10, true, 0, 1000, 1000},
		}},
		{"nothing asked", New(1, second, 1), []step{
			{0, 0, true, 1, 0, 0},
			{0, 1, true, 0, 1000, 1000},
			{0, 0, true, 0, 0, 1000},
		}},
		{"never fills past the burst", New(1000, second, 2), []step{
			{0, 2, true, 0, 2, 2},
			{3_600_000, 2, true, 0, 2, 2},
			{3_600_000, 1, false, 0, 1, 2},
		}},
		{"one in three seconds", New(1, 3*second, 1), []step{
			{0, 1, true, 0, 3000, 3000},
			{2999, 1, false, 0, 1, 1},
			{3000, 1, true, 0, 3000, 3000},
		}},
	}
	for _, test := range tests {
		var s State
		for i, step := range test.steps {
			now := step.now * ms
			var ok bool
			s, ok = test.limit.Take(s, now, step.n)
			got := [3]int64{test.limit.Remaining(s, now), test.limit.RetryAfter(s, now, step.n) / ms,
				test.limit.ResetAfter(s, now) / ms}
			if want := [3]int64{step.remaining, step.retry, step.reset}; ok != step.ok || got != want {
				t.Errorf("%s, step %d: %v, remaining, retry, reset %v; want %v, %v", test.name, i, ok, got, step.ok, want)
			}
		}
	}
}

// TestNew: what a limit makes of its three numbers.
func TestNew(t *testing.T) {
	tests := []struct {
		name               string
		events, per, burst int64
		num, den           uint64 // T
		want               int64  // burst
	}{
		{"lowest terms", 100, second, 7, 1e7, 1, 7},
		{"a fraction", 700_000_000, second, 7, 10, 7, 7},
		{"a prime rate", 999_999_937, second, 1, 1e9, 999_999_937, 1},
		{"ten thousandths", 55, 10_000 * second, 1, 2e12, 11, 1},
		{"nothing", 0, 0, 0, 1, 1, 1},
		{"less than nothing", math.MinInt64, math.MinInt64, math.MinInt64, 1, 1, 1},
		{"most of all", math.MaxInt64, math.MaxInt64, math.MaxInt64, 1, 1, maxSpan},
		{"fastest", math.MaxInt64, 1, math.MaxInt64, 1, math.MaxInt64, math.MaxInt64},
		{"slowest", 1, math.MaxInt64, math.MaxInt64, maxSpan, 1, 1},
		// The burst was 0 where T is longer than 73 years by less than 1 ns.
		{"73 years and a half nanosecond", 2, 2*maxSpan + 1, 5, maxSpan, 1, 1},
		{"a burst of 73 years", 1, maxSpan / 10, 10, maxSpan / 10, 1, 10},
		{"a burst of more than 73 years", 1, maxSpan / 10, 11, maxSpan / 10, 1, 10},
	}
	for _, test := range tests {
		l := New(test.events, test.per, test.burst)
		if l.num != test.num || l.den != test.den || l.Burst() != test.want {
			t.Errorf("%s: T = %d/%d, burst %d; want %d/%d, %d",
				test.name, l.num, l.den, l.Burst(), test.num, test.den, test.want)
		}
		if l.all.ns > maxSpan || l.all.ns == maxSpan && l.all.rem > 0 {
			t.Errorf("%s: a burst lasts %+v", test.name, l.all)
		}
	}
}

// TestDebtOf: how deep news may push a key (promise 4).
func TestDebtOf(t *testing.T) {
	l := New(10, second, 20) // a burst is 2 s
	tests := []struct {
		nodes int
		want  int64
	}{
		{-1, 0}, {0, 0}, {1, 0}, {2, 7 * second}, {10, 63 * second}, {1 << 30, (1<<30 - 1) * 7 * second},
		{math.MaxInt32, math.MaxInt64},
	}
	for _, test := range tests {
		if got := l.Debt(test.nodes); got != test.want {
			t.Errorf("Debt(%d) = %d, want %d", test.nodes, got, test.want)
		}
	}
	if got, want := l.DebtStale(), 2*second; got != want {
		t.Errorf("DebtStale() = %d, want %d", got, want)
	}
}

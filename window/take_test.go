package window

import (
	"math"
	"testing"
)

// TestRetryAfter: (state, moment, ask, wait), windows of 60 s, a limit of 10. The state's
// newest window begins at 0.
func TestRetryAfter(t *testing.T) {
	fixed, sliding := NewFixed(10, minute), NewSliding(10, minute)
	tests := []struct {
		name   string
		limit  Limit
		counts [3]int64
		wall   int64
		n      int64
		want   int64
		left   int64
	}{
		{"fixed, room", fixed, [3]int64{9}, 5 * second, 1, 0, 1},
		{"fixed, full", fixed, [3]int64{10}, 5 * second, 1, 55 * second, 0},
		{"fixed, overspent", fixed, [3]int64{25}, 5 * second, 10, 55 * second, 0},
		{"fixed, last moment", fixed, [3]int64{10}, minute - 1, 1, 1, 0},
		{"fixed, next window", fixed, [3]int64{10}, minute, 10, 0, 10},
		{"fixed, too much", fixed, [3]int64{}, 0, 11, Never, 10},
		{"fixed, negative", fixed, [3]int64{}, 0, -1, Never, 10},
		{"fixed, peers are ahead", fixed, [3]int64{4, 10}, -second, 6, second, 0},
		{"fixed, peers are ahead and used it", fixed, [3]int64{5, 10}, -second, 6, 61 * second, 0},
		{"fixed, peers are ahead, room here", fixed, [3]int64{10, 4}, -second, 6, 0, 6},
		{"fixed, refunds ahead", fixed, [3]int64{-5, 10}, -second, 10, second, 0},

		{"sliding, all of before", sliding, [3]int64{0, 10}, 0, 1, 6 * second, 0},
		{"sliding, a tenth of before is over", sliding, [3]int64{0, 10}, 6 * second, 1, 0, 1},
		{"sliding, nearly", sliding, [3]int64{0, 10}, 6*second - 1, 1, 1, 0},
		{"sliding, half", sliding, [3]int64{5, 10}, 6 * second, 1, 30 * second, 0},
		{"sliding, all but one", sliding, [3]int64{9, 10}, 0, 1, 60 * second, 0},
		{"sliding, all but one, a grain", sliding, [3]int64{9, 10}, minute - 1, 1, 1, 0},
		{"sliding, full now", sliding, [3]int64{10, 0}, 30 * second, 1, 36 * second, 0},
		{"sliding, full now, all of it", sliding, [3]int64{10, 0}, 30 * second, 10, 90 * second, 0},
		{"sliding, full twice", sliding, [3]int64{10, 10}, 30 * second, 1, 36 * second, 0},
		{"sliding, overspent", sliding, [3]int64{30, 0}, 30 * second, 1, 30*second + 42*second, 0},
		{"sliding, peers are ahead", sliding, [3]int64{5, 10}, -second, 1, 37 * second, 0},
		{"sliding, peers are ahead and used it", sliding, [3]int64{10, 10}, -second, 1, 67 * second, 0},
		{"sliding, and all of it", sliding, [3]int64{10, 10}, -second, 10, 121 * second, 0},
		{"sliding, refunded before", sliding, [3]int64{2, -7}, 0, 8, 0, 8},
		{"sliding, refunds now", sliding, [3]int64{-7, 10}, 0, 1, 6 * second, 0},
	}
	for _, test := range tests {
		s := State{0, test.counts}
		f := test.limit.Frame(test.wall)
		if got := test.limit.RetryAfter(s, f, test.wall, test.n); got != test.want {
			t.Errorf("%s: RetryAfter = %d, want %d", test.name, got, test.want)
		}
		if got := test.limit.Remaining(s, f, test.wall); got != test.left {
			t.Errorf("%s: %d remain, want %d", test.name, got, test.left)
		}
	}
}

// TestResetAfter: when the whole budget is back.
func TestResetAfter(t *testing.T) {
	fixed, sliding := NewFixed(10, minute), NewSliding(10, minute)
	tests := []struct {
		name           string
		counts         [3]int64
		wall           int64
		fixed, sliding int64
	}{
		{"unused", [3]int64{}, second, 0, 0},
		{"used", [3]int64{1}, second, 59 * second, 119 * second},
		{"used before", [3]int64{0, 1}, second, 0, 59 * second},
		{"long ago", [3]int64{0, 0, 1}, second, 0, 0},
		{"refunded", [3]int64{-1, -1}, second, 0, 0},
		{"ahead", [3]int64{1}, -second, 61 * second, 121 * second},
		{"ahead, used now", [3]int64{0, 1}, -second, second, 61 * second},
		{"ahead, used before", [3]int64{0, 0, 1}, -second, 0, second},
		{"over", [3]int64{9, 9, 9}, 5 * minute, 0, 0},
	}
	for _, test := range tests {
		s := State{0, test.counts}
		got, got2 := fixed.ResetAfter(s, fixed.Frame(test.wall), test.wall), sliding.ResetAfter(s, sliding.Frame(test.wall), test.wall)
		if got != test.fixed || got2 != test.sliding {
			t.Errorf("%s: fixed %d, sliding %d; want %d, %d", test.name, got, got2, test.fixed, test.sliding)
		}
	}
}

// TestTakeOfNone: a take of 0 passes unless more is used than the limit, and settles
// nothing.
func TestTakeOfNone(t *testing.T) {
	for _, l := range []Limit{NewFixed(10, minute), NewSliding(10, minute)} {
		for count, want := range map[int64]int64{-3: 0, 0: 0, 10: 0, 11: minute} {
			s := State{0, [3]int64{count}}
			charged, _, retry := l.Take(&s, l.Frame(0), 0, 0)
			if l.sliding && want > 0 {
				want += 5454545455 // until one of eleven is out of view, rounded up
			}
			if charged != 0 || retry != want || s.Counts[0] != count {
				t.Errorf("with %d used: charged %d, retry %d, %+v; want retry %d", count, charged, retry, s, want)
			}
		}
	}
}

// TestHuge: a key idle for ten years; limits and takes near the greatest number (case 7).
func TestHuge(t *testing.T) {
	const years = 10 * 365 * day
	for _, l := range []Limit{NewFixed(math.MaxInt64, minute), NewSliding(math.MaxInt64, minute), NewCalendar(math.MaxInt64, Month, nil)} {
		var s State
		mustTake(t, &l, &s, 1, math.MaxInt64-1)
		mustRefuse(t, &l, &s, 1, math.MaxInt64)
		mustRefuse(t, &l, &s, 1, 2)
		mustTake(t, &l, &s, 1, 1)
		mustRefuse(t, &l, &s, 1, 1)
		if got := l.Remaining(s, l.Frame(years), years); got != math.MaxInt64 {
			t.Errorf("%d remain after ten years", got)
		}
		mustTake(t, &l, &s, years, math.MaxInt64)
		mustRefuse(t, &l, &s, years, 1)
		l.Charge(&s, l.Frame(years), l.Frame(years).From, l.per, math.MaxInt64)
		if got := l.Remaining(s, l.Frame(years), years); got != 0 {
			t.Errorf("%d remain of an overspent key", got)
		}
		mustRefuse(t, &l, &s, years, math.MaxInt64)
	}
}

// TestMoreThanLimitFirst: case 2.
func TestMoreThanLimitFirst(t *testing.T) {
	for _, l := range []Limit{NewFixed(5, second), NewSliding(5, second), NewCalendar(5, Day, nil)} {
		var s State
		if got := mustRefuse(t, &l, &s, hour, 6); got != Never {
			t.Errorf("retry after %d, want Never", got)
		}
		if got := mustTake(t, &l, &s, hour, 1); got != 4 {
			t.Errorf("%d left, want 4", got)
		}
	}
}

// TestLimitLowered: a limit below what is already used: remaining 0, and no read path
// underflows (case 20).
func TestLimitLowered(t *testing.T) {
	for _, pair := range [][2]Limit{{NewFixed(100, hour), NewFixed(50, hour)}, {NewSliding(100, hour), NewSliding(50, hour)}} {
		old, lower := pair[0], pair[1]
		var s State
		mustTake(t, &old, &s, 5*hour, 70)
		f := lower.Frame(5 * hour)
		if got := lower.Remaining(s, f, 5*hour); got != 0 {
			t.Errorf("%d remain, want 0", got)
		}
		if got := lower.Used(s, f, 5*hour); got != 70 {
			t.Errorf("%d used, want 70", got)
		}
		mustRefuse(t, &lower, &s, 5*hour, 1)
		if got := old.Remaining(s, f, 5*hour); got != 30 {
			t.Errorf("raised again: %d remain, want 30", got)
		}
	}
}

// TestClockSet: case 13. Forward by 11 s and back, and back by 8 h, with everything used.
func TestClockSet(t *testing.T) {
	for _, l := range []Limit{NewFixed(100, minute), NewSliding(100, minute)} {
		wall := 9*hour + 55*second
		var s State
		mustTake(t, &l, &s, wall, 100)
		mustRefuse(t, &l, &s, wall, 1)
		wall += 11 * second // the next minute
		ahead := l.Remaining(s, l.Frame(wall), wall)
		if ahead > 0 {
			mustTake(t, &l, &s, wall, ahead)
		}
		wall -= 11 * second
		mustRefuse(t, &l, &s, wall, 1)

		wall -= 8 * hour
		wait := mustRefuse(t, &l, &s, wall, 1)
		if wait > 2*minute {
			t.Errorf("locked out for %d ns", wait)
		}
		wall += wait
		if got := mustTake(t, &l, &s, wall, 1); got < 0 || got > 99 {
			t.Errorf("%d left", got)
		}
	}
}

// TestLateTaker: a taker that read its clock in the window before, and got its turn in
// this one, is counted in its own.
func TestLateTaker(t *testing.T) {
	l := NewFixed(2, minute)
	var s State
	mustTake(t, &l, &s, minute-1, 1)
	mustTake(t, &l, &s, minute, 2)
	mustRefuse(t, &l, &s, minute, 1)
	mustTake(t, &l, &s, minute-1, 1)
	if wait := mustRefuse(t, &l, &s, minute-1, 1); wait != minute+1 {
		t.Errorf("retry after %d, want %d: the next window is full", wait, minute+1)
	}
}

// TestEndOfTime: where a window, or what is to be waited for, ends after all time, no
// wait helps.
func TestEndOfTime(t *testing.T) {
	const end = math.MaxInt64
	fixed, sliding := NewFixed(10, minute), NewSliding(10, minute)
	last := fixed.Frame(end).From // of the window that has no end
	tests := []struct {
		name  string
		limit Limit
		state State
		wall  int64
		want  int64
	}{
		{"last window", fixed, State{last, [3]int64{10}}, end - 1, Never},
		{"last moment", fixed, State{last, [3]int64{10}}, end, Never},
		{"last but one", fixed, State{last - minute, [3]int64{10}}, last - 1, 1},
		{"last but one, peers are ahead", fixed, State{last, [3]int64{10, 10}}, last - 1, Never},
		{"last window, of the one before", sliding, State{last, [3]int64{0, 10}}, last, 6 * second},
		{"last window, and more", sliding, State{last, [3]int64{5, 10}}, last, Never},
		{"last but one, in view for long", sliding, State{last - minute, [3]int64{20}}, last - 1, Never},
		{"last but one, in view", sliding, State{last - minute, [3]int64{10}}, last - 1, 6*second + 1},
	}
	for _, test := range tests {
		f := test.limit.Frame(test.wall)
		if got := test.limit.RetryAfter(test.state, f, test.wall, 1); got != test.want {
			t.Errorf("%s: RetryAfter = %d, want %d", test.name, got, test.want)
		}
	}
}

// TestNew: numbers that make no sense, and windows longer than 73 years.
func TestNew(t *testing.T) {
	for _, test := range [][2]Limit{
		{NewFixed(0, 0), NewFixed(1, 1)},
		{NewFixed(math.MinInt64, math.MinInt64), NewFixed(1, 1)},
		{NewFixed(1, math.MaxInt64), NewFixed(1, 1<<61)},
		{NewSliding(-1, math.MaxInt64), NewSliding(1, 1<<61)},
	} {
		if test[0] != test[1] {
			t.Errorf("got %+v, want %+v", test[0], test[1])
		}
	}
	if got, want := NewLog(0, math.MaxInt64), NewLog(1, 1<<61); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestFloorDiv: division rounds down on either side of 0.
func TestFloorDiv(t *testing.T) {
	for _, test := range [][3]int64{{7, 3, 2}, {6, 3, 2}, {0, 3, 0}, {-1, 3, -1}, {-3, 3, -1}, {-4, 3, -2}, {math.MinInt64, 1, math.MinInt64}} {
		if got := floorDiv(test[0], test[1]); got != test[2] {
			t.Errorf("%d / %d = %d, want %d", test[0], test[1], got, test[2])
		}
	}
}

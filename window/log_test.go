package window

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLog: takes of a limit of 3 in 10, one after the other.
func TestLog(t *testing.T) {
	l := NewLog(3, 10)
	var log Log
	for _, step := range []struct{ now, n, left, retry int64 }{
		{100, 1, 2, 0},
		{101, 1, 1, 0},
		{101, 3, 1, 10}, // when the second is over, not the first
		{105, 1, 0, 0},
		{105, 1, 0, 5},
		{109, 2, 0, 2},
		{109, 3, 0, 6},
		{109, 4, 0, Never},
		{109, -1, 0, Never},
		{109, 0, 0, 0},
		{110, 1, 0, 0},
		{110, 1, 0, 1},
		{300, 0, 3, 0},
		{300, 3, 0, 0},
	} {
		left, retry := l.Take(&log, step.now, step.n)
		if left != step.left || retry != step.retry {
			t.Errorf("Take(%d, %d): %d left, retry %d; want %d, %d", step.now, step.n, left, retry, step.left, step.retry)
		}
	}
	if len(log) != 1 || l.Events() != 3 {
		t.Errorf("%+v is left", log)
	}
}

// TestLogCharge: (log, charge, log), at 100, a limit of 10 in 50.
func TestLogCharge(t *testing.T) {
	l := NewLog(10, 50)
	tests := []struct {
		name  string
		at, n int64
		want  Log
	}{
		{"now", 100, 5, Log{{60, 1}, {70, 2}, {90, 3}, {100, 5}}},
		{"between", 80, 5, Log{{60, 1}, {70, 2}, {80, 5}, {90, 3}}},
		{"at the same time", 70, 5, Log{{60, 1}, {70, 7}, {90, 3}}},
		{"first", 51, 5, Log{{51, 5}, {60, 1}, {70, 2}, {90, 3}}},
		{"too late", 50, 5, Log{{60, 1}, {70, 2}, {90, 3}}},
		{"from the future", 5000, 5, Log{{60, 1}, {70, 2}, {90, 3}, {100, 5}}},
		{"nothing", 80, 0, Log{{60, 1}, {70, 2}, {90, 3}}},
		{"past counting", 70, math.MaxInt64, Log{{60, 1}, {70, math.MaxInt64}, {90, 3}}},
		{"a refund", 90, -2, Log{{60, 1}, {70, 2}, {90, 1}}},
		{"of all", 70, -2, Log{{60, 1}, {90, 3}}},
		{"and of what is before", 90, -4, Log{{60, 1}, {70, 1}}},
		{"of what is before", 80, -1, Log{{60, 1}, {70, 1}, {90, 3}}},
		{"and of what is after", 70, -4, Log{{90, 2}}},
		{"after only", 55, -2, Log{{70, 1}, {90, 3}}},
		{"from the future too", 5000, -2, Log{{60, 1}, {70, 2}, {90, 1}}},
		{"too late too", 50, -2, Log{{60, 1}, {70, 2}, {90, 3}}},
		{"of more than there is", 90, -100, Log{}},
		{"of ever so many", 90, math.MinInt64, Log{}},
	}
	for _, test := range tests {
		log := Log{{60, 1}, {70, 2}, {90, 3}}
		if l.Charge(&log, 100, test.at, test.n); !slices.Equal(log, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, log, test.want)
		}
	}
}

// TestLogNeverTooMany: however takes come, in no span of a period are more admitted than
// the limit, coarse or not; and a log is not starved by being coarse.
func TestLogNeverTooMany(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, events := range []int64{1, 7, 256, 257, 5000} {
		l := NewLog(events, minute)
		var log Log
		var times []int64
		now := day
		for range 100_000 {
			if now += r.Int64N(4*minute/events+1) * pick(r, 0, 0, 0, 1); r.IntN(1000) == 0 {
				now += r.Int64N(2 * minute)
			}
			if _, retry := l.Take(&log, now, 1); retry == 0 {
				times = append(times, now)
			}
		}
		if got := most(times, minute); int64(got) != events {
			t.Errorf("%d in 60 s: %d admitted", events, got)
		}
	}
}

// TestLogRefusalsCostNothing: refused takes are not in the log, however many (case 9).
func TestLogRefusalsCostNothing(t *testing.T) {
	l := NewLog(5, minute)
	var log Log
	for now := range int64(5) {
		l.Take(&log, now, 1)
	}
	before, room := slices.Clone(log), cap(log)
	for now := range int64(100_000) {
		if _, retry := l.Take(&log, 10+now, 1); retry != minute-10-now {
			t.Fatalf("at %d: retry after %d, want %d", 10+now, retry, minute-10-now)
		}
	}
	if !slices.Equal(log, before) || cap(log) != room {
		t.Errorf("%+v, room for %d; want %+v, %d", log, cap(log), before, room)
	}
}

// TestLogMemory: a log grows by doubling, to the bound and no further, and its array is
// used again.
func TestLogMemory(t *testing.T) {
	l := NewLog(1e6, minute)
	var log Log
	var rooms []int
	for now := range int64(100_000) {
		l.Take(&log, now*ms, 1)
		if len(rooms) == 0 || rooms[len(rooms)-1] != cap(log) {
			rooms = append(rooms, cap(log))
		}
	}
	if want := []int{4, 8, 16, 32, 64, 128, 256}; !slices.Equal(rooms, want) {
		t.Errorf("rooms %v, want %v", rooms, want)
	}
	now := day
	if got := testing.AllocsPerRun(10_000, func() { l.Take(&log, now, 1); now += ms }); got != 0 {
		t.Errorf("%v allocations a take, want 0", got)
	}
}

// TestLogClockBack: a clock that goes back by more than the period mints nothing, and
// locks nobody out for longer than it (case 13); reading says the same as taking.
func TestLogClockBack(t *testing.T) {
	l := NewLog(10, minute)
	var log Log
	l.Take(&log, 9*hour, 4)
	l.Take(&log, 9*hour+second, 6)
	now := hour
	if got := l.Used(log, now); got != 10 {
		t.Errorf("%d used, want 10", got)
	}
	if got := l.RetryAfter(log, now, 1); got != minute {
		t.Errorf("RetryAfter = %d, want %d", got, minute)
	}
	if l.AtRest(log, now) || l.ResetAfter(log, now) != minute || l.Remaining(log, now) != 0 {
		t.Errorf("AtRest = %v, ResetAfter = %d, %d remain", l.AtRest(log, now), l.ResetAfter(log, now), l.Remaining(log, now))
	}
	if _, retry := l.Take(&log, now, 1); retry != minute {
		t.Errorf("retry after %d, want %d", retry, minute)
	}
	if want := (Log{{hour, 10}}); !slices.Equal(log, want) {
		t.Errorf("%+v, want %+v", log, want)
	}
	// What is less than a period ahead stays where it is, in order.
	log = Log{{hour - second, 1}, {hour + 2*second, 2}, {9 * hour, 3}}
	l.Charge(&log, now, now, 0)
	if want := (Log{{hour - second, 1}, {hour, 3}, {hour + 2*second, 2}}); !slices.Equal(log, want) {
		t.Errorf("%+v, want %+v", log, want)
	}
}

// TestLogAhead: records all over the period gone and the one ahead, the most that can be
// in force, still become few enough; none gets lost, or goes further than two grains.
func TestLogAhead(t *testing.T) {
	for _, per := range []int64{300, 12_800, minute} {
		l := NewLog(1e9, per)
		var log Log
		const n = 599
		for i := range int64(n) {
			l.put(&log, Event{day - per + 1 + i*(2*per-2)/(n-1), 1})
			checkLog(t, &l, log, day)
		}
		if got := log.sum(); got != n {
			t.Errorf("per %d: %d events, want %d", per, got, n)
		}
		if first := log[0].At; first >= day-per+1+2*((per-1)/grains+1) {
			t.Errorf("per %d: the first is at %d", per, first-day)
		}
	}
	l := NewLog(1e9, 128)
	var log Log
	for i := range int64(MaxEvents) { // one in each grain: only larger ones help
		log = append(log, Event{i, 1})
	}
	l.put(&log, Event{MaxEvents, 1})
	if len(log) != MaxEvents/2+1 || log.sum() != MaxEvents+1 || log[0] != (Event{1, 2}) {
		t.Errorf("%d records of %d events, the first %+v", len(log), log.sum(), log[0])
	}
}

// TestLogLaws: any limit, times and amounts: nothing panics, wraps or mints.
func TestLogLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := NewLog(number.Draw(t, "events"), number.Draw(t, "per"))
		var log Log
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			checkLogStep(t, &l, &log, number.Draw(t, "now"), number.Draw(t, "at"), number.Draw(t, "n"), rapid.Bool().Draw(t, "take"))
		}
	})
}

// checkLogStep makes one operation of any numbers.
func checkLogStep(t rapid.TB, l *LogLimit, log *Log, now, at, n int64, take bool) {
	left, retry := l.Remaining(*log, now), l.RetryAfter(*log, now, n)
	used := l.Used(*log, now)
	if left < 0 || left > l.events || used < 0 || left != max(0, l.events-used) || l.ResetAfter(*log, now) < 0 {
		t.Fatalf("Remaining = %d of %d, Used = %d, ResetAfter = %d", left, l.events, used, l.ResetAfter(*log, now))
	}
	if l.AtRest(*log, now) != (l.ResetAfter(*log, now) == 0) {
		t.Fatalf("AtRest = %v, ResetAfter = %d", l.AtRest(*log, now), l.ResetAfter(*log, now))
	}
	if !take {
		l.Charge(log, now, at, n)
		is := l.Used(*log, now)
		if n >= 0 && (is < used || is-used > n) || n < 0 && is > used {
			t.Fatalf("Charge(%d, %d, %d): %d used, %d before", now, at, n, is, used)
		}
		return
	}
	after, wait := l.Take(log, now, n)
	if wait != retry || wait < 0 || (wait == 0) != (n >= 0 && n <= l.events-used) {
		t.Fatalf("Take(%d, %d): wait %d, RetryAfter = %d, Used = %d of %d", now, n, wait, retry, used, l.events)
	}
	want := left
	if wait == 0 {
		want -= n
	}
	if after != want || l.Remaining(*log, now) != want {
		t.Fatalf("Take(%d, %d): %d left, Remaining = %d, want %d", now, n, after, l.Remaining(*log, now), want)
	}
	for i, e := range *log {
		if e.N < 1 || i > 0 && (*log)[i-1].At >= e.At {
			t.Fatalf("log %+v", *log)
		}
	}
	if wait > 0 && wait < Never && now < math.MaxInt64-wait && l.RetryAfter(*log, now+wait, n) != 0 {
		t.Fatalf("take of %d at %d refused after the %d ns of RetryAfter", n, now, wait)
	}
}

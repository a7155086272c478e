package window

import (
	"math"
	"testing"
)

// TestCharge: windows of 60 s, by their numbers; a state whose newest is 10, at a moment
// of one.
func TestCharge(t *testing.T) {
	l := NewFixed(100, minute)
	const ten = 10 * minute
	tests := []struct {
		name         string
		wall         int64
		from, per, n int64
		landed       bool
		want         State
	}{
		{"the current window", ten, ten, minute, 5, true, State{ten, [3]int64{6, 2, 3}}},
		{"the one before", ten, ten - minute, minute, 5, true, State{ten, [3]int64{1, 7, 3}}},
		{"the one before that", ten, ten - 2*minute, minute, 5, true, State{ten, [3]int64{1, 2, 8}}},
		{"too late", ten, ten - 3*minute, minute, 5, false, State{ten, [3]int64{1, 2, 3}}},
		{"one ahead", ten, ten + minute, minute, 5, true, State{ten + minute, [3]int64{5, 1, 2}}},
		{"two ahead", ten, ten + 2*minute, minute, 5, true, State{ten, [3]int64{6, 2, 3}}},
		{"for ever ahead", ten, 1 << 26 * minute, minute, 5, true, State{ten, [3]int64{6, 2, 3}}},
		{"a refund", ten, ten, minute, -5, true, State{ten, [3]int64{-4, 2, 3}}},
		{"nothing", ten, ten, minute, 0, true, State{ten, [3]int64{1, 2, 3}}},
		{"the end of counting", ten, ten, minute, math.MaxInt64, true, State{ten, [3]int64{math.MaxInt64, 2, 3}}},
		{"and the other", ten - minute, ten - 2*minute, minute, math.MinInt64, true, State{ten, [3]int64{1, 2, math.MinInt64 + 3}}},

		{"a state one ahead", ten - 1, ten - minute, minute, 5, true, State{ten, [3]int64{1, 7, 3}}},
		{"of one ahead, its newest", ten - 1, ten, minute, 5, true, State{ten, [3]int64{6, 2, 3}}},
		{"of one ahead, one further", ten - 1, ten + minute, minute, 5, true, State{ten, [3]int64{1, 7, 3}}},
		{"of one ahead, the one before", ten - 1, ten - 2*minute, minute, 5, true, State{ten, [3]int64{1, 2, 8}}},
		{"of one ahead, too late", ten - 1, ten - 3*minute, minute, 5, false, State{ten, [3]int64{1, 2, 3}}},

		{"first of the next", ten + minute, ten + minute, minute, 5, true, State{ten + minute, [3]int64{5, 1, 2}}},
		{"next, late", ten + minute, ten, minute, 5, true, State{ten + minute, [3]int64{0, 6, 2}}},

		{"an hour that has not ended", ten + 7*second, 0, hour, 5, true, State{ten, [3]int64{6, 2, 3}}},
		{"ten seconds of it", ten + 25*second, ten + 10*second, 10 * second, 5, true, State{ten, [3]int64{6, 2, 3}}},
		{"ten seconds of the one before", ten + 25*second, ten - 20*second, 10 * second, 5, true, State{ten, [3]int64{1, 7, 3}}},
		{"a minute not cut alike", ten + 25*second, ten - 30*second, minute, 5, true, State{ten, [3]int64{6, 2, 3}}},
		{"an hour that is over", ten, ten - hour - minute, hour, 5, true, State{ten, [3]int64{1, 2, 8}}},
		{"one that is long over", ten, -2 * hour, hour, 5, false, State{ten, [3]int64{1, 2, 3}}},
		{"one ahead of all", ten + 7*second, 1 << 62, hour, 5, true, State{ten, [3]int64{6, 2, 3}}},
		{"no length", ten + 7*second, ten + 1, 0, 5, true, State{ten, [3]int64{6, 2, 3}}},
		{"of no sense", ten, math.MinInt64, math.MinInt64, 5, false, State{ten, [3]int64{1, 2, 3}}},
	}
	for _, test := range tests {
		s := State{ten, [3]int64{1, 2, 3}}
		landed := l.Charge(&s, l.Frame(test.wall), test.from, test.per, test.n)
		if landed != test.landed || s != test.want {
			t.Errorf("%s: %v, %+v; want %v, %+v", test.name, landed, s, test.landed, test.want)
		}
	}
}

// TestChargeCalendar: a day of 23 hours is the same day elsewhere, and no other cut is.
func TestChargeCalendar(t *testing.T) {
	paris := zone("Europe/Paris")
	l := NewCalendar(100, Day, paris)
	wall := at(t, paris, "2026-03-29 12:00:00")
	f := l.Frame(wall)
	tests := []struct {
		name      string
		from, per int64
		landed    bool
		want      State
	}{
		{"today", f.From, 23 * hour, true, State{f.From, [3]int64{5}}},
		{"tomorrow", f.To, 24 * hour, true, State{f.To, [3]int64{5}}},
		{"yesterday", f.Before, 24 * hour, true, State{f.From, [3]int64{0, 5}}},
		{"the day before", f.Before - 24*hour, 24 * hour, false, State{From: f.From}},
		{"in two days", f.After, 24 * hour, true, State{f.From, [3]int64{5}}},
		{"London's", f.From + hour, 23 * hour, true, State{f.From, [3]int64{5}}},
		{"London's tomorrow", f.To + hour, 24 * hour, true, State{f.From, [3]int64{5}}},
		{"an hour's", wall - hour, hour, true, State{f.From, [3]int64{5}}},
		{"an hour's of yesterday", f.From - 3*hour, hour, true, State{f.From, [3]int64{0, 5}}},
	}
	for _, test := range tests {
		var s State
		if landed := l.Charge(&s, f, test.from, test.per, 5); landed != test.landed || s != test.want {
			t.Errorf("%s: %v, %+v; want %v, %+v", test.name, landed, s, test.landed, test.want)
		}
	}
}

// TestSameCut: what a change of a limit leaves where it was.
func TestSameCut(t *testing.T) {
	paris := zone("Europe/Paris")
	tests := []struct {
		a, b Limit
		want bool
	}{
		{NewFixed(1, minute), NewFixed(2, minute), true},
		{NewFixed(1, minute), NewSliding(1, minute), true},
		{NewFixed(1, minute), NewFixed(1, hour), false},
		{NewFixed(1, day), NewCalendar(1, Day, nil), false},
		{NewCalendar(1, Day, paris), NewCalendar(2, Day, paris), true},
		{NewCalendar(1, Day, paris), NewCalendar(1, Week, paris), false},
		{NewCalendar(1, Day, paris), NewCalendar(1, Day, zone("UTC")), false},
	}
	for _, test := range tests {
		if test.a.SameCut(&test.b) != test.want || test.b.SameCut(&test.a) != test.want {
			t.Errorf("SameCut of %+v and %+v, want %v", test.a, test.b, test.want)
		}
	}
}

// TestRefundFirst: a refund that comes before what it refunds lifts no key above full. A
// take in between settles it, and says so: nodes that hear of all three agree.
func TestRefundFirst(t *testing.T) {
	l := NewFixed(10, minute)
	f := l.Frame(0)
	var a, b State
	l.Charge(&a, f, 0, minute, -4)
	if got := l.Remaining(a, f, 0); got != 10 {
		t.Fatalf("%d remain, want 10", got)
	}
	charged, left, retry := l.Take(&a, f, 0, 3)
	if charged != 7 || left != 7 || retry != 0 {
		t.Fatalf("Take(3) = %d, %d, %d; want 7 charged, 7 left", charged, left, retry)
	}
	l.Charge(&a, f, 0, minute, 4) // what was refunded

	l.Charge(&b, f, 0, minute, charged)
	l.Charge(&b, f, 0, minute, 4)
	l.Charge(&b, f, 0, minute, -4)
	if a != b {
		t.Errorf("one node has %+v, the other %+v", a, b)
	}
	if charged, _, retry := l.Take(&a, f, 0, 4); charged != 0 || retry != minute {
		t.Errorf("Take(4) with 7 used of 10: charged %d, retry %d", charged, retry)
	}
}

// TestOrderDoesNotMatter: the counts of fixed windows are sums, so that nodes that heard
// the same in any order agree, late news and news from ahead included.
func TestOrderDoesNotMatter(t *testing.T) {
	l := NewFixed(10, minute)
	wall := hour + 30*second
	f := l.Frame(wall)
	news := [][2]int64{{f.From, 4}, {f.To, 2}, {f.Before, 3}, {f.From, -1}, {f.To, 5}, {f.From, 7}}
	var want State
	for i := range news {
		for j := range news {
			order := append([][2]int64(nil), news...)
			order[i], order[j] = order[j], order[i]
			var s State
			for _, e := range order {
				l.Charge(&s, f, e[0], minute, e[1])
			}
			if i == 0 && j == 0 {
				want = s
			}
			if s != want {
				t.Fatalf("%v: %+v, want %+v", order, s, want)
			}
		}
	}
	if want != (State{f.To, [3]int64{7, 10, 3}}) {
		t.Errorf("got %+v", want)
	}
}

package table

import (
	"maps"
	"math"
	"testing"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

func TestTakeOfWindowsAndLogs(t *testing.T) {
	const never = bucket.Never
	for name, c := range map[string]struct {
		def   Def
		takes []take
	}{
		"fixed": {fixed(3, 10*second), []take{
			{4 * second, 1, Result{true, 2, 0, 6 * second}},
			{5 * second, 2, Result{true, 0, 0, 5 * second}},
			{6 * second, 1, Result{false, 0, 4 * second, 4 * second}},
			{6 * second, 1, Result{false, 0, 4 * second, 4 * second}}, // case 9
			{10*second - 1, 1, Result{false, 0, 1, 1}},                // case 17
			{10 * second, 1, Result{true, 2, 0, 10 * second}},
			{10 * second, 0, Result{true, 2, 0, 10 * second}},
		}},
		"sliding": {sliding(4, 10*second), []take{
			{5 * second, 4, Result{true, 0, 0, 15 * second}},
			{9 * second, 1, Result{false, 0, 3500000000, 11 * second}},
			{12500000000 - 1, 1, Result{false, 0, 1, 7500000001}},
			{12500000000, 1, Result{true, 0, 0, 17500000000}},
		}},
		"log": {logging(2, 10*second), []take{
			{5 * second, 1, Result{true, 1, 0, 10 * second}},
			{6 * second, 1, Result{true, 0, 0, 10 * second}},
			{7 * second, 1, Result{false, 0, 8 * second, 9 * second}},
			{7 * second, 1, Result{false, 0, 8 * second, 9 * second}}, // case 9
			{7 * second, 2, Result{false, 0, 9 * second, 9 * second}},
			{15 * second, 1, Result{true, 0, 0, 10 * second}},
		}},
		// case 2: nothing changes, and the next take of 1 passes.
		"fixed, first more than the limit": {fixed(5, second), []take{
			{0, 6, Result{false, 5, never, 0}},
			{0, math.MaxInt64, Result{false, 5, never, 0}},
			{0, 1, Result{true, 4, 0, second}},
			{0, 6, Result{false, 4, never, second}},
		}},
		"log, first more than the limit": {logging(5, second), []take{
			{0, 6, Result{false, 5, never, 0}},
			{0, 1, Result{true, 4, 0, second}},
			{0, 6, Result{false, 4, never, second}},
		}},
		// case 7: idle for ten years; limits and costs near the greatest number.
		"fixed, ten years": {fixed(math.MaxInt64, second), []take{
			{0, math.MaxInt64 - 1, Result{true, 1, 0, second}},
			{0, math.MaxInt64, Result{false, 1, second, second}},
			{87600 * hour, math.MaxInt64, Result{true, 0, 0, second}},
		}},
		"log, ten years": {logging(math.MaxInt64, second), []take{
			{0, math.MaxInt64 - 1, Result{true, 1, 0, second}},
			{0, 2, Result{false, 1, second, second}},
			{87600 * hour, math.MaxInt64, Result{true, 0, 0, second}},
		}},
		"sliding, ten years": {sliding(math.MaxInt64, second), []take{
			{0, math.MaxInt64, Result{true, 0, 0, 2 * second}},
			{87600 * hour, math.MaxInt64, Result{true, 0, 0, 2 * second}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tab := New(Config{Record: true})
			l := define(t, tab, name, c.def)
			hash := l.Hash("key")
			for i, k := range c.takes {
				peek := tab.Peek(l, hash, k.now, k.n)
				if peek.OK != k.want.OK || !peek.OK && peek != k.want {
					t.Errorf("line %d: a peek says %+v, want of the take %+v", i, peek, k.want)
				}
				if got := tab.Take(l, hash, k.now, k.n); got != k.want {
					t.Errorf("line %d: take of %d at %d = %+v, want %+v", i, k.n, k.now, got, k.want)
				}
			}
			check(t, tab)
		})
	}
}

// TestRefusalsLeaveNothing: neither an entry nor a log comes of a refused take.
func TestRefusalsLeaveNothing(t *testing.T) {
	for name, d := range kinds(5, second) {
		tab := New(Config{Record: true})
		l := define(t, tab, name, d)
		tab.Take(l, 1, 0, 6)
		tab.Take(l, 2, 0, 0)
		tab.Peek(l, 3, 0, 1)
		tab.Hold(l, 4, 0, 6)
		tab.Hold(l, 5, 0, -1)
		tab.Borrow(l, 6, 0, 6)
		if got := tab.Refund(l, 7, 0, 1, tab.Mark(l, 0)); got != 0 {
			t.Errorf("%s: refunded %d of a key that nothing was taken of", name, got)
		}
		if got := tab.Reset(l, 8, 0); got != 0 {
			t.Errorf("%s: reset %d", name, got)
		}
		tab.Charge(l, 9, 50*second, Row{3, 0, 0}, 0)       // long over
		tab.Charge(l, 10, 50*second, Row{3, 0, second}, 0) // long over
		if got := tab.Stats().Keys; got != 0 {
			t.Errorf("%s: %d keys, want none", name, got)
		}
		if all, _, any := drain(tab, false); any {
			t.Errorf("%s: drained %v, want nothing", name, all)
		}
		check(t, tab)
	}
}

// TestWall: windows are cut from cluster time, whatever the node's own.
func TestWall(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", fixed(3, 10*second))
	tab.SetWall(1000*hour + 7*second)
	if got, want := tab.Wall(5), 1000*hour+7*second+5; got != want {
		t.Errorf("Wall(5) = %d, want %d", got, want)
	}
	if got, want := tab.Mark(l, 2*second), (Row{0, 1000 * hour, 10 * second}); got != want {
		t.Errorf("Mark = %v, want %v", got, want)
	}
	if got := tab.Take(l, 7, 2*second, 3); got.ResetAfter != second {
		t.Errorf("%+v, want one second left of the window", got)
	}
	if got := tab.Take(l, 7, 3*second, 3); !got.OK {
		t.Errorf("refused in the next window: %+v", got)
	}
	want := map[Row]int64{{0, 1000 * hour, 10 * second}: 3, {0, 1000*hour + 10*second, 10 * second}: 3}
	if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	tab.SetWall(math.MaxInt64)
	tab.Take(l, 7, math.MaxInt64, 1)
	tab.SetWall(math.MinInt64)
	tab.Charge(l, 7, math.MinInt64, Row{1, 0, second}, 0)
	tab.Charge(l, 7, 0, Row{1, math.MinInt64, math.MaxInt64}, 0)
	tab.Charge(l, 7, 0, Row{1, math.MaxInt64, 0}, 0)
	check(t, tab)
}

// TestWallSteps is case 13 of windows: a clock that steps back mints nothing and locks
// nobody out; what is unsent is told as of the window it counts in now.
func TestWallSteps(t *testing.T) {
	for name, d := range map[string]Def{"fixed": fixed(10, minutes), "sliding": sliding(10, minutes)} {
		tab := New(Config{Record: true})
		tab.SetWall(100 * hour)
		l := define(t, tab, name, d)
		tab.Take(l, 7, 0, 10)
		tab.SetWall(92 * hour)
		if got := tab.Take(l, 7, 0, 1); got.OK {
			t.Errorf("%s: admitted after the clock went back: %+v", name, got)
		}
		if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, map[Row]int64{{0, 92 * hour, minutes}: 10}) {
			t.Errorf("%s: told %v, want 10 events of the window at 92 h", name, got)
		}
		if got := tab.Take(l, 7, 2*minutes, 1); !got.OK {
			t.Errorf("%s: still refused two windows later: %+v", name, got)
		}
		tab.SetWall(92*hour + 11*second) // forward, in the same window
		if got := tab.Peek(l, 7, 2*minutes, 0); got.Remaining != 9 {
			t.Errorf("%s: %d remain after a step forward, want 9", name, got.Remaining)
		}
		check(t, tab)
	}
}

const minutes = 60 * second

// TestRows: what is unsent is told once, in the window in which it was spent.
func TestRows(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", sliding(100, 10*second))
	at := func(start int64) Row { return Row{0, start * second, 10 * second} }
	expect := func(what string, want map[Row]int64) {
		t.Helper()
		got := told(tab)[modelID{l, 7}]
		if !maps.Equal(got, want) {
			t.Errorf("%s: told %v, want %v", what, got, want)
		}
		check(t, tab)
	}
	tab.Take(l, 7, 5*second, 3)
	tab.Take(l, 7, 12*second, 4)
	expect("two windows", map[Row]int64{at(0): 3, at(10): 4})
	expect("again", nil)
	tab.Take(l, 7, 25*second, 5)
	tab.Charge(l, 7, 29*second, Row{2, 30 * second, 10 * second}, 0) // a peer is a little ahead
	tab.Take(l, 7, 29*second, 1)
	expect("one ahead", map[Row]int64{at(20): 6})
	tab.Take(l, 7, 29*second, 1)
	tab.Take(l, 7, 30*second, 2)
	expect("caught up", map[Row]int64{at(20): 1, at(30): 2})
	if got := tab.Peek(l, 7, 30*second, 0).Remaining; got != 100-4-7 {
		t.Errorf("%d remain, want %d", got, 100-4-7)
	}
	// A refund that falls behind the state, because a peer is ahead, is told as well.
	tab.Charge(l, 7, 39*second, Row{1, 40 * second, 10 * second}, 0)
	if got := tab.Refund(l, 7, 39*second, 9, at(20)); got != 7 {
		t.Errorf("refunded %d of the window before, want 7", got)
	}
	expect("behind", map[Row]int64{at(20): -7})
}

// TestRemainingNeverRises is case 8: within a fixed window remaining only falls, unless
// events are given back; it stays between 0 and the limit.
func TestRemainingNeverRises(t *testing.T) {
	tab := New(Config{})
	l := define(t, tab, "x", fixed(10, minutes))
	last := int64(10)
	for i := range int64(60) {
		n := i % 4
		got := tab.Take(l, 7, i*second, n).Remaining
		if i%7 == 0 {
			tab.Charge(l, 7, i*second, Row{i % 3, 0, minutes}, 0)
			got = tab.Peek(l, 7, i*second, 0).Remaining
		}
		if got > last || got < 0 {
			t.Fatalf("second %d: %d remain after %d", i, got, last)
		}
		last = got
	}
	if last != 0 {
		t.Errorf("%d remain at the end, want none", last)
	}
}

// TestShortWindowsAreDropped: what could not be told for two windows is of no use to
// anybody.
func TestShortWindowsAreDropped(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", fixed(10, second/1000))
	for i := range int64(5) {
		tab.Take(l, 7, i*second/1000, 2)
	}
	want := map[Row]int64{{0, 3 * second / 1000, second / 1000}: 2, {0, 4 * second / 1000, second / 1000}: 2}
	if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

func TestFramesAreKept(t *testing.T) {
	v := newVersion(fixed(1, minutes), 0, false)
	for _, wall := range []int64{0, 59 * second, 60 * second, 59 * second, 61 * second, -1, 3 * hour, 60 * second} {
		if got, want := v.frameAt(wall), v.Window.Frame(wall); got != want {
			t.Errorf("frameAt(%d) = %v, want %v", wall, got, want)
		}
	}
	if newVersion(sliding(1, minutes), 0, false).fixed || !v.fixed {
		t.Error("what is fixed is taken for sliding, or the other way round")
	}
	if day := newVersion(Def{Kind: Window, Window: window.NewCalendar(1, window.Day, nil)}, 0, false); !day.fixed {
		t.Error("a calendar's window is taken for sliding")
	}
}

package table

import (
	"maps"
	"testing"

	"github.com/stint-go/stint/window"
)

// TestRefund is case 23: exactly what was taken comes back, though others took meanwhile;
// and never more than is used.
func TestRefund(t *testing.T) {
	for name, d := range kinds(10, 10*second) {
		t.Run(name, func(t *testing.T) {
			tab := New(Config{Record: true})
			l := define(t, tab, name, d)
			mark := tab.Mark(l, 100*second)
			tab.Take(l, 7, 100*second, 4)
			tab.Take(l, 7, 100*second, 3)
			tab.Drain(false, noNews)
			if got := tab.Refund(l, 7, 100*second, 4, mark); got != 4 {
				t.Errorf("refunded %d, want 4", got)
			}
			if got := tab.Peek(l, 7, 100*second, 0).Remaining; got != 7 {
				t.Errorf("%d remain, want 7", got)
			}
			if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, map[Row]int64{mark: -4}) {
				t.Errorf("told %v, want 4 events back at %v", got, mark)
			}
			if got := tab.Refund(l, 7, 100*second, 1000, mark); got != 3 {
				t.Errorf("refunded %d of 1000, want the 3 in use", got)
			}
			if got := tab.Peek(l, 7, 100*second, 0); got.Remaining != 10 {
				t.Errorf("then %+v, want all", got)
			}
			for _, n := range []int64{0, -5, 5} {
				if got := tab.Refund(l, 7, 100*second, n, mark); got != 0 {
					t.Errorf("refunded %d of %d of a full key", got, n)
				}
			}
			if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, map[Row]int64{mark: -3}) {
				t.Errorf("told %v, want 3 events back", got)
			}
			check(t, tab)
		})
	}
}

// TestRefundBeforeDrain: what was taken and given back between two drains is not told.
func TestRefundBeforeDrain(t *testing.T) {
	for name, d := range kinds(10, 10*second) {
		tab := New(Config{Record: true})
		l := define(t, tab, name, d)
		mark := tab.Mark(l, 100*second)
		tab.Take(l, 7, 100*second, 4)
		tab.Refund(l, 7, 100*second, 4, mark)
		if got := told(tab); len(got) != 0 {
			t.Errorf("%s: told %v, want nothing", name, got)
		}
		check(t, tab)
	}
}

// TestRefundByMark: events come back where they were taken, or not at all.
func TestRefundByMark(t *testing.T) {
	type back struct{ now, given, left int64 }
	for name, c := range map[string]struct {
		def  Def
		back []back // of 6 events taken at 105 s, 4 of them
	}{
		"bucket": {def(10, 10*second, 10), []back{{105, 4, 8}, {109, 2, 10}, {125, 0, 10}}},
		"fixed":  {fixed(10, 10*second), []back{{105, 4, 8}, {109, 4, 8}, {110, 0, 10}}},
		// of what is left of a window that slides out of view, all comes back
		"sliding": {sliding(10, 10*second), []back{{105, 4, 8}, {115, 4, 9}, {120, 0, 10}}},
		"log":     {logging(10, 10*second), []back{{105, 4, 8}, {114, 4, 8}, {115, 0, 10}}},
	} {
		for _, b := range c.back {
			tab := New(Config{Record: true})
			l := define(t, tab, name, c.def)
			tab.Take(l, 7, 105*second, 6)
			mark := tab.Mark(l, 105*second)
			tab.Drain(false, noNews)
			if got := tab.Refund(l, 7, b.now*second, 4, mark); got != b.given {
				t.Errorf("%s at %d s: refunded %d, want %d", name, b.now, got, b.given)
			}
			if got := tab.Peek(l, 7, b.now*second, 0).Remaining; got != b.left {
				t.Errorf("%s at %d s: %d remain, want %d", name, b.now, got, b.left)
			}
			sum := int64(0)
			for _, n := range told(tab)[modelID{l, 7}] {
				sum += n
			}
			if sum != -b.given {
				t.Errorf("%s at %d s: told of %d events, want %d", name, b.now, sum, -b.given)
			}
			check(t, tab)
		}
	}
}

// TestRefundOfToldAndUntold: a log's refund of takes that were told is news of its own, at
// their time, beside the news of others.
func TestRefundOfToldAndUntold(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", logging(10, 10*second))
	tab.Take(l, 7, 101*second, 3)
	tab.Drain(false, noNews)
	tab.Take(l, 7, 105*second, 4)
	tab.Refund(l, 7, 106*second, 2, Row{Start: 101 * second})
	tab.Refund(l, 7, 106*second, 1, Row{Start: 105 * second})
	want := map[Row]int64{{Start: 101 * second}: -2, {Start: 105 * second}: 3}
	if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

// TestRefundBeforeItsTake: a peer hears of a refund first. Nothing lifts the key above
// full meanwhile, and in the end all agree.
func TestRefundBeforeItsTake(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", fixed(10, 10*second))
	tab.Charge(l, 7, 5*second, Row{-3, 0, 10 * second}, 0)
	if got := tab.Peek(l, 7, 5*second, 0).Remaining; got != 10 {
		t.Errorf("%d remain, want 10", got)
	}
	if got := tab.Take(l, 7, 5*second, 10); !got.OK || got.Remaining != 0 {
		t.Errorf("a take of 10: %+v", got)
	}
	// Three of the ten were not there in fact, and the peers count so, too.
	if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, map[Row]int64{{0, 0, 10 * second}: 13}) {
		t.Errorf("told %v, want 13 events", got)
	}
}

func TestReset(t *testing.T) {
	for name, d := range kinds(10, 10*second) {
		t.Run(name, func(t *testing.T) {
			tab := New(Config{Record: true})
			l := define(t, tab, name, d)
			tab.Take(l, 7, 108*second, 5)
			tab.Drain(false, noNews)
			tab.Take(l, 7, 108*second, 1)
			tab.Charge(l, 7, 108*second, Row{Start: 108 * second, N: 7}, hour) // in debt
			if got := tab.Reset(l, 7, 108*second); got != 13 {
				t.Errorf("reset %d, want 13", got)
			}
			if got := tab.Peek(l, 7, 108*second, 0); got.Remaining != 10 || got.ResetAfter != 0 {
				t.Errorf("then %+v, want a full key", got)
			}
			sum := int64(0)
			for _, n := range told(tab)[modelID{l, 7}] {
				sum += n
			}
			if sum != -12 {
				t.Errorf("told of %d events, want 1 − 13", sum)
			}
			check(t, tab)
			tab.Sweep(hour, 1<<20)
			if got := tab.Stats().Keys; got != 0 {
				t.Errorf("%d keys after a sweep, want none", got)
			}
		})
	}
}

// TestResetOfTwoWindows gives back the window before as well.
func TestResetOfTwoWindows(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", sliding(10, 10*second))
	tab.Take(l, 7, 108*second, 8)
	tab.Take(l, 7, 115*second, 3)
	tab.Drain(false, noNews)
	if got := tab.Reset(l, 7, 115*second); got != 7 {
		t.Errorf("reset %d, want 4 + 3", got)
	}
	want := map[Row]int64{{0, 100 * second, 10 * second}: -8, {0, 110 * second, 10 * second}: -3}
	if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

// TestRefundsDoNotReach: limits without keys, of their own or known, give nothing back.
func TestRefundsDoNotReach(t *testing.T) {
	tab := New(Config{Record: true})
	for _, l := range []*Limit{define(t, tab, "a", Def{Kind: Unlimited}), define(t, tab, "b", Def{Kind: Blocked}), learn(t, tab, 5, Def{})} {
		tab.Charge(l, 7, 0, Row{5, 0, 0}, 0)
		if got := tab.Refund(l, 7, 0, 1, tab.Mark(l, 0)) + tab.Reset(l, 7, 0); got != 0 {
			t.Errorf("%v: %d came back", l.Def().Kind, got)
		}
		if _, ok := tab.Borrow(l, 7, 0, 1); ok {
			t.Errorf("%v: borrowed", l.Def().Kind)
		}
	}
}

// TestHold: what is held counts here, and is not told; what a take settles still is.
func TestHold(t *testing.T) {
	for name, d := range kinds(10, 10*second) {
		tab := New(Config{Record: true})
		l := define(t, tab, name, d)
		if got := tab.Hold(l, 7, 5*second, 4); !got.OK || got.Remaining != 6 {
			t.Errorf("%s: %+v, want 6 left", name, got)
		}
		if got := tab.Hold(l, 7, 5*second, 7); got.OK || got.RetryAfter < 1 {
			t.Errorf("%s: %+v, want a refusal", name, got)
		}
		if got := told(tab); len(got) > 0 {
			t.Errorf("%s: told %v, want nothing", name, got)
		}
		if allowed, denied := l.Counts(); allowed != 4 || denied != 7 {
			t.Errorf("%s: %d allowed, %d denied, want 4 and 7", name, allowed, denied)
		}
		check(t, tab)
	}
	tab := New(Config{Record: true})
	l := define(t, tab, "x", fixed(10, 10*second))
	tab.Charge(l, 7, 0, Row{-3, 0, 10 * second}, 0)
	tab.Hold(l, 7, 0, 4)
	if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, map[Row]int64{{0, 0, 10 * second}: 3}) {
		t.Errorf("told %v, want the 3 that were settled", got)
	}
}

func TestBorrow(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", def(1, second, 2))
	for i, want := range []int64{0, 0, 1, 2, 3} {
		if wait, ok := tab.Borrow(l, 7, 10*second, 1); !ok || wait != want*second {
			t.Errorf("%d: wait %d, %v, want %d s", i, wait, ok, want)
		}
	}
	if wait, ok := tab.Borrow(l, 7, 10*second, 2); !ok || wait != 5*second {
		t.Errorf("two: wait %d, %v, want 5 s", wait, ok)
	}
	if _, ok := tab.Borrow(l, 7, 10*second, 3); ok {
		t.Error("borrowed more than the burst")
	}
	if got := tab.Take(l, 7, 10*second, 1); got.OK || got.RetryAfter != 6*second {
		t.Errorf("a take then: %+v, want to wait for 6 s", got)
	}
	if got := tab.Refund(l, 7, 10*second, 2, Row{}); got != 2 {
		t.Errorf("refunded %d, want 2", got)
	}
	if got := told(tab)[modelID{l, 7}]; len(got) != 1 || got[Row{Start: 10 * second}] != 5 {
		t.Errorf("told %v, want 5 events from 10 s", got)
	}
	for n := 0; ; n++ { // as far ahead as it goes
		wait, ok := tab.Borrow(l, 7, 10*second, 2)
		if !ok {
			break
		}
		if got := tab.Peek(l, 7, 10*second, 1).RetryAfter; got != wait+second {
			t.Fatalf("%d: borrowed ahead by %d s, then a take waits for %d", n, wait, got)
		}
	}
	if got := tab.Take(l, 7, 10*second, 1); got.OK {
		t.Error("admitted after all that")
	}
	for name, d := range kinds(10, second) {
		if _, ok := tab.Borrow(define(t, tab, name, d), 7, 0, 1); ok != (d.Kind == Bucket) {
			t.Errorf("%s: borrowed: %v", name, ok)
		}
	}
	check(t, tab)
}

// TestLogsGoWithTheirEntries: no log outlives its entry.
func TestLogsGoWithTheirEntries(t *testing.T) {
	tab := New(Config{MaxKeys: 1000})
	l := define(t, tab, "x", logging(5, second))
	for i := range 1000 {
		tab.Take(l, mix(i), 0, 1)
	}
	check(t, tab)
	for i := range 10 {
		tab.Take(l, mix(i), 20*second, 1)
	}
	tab.Sweep(21*second, 1)
	if got := len(tab.shards[0].aside.logs.logs); got != 10 {
		t.Errorf("%d places for logs, want 10", got)
	}
	for i := range 10 {
		if got := tab.Peek(l, mix(i), 20*second, 0).Remaining; got != 4 {
			t.Errorf("key %d: %d remain, want 4", i, got)
		}
	}
	define(t, tab, "x", fixed(5, 10*second)) // what is converted needs no log
	for i := range 10 {
		if got := tab.Peek(l, mix(i), 20*second, 0).Remaining; got != 4 {
			t.Errorf("key %d: %d remain, want 4", i, got)
		}
	}
	check(t, tab)
	if free := tab.shards[0].aside.logs.free; len(free) != 10 {
		t.Errorf("%d free places, want 10", len(free))
	}
	if window.MaxEvents > dumpEvents {
		t.Error("a log does not fit one step of a dump")
	}
}

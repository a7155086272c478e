package table

import (
	"math"
	"testing"

	"github.com/stint-go/stint/bucket"
)

// take is one line of a table of takes of one key.
type take struct {
	now, n int64
	want   Result
}

func TestTake(t *testing.T) {
	const never = bucket.Never
	for name, c := range map[string]struct {
		def   Def
		takes []take
	}{
		"3 per second": {def(3, 3*second, 3), []take{
			{0, 1, Result{true, 2, 0, second}},
			{0, 2, Result{true, 0, 0, 3 * second}},
			{0, 1, Result{false, 0, second, 3 * second}},
			{second - 1, 1, Result{false, 0, 1, 2*second + 1}},
			{second, 1, Result{true, 0, 0, 3 * second}},
			{10 * second, 0, Result{true, 3, 0, 0}},
			{10 * second, 3, Result{true, 0, 0, 3 * second}},
		}},
		// case 2: nothing changes, and the next take of 1 passes.
		"first more than the burst": {def(1, second, 5), []take{
			{0, 6, Result{false, 5, never, 0}},
			{0, math.MaxInt64, Result{false, 5, never, 0}},
			{0, 1, Result{true, 4, 0, second}},
			{0, 6, Result{false, 4, never, second}},
		}},
		// case 7: idle for ten years; costs near the greatest number.
		"ten years": {def(1, second, 2), []take{
			{0, 2, Result{true, 0, 0, 2 * second}},
			{87600 * hour, 1, Result{true, 1, 0, second}},
			{math.MaxInt64, 1, Result{false, 2, never, 0}},
		}},
		"great numbers": {def(math.MaxInt64, math.MaxInt64, math.MaxInt64), []take{
			{0, 1 << 60, Result{true, 1 << 60, 0, 1 << 60}},
			{0, math.MaxInt64, Result{false, 1 << 60, never, 1 << 60}},
			{0, 1 << 60, Result{true, 0, 0, 1 << 61}},
			{1, 1 << 60, Result{false, 1, 1<<60 - 1, 1<<61 - 1}},
		}},
		// case 9: refusals do not extend the wait.
		"hammering": {def(1, 10*second, 1), []take{
			{0, 1, Result{true, 0, 0, 10 * second}},
			{1 * second, 1, Result{false, 0, 9 * second, 9 * second}},
			{5 * second, 1, Result{false, 0, 5 * second, 5 * second}},
			{5 * second, 1, Result{false, 0, 5 * second, 5 * second}},
			{10*second - 1, 1, Result{false, 0, 1, 1}},
			{10 * second, 1, Result{true, 0, 0, 10 * second}},
		}},
		// case 30: a fraction of an event a second.
		"1 per 3 s": {def(1, 3*second, 1), []take{
			{0, 1, Result{true, 0, 0, 3 * second}},
			{3*second - 1, 1, Result{false, 0, 1, 1}},
			{3 * second, 1, Result{true, 0, 0, 3 * second}},
		}},
		"unlimited": {Def{Kind: Unlimited}, []take{
			{0, 1, Result{true, math.MaxInt64, 0, 0}},
			{0, math.MaxInt64, Result{true, math.MaxInt64, 0, 0}},
		}},
		"blocked": {Def{Kind: Blocked}, []take{
			{0, 1, Result{false, 0, never, 0}},
			{0, 0, Result{false, 0, never, 0}},
		}},
		"a negative take is a peek": {def(1, second, 2), []take{
			{0, 1, Result{true, 1, 0, second}},
			{0, -5, Result{true, 1, 0, second}},
			{0, math.MinInt64, Result{true, 1, 0, second}},
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

func TestRefusedAndPeekedInsertNothing(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", def(1, second, 5))
	tab.Take(l, 1, 0, 6)
	tab.Take(l, 2, 0, 0)
	tab.Peek(l, 3, 0, 1)
	charge(tab, l, 4, 10*second, -3, 0, 0)
	charge(tab, l, 5, 10*second, 3, 0, 0)
	if got := tab.Stats().Keys; got != 0 {
		t.Errorf("%d keys, want none", got)
	}
	if all, _, any := drain(tab, false); any || len(all) > 0 {
		t.Errorf("drained %v, want nothing", all)
	}
}

// TestSameKeyOfTwoLimits is case 24: not even a shared hash makes them share a budget.
func TestSameKeyOfTwoLimits(t *testing.T) {
	tab := New(Config{})
	a, b := define(t, tab, "a", def(1, hour, 1)), define(t, tab, "b", def(1, hour, 1))
	if a.Hash("key") == b.Hash("key") {
		t.Error("the key hashes alike under both limits")
	}
	const hash = 42
	for _, l := range []*Limit{a, b} {
		if got := tab.Take(l, hash, 0, 1); !got.OK {
			t.Errorf("first take of limit %#x refused: %+v", l.ID(), got)
		}
	}
	if got := tab.Take(a, hash, 0, 1); got.OK {
		t.Errorf("second take of a admitted: %+v", got)
	}
}

// TestClockBack: a step back of hours mints nothing and locks nobody out.
func TestClockBack(t *testing.T) {
	tab := New(Config{})
	l := define(t, tab, "x", def(1, second, 10))
	late := 9 * hour * 1000
	tab.Take(l, 1, late, 10)
	if got := tab.Take(l, 1, hour, 1); got.OK {
		t.Errorf("admitted after the clock went back: %+v", got)
	}
	if got := tab.Take(l, 1, hour+second, 1); !got.OK {
		t.Errorf("still refused a second later: %+v", got)
	}
}

func TestCounts(t *testing.T) {
	tab := New(Config{})
	a, b := define(t, tab, "a", def(1, hour, 5)), define(t, tab, "b", Def{Kind: Blocked})
	for hash := range uint64(100) {
		hash *= 0x9e3779b97f4a7c15
		tab.Take(a, hash, 0, 3) // admitted
		tab.Take(a, hash, 0, 3) // refused
		tab.Take(a, hash, 0, 9) // refused
		tab.Take(a, hash, 0, 0)
		tab.Peek(a, hash, 0, 1)
		tab.Take(b, hash, 0, 2)
	}
	for range 2 { // asking changes nothing
		if allowed, denied := a.Counts(); allowed != 300 || denied != 1200 {
			t.Errorf("a: %d allowed, %d denied, want 300 and 1200", allowed, denied)
		}
		if allowed, denied := b.Counts(); allowed != 0 || denied != 200 {
			t.Errorf("b: %d allowed, %d denied, want 0 and 200", allowed, denied)
		}
	}
	tab.Take(b, 1, 0, math.MaxInt64)
	tab.Take(b, 1, 0, math.MaxInt64)
	tab.Take(a, 1, 0, math.MaxInt64)
	tab.Take(a, 1, 0, math.MaxInt64)
	tab.EachLimit(func(l *Limit, allowed, denied int64) {
		if denied != math.MaxInt64 {
			t.Errorf("%d denied of %#x, want the greatest number", denied, l.ID())
		}
	})
}

func TestHotPathAllocatesNothing(t *testing.T) {
	tab := New(Config{Record: true})
	l, m := define(t, tab, "x", def(1e9, second, 1e6)), define(t, tab, "y", def(1, hour, 1))
	now := int64(0)
	asks := make([]Ask, fewAsks)
	for i := range asks {
		asks[i] = Ask{l, l.Hash(string(rune('a' + i/2))), 1}
	}
	into := make([]Result, len(asks))
	emit := func(*Limit, uint64, Row) {}
	user := []Ask{}
	for name, d := range kinds(1e6, hour) {
		k := define(t, tab, name, d)
		if d.Kind != Log { // which grows
			user = append(user, Ask{k, k.Hash("ann"), 1})
		}
	}
	fix, log := define(t, tab, "fix", fixed(1e6, hour)), define(t, tab, "log", logging(1, hour))
	mark := tab.Mark(fix, 0)
	tab.Ban(l, l.Hash("banned"), 0, hour)
	for name, f := range map[string]func(){
		"admitted": func() { tab.Take(l, l.Hash("key"), now, 1) },
		"refused":  func() { tab.Take(m, m.Hash("key"), now, 1) },
		"never":    func() { tab.Take(m, m.Hash("other"), now, 2) },
		"peek":     func() { tab.Peek(l, l.Hash("key"), now, 1) },
		"window":   func() { tab.Take(fix, fix.Hash("key"), now, 1) },
		"log":      func() { tab.Take(log, log.Hash("key"), now, 1) },
		"hold":     func() { tab.Hold(fix, fix.Hash("key"), now, 1) },
		"refund":   func() { tab.Refund(fix, fix.Hash("key"), now, 1, mark) },
		"reset":    func() { tab.Reset(fix, fix.Hash("key"), now) },
		"banned":   func() { tab.Take(l, l.Hash("banned"), now, 1) },
		"three":    func() { tab.TakeAll(user, now, into) },
		"row":      func() { tab.Charge(fix, fix.Hash("key"), now, Row{1, 0, hour}, 0) },
		"charge":   func() { charge(tab, l, l.Hash("key"), now, 1, now, second) },
		"all":      func() { tab.TakeAll(asks, now, into) },
		"drain":    func() { tab.Take(l, l.Hash("key"), now, 1); tab.Drain(false, emit) },
		"sweep":    func() { tab.Sweep(now, 100) },
	} {
		if got := testing.AllocsPerRun(1000, func() { now++; f() }); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

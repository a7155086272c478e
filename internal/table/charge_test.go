package table

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stint-go/stint/bucket"
)

func TestCharge(t *testing.T) {
	const never = math.MaxInt64
	type amount struct{ now, n, start, debt int64 }
	for name, c := range map[string]struct {
		charges []amount
		at      int64
		want    Result // of a peek for 1
		forgave int64  // -1: some
	}{
		"fresh":       {[]amount{{0, 4, 0, 0}}, 0, Result{true, 6, 0, 4 * second}, 0},
		"adds up":     {[]amount{{0, 4, 0, 0}, {0, 3, 0, 0}}, 0, Result{true, 3, 0, 7 * second}, 0},
		"from before": {[]amount{{5 * second, 4, 3 * second, 0}}, 5 * second, Result{true, 8, 0, 2 * second}, 0},
		"long over":   {[]amount{{50 * second, 4, 3 * second, 0}}, 50 * second, Result{true, 10, 0, 0}, 0},
		"debt":        {[]amount{{0, 14, 0, 100 * second}}, 0, Result{false, 0, 5 * second, 14 * second}, 0},
		// case 27: more than the limit is a debt of one burst at most.
		"debt bounded": {[]amount{{0, 1000, 0, 10 * second}}, 0, Result{false, 0, 11 * second, 20 * second}, 980},
		"no debt":      {[]amount{{0, 1000, 0, 0}}, 0, Result{false, 0, second, 10 * second}, 990},
		"refund":       {[]amount{{0, 4, 0, 0}, {0, -3, 0, 0}}, 0, Result{true, 9, 0, second}, 0},
		"refund too great": {
			[]amount{{0, 4, 0, 0}, {0, -3000, 0, 0}}, 0, Result{true, 10, 0, 0}, 0,
		},
		"nothing": {[]amount{{0, 0, 0, 0}}, 0, Result{true, 10, 0, 0}, 0},
		// so far ahead that only the clock can have gone back: empty, and back in time
		"far future":   {[]amount{{0, 1, never, never}}, 0, Result{false, 0, second, 10 * second}, 0},
		"great":        {[]amount{{0, never, 0, 0}, {0, never, 0, 0}}, 0, Result{false, 0, second, 10 * second}, -1},
		"from minus":   {[]amount{{0, 3, math.MinInt64, 0}}, 0, Result{true, 10, 0, 0}, 0},
		"least":        {[]amount{{0, 4, 0, 0}, {0, math.MinInt64, math.MinInt64, math.MinInt64}}, 0, Result{true, 10, 0, 0}, 0},
		"debt is kept": {[]amount{{0, 15, 0, 10 * second}, {0, 3, 0, 0}}, 0, Result{false, 0, 6 * second, 15 * second}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			tab := New(Config{Record: true})
			l := define(t, tab, "x", def(1, second, 10))
			for _, k := range c.charges {
				charge(tab, l, 7, k.now, k.n, k.start, k.debt)
			}
			got := tab.Peek(l, 7, c.at, 1)
			if got != c.want {
				t.Errorf("then a take of 1 = %+v, want %+v", got, c.want)
			}
			if got := tab.Stats().Forgiven; got != c.forgave && !(c.forgave < 0 && got > 0) {
				t.Errorf("forgiven %d, want %d", got, c.forgave)
			}
			if all, _, _ := drain(tab, false); len(all) > 0 {
				t.Errorf("a charge is not news: %v", all)
			}
			check(t, tab)
		})
	}
}

// TestChargeOfLimitsWithoutEntries: nothing to keep.
func TestChargeOfLimitsWithoutEntries(t *testing.T) {
	tab := New(Config{Record: true})
	for _, k := range []Kind{Unlimited, Blocked} {
		l := define(t, tab, string('a'+rune(k)), Def{Kind: k, Shared: true})
		charge(tab, l, 7, 0, 5, 0, second)
		tab.Take(l, 7, 0, 5)
	}
	if got := tab.Stats().Keys; got != 0 {
		t.Errorf("%d keys, want none", got)
	}
	if all, _, _ := drain(tab, false); len(all) > 0 {
		t.Errorf("news of %v, want none", all)
	}
}

// TestChargeBeforeDefinition is case 28: a batch for a limit that this node does not
// know is kept, and right when the limit appears.
func TestChargeBeforeDefinition(t *testing.T) {
	for name, c := range map[string]struct {
		charges []news
		want    Result // of a peek for 1 at 10 s
	}{
		"one":       {[]news{{n: 4, start: 10 * second}}, Result{true, 6, 0, 4 * second}},
		"two":       {[]news{{n: 4, start: 10 * second}, {n: 3, start: 9 * second}}, Result{true, 3, 0, 7 * second}},
		"refund":    {[]news{{n: 4, start: 10 * second}, {n: -3, start: 9 * second}}, Result{true, 9, 0, second}},
		"long over": {[]news{{n: 4, start: 3 * second}}, Result{true, 10, 0, 0}},
		// what is unknown never locks a key out for longer than one burst
		"many": {[]news{{n: 4000, start: 10 * second}}, Result{false, 0, 11 * second, 20 * second}},
	} {
		for _, way := range []string{"define", "learn"} {
			t.Run(name+" "+way, func(t *testing.T) {
				tab := New(Config{Record: true})
				l := learn(t, tab, ID("later"), Def{})
				if l.Defined() || l.Def().Kind != Unknown {
					t.Fatalf("defined: %v, %+v", l.Defined(), l.Def())
				}
				for _, k := range c.charges {
					charge(tab, l, 7, 10*second, k.n, k.start, 1000*second)
				}
				if got := tab.Take(l, 7, 10*second, 1); got.OK || got.RetryAfter != bucket.Never {
					t.Errorf("take of an unknown limit: %+v", got)
				}
				d := def(1, second, 10)
				if way == "define" {
					if got := define(t, tab, "later", d); got != l {
						t.Error("defined, the limit has another handle")
					}
				} else {
					learn(t, tab, ID("later"), d)
				}
				if got := tab.Peek(l, 7, 10*second, 1); got != c.want {
					t.Errorf("peek: %+v, want %+v", got, c.want)
				}
				charge(tab, l, 7, 10*second, -1, 0, 0) // converts
				charge(tab, l, 7, 10*second, 1, 0, 1000*second)
				if got := tab.Peek(l, 7, 10*second, 1); got.Remaining != min(c.want.Remaining, 9) && got != c.want {
					t.Errorf("converted: %+v, want %+v", got, c.want)
				}
				check(t, tab)
			})
		}
	}
}

// TestSweepSettlesTheUnknown: entries of a limit that turns out to be none go away.
func TestSweepSettlesTheUnknown(t *testing.T) {
	for _, c := range []struct {
		def  Def
		keys int
	}{
		{Def{}, 50},
		{Def{Kind: Unlimited}, 0},
		{Def{Kind: Blocked}, 0},
		{def(1, hour, 10), 50},
		{def(1, second, 10), 0},
	} {
		tab := New(Config{MaxKeys: 1000})
		l := learn(t, tab, 9, Def{})
		for i := range uint64(50) {
			charge(tab, l, i*0x9e3779b97f4a7c15, 0, 1, 0, 0)
		}
		learn(t, tab, 9, c.def)
		tab.Sweep(10*second, 1000)
		if got := tab.Stats().Keys; got != c.keys {
			t.Errorf("%v: %d keys left, want %d", c.def.Kind, got, c.keys)
		}
		check(t, tab)
	}
}

// TestChargeAnything: no amount of a peer harms, whatever its terms and times.
func TestChargeAnything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	number := func() int64 {
		return []int64{0, 1, -1, second, 10 * second, math.MaxInt64, math.MinInt64, rnd.Int64N(100 * second), int64(rnd.Uint64())}[rnd.IntN(9)]
	}
	for round := range 50 {
		tab := New(Config{Record: true, MaxKeys: 100})
		limits := []*Limit{}
		for name, d := range kinds(7, 13*second) {
			limits = append(limits, define(t, tab, name, d), learn(t, tab, ID("later"+name), Def{}))
		}
		for range 200 {
			tab.SetWall(number())
			now, l, hash := rnd.Int64N(1000*second), limits[rnd.IntN(len(limits))], mix(rnd.IntN(150))
			tab.Charge(l, hash, now, Row{number(), number(), number()}, number())
			tab.Refund(l, hash, now, number(), Row{0, number(), number()})
			if rnd.IntN(20) == 0 {
				tab.Sweep(number(), 1)
			}
		}
		tab.SetWall(int64(round) * second)
		for name, d := range kinds(7, 13*second) {
			learn(t, tab, ID("later"+name), d)
		}
		for i := range 150 {
			for _, l := range limits {
				if got := tab.Take(l, mix(i), 1000*second, 1); got.Remaining < 0 || got.Remaining > 7 || got.OK == (got.RetryAfter > 0) {
					t.Fatalf("round %d: %+v", round, got)
				}
			}
		}
		check(t, tab)
	}
}

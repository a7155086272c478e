package table

import (
	"maps"
	"testing"
)

// TestChangeOfKind is cases 20 and 21 for every pair of kinds: what is used stays used,
// and what is unsent is told once, as what it was when it was spent.
func TestChangeOfKind(t *testing.T) {
	for from, d := range kinds(10, 10*second) {
		for to, e := range kinds(20, 20*second) {
			if from == to {
				continue
			}
			t.Run(from+" to "+to, func(t *testing.T) {
				tab := New(Config{Record: true})
				l := define(t, tab, "x", d)
				mark := tab.Mark(l, 105*second)
				tab.Take(l, 7, 105*second, 6)
				define(t, tab, "x", e)
				if got := tab.Peek(l, 7, 105*second, 0).Remaining; got != 14 {
					t.Errorf("%d remain, want 14", got)
				}
				next := tab.Mark(l, 105*second)
				if got := tab.Take(l, 7, 105*second, 2); !got.OK || got.Remaining != 12 {
					t.Errorf("a take: %+v, want 12 left", got)
				}
				want := map[Row]int64{mark: 6, next: 2}
				if mark == next {
					want = map[Row]int64{mark: 8}
				}
				if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, want) {
					t.Errorf("told %v, want %v", got, want)
				}
				if got := tab.Refund(l, 7, 105*second, 6, mark); got != 6 {
					t.Errorf("refunded %d of before the change, want 6", got)
				}
				if got := tab.Peek(l, 7, 105*second, 0).Remaining; got != 18 {
					t.Errorf("then %d remain, want 18", got)
				}
				check(t, tab)
			})
		}
	}
}

// TestLowered is case 20: a limit now below what is used leaves nothing, and no underflow.
func TestLowered(t *testing.T) {
	for name, d := range kinds(100, 100*second) {
		tab := New(Config{Record: true})
		l := define(t, tab, name, d)
		tab.Take(l, 7, 100*second, 70)
		define(t, tab, name, kinds(50, 100*second)[name])
		for _, r := range []Result{tab.Peek(l, 7, 100*second, 1), tab.Take(l, 7, 100*second, 1)} {
			if r.OK || r.Remaining != 0 || r.RetryAfter < 1 {
				t.Errorf("%s lowered: %+v, want a refusal", name, r)
			}
		}
		retry := tab.Peek(l, 7, 100*second, 1).RetryAfter
		if got := tab.Peek(l, 7, 100*second+retry, 1); !got.OK {
			t.Errorf("%s lowered: after the wait %+v", name, got)
		}
		define(t, tab, name, kinds(200, 100*second)[name])
		if got := tab.Peek(l, 7, 100*second, 0).Remaining; got != 130 {
			t.Errorf("%s raised: %d remain, want 130", name, got)
		}
		check(t, tab)
	}
}

// TestAnotherCut: where windows begin at other times, what is used counts in the current
// one.
func TestAnotherCut(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", fixed(10, 10*second))
	tab.Take(l, 7, 105*second, 6)
	define(t, tab, "x", sliding(10, 10*second)) // the same cut: what is of the window before stays there
	tab.Take(l, 7, 115*second, 1)
	if got := tab.Peek(l, 7, 115*second, 0).Remaining; got != 6 {
		t.Errorf("%d remain, want 10 − 1 − 6/2", got)
	}
	define(t, tab, "x", fixed(10, 7*second))
	if got := tab.Peek(l, 7, 115*second, 0); got.Remaining != 6 || got.ResetAfter != 4*second {
		t.Errorf("%+v, want 6 until 119 s", got)
	}
	want := map[Row]int64{{0, 100 * second, 10 * second}: 6, {0, 110 * second, 10 * second}: 1}
	if got := told(tab)[modelID{l, 7}]; !maps.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	define(t, tab, "x", Def{Kind: Unlimited})
	define(t, tab, "x", fixed(9, 7*second))
	if got := tab.Peek(l, 7, 115*second, 0).Remaining; got != 5 {
		t.Errorf("%d remain, want 5", got)
	}
	check(t, tab)
}

// TestForeignTerms: amounts of peers that count by another kind go where they happened.
func TestForeignTerms(t *testing.T) {
	const now = 105 * second
	for _, c := range []struct {
		name string
		r    Row
		left map[string]int64 // of 10 per 10 s
	}{
		{"window", Row{4, 100 * second, 10 * second}, map[string]int64{"bucket": 6, "fixed": 6, "sliding": 6, "log": 6}},
		{"window before", Row{4, 90 * second, 10 * second}, map[string]int64{"bucket": 10, "fixed": 10, "sliding": 8, "log": 6}},
		{"other window", Row{4, 98 * second, 7 * second}, map[string]int64{"bucket": 6, "fixed": 6, "sliding": 6, "log": 6}},
		{"other window before", Row{4, 91 * second, 7 * second}, map[string]int64{"bucket": 10, "fixed": 10, "sliding": 8, "log": 6}},
		{"window ahead", Row{4, 110 * second, 10 * second}, map[string]int64{"bucket": 6, "fixed": 10, "sliding": 10, "log": 6}},
		{"run", Row{4, 105 * second, 0}, map[string]int64{"bucket": 6, "fixed": 6, "sliding": 6, "log": 6}},
		{"run before", Row{4, 97 * second, 0}, map[string]int64{"bucket": 10, "fixed": 10, "sliding": 8, "log": 6}},
		{"run ahead", Row{4, 120 * second, 0}, map[string]int64{"fixed": 6, "sliding": 6, "log": 6}},
	} {
		for name, want := range c.left {
			for _, present := range []bool{false, true} {
				tab := New(Config{})
				l := define(t, tab, name, kinds(10, 10*second)[name])
				if present {
					tab.Take(l, 7, now, 1)
					want--
				}
				tab.Charge(l, 7, now, c.r, hour)
				if c.left[name] == 10 && name == "bucket" && present {
					want = 5 // it was full at the time, and late news of that counts in full
				}
				got := tab.Peek(l, 7, now, 0).Remaining
				if got != want {
					t.Errorf("%s into %s, present %v: %d remain, want %d", c.name, name, present, got, want)
				}
				check(t, tab)
			}
		}
	}
}

// TestWindowsBeforeDefinition is case 28 for windows: amounts are right when the limit
// appears, each in its window.
func TestWindowsBeforeDefinition(t *testing.T) {
	row := func(n, start int64) Row { return Row{n, start * second, 10 * second} }
	for name, c := range map[string]struct {
		rows []Row
		left map[string]int64 // at 115 s, of 10 per 10 s
	}{
		"current":      {[]Row{row(2, 110), row(2, 110)}, map[string]int64{"fixed": 6, "sliding": 6, "bucket": 6, "log": 6}},
		"both":         {[]Row{row(2, 100), row(4, 110)}, map[string]int64{"fixed": 6, "sliding": 5}},
		"both, late":   {[]Row{row(4, 110), row(1, 100), row(1, 100)}, map[string]int64{"fixed": 6, "sliding": 5}},
		"older":        {[]Row{row(4, 110), row(3, 90)}, map[string]int64{"fixed": 6, "sliding": 6}},
		"a gap":        {[]Row{row(8, 80), row(4, 110)}, map[string]int64{"fixed": 6, "sliding": 6}},
		"three":        {[]Row{row(8, 90), row(2, 100), row(4, 110)}, map[string]int64{"fixed": 6, "sliding": 5}},
		"refund":       {[]Row{row(4, 110), row(-1, 110)}, map[string]int64{"fixed": 7, "sliding": 7}},
		"refund first": {[]Row{row(-1, 110), row(4, 110)}, map[string]int64{"fixed": 7, "sliding": 7}},
		"without":      {[]Row{{3, 115 * second, 0}}, map[string]int64{"fixed": 7, "sliding": 7, "bucket": 7, "log": 7}},
		"mixed":        {[]Row{{3, 115 * second, 0}, row(2, 110), {1, 115 * second, 0}}, map[string]int64{"fixed": 4, "sliding": 4}},
		"long over":    {[]Row{row(4, 50)}, map[string]int64{"fixed": 10, "sliding": 10, "bucket": 10, "log": 10}},
	} {
		for kind, want := range c.left {
			tab := New(Config{})
			l := learn(t, tab, ID(kind), Def{})
			for _, r := range c.rows {
				tab.Charge(l, 7, 115*second, r, 0)
			}
			define(t, tab, kind, kinds(10, 10*second)[kind])
			if got := tab.Peek(l, 7, 115*second, 0).Remaining; got != want {
				t.Errorf("%s, then %s: %d remain, want %d", name, kind, got, want)
			}
			check(t, tab)
		}
	}
}

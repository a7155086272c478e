package table

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stint-go/stint/window"
)

// dumped is what a dump gives, copied.
func dumped(tab *Table, now int64) map[modelID]Saved {
	all := map[modelID]Saved{}
	tab.Dump(now, func(l *Limit, s *Saved) {
		k := *s
		k.Log = slices.Clone(s.Log)
		all[modelID{l, s.Hash}] = k
	})
	return all
}

// TestDumpAndRestore: every kind, through another table, to the same answers.
func TestDumpAndRestore(t *testing.T) {
	const now = 1005 * second
	tab, other := New(Config{Record: true, MaxKeys: 5000}), New(Config{Record: true, MaxKeys: 5000})
	limits := map[*Limit]*Limit{}
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, d := range kinds(10, 10*second) {
		l := define(t, tab, name, d)
		limits[l] = define(t, other, name, d)
		for i := range 1000 {
			for at := int64(0); at < 3; at++ {
				tab.Take(l, mix(i), (995+at*5)*second, rnd.Int64N(4))
			}
		}
		tab.Take(l, mix(2000), 5*second, 3) // long over
	}
	unlimited := define(t, tab, "unlimited", Def{Kind: Unlimited})
	tab.Take(unlimited, 1, now, 1)
	tab.Charge(learn(t, tab, 9, Def{}), 1, now, Row{5, now, 0}, 0)
	tab.Drain(false, noNews)

	all := dumped(tab, now)
	if _, there := all[modelID{tab.Lookup(ID("fixed")), mix(2000)}]; there {
		t.Error("a key at rest was dumped")
	}
	for id, k := range all {
		if limits[id.l] == nil {
			t.Fatalf("dumped a key of %v", id.l.Def().Kind)
		}
		other.Restore(limits[id.l], now, &k)
		other.Restore(limits[id.l], now, &k) // once more changes nothing
	}
	for l, m := range limits {
		for i := range 2001 {
			if got, want := other.Peek(m, mix(i), now, 5), tab.Peek(l, mix(i), now, 5); got != want {
				t.Fatalf("%v, key %d: %+v, want %+v", l.Def().Kind, i, got, want)
			}
		}
	}
	if again := dumped(other, now); len(again) != len(all) || len(all) < 2000 {
		t.Errorf("dumped %d keys, then %d", len(all), len(again))
	}
	if got := told(other); len(got) > 0 {
		t.Errorf("restored keys are told: %d of them", len(got))
	}
	check(t, other)
}

// TestDumpConverts: what is saved is by the definition in force.
func TestDumpConverts(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", def(10, 10*second, 10))
	tab.Take(l, 7, 105*second, 6)
	define(t, tab, "x", fixed(10, 10*second))
	want := Saved{Hash: 7, At: 100 * second, Counts: [3]int64{6}}
	if got := dumped(tab, 105*second)[modelID{l, 7}]; !reflect.DeepEqual(got, want) {
		t.Errorf("saved %+v, want %+v", got, want)
	}
	check(t, tab)
}

// TestRestoreMergesByMaximum: what is there and what is saved are two views of the same.
func TestRestoreMergesByMaximum(t *testing.T) {
	const now = 105 * second
	for _, c := range []struct {
		kind  string
		saved Saved
		left  int64 // of 10, with 4 used since 105 s
	}{
		{"bucket", Saved{At: 108 * second}, 6},
		{"bucket", Saved{At: 112 * second}, 3},
		{"bucket", Saved{At: 104 * second}, 6},
		{"fixed", Saved{At: 100 * second, Counts: [3]int64{3}}, 6},
		{"fixed", Saved{At: 100 * second, Counts: [3]int64{7, 9, 9}}, 3},
		{"fixed", Saved{At: 90 * second, Counts: [3]int64{7}}, 6},
		{"fixed", Saved{At: 110 * second, Counts: [3]int64{1, 7}}, 3},
		{"fixed", Saved{At: 110 * second, Counts: [3]int64{1, 2}}, 6},
		{"fixed", Saved{At: 107 * second, Counts: [3]int64{7}}, 3}, // some other cut
		{"sliding", Saved{At: 90 * second, Counts: [3]int64{6}}, 3},
		{"sliding", Saved{At: 100 * second, Counts: [3]int64{5, 6}}, 2},
		{"sliding", Saved{At: 110 * second, Counts: [3]int64{0, 5, 6}}, 2},
		{"log", Saved{Log: []window.Event{{At: 100 * second, N: 3}}}, 6},
		{"log", Saved{Log: []window.Event{{At: 100 * second, N: 3}, {At: 101 * second, N: 4}}}, 3},
		{"log", Saved{Log: []window.Event{{At: 90 * second, N: 9}}}, 6},
		{"log", Saved{Log: []window.Event{{At: 104 * second, N: 4}, {At: 102 * second, N: 3}, {At: 103 * second, N: -9}}}, 3},
	} {
		tab := New(Config{Record: true})
		l := define(t, tab, "x", kinds(10, 10*second)[c.kind])
		tab.Take(l, 7, now, 4)
		c.saved.Hash = 7
		tab.Restore(l, now, &c.saved)
		if got := tab.Peek(l, 7, now, 0).Remaining; got != c.left {
			t.Errorf("%s with %+v: %d remain, want %d", c.kind, c.saved, got, c.left)
		}
		if got := told(tab)[modelID{l, 7}]; len(got) != 1 {
			t.Errorf("%s: told %v, want the 4 alone", c.kind, got)
		}
		check(t, tab)
	}
}

// TestRestoreBehind: here a peer has put the key a window ahead already.
func TestRestoreBehind(t *testing.T) {
	tab := New(Config{})
	l := define(t, tab, "x", sliding(10, 10*second))
	tab.Take(l, 7, 105*second, 1)
	tab.Charge(l, 7, 105*second, Row{2, 110 * second, 10 * second}, 0)
	tab.Restore(l, 105*second, &Saved{Hash: 7, At: 100 * second, Counts: [3]int64{3, 4}})
	if got := tab.Peek(l, 7, 105*second, 0).Remaining; got != 5 {
		t.Errorf("%d remain, want 10 − 3 − 4/2", got)
	}
	if got := tab.Peek(l, 7, 110*second, 0).Remaining; got != 5 {
		t.Errorf("in the next window %d remain, want 10 − 2 − 3", got)
	}
}

// TestRestoreAnything: a state that makes no sense harms nobody.
func TestRestoreAnything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	number := func() int64 {
		switch rnd.IntN(4) {
		case 0:
			return math.MaxInt64
		case 1:
			return math.MinInt64
		case 2:
			return rnd.Int64N(1000 * second)
		}
		return int64(rnd.Uint64())
	}
	tab := New(Config{Record: true, MaxKeys: 100})
	limits := []*Limit{learn(t, tab, 5, Def{}), define(t, tab, "none", Def{Kind: Blocked})}
	for name, d := range kinds(7, 13*second) {
		limits = append(limits, define(t, tab, name, d))
	}
	for range 20_000 {
		k := Saved{mix(rnd.IntN(200)), number(), uint64(number()), [3]int64{number(), number(), number()}, nil}
		for range rnd.IntN(4) {
			k.Log = append(k.Log, window.Event{At: number(), N: number()})
		}
		l, now := limits[rnd.IntN(len(limits))], rnd.Int64N(1000*second)
		tab.Restore(l, now, &k)
		if got := tab.Take(l, k.Hash, now, 1); got.Remaining < 0 || got.Remaining > 7 || got.OK == (got.RetryAfter > 0) {
			t.Fatalf("%+v: %+v", k, got)
		}
		tab.Drain(false, noNews)
	}
	check(t, tab)
}

// TestRestoreIntoAFullTable: a key without room limits those that are decided with it.
func TestRestoreIntoAFullTable(t *testing.T) {
	tab, l := fullTable(t, 14, false, 10, def(1, second, 10))
	tab.Restore(l, 0, &Saved{Hash: 100, At: 8 * second})
	if got := tab.Peek(l, l.overflow, 0, 0).Remaining; got != 2 {
		t.Errorf("%d remain of the overflow entry, want 2", got)
	}
	check(t, tab)
}

// TestDumpWhileMoving: a dump sees every key that was there all the time, though its
// shard grows or shrinks meanwhile and all its entries move.
func TestDumpWhileMoving(t *testing.T) {
	for name, c := range map[string]struct {
		keys int
		move func(tab *Table, l *Limit)
	}{
		"grows": {400, func(tab *Table, l *Limit) {
			for i := range 600 {
				tab.Take(l, mix(400+i), 0, 1)
			}
		}},
		"shrinks": {1000, func(tab *Table, l *Limit) {
			for i := range 600 {
				tab.Reset(l, mix(400+i), 0)
			}
			tab.Sweep(0, 1)
		}},
	} {
		tab := New(Config{MaxKeys: 1000})
		l := define(t, tab, "x", fixed(10, hour))
		for i := range c.keys {
			tab.Take(l, mix(i), 0, 1)
		}
		seen, groups := map[uint64]int64{}, len(tab.shards[0].groups)
		tab.Dump(0, func(_ *Limit, s *Saved) {
			if seen[s.Hash] = s.Counts[0]; len(seen) == 200 {
				c.move(tab, l)
			}
		})
		for i := range 400 {
			if seen[mix(i)] != 1 {
				t.Fatalf("%s, key %d: saw %d events, want 1", name, i, seen[mix(i)])
			}
		}
		if len(tab.shards[0].groups) == groups {
			t.Errorf("%s: the entries did not move", name)
		}
		check(t, tab)
	}
}

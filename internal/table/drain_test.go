package table

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDrain(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", def(1, second, 100))
	local := define(t, tab, "local", Def{Kind: Bucket, Bucket: l.Def().Bucket})
	tab.Take(l, 7, 3*second, 1)
	tab.Take(l, 7, 5*second, 2)
	tab.Take(l, 8, 4*second, 1)
	tab.Take(l, 8, 4*second, 100) // refused
	tab.Take(local, 9, 4*second, 1)
	all, since, any := drain(tab, false)
	want := []news{{l, 7, 3, 4 * second}, {l, 8, 1, 4 * second}} // 7 was full again at 4 s
	if !any || since != math.MaxInt64 || len(all) != 2 || all[0] != want[0] && all[1] != want[0] || all[0] != want[1] && all[1] != want[1] {
		t.Errorf("drained %v, since %d, any %v, want %v", all, since, any, want)
	}
	check(t, tab)
	if all, since, any := drain(tab, false); any || since != math.MaxInt64 || len(all) > 0 {
		t.Errorf("drained again %v, since %d, any %v", all, since, any)
	}
	tab.Take(l, 7, 200*second, 1)
	if all, _, _ := drain(tab, false); len(all) != 1 || all[0] != (news{l, 7, 1, 200 * second}) {
		t.Errorf("then %v, want 1 event from 200 s", all)
	}
}

func TestWithoutRecord(t *testing.T) {
	tab := New(Config{})
	l := define(t, tab, "x", def(1, second, 100))
	tab.Take(l, 7, 0, 50)
	if all, _, any := drain(tab, false); any {
		t.Errorf("drained %v", all)
	}
}

// TestUrgency checks the rule: urgent if |unsent| ≥ max(1, remaining/2N).
func TestUrgency(t *testing.T) {
	for _, c := range []struct {
		nodes         int
		taken, charge int64
		urgent        bool
	}{
		{1, 32, 0, false}, // 32 < 68/2
		{1, 33, 0, true},  // 33 ≥ 67/2
		{5, 8, 0, false},  // 8 < 92/10
		{5, 9, 0, true},   // 9 ≥ 91/10
		{5, 1, 80, true},  // 1 ≥ 19/10
		{5, 1, 78, false}, // 1 < 21/10
		{5, 1, 79, false}, // 1 < 20/10
		{1000, 1, 0, true},
		{math.MaxInt, 1, 0, true},
		{-1, 32, 0, false},
		{3, 1, 500, true}, // in debt
		{3, 0, 100, false},
	} {
		pokes := 0
		tab := New(Config{Record: true, Poke: func() { pokes++ }})
		tab.SetNodes(c.nodes)
		l := define(t, tab, "x", def(1, hour, 100))
		const at = 5 * second
		tab.Take(l, 7, at, c.taken)
		charge(tab, l, 7, 2*at, c.charge, 2*at, hour)
		all, since, any := drain(tab, true)
		if any != c.urgent || (pokes == 1) != c.urgent || pokes > 1 {
			t.Errorf("%+v: urgent %v, %d pokes", c, any, pokes)
		}
		if any && (len(all) != 1 || all[0].n != c.taken || since != at && since != 2*at) {
			t.Errorf("%+v: drained %v since %d", c, all, since)
		}
		check(t, tab)
	}
}

func TestPokesOncePerDrain(t *testing.T) {
	pokes := 0
	tab := New(Config{Record: true, Poke: func() { pokes++ }})
	l := define(t, tab, "x", def(1, hour, 10))
	for i := range uint64(10) {
		tab.Take(l, i<<40|i, int64(100+i), 9)
		tab.Take(l, i<<40|i, int64(100+i), 1)
	}
	if pokes != 1 {
		t.Errorf("%d pokes of ten urgent entries, want 1", pokes)
	}
	tab.Take(l, 1<<63, 90, 1) // not urgent
	all, since, _ := drain(tab, true)
	if len(all) != 10 || since != 100 {
		t.Errorf("drained %d entries since %d, want 10 since 100", len(all), since)
	}
	tab.Take(l, 1<<63, 300, 6)
	if pokes != 2 {
		t.Errorf("%d pokes after the drain, want 2", pokes)
	}
	tab.Take(l, 1<<62, 400, 9)
	all, since, _ = drain(tab, false)
	if len(all) != 2 || since != 300 {
		t.Errorf("drained %v since %d, want two entries since 300", all, since)
	}
	check(t, tab)
}

// TestDrainIsWhatWasTaken: over many takes and drains of either kind, the sum of what
// is emitted of a key is the sum of what was admitted, through growth, sweeps and
// evictions, and composes to the same run.
func TestDrainIsWhatWasTaken(t *testing.T) {
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		tab := New(Config{Record: true, MaxKeys: 3000})
		tab.SetNodes(3)
		limits := []*Limit{define(t, tab, "a", def(10, second, 20)), define(t, tab, "b", def(7, hour, 50))}
		type id struct {
			l    *Limit
			hash uint64
		}
		taken, told := map[id]int64{}, map[id]int64{}
		now := int64(0)
		emit := func(l *Limit, hash uint64, r Row) {
			n, start := r.N, r.Start
			if n <= 0 || start > now+1 { // times are rounded up
				t.Fatalf("seed %d: emitted %d events from %d at %d", seed, n, start, now)
			}
			told[id{l, hash}] += n
		}
		for range 20_000 {
			now += rnd.Int64N(second / 100)
			k := id{limits[rnd.IntN(2)], 0}
			k.hash = k.l.Hash(string(rune(rnd.ExpFloat64() * 2000)))
			n := rnd.Int64N(4)
			before := tab.Stats().Overflowed
			ok := tab.Take(k.l, k.hash, now, n).OK
			if tab.Stats().Overflowed != before {
				k.hash = k.l.overflow
			}
			if ok && n > 0 {
				taken[k] += n
			}
			switch rnd.IntN(400) {
			case 0:
				tab.Drain(false, emit)
			case 1, 2, 3:
				tab.Drain(true, emit)
			case 4:
				tab.Sweep(now, 3)
			case 5:
				tab.SetNodes(1 + rnd.IntN(5))
			case 6:
				check(t, tab)
			}
		}
		tab.Drain(false, emit)
		for k, n := range taken {
			if told[k] != n {
				t.Errorf("seed %d: key %#x: told %d, taken %d", seed, k.hash, told[k], n)
			}
		}
		if len(told) != len(taken) {
			t.Errorf("seed %d: told of %d keys, taken of %d", seed, len(told), len(taken))
		}
		check(t, tab)
	}
}

// TestUrgencyOfOtherKinds: windows and logs, charges and refunds, go by the same rule.
func TestUrgencyOfOtherKinds(t *testing.T) {
	for name, d := range kinds(100, hour) {
		tab := New(Config{Record: true})
		tab.SetNodes(5)
		l := define(t, tab, name, d)
		urgent := func(what string, want bool) {
			t.Helper()
			if _, _, got := drain(tab, true); got != want {
				t.Errorf("%s, %s: urgent %v, want %v", name, what, got, want)
			}
			check(t, tab)
		}
		mark := tab.Mark(l, second)
		tab.Take(l, 7, second, 8)
		urgent("8 of 92/10", false)
		tab.Charge(l, 7, second, Row{60, second, 0}, hour)
		urgent("8 of 32/10", true)
		tab.Take(l, 7, second, 1)
		urgent("1 of 31/10", false)
		tab.Hold(l, 7, second, 25)
		urgent("1 of 6/10", true)
		tab.Take(l, 7, second, 1)
		urgent("1 of 5/10", true)
		tab.Refund(l, 7, second, 10, mark)
		if name != "log" { // whose refunds go with the next drain of everything
			urgent("-10 of 15/10", true)
		}
		if got := told(tab); name == "log" && len(got) != 1 || name != "log" && len(got) != 0 {
			t.Errorf("%s: then told %v", name, got)
		}
	}
}

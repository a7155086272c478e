package table

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stint-go/stint/bucket"
)

// TestTakeAllRefused is case 10: two limits on one request, the second refuses; the
// first is untouched, and nothing of it goes to peers.
func TestTakeAllRefused(t *testing.T) {
	tab := New(Config{Record: true})
	a, b := define(t, tab, "a", def(1, second, 5)), define(t, tab, "b", def(1, second, 2))
	tab.Take(b, 8, 0, 2)
	drain(tab, false)
	into := make([]Result, 2)
	for range 3 {
		if tab.TakeAll([]Ask{{a, 7, 1}, {b, 8, 1}}, 0, into) {
			t.Error("admitted")
		}
		want := []Result{{true, 5, 0, 0}, {false, 0, second, 2 * second}}
		if !slices.Equal(into, want) {
			t.Errorf("results %v, want %v", into, want)
		}
	}
	if got := tab.Stats().Keys; got != 1 {
		t.Errorf("%d keys, want 1", got)
	}
	if all, _, _ := drain(tab, false); len(all) > 0 {
		t.Errorf("news %v, want none", all)
	}
	if allowed, denied := a.Counts(); allowed != 0 || denied != 0 {
		t.Errorf("a: %d allowed, %d denied, want none", allowed, denied)
	}
	if allowed, denied := b.Counts(); allowed != 2 || denied != 3 {
		t.Errorf("b: %d allowed, %d denied, want 2 and 3", allowed, denied)
	}
	check(t, tab)
}

func TestTakeAll(t *testing.T) {
	const never, most = bucket.Never, math.MaxInt64
	type ask struct {
		limit int // of a, b, unlimited, blocked, unknown
		hash  uint64
		n     int64
	}
	for name, c := range map[string]struct {
		asks []ask
		ok   bool
		want []Result
		left []int64 // then, of keys 7 to 9 under a, and 7 under b
	}{
		"none":     {nil, true, nil, []int64{10, 10, 10, 5}},
		"one":      {[]ask{{0, 7, 3}}, true, []Result{{true, 7, 0, 3 * second}}, []int64{7, 10, 10, 5}},
		"order":    {[]ask{{0, 9, 1}, {1, 7, 2}, {0, 7, 3}}, true, []Result{{true, 9, 0, second}, {true, 3, 0, 2 * second}, {true, 7, 0, 3 * second}}, []int64{7, 10, 9, 3}},
		"add up":   {[]ask{{0, 7, 3}, {1, 7, 1}, {0, 7, 4}}, true, []Result{{true, 7, 0, 3 * second}, {true, 4, 0, second}, {true, 3, 0, 7 * second}}, []int64{3, 10, 10, 4}},
		"too many": {[]ask{{0, 7, 6}, {0, 7, 4}, {0, 7, 1}}, false, []Result{{true, 10, 0, 0}, {true, 10, 0, 0}, {false, 10, never, 0}}, []int64{10, 10, 10, 5}},
		"peeks":    {[]ask{{0, 7, 0}, {0, 8, 2}, {0, 8, 0}}, true, []Result{{true, 10, 0, 0}, {true, 8, 0, 2 * second}, {true, 8, 0, 2 * second}}, []int64{10, 8, 10, 5}},
		"flat":     {[]ask{{2, 7, most}, {0, 7, 1}}, true, []Result{{true, most, 0, 0}, {true, 9, 0, second}}, []int64{9, 10, 10, 5}},
		"blocked":  {[]ask{{0, 7, 1}, {3, 7, 1}, {2, 7, 1}}, false, []Result{{true, 10, 0, 0}, {false, 0, never, 0}, {true, most, 0, 0}}, []int64{10, 10, 10, 5}},
		"unknown":  {[]ask{{4, 7, 1}, {0, 7, 1}}, false, []Result{{false, 0, never, 0}, {true, 10, 0, 0}}, []int64{10, 10, 10, 5}},
		"overflow": {[]ask{{0, 7, most}, {0, 7, most}}, false, []Result{{false, 10, never, 0}, {false, 10, never, 0}}, []int64{10, 10, 10, 5}},
		"negative": {[]ask{{0, 7, -1}, {0, 8, 1}}, true, []Result{{true, 10, 0, 0}, {true, 9, 0, second}}, []int64{10, 9, 10, 5}},
		"more than eight": {
			slices.Repeat([]ask{{0, 7, 1}}, 10), true,
			[]Result{{true, 9, 0, second}, {true, 8, 0, 2 * second}, {true, 7, 0, 3 * second}, {true, 6, 0, 4 * second}, {true, 5, 0, 5 * second},
				{true, 4, 0, 6 * second}, {true, 3, 0, 7 * second}, {true, 2, 0, 8 * second}, {true, 1, 0, 9 * second}, {true, 0, 0, 10 * second}},
			[]int64{0, 10, 10, 5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tab := New(Config{Record: true})
			limits := []*Limit{
				define(t, tab, "a", def(1, second, 10)), define(t, tab, "b", def(1, second, 5)),
				define(t, tab, "c", Def{Kind: Unlimited}), define(t, tab, "d", Def{Kind: Blocked}), learn(t, tab, 5, Def{}),
			}
			asks := make([]Ask, len(c.asks))
			for i, a := range c.asks {
				asks[i] = Ask{limits[a.limit], a.hash, a.n}
			}
			into := make([]Result, len(asks))
			if ok := tab.TakeAll(asks, 0, into); ok != c.ok || !slices.Equal(into, c.want) {
				t.Errorf("got %v %v\nwant %v %v", ok, into, c.ok, c.want)
			}
			left := []int64{}
			for _, a := range []Ask{{limits[0], 7, 0}, {limits[0], 8, 0}, {limits[0], 9, 0}, {limits[1], 7, 0}} {
				left = append(left, tab.Peek(a.Limit, a.Hash, 0, 0).Remaining)
			}
			if !slices.Equal(left, c.left) {
				t.Errorf("then remain %v, want %v", left, c.left)
			}
			if all, _, _ := drain(tab, false); !c.ok && len(all) > 0 {
				t.Errorf("refused, and news %v", all)
			}
			check(t, tab)
		})
	}
}

// TestTakeAllIsTakes compares with one take after the other, on tables so full that
// keys are evicted and sent to the overflow entry.
func TestTakeAllIsTakes(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		cfg := Config{Record: true, MaxKeys: 30}
		if seed%2 == 0 {
			cfg.MaxKeys = 5000
		}
		tab := New(cfg)
		limits := []*Limit{define(t, tab, "a", def(1, second, 20)), define(t, tab, "b", def(7, hour, 50))}
		sum, told, now := int64(0), int64(0), int64(0)
		emit := func(_ *Limit, _ uint64, r Row) { told += r.N }
		for range 10_000 {
			now += rnd.Int64N(second / 10)
			asks := make([]Ask, rnd.IntN(12))
			into := make([]Result, len(asks))
			want := make([]int64, len(asks))
			for i := range asks {
				l := limits[rnd.IntN(2)]
				asks[i] = Ask{l, l.Hash(string(rune(rnd.IntN(100)))), rnd.Int64N(3)}
			}
			ok := tab.TakeAll(asks, now, into)
			for i, a := range asks {
				if !ok {
					break
				}
				sum += a.N
				want[i] = into[i].Remaining
				if !into[i].OK {
					t.Fatalf("seed %d: admitted, but %v", seed, into)
				}
			}
			if refused := slices.ContainsFunc(into, func(r Result) bool { return !r.OK }); refused == ok {
				t.Fatalf("seed %d: %v, but %v", seed, ok, into)
			}
			if cfg.MaxKeys == 5000 && ok {
				for i := len(asks) - 1; i >= 0; i-- { // the last of each key tells
					a := asks[i]
					if got := tab.Peek(a.Limit, a.Hash, now, 0).Remaining; got != want[i] && !slices.ContainsFunc(asks[i+1:], func(b Ask) bool { return b.Hash == a.Hash }) {
						t.Fatalf("seed %d: %d remain, the result says %d", seed, got, want[i])
					}
				}
			}
			if rnd.IntN(30) == 0 {
				tab.Drain(rnd.IntN(2) == 0, emit)
			}
		}
		tab.Drain(false, emit)
		if told != sum {
			t.Errorf("seed %d: told of %d events, taken %d", seed, told, sum)
		}
		if over := tab.Stats().Overflowed; (over > 0) != (cfg.MaxKeys == 30) {
			t.Errorf("seed %d: %d overflowed of %d keys", seed, over, cfg.MaxKeys)
		}
		check(t, tab)
	}
}

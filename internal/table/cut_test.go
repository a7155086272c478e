package table

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stint-go/stint/bucket"
)

// A cut and what was drained before it tell all that was taken, once; merged elsewhere
// with what is drained after it, every key has the count of here.
func TestCutAndMerge(t *testing.T) {
	const now = 1005 * second
	for _, keys := range []int{1000, 200_000} { // one shard, and many
		tab, other := New(Config{Record: true, MaxKeys: keys}), New(Config{Record: true, MaxKeys: 3000})
		rnd := rand.New(rand.NewPCG(1, 2))
		hashes := make([]uint64, 200)
		for i := range hashes {
			hashes[i] = rnd.Uint64()
		}
		limits := map[*Limit]*Limit{}
		for name, d := range kinds(50, 1000*second) {
			limits[define(t, tab, name, d)] = define(t, other, name, d)
		}
		unknown := learn(t, tab, 9, Def{})
		limits[unknown] = learn(t, other, 9, Def{})
		for _, h := range hashes {
			tab.Charge(unknown, h, now, Row{5, now, 0}, 0)
		}
		taken, told := map[modelID]int64{}, map[modelID]int64{}
		take := func(tab *Table, l *Limit, h uint64) {
			if n := rnd.Int64N(4); l.Def().Kind != Unknown && tab.Take(l, h, now, n).OK {
				taken[modelID{l, h}] += n
			}
		}
		tell := func(l *Limit, h uint64, r Row) { told[modelID{l, h}] += r.N }
		for l := range limits {
			for _, h := range hashes {
				take(tab, l, h)
			}
		}
		tab.Drain(true, tell)
		const chunks = 16
		for c := range uint64(chunks) {
			for l := range limits { // of keys that were cut, and of others
				take(tab, l, hashes[rnd.IntN(len(hashes))])
			}
			first := c << 60
			tab.Cut(now, first, first|math.MaxUint64>>4, tell, func(l *Limit, s *Saved) {
				if s.Hash>>60 != c {
					t.Fatalf("key %x in the cut of %x", s.Hash, c)
				}
				if id := (modelID{l, s.Hash}); told[id] != taken[id] {
					t.Fatalf("cut with %d told of %d", told[id], taken[id])
				}
				k := *s
				k.Log = slices.Clone(s.Log)
				other.Merge(limits[l], now, Other{Saved: &k, As: l.Def()})
			})
			check(t, tab)
		}
		tab.Drain(false, func(l *Limit, h uint64, r Row) {
			tell(l, h, r)
			other.Charge(limits[l], h, now, r, bucket.Never)
		})
		for l, m := range limits {
			for _, h := range hashes {
				if id := (modelID{l, h}); told[id] != taken[id] {
					t.Errorf("%v: told %d of %d", l.Def().Kind, told[id], taken[id])
				}
				if got, want := other.Peek(m, h, now, 5), tab.Peek(l, h, now, 5); got != want {
					t.Fatalf("%v: %+v, want %+v", l.Def().Kind, got, want)
				}
			}
		}
		u := other.Lookup(9)
		learn(t, other, 9, def(50, 1000*second, 50))
		if got := other.Peek(u, hashes[0], now, 0).Remaining; got != 45 {
			t.Errorf("got %d left of a limit learned later, want 45", got)
		}
		check(t, other)
	}
}

// What is saved comes on top of what was spent here and is not in it: told since, and
// unsent.
func TestMergeAddsWhatIsNotInIt(t *testing.T) {
	const now = 1005 * second
	for name, d := range kinds(50, 1000*second) {
		donor, tab := New(Config{Record: true}), New(Config{Record: true})
		l, m := define(t, donor, name, d), define(t, tab, name, d)
		donor.Take(l, 7, now, 10) // 4 of it ours, told before
		tab.Take(m, 7, now, 4+3)
		var more []Row
		tab.Drain(false, func(_ *Limit, _ uint64, r Row) { r.N -= 4; more = append(more, r) })
		tab.Take(m, 7, now, 2)
		merge := func() {
			donor.Cut(now, 0, math.MaxUint64, noNews, func(_ *Limit, s *Saved) { tab.Merge(m, now, Other{Saved: s, As: l.Def(), More: more}) })
		}
		for range 2 {
			merge()
			if got, want := tab.Peek(m, 7, now, 0).Remaining, int64(50-10-3-2); got != want {
				t.Errorf("%s: got %d left, want %d", name, got, want)
			}
		}
		all, _, _ := drain(tab, false)
		if len(all) != 1 || all[0].n != 2 {
			t.Errorf("%s: got %v unsent, want 2 events", name, all)
		}
		check(t, tab)
	}
}

// A donor may have other definitions: what is used stays used.
func TestMergeAcrossDefinitions(t *testing.T) {
	const now = 1005 * second
	for from, d := range kinds(50, 1000*second) {
		for to, e := range kinds(40, 990*second) {
			donor, tab := New(Config{}), New(Config{})
			l, m := define(t, donor, "a", d), define(t, tab, "a", e)
			donor.Take(l, 7, now, 10)
			donor.Cut(now, 0, math.MaxUint64, noNews, func(_ *Limit, s *Saved) { tab.Merge(m, now, Other{Saved: s, As: l.Def()}) })
			if got := tab.Peek(m, 7, now, 0).Remaining; got < 29 || got > 31 {
				t.Errorf("%s to %s: got %d left, want about 30", from, to, got)
			}
			check(t, tab)
		}
	}
}

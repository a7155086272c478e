package table

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stint-go/stint/window"
)

// fullTable has n keys at hash 1… of a limit, each with `taken` events used at 0.
func fullTable(t *testing.T, n int, record bool, taken int64, d Def) (*Table, *Limit) {
	tab := New(Config{MaxKeys: n, Record: record})
	l := define(t, tab, "x", d)
	for i := range n {
		if !tab.Take(l, uint64(i+1), 0, taken).OK {
			t.Fatalf("key %d refused", i)
		}
	}
	return tab, l
}

func TestFreshKeyTakesTheLeast(t *testing.T) {
	tab, l := fullTable(t, 7, false, 5, def(1, second, 10))
	charge(tab, l, 3, 0, -2, 0, 0) // carries least
	tab.Take(l, 4, 0, 2)
	if got := tab.Take(l, 100, 0, 1); !got.OK || got.Remaining != 9 {
		t.Errorf("the fresh key: %+v", got)
	}
	for hash, want := range map[uint64]int64{1: 5, 2: 5, 3: 10, 4: 3, 5: 5, 6: 5, 7: 5} { // 3 is forgotten
		if got := tab.Peek(l, hash, 0, 0).Remaining; got != want {
			t.Errorf("key %d: %d remain, want %d", hash, got, want)
		}
	}
	if got := tab.Stats(); got.Evicted != 1 || got.Overflowed != 0 || got.Keys != 7 {
		t.Errorf("%+v, want one evicted", got)
	}
	check(t, tab)
}

func TestFreshKeyTakesTheResting(t *testing.T) {
	tab, l := fullTable(t, 7, false, 5, def(1, second, 10))
	charge(tab, l, 5, 0, -4, 0, 0)
	if got := tab.Take(l, 100, 2*second, 1); !got.OK {
		t.Errorf("the fresh key: %+v", got)
	}
	if got := tab.Stats(); got.Evicted != 0 || got.Keys != 7 {
		t.Errorf("%+v, want none evicted", got)
	}
	for _, hash := range []uint64{1, 2, 3, 4, 6, 7} {
		if got := tab.Peek(l, hash, 2*second, 0).Remaining; got != 7 {
			t.Errorf("key %d: %d remain, want 7", hash, got)
		}
	}
}

// TestNoVictim: what is at its limit, in debt, or unsent stays, and fresh keys share
// one bucket.
func TestNoVictim(t *testing.T) {
	for name, c := range map[string]struct {
		record bool
		taken  int64
		charge int64
	}{
		"at the limit": {false, 10, 0},
		"in debt":      {false, 9, 5},
		"unsent":       {true, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tab, l := fullTable(t, 14, c.record, c.taken, def(1, second, 10))
			for hash := uint64(1); hash <= 14; hash++ {
				charge(tab, l, hash, 0, c.charge, 0, hour)
			}
			ok := 0
			for hash := uint64(100); hash < 150; hash++ {
				if tab.Take(l, hash, 0, 1).OK {
					ok++
				}
			}
			if ok != 10 {
				t.Errorf("%d fresh keys admitted, want the 10 of the overflow entry", ok)
			}
			charge(tab, l, 200, 0, 5, 0, hour) // a peer's fresh key is in the same case
			if got := tab.Take(l, 201, 0, 1); got.RetryAfter != 6*second {
				t.Errorf("after a charge: %+v, want to wait for 6 s", got)
			}
			if got := tab.Stats(); got.Overflowed != 52 || got.Evicted != 0 || got.Keys != 14 {
				t.Errorf("%+v, want 52 overflowed", got)
			}
			for hash := uint64(1); hash <= 14; hash++ {
				want := max(10-c.taken-c.charge, 0)
				if got := tab.Peek(l, hash, 0, 0).Remaining; got != want {
					t.Errorf("key %d: %d remain, want %d", hash, got, want)
				}
			}
			drain(tab, false)
			if got := tab.Take(l, 300, 100*second, 1); !got.OK || got.Remaining != 9 {
				t.Errorf("later, with room: %+v", got)
			}
			check(t, tab)
			drain(tab, false)
			tab.Sweep(1000*second, 1)
			if tab.shards[0].used != 0 {
				t.Errorf("%d entries after a sweep, want none", tab.shards[0].used)
			}
		})
	}
}

// TestOverflowIsShared: takes on the overflow entry are news like others, under the
// same hash at every node.
func TestOverflowIsShared(t *testing.T) {
	tab, l := fullTable(t, 14, true, 1, def(1, second, 10))
	tab.Take(l, 100, 0, 1)
	tab.Take(l, 101, 0, 1)
	all, _, _ := drain(tab, false)
	found := false
	for _, k := range all {
		found = found || k == news{l, l.overflow, 2, 0}
	}
	if !found {
		t.Errorf("news %v, want 2 events of the overflow entry", all)
	}
}

// TestLeastOfEachKind: among keys of several kinds, the one whose use comes back soonest
// goes; one at its limit does not.
func TestLeastOfEachKind(t *testing.T) {
	tab := New(Config{MaxKeys: 7})
	limits := []*Limit{}
	for i, d := range []Def{def(10, 100*second, 10), fixed(10, 100*second), sliding(10, 100*second), logging(10, 100*second)} {
		limits = append(limits, define(t, tab, string(rune('a'+i)), d))
	}
	const now = 5 * second
	for i, l := range append(limits, limits[1:]...) {
		n := int64(i + 2)
		if i >= len(limits) {
			n = 10
		}
		tab.Take(l, uint64(i+1), now, n)
	}
	fresh := define(t, tab, "fresh", def(1, 1000*second, 1)) // takes all of its burst
	for i := range uint64(4) {
		if got := tab.Take(fresh, 100+i, now, 1); !got.OK || tab.Stats().Evicted != int64(i+1) {
			t.Fatalf("fresh key %d: %+v, %+v", i, got, tab.Stats())
		}
		if got := tab.Peek(limits[i], i+1, now, 0).Remaining; got != 10 {
			t.Errorf("key %d of kind %d was not the one to go: %d remain", i+1, limits[i].Def().Kind, got)
		}
	}
	for i, l := range limits[1:] {
		if got := tab.Peek(l, uint64(i+5), now, 1); got.OK {
			t.Errorf("a key at its limit, of kind %d, was forgotten", l.Def().Kind)
		}
	}
	if tab.Take(fresh, 200, now, 1); tab.Stats().Overflowed != 1 {
		t.Errorf("%+v, want one overflowed", tab.Stats())
	}
	check(t, tab)
}

// TestIdleKeysLeave: expired windows and idle logs go with the sweeps, as full buckets do,
// and not before.
func TestIdleKeysLeave(t *testing.T) {
	for name, c := range map[string]struct {
		def      Def
		from, to int64 // seconds: still there; gone
	}{
		"bucket":  {def(10, 100*second, 10), 40, 46},
		"fixed":   {fixed(10, 100*second), 104, 106},
		"sliding": {sliding(10, 100*second), 204, 206},
		"log":     {logging(10, 100*second), 109, 111},
		"daily":   {Def{Kind: Window, Window: window.NewCalendar(10, window.Day, nil)}, 86404, 86406},
	} {
		tab := New(Config{})
		l := define(t, tab, name, c.def)
		for i := range 100 {
			tab.Take(l, mix(i), 5*second, 3)
		}
		tab.Sweep(c.from*second, 1<<16)
		if got := tab.Stats().Keys; got != 100 {
			t.Errorf("%s: %d keys at %d s, want all", name, got, c.from)
		}
		tab.Sweep(c.to*second, 1<<16)
		if got := tab.Stats().Keys; got != 0 {
			t.Errorf("%s: %d keys at %d s, want none", name, got, c.to)
		}
		check(t, tab)
	}
}

// TestFlood is case 14: far more keys than the table holds leave memory flat and a
// limited key limited; a key with some events used stays while others carry less.
func TestFlood(t *testing.T) {
	for name, d := range kinds(10, hour) {
		for _, record := range []bool{false, true} {
			if !record && d.Kind != Bucket {
				continue
			}
			t.Run(fmt.Sprintf("%s record=%v", name, record), func(t *testing.T) { flood(t, d, record) })
		}
	}
}

func flood(t *testing.T, d Def, record bool) {
	maxKeys := 8_000
	if d.Kind != Bucket {
		maxKeys = 2_000
	}
	tab := New(Config{MaxKeys: maxKeys, Record: record})
	l := define(t, tab, "x", d)
	limited, used := l.Hash("limited"), l.Hash("used")
	tab.Take(l, limited, 0, 10)
	tab.Take(l, used, 0, 8)
	emit := func(*Limit, uint64, Row) {}
	now, full := int64(0), uint64(0)
	for i := range 12 * maxKeys {
		now += 1000
		tab.Take(l, l.Hash(fmt.Sprint("flood", i)), now, 1)
		if i%1000 == 0 {
			tab.Drain(false, emit)
			tab.Sweep(now, 4)
		}
		if i == 2*maxKeys {
			full = heap()
		}
	}
	if got := tab.Take(l, limited, now, 1); got.OK {
		t.Errorf("the limited key: %+v, want a refusal", got)
	}
	if got := tab.Peek(l, used, now, 0).Remaining; got != 2 {
		t.Errorf("the used key: %d remain, want 2", got)
	}
	if got := heap(); got > full+full/20 {
		t.Errorf("heap grew from %d to %d bytes", full, got)
	}
	if got := tab.Stats(); got.Keys != maxKeys || got.Overflowed != 0 {
		t.Errorf("%+v, want %d keys and none overflowed", got, maxKeys)
	}
	check(t, tab)
}

// TestCrowdedShard: hashes that a peer chose to fall into one shard fill that shard
// to its bound, not more, and the others go on.
func TestCrowdedShard(t *testing.T) {
	tab := New(Config{MaxKeys: 100_000})
	l := define(t, tab, "x", def(10, hour, 10))
	for i := range uint64(3_000) {
		charge(tab, l, i, 0, 1, 0, hour)
	}
	if got := int(tab.shards[0].used); got != tab.maxShard {
		t.Errorf("%d entries in the shard, want its bound %d", got, tab.maxShard)
	}
	if got := tab.Take(l, l.Hash("key"), 0, 1); !got.OK || got.Remaining != 9 {
		t.Errorf("another key: %+v", got)
	}
	check(t, tab)
}

// heap is the bytes of live objects.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

package table

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// TestExactTotals has many takers on few keys of one moment, with drains, sweeps,
// charges and changes going on: exactly each burst is admitted, told once, and counted.
func TestExactTotals(t *testing.T) {
	for name, d := range kinds(500, hour) {
		t.Run(name, func(t *testing.T) { exactTotals(t, d) })
	}
}

func exactTotals(t *testing.T, d Def) {
	const burst, keys, takers, each = 500, 8, 4, 3000
	var pokes atomic.Int64
	tab := New(Config{Record: true, MaxKeys: 2000, Poke: func() { pokes.Add(1) }})
	tab.SetNodes(3)
	l := define(t, tab, "x", d)
	other := define(t, tab, "other", def(1, second, 5))
	hashes := make([]uint64, keys)
	for i := range hashes {
		hashes[i] = l.Hash(string(rune('a' + i)))
	}

	var got [keys]atomic.Int64
	var told [keys]int64
	var wg, work sync.WaitGroup
	stop := make(chan struct{})
	for i := range takers {
		work.Go(func() {
			into := make([]Result, 2)
			for j := range each {
				a, b := (i+j)%keys, (i*3+j*5)%keys
				switch j % 3 {
				case 0:
					if tab.Take(l, hashes[a], 0, 1).OK {
						got[a].Add(1)
					}
				case 1: // in any order: the locks are in one
					if tab.TakeAll([]Ask{{l, hashes[a], 1}, {l, hashes[b], 1}}, 0, into) {
						got[a].Add(1)
						got[b].Add(1)
					}
				case 2: // growth beside them
					tab.Take(other, other.Hash(string(rune(i*each+j))), 0, 1)
					tab.Peek(l, hashes[b], 0, 1)
				}
			}
		})
	}
	background := func(f func()) {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f()
				}
			}
		})
	}
	emit := func(l *Limit, hash uint64, r Row) {
		for i := range hashes {
			if hash == hashes[i] {
				told[i] += r.N
			}
		}
	}
	urgent := false
	background(func() { urgent = !urgent; tab.Drain(urgent, emit) })
	mixed, i := kinds(1000, hour), 0
	names := slices.Sorted(maps.Keys(mixed))
	background(func() { // another limit changes its kind all the time
		i++
		k := define(t, tab, "mixed", mixed[names[i%len(names)]])
		for j := range uint64(5) {
			tab.Take(k, j*0x9e3779b97f4a7c15, 0, 1)
			tab.Charge(k, j*0x9e3779b97f4a7c15, 0, Row{-1, 0, hour}, 0)
		}
	})
	background(func() { tab.Sweep(2*grace, 3); tab.Stats(); l.Counts(); tab.EachLimit(func(*Limit, int64, int64) {}) })
	background(func() {
		tab.Ban(other, other.Hash("banned"), 0, int64(len(hashes)))
		tab.SetWall(0)
		tab.Dump(0, func(*Limit, *Saved) {})
		tab.Restore(other, 0, &Saved{Hash: other.Hash("restored"), At: 2 * second})
		tab.Hold(other, other.Hash("held"), 0, 1)
		tab.Refund(other, other.Hash("held"), 0, 1, Row{})
		tab.Reset(other, other.Hash("charged"), 0)
		charge(tab, other, other.Hash("charged"), 0, 1, 0, second)
		define(t, tab, "third", def(1, second, 5))
		tab.Lookup(l.ID()).Def()
	})
	work.Wait()
	close(stop)
	wg.Wait()
	tab.Drain(false, emit)

	sum := int64(0)
	for i := range hashes {
		if got := got[i].Load(); got != burst || told[i] != burst {
			t.Errorf("key %d: %d admitted, %d told, want %d", i, got, told[i], burst)
		}
		sum += burst
	}
	if allowed, _ := l.Counts(); allowed != sum {
		t.Errorf("%d allowed, want %d", allowed, sum)
	}
	if pokes.Load() == 0 {
		t.Error("never poked")
	}
	check(t, tab)
}

// TestFullTableUnderTakers: the bound holds, and what is counted is there.
func TestFullTableUnderTakers(t *testing.T) {
	tab := New(Config{MaxKeys: 1000, Record: true})
	l := define(t, tab, "x", def(10, second, 10))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			into := make([]Result, 3)
			for j := range 6000 {
				key := func(k int) uint64 { return l.Hash(string(rune(i*20000 + j*3 + k))) }
				tab.Take(l, key(0), int64(j), 1)
				tab.TakeAll([]Ask{{l, key(1), 1}, {l, key(2), 2}, {l, key(0), 1}}, int64(j), into)
				if j%100 == 0 {
					tab.Drain(j%200 == 0, func(*Limit, uint64, Row) {})
					tab.Sweep(int64(j), 1)
				}
			}
		})
	}
	wg.Wait()
	if got := tab.Stats(); got.Keys != 1000 {
		t.Errorf("%+v, want a full table", got)
	}
	check(t, tab)
}

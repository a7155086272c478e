package table

import (
	"runtime"
	"testing"
)

// TestBytesPerKey: at most 96 bytes of heap per live key, whatever the table holds
// between half of what it may and all, with everything unsent; and again when it has
// shrunk to that.
func TestBytesPerKey(t *testing.T) {
	before := heap()
	tab := New(Config{Record: true})
	l := define(t, tab, "x", def(1000, hour, 1000))
	const from, to = 500_000, 1_000_000
	bound := func(what string) {
		t.Helper()
		keys := tab.Stats().Keys
		if got := float64(heap()-before) / float64(keys); got > 96 {
			t.Errorf("%s %d keys: %.1f bytes each", what, keys, got)
		} else {
			t.Logf("%s %d keys: %.1f bytes each", what, keys, got)
		}
	}
	for i := range to {
		if i >= from && (i-from)%125_000 == 0 {
			bound("growing,")
		}
		tab.Take(l, mix(i), 0, 1)
	}
	bound("full,")
	if got := tab.Stats(); got.Keys != to || got.Evicted != 0 {
		t.Fatalf("%+v, want all keys", got)
	}

	// Half of the keys come to rest, a quarter at a time.
	tab.Drain(false, func(*Limit, uint64, Row) {})
	for part := range 2 {
		for i := part * to / 4; i < (part+1)*to/4; i++ {
			charge(tab, l, mix(i), 0, -1, 0, 0)
		}
		tab.Sweep(grace+second, len(tab.shards)) // one event takes 3.6 s
		bound("swept,")
	}
	runtime.KeepAlive(tab)
}

// mix is a hash of i that fills shards as unevenly as a true one does, but cheaper:
// the finalizer of splitmix64.
func mix(i int) uint64 {
	x := uint64(i) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

package gossip

import (
	"fmt"
	"testing"
)

const hour = 3600 * 1000 * ms

// lasting has what is spent matter for so long.
func lasting(memory int64) func(*Config) {
	return func(c *Config) { c.Memory = func() int64 { return memory } }
}

// What matters for longer than PartitionMemory is kept for a dead peer for as long, and
// told when it is back: the peer knows its number still.
func TestCursorsAreKeptWhileItMatters(t *testing.T) {
	w, a, b := pair(t, lasting(2*hour))
	a.spend(1)
	w.settle()
	a.closed(b)
	a.down(b)
	for range 10 {
		w.skip(a.cfg.PartitionMemory)
		a.spend(1, 1)
		a.tick()
		b.tick()
	}
	if entries, _ := a.Size(); entries != 2 {
		t.Errorf("got %d entries after ten times PartitionMemory, want one for each key", entries)
	}
	if want := a.link(b.id).deadAt + 2*hour + 1; a.next != want {
		t.Errorf("Tick asks for %d, want %d", a.next, want)
	}
	a.up(b)
	a.open(b)
	w.settle()
	if h := b.heard[a.id]; h.sums[about(1, 0)] != 11 || h.sums[about(1, 1)] != 10 || b.Lost() != 0 || !a.Quiet() {
		t.Errorf("got %v, lost %d", h.sums, b.Lost())
	}
}

// Whoever is away for longer than that loses what it must, counts it, and is told nothing
// twice, though its number is remembered.
func TestCursorsAreNotKeptForEver(t *testing.T) {
	for name, test := range map[string]struct{ matters, want int64 }{
		"as long as it matters": {2 * hour, 2 * hour},
		"MaxMemory at most":     {1 << 62, 32 * 24 * hour},
		"PartitionMemory":       {1, hour / 6},
	} {
		w, a, b := pair(t, lasting(test.matters))
		a.spend(1)
		w.settle()
		a.closed(b)
		a.down(b)
		a.spend(2)
		for _, late := range []int64{0, 1} {
			w.skip(test.want - (w.now - a.link(b.id).deadAt) + late)
			a.tick()
			if kept := len(a.links) == 1; kept != (late == 0) {
				t.Errorf("%s: %d ns after the last time: kept %v", name, late, kept)
			}
		}
		b.tick()
		a.up(b)
		a.open(b)
		w.settle()
		if n, _ := b.Number(a.id); n != 2 || b.Lost() != 1 || b.heard[a.id].sums[about(1, 0)] != 1 {
			t.Errorf("%s: got number %d, lost %d, %v; want 2, 1, and 1 of key 0", name, n, b.Lost(), b.heard[a.id].sums)
		}
	}
}

// What a peer that was away can do without is dropped once all who lack it have been dead
// for longer than PartitionMemory, and counted. Who lives is told everything.
func TestStaleEntriesAreDropped(t *testing.T) {
	w := newWorld(t)
	stale := func(c *Config) { c.Stale = func(e Entry) bool { return w.now-e.Start > hour/2 } }
	a, b, c := w.born("a", lasting(2*hour), stale), w.born("b"), w.born("c")
	w.meet()
	w.settle()
	for _, n := range []*node{b, c} {
		a.closed(n)
	}
	a.down(b)
	a.spend(5)
	w.skip(hour)
	a.spend(0, 7)
	a.tick()
	if entries, _ := a.Size(); entries != 2 || a.Forgiven() != 0 {
		t.Errorf("one who lacks it lives: got %d entries, %d forgiven, want 2 and 0", entries, a.Forgiven())
	}
	a.down(c)
	w.skip(hour/6 + 1)
	a.tick()
	if entries, _ := a.Size(); entries != 1 || a.Forgiven() != 5 {
		t.Errorf("got %d entries, %d forgiven, want 1 and 5", entries, a.Forgiven())
	}
	w.skip(hour / 2)
	a.up(b) // what has become stale since need not be told, but c may be back yet
	a.open(b)
	if entries, _ := a.Size(); entries != 0 || a.Forgiven() != 12 {
		t.Errorf("got %d entries, %d forgiven, want 0 and 12", entries, a.Forgiven())
	}
	w.handAll(w.take(kind(a, kindHello)))
	w.handAll(w.take(kind(b, kindWelcome)))
	w.handAll(w.take(kind(a, kindStart)))
	if n, _ := b.Number(a.id); n != 0 || b.Lost() != 0 {
		t.Errorf("got number %d, lost %d: what is stale is not lost", n, b.Lost())
	}
}

// A crash loop under ever new names costs so many cursors at most.
func TestLongDeadPeersAreBounded(t *testing.T) {
	w := newWorld(t)
	a := w.born("a", lasting(24*hour))
	const peers = maxLong + 10
	for i := range peers {
		n := w.born(fmt.Sprint("n", i))
		a.up(n)
		a.down(n)
		a.spend(1)
		w.skip(1000 * ms)
	}
	a.tick()
	if got := len(a.links); got != peers {
		t.Fatalf("got %d cursors, want %d for PartitionMemory", got, peers)
	}
	for range peers {
		w.skip(a.cfg.PartitionMemory / peers)
		a.tick()
	}
	w.skip(a.cfg.PartitionMemory)
	for range peers {
		a.tick()
	}
	if got := len(a.links); got != maxLong || a.link(2) != nil || a.link(peers+1) == nil {
		t.Errorf("got %d cursors, want %d and the longest dead gone", got, maxLong)
	}
}

// Numbers of the silent are bounded, and go no earlier than is safe; those of nodes that
// left are not kept for long.
func TestSilentNumbersAreBounded(t *testing.T) {
	w := newWorld(t)
	a := w.born("a", lasting(24*hour))
	for i := range maxSilent + 100 {
		s := &source{heardAt: w.now + int64(i)}
		s.numbers.all = number{numberKnown, 9}
		a.sources[uint64(1000+i)] = s
	}
	a.sources[1000+maxSilent].left = true
	safe := a.old() + a.cfg.Timeout
	w.skip(safe)
	a.tick()
	if got := len(a.sources); got != maxSilent+100 {
		t.Fatalf("got %d numbers of young silence, want all %d", got, maxSilent+100)
	}
	w.skip(1000 * ms)
	a.tick()
	if got := len(a.sources); got != maxSilent || a.sources[1098] != nil || a.sources[1099] == nil || a.sources[1000+maxSilent] != nil {
		t.Errorf("got %d numbers, want %d without the longest silent and who left", got, maxSilent)
	}
	w.skip(a.memory())
	a.tick()
	if got := len(a.sources); got != 0 {
		t.Errorf("got %d numbers for ever", got)
	}
}

// A node that is to know its peers' counts and meets a log that is no longer whole, of
// which it has no number, has lost what is missing, and says so. Broken once: nobody
// counted it.
func TestLossOfAnUnknownLogIsCounted(t *testing.T) {
	for _, joins := range []bool{true, false} {
		w := newWorld(t)
		a, b := w.born("a"), w.born("b", func(c *Config) { c.Joins, c.First = joins, true })
		b.alone = false // it has told others of its own, and joins nobody
		for range 3 {
			a.spend(1) // kept for nobody
		}
		a.up(b)
		b.up(a)
		a.open(b)
		a.spend(1)
		w.settle()
		lost := uint64(0)
		if joins {
			lost = 3
		}
		if n, _ := b.Number(a.id); n != 4 || b.Lost() != lost {
			t.Errorf("joins %v: got number %d, lost %d; want 4, %d", joins, n, b.Lost(), lost)
		}
	}
}

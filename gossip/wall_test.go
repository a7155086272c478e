package gossip

import (
	"math"
	"testing"
)

// walled is a pair in session both ways, whose wall clocks are ahead of the world by so
// much.
func walled(t *testing.T, clock, wallA, wallB int64) (w *world, a, b *node) {
	w = newWorld(t)
	a, b = w.born("a"), w.born("b")
	b.clock = clock
	b.cfg.Born += clock
	a.wallAt(wallA)
	b.wallAt(wallB)
	w.meet()
	return w, a, b
}

// wallAt sets a node's wall clock so far ahead of the world.
func (n *node) wallAt(ahead int64) { n.SetWall(ahead - n.clock) }

// noisy delivers for so long; each frame takes base and then some, a different some each
// way.
func (w *world) noisy(d, base int64, some map[*node]int64) {
	type due struct {
		packet
		at int64
	}
	var under []due
	for end := w.now + d; w.now < end; w.now += ms {
		for _, n := range w.nodes() {
			n.tick()
		}
		for _, p := range w.takeAll() {
			under = append(under, due{p, w.now + base + w.rand.Int64N(some[p.from])})
		}
		rest := under[:0]
		for _, p := range under {
			if p.at <= w.now {
				w.hand(p.packet)
			} else {
				rest = append(rest, p)
			}
		}
		under = rest
	}
}

// Cases 9 and 13, as far as it is measured. The wall clocks of two nodes are compared through
// their monotonic ones, however far those are apart, and however unlike the noise of the two
// ways is.
func TestWallOffset(t *testing.T) {
	const hour = 3600_000 * ms
	for _, clock := range []int64{0, 5e15} {
		for _, walls := range [][2]int64{{0, 0}, {5 * hour, 0}, {-8 * hour, 11_000 * ms}, {1e18, 1e18 - 5000*ms}} {
			w, a, b := walled(t, clock, walls[0], walls[1])
			w.noisy(15_000*ms, 3*ms, map[*node]int64{a: 2 * ms, b: 60 * ms})
			ab, ba := a.Links(a.time())[0], b.Links(b.time())[0]
			want := walls[1] - walls[0]
			for _, got := range []struct {
				LinkStats
				want int64
			}{{ab, want}, {ba, -want}} {
				if off := got.Wall - got.want; !got.WallKnown || off > 5*ms || off < -5*ms {
					t.Errorf("clocks %d, walls %d: got %d (known: %v), off by %d µs", clock, walls, got.Wall, got.WallKnown, off/1000)
				}
			}
		}
	}
}

// Where all frames take the same time it is exact, and it follows a wall clock that is set
// within a keepalive.
func TestWallIsFollowed(t *testing.T) {
	w, a, b := walled(t, 777*ms, 0, 400*ms)
	w.pass(2000 * ms)
	for _, set := range []int64{400 * ms, -8 * 3600_000 * ms, 11_000 * ms} {
		b.wallAt(set)
		w.pass(1100 * ms)
		if got := a.Links(a.time())[0]; got.Wall != set || !got.WallKnown {
			t.Errorf("set to %d: got %d, %v", set, got.Wall, got.WallKnown)
		}
	}
}

// It is not known of a peer that does not say, to a node that has not said itself, nor of
// one that is not in session.
func TestWallUnknown(t *testing.T) {
	w, a, b := walled(t, 0, 0, 0)
	known := func(n *node) bool { return n.Links(n.time())[0].WallKnown }
	if known(a) {
		t.Error("known before anything was heard")
	}
	w.pass(1100 * ms)
	if !known(a) || !known(b) {
		t.Error("not known in session")
	}
	a.closed(b)
	if known(a) || !known(b) {
		t.Error("closed one way: want known to the other alone")
	}
	w, a, b = pair(t)
	b.SetWall(5)
	b.open(a)
	w.pass(2100 * ms)
	if known(a) || known(b) {
		t.Error("known, and one of them has not said")
	}
	a.SetWall(5)
	w.pass(2100 * ms)
	if !known(a) || !known(b) {
		t.Error("not known after both have said")
	}
}

// Each frame that says it is believed by itself; one that does not say changes nothing.
func TestWallInEachFrame(t *testing.T) {
	w, a, b := walled(t, 0, 0, 0)
	w.settle()
	check := func(kind string, want int64) {
		t.Helper()
		if got := a.Links(w.now)[0]; got.Wall != want || !got.WallKnown {
			t.Errorf("%s: got %d, %v; want %d", kind, got.Wall, got.WallKnown, want)
		}
	}
	check("opening", 0)
	b.wallAt(1)
	w.skip(1000 * ms)
	b.tick()
	w.handAll(w.take(kind(b, kindPing)))
	check("PING", 1)
	w.settle()
	b.wallAt(2)
	a.spend(1)
	w.settle()
	check("ACK", 2)
	b.wallAt(3)
	b.closed(a)
	b.open(a)
	w.settle()
	check("HELLO", 3)
	b.wallAt(4)
	a.closed(b)
	a.open(b)
	w.handAll(w.take(kind(a, kindHello)))
	b.wall = wall{}
	w.settle()
	check("WELCOME", 4)
}

// Wall clocks that no honest peer has do not overflow.
func TestWallSaturates(t *testing.T) {
	for _, raw := range []int64{math.MinInt64, math.MaxInt64} {
		w, a, b := walled(t, 0, 0, 0)
		b.SetWall(raw)
		w.pass(1100 * ms)
		if got := a.Links(a.time())[0]; !got.WallKnown || (got.Wall > 0) != (raw > 0) || got.Wall > -1<<62 && got.Wall < 1<<62 {
			t.Errorf("told %d: got %d", raw, got.Wall)
		}
	}
}

package gossip

import "testing"

// Rule 6. At most Window frames are in flight on a link; what is spent meanwhile coalesces.
func TestWindow(t *testing.T) {
	w, a, b := pair(t, func(c *Config) { c.Window = 3 })
	sent := 0
	for range 20 {
		w.skip(5 * ms)
		a.spend(1)
		a.tick()
		sent += len(w.take(kind(a, kindBatch)))
	}
	if entries, _ := a.Size(); sent != 3 || entries != 4 || a.Links(w.now)[0].InFlight != 3 {
		t.Errorf("got %d batches sent and %d entries in the log, want 3 and 4", sent, entries)
	}
	w.pass(400 * ms)
	if len(b.charges) != 4 || !a.Quiet() {
		t.Errorf("got %d charges, want 4", len(b.charges))
	}
}

// To a peer far away a batch may leave every gap without waiting for acknowledgements,
// up to a bound.
func TestWindowGrowsWithTheRoundTrip(t *testing.T) {
	for _, test := range []struct{ trip, want int64 }{{0, 16}, {10, 16}, {100, 52}, {200, 102}, {2000, 256}} {
		w := newWorld(t)
		a, b := w.born("a"), w.born("b")
		a.up(b)
		b.up(a)
		a.open(b)
		for _, wait := range []int64{test.trip, 0} { // HELLO and WELCOME, START and ACK
			hither := w.takeAll()
			w.skip(wait * ms)
			w.handAll(hither)
			w.handAll(w.takeAll())
			a.link(b.id).roundTrip = leastOf{}
			a.link(b.id).roundTrip.see(w.now, test.trip*ms)
		}
		if !a.Quiet() {
			t.Fatal("the link is not open")
		}
		sent := 0
		for range 300 {
			w.skip(2 * ms)
			a.spend(1)
			a.tick()
			sent += len(w.take(kind(a, kindBatch)))
			a.link(b.id).movedAt = w.now // nothing is sent again
		}
		if int64(sent) != test.want {
			t.Errorf("round trip %d ms: got %d batches in flight, want %d", test.trip, sent, test.want)
		}
	}
}

// A large frame counts as several: what is in flight has a bound in bytes, too.
func TestLargeFramesCountAsSeveral(t *testing.T) {
	for _, test := range []struct{ entries, want int }{{1000, 4}, {20_000, 2}, {40_000, 1}} {
		w, a, _ := pair(t, func(c *Config) { c.Window, c.MaxFrame = 4, 2<<20 })
		for range 6 {
			w.skip(10 * ms)
			a.append(typical(test.entries, w.now))
			a.tick()
		}
		if got := len(w.take(kind(a, kindBatch))); got != test.want {
			t.Errorf("%d entries each: got %d batches in flight, want %d", test.entries, got, test.want)
		}
		w.skip(a.cfg.Resend)
		w.settle()
		if !a.Quiet() {
			t.Errorf("%d entries each: not quiet", test.entries)
		}
	}
}

// At most one batch a gap leaves on a link, and Tick asks to be called when the gap is over.
func TestGapBetweenBatches(t *testing.T) {
	w, a, _ := pair(t)
	w.skip(10 * ms)
	sent := 0
	for range 100 { // 10 ms
		a.spend(1)
		a.tick()
		sent += len(w.take(kind(a, kindBatch)))
		if due := a.links[0].batchAt + 2*ms; a.links[0].sent < a.Head() && a.next > due {
			t.Fatalf("Tick asks for %d, and a batch is due at %d", a.next, due)
		}
		w.skip(ms / 10)
	}
	if sent != 5 {
		t.Errorf("got %d batches in 10 ms, want one every 2 ms: 5", sent)
	}
	for range 9 {
		a.up(w.born("x"))
	}
	if got := a.Gap(); got != 11*ms/2 {
		t.Errorf("got a gap of %d ns among 11 nodes, want 0.5 ms a node", got)
	}
}

// The gap counts from when the news was drained: a batch that left late does not delay
// the next.
func TestGapCountsFromTheDrain(t *testing.T) {
	w, a, _ := pair(t)
	w.skip(10 * ms)
	for _, busy := range []int64{0, 15, 0, 5, 19, 0} { // tenths of a ms for which the node is elsewhere
		a.spend(1)
		w.skip(busy * ms / 10)
		a.tick()
		if got := len(w.take(kind(a, kindBatch))); got != 1 {
			t.Errorf("busy for %d00 µs: got %d batches, want the drain's", busy, got)
		}
		w.skip((20 - busy) * ms / 10)
	}
}

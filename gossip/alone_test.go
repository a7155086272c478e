package gossip

import "testing"

// A node that was ready by itself, and has applied nothing, has applied nothing when it
// has turned newcomer and nobody gave it anything, either. When it said that it had no
// number instead, who had told it something began past that: it was lost, and not counted.
func TestTurnedNewcomerHasStillNothing(t *testing.T) {
	w := newWorld(t)
	soon := func(first bool) func(*Config) {
		return func(c *Config) { joins(first)(c); c.JoinTimeout = 100 * ms }
	}
	a, b := w.born("a", soon(true)), w.born("b", soon(false))
	a.up(b)
	b.up(a)
	b.open(a) // and a has no stream to b: b finds no donor
	b.spend(5)
	for range 300 {
		a.tick()
		b.tick()
		w.handAll(w.take(func(p packet) bool { return !kind(b, kindBatch)(p) }))
		w.take(kind(b, kindBatch)) // lost
		w.now += ms
	}
	if n, ok := a.Number(b.id); n != 0 || !ok || b.Joining() {
		t.Fatalf("a is at %d of b, %v; b joins: %v", n, ok, b.Joining())
	}
	b.Closed(a.id)
	b.open(a)
	w.pass(1000 * ms)
	if got := a.count(); got != 5 || a.Lost() > 0 || a.Joining() {
		t.Errorf("got %d of 5, lost %d, joining %v", got, a.Lost(), a.Joining())
	}
}

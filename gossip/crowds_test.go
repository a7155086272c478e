package gossip

import "testing"

// Promise 10. Who has the key can say HELLO for as many nodes as he likes. They are heard up
// to a bound, which is said once, and others again when those are forgotten.
func TestOriginsAreBounded(t *testing.T) {
	w := newWorld(t)
	b := w.born("b")
	say := func(from uint64) {
		h := header{kindHello, from, b.id, 1, 0}
		if err := b.Receive(w.now, from, encodeFrame(h, &hello{Version, Oldest, 7, w.now, wall{}, false})); err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint64(maxSources + 1000) {
		say(1000 + i)
	}
	b.collect()
	if len(b.sources) != maxSources || len(b.notes) != 1 {
		t.Errorf("got %d origins and %d notes", len(b.sources), len(b.notes))
	}
	w.now += 3 * b.cfg.PartitionMemory
	b.Tick(w.now)
	if say(7); b.sources[7] == nil {
		t.Errorf("nobody new is heard, of %d that are known", len(b.sources))
	}
}

// What many origins have sent in part has a bound for all. Over it only one goes on, and
// when that is through, the next.
func TestPartsOfAllAreBounded(t *testing.T) {
	const most, size, parts, origins = 1 << 20, 50_000, 12, 8
	w := newWorld(t)
	b := w.born("b", func(c *Config) { c.MaxGathered = most })
	var from []*node
	for range origins {
		a := w.born("a")
		a.up(b)
		b.up(a)
		a.open(b)
		w.settle()
		from = append(from, a)
	}
	held := func() (n int) {
		for _, s := range b.sources {
			n += s.parts.bytes
		}
		return n
	}
	for part := range parts - 1 {
		for _, a := range from {
			h := header{kindBatch, a.id, b.id, a.link(b.id).session, a.link(b.id).nonce}
			m := batch{From: 0, To: 1, Part: part, Parts: parts, Sent: w.now}
			if err := b.Receive(w.now, a.id, encodeBatch(h, &m, make([]byte, size))); err != nil {
				t.Fatal(err)
			}
			b.Output()
			if n := held(); n > most+parts*(size+200) {
				t.Fatalf("part %d: %d bytes are held", part, n)
			}
		}
	}
	whole := 0
	for _, a := range from {
		if len(b.sources[a.id].parts.bodies) == parts-1 {
			whole++
		}
	}
	if whole == 0 || whole == origins {
		t.Errorf("%d of %d origins went on", whole, origins)
	}
}

package gossip

import "testing"

// laden is a node with so many bans, and a peer that has yet to hear of them.
func laden(t *testing.T, n int, change ...func(*Config)) (w *world, a, b *node) {
	w = newWorld(t)
	a, b = w.born("a", change...), w.born("b", change...)
	for i := range n {
		a.put(a.ban(uint64(i), true, 3600_000*ms))
	}
	a.up(b)
	b.up(a)
	a.open(b)
	return w, a, b
}

// A START of any size passes through a queue that is bounded, also where frames get lost:
// the peer says how many parts it has, and more follow. Nobody dials again meanwhile.
func TestStartLargerThanTheLinksQueue(t *testing.T) {
	const queue = 5
	for loss, records := range map[int]int{0: 2000, 10: 100} {
		w, a, b := laden(t, records, small, func(c *Config) { c.Window = 4 })
		for range 20_000 {
			a.tick()
			sent := w.take(func(p packet) bool { return p.from == a })
			w.now += ms
			for _, p := range sent[:min(len(sent), queue)] {
				if w.rand.IntN(100) >= loss {
					w.hand(p)
				}
			}
			w.handAll(w.take(func(p packet) bool { return p.from == b }))
			if a.Quiet() {
				break
			}
		}
		if len(b.news) != records || !a.Quiet() || len(a.redials) > 0 {
			t.Errorf("loss of %d %%: got %d of %d records after %d ms, %d redials", loss, len(b.news), records, w.now/ms-1000, len(a.redials))
		}
	}
}

// The parts of a session's START stay what they are while records come and go: else what
// moves from one part to another would be missed.
func TestStartStaysAsItIs(t *testing.T) {
	w, a, b := laden(t, 200, small, func(c *Config) { c.Window = 1 })
	w.handAll(w.take(kind(a, kindHello)))
	w.handAll(w.take(kind(b, kindWelcome)))
	for i := range 50 {
		w.handAll(w.take(kind(a, kindStart)))
		a.learn(w.now, 77, &Record{Kind: RecordBan, Hash: uint64(i), Version: 1, Until: w.now + 1e12}) // sorts before all
		a.Output()
		if i%2 == 0 {
			w.handAll(w.take(kind(b, kindHeld))) // else it is lost
		} else {
			w.takeAll()
			w.skip(a.cfg.Resend)
			a.tick()
		}
	}
	w.pass(30_000 * ms)
	missing := 0
	for i := range uint64(200) {
		if _, ok := b.Record(RecordKey{Kind: RecordBan, Limit: 1, Hash: i}); !ok {
			missing++
		}
	}
	if missing > 0 || !a.Quiet() {
		t.Errorf("got %d records missing, quiet %v, held %d of 200, redials %v, at %d", missing, a.Quiet(), a.link(b.id).held, a.redials, w.now/ms)
	}
}

// What a START brings is put together once for all that open at the same time, is not held
// longer than they need it, and leaves out what no peer would take in.
func TestOpeningIsShared(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.born("a"), w.born("b"), w.born("c")
	a.put(a.ban(1, true, 1000*ms))
	a.put(a.ban(2, true, 3600_000*ms))
	w.skip(1001*ms + a.cfg.PartitionMemory)
	w.meet()
	w.handAll(w.take(func(p packet) bool { return p.to == a || p.from == a && p.frame().hello != nil }))
	w.handAll(w.take(func(p packet) bool { return p.frame().welcome != nil }))
	lb, lc := a.link(b.id), a.link(c.id)
	if lb.opening == nil || lb.opening != lc.opening || len(lb.opening.pieces[0].records) != 1 {
		t.Fatalf("got %+v and %+v, want one with one record", lb.opening, lc.opening)
	}
	w.settle()
	if lb.opening != nil || lc.opening != nil || len(b.news) != 1 || !a.Quiet() {
		t.Errorf("got %+v after it was acknowledged, %d news", lb.opening, len(b.news))
	}
}

// Word of the parts of another session, or of more than there are, is not believed.
func TestHeldOfOthers(t *testing.T) {
	w, a, b := laden(t, 200, small, func(c *Config) { c.Window = 1 })
	w.handAll(w.take(kind(a, kindHello)))
	w.handAll(w.take(kind(b, kindWelcome)))
	w.takeAll()
	l := a.link(b.id)
	parts := len(l.opening.pieces)
	for _, m := range []struct {
		session, nonce uint64
		parts          int
	}{{l.session + 1, l.nonce, 1}, {l.session, l.nonce + 1, 1}, {l.session, l.nonce, 0}, {l.session, l.nonce, parts}, {l.session, l.nonce, 1 << 20}} {
		w.hand(packet{b, a, encodeFrame(header{kindHeld, a.id, b.id, m.session, m.nonce}, &held{Parts: m.parts, Echo: w.now})})
		if l.held != 0 || len(w.wire) > 0 || l.state != starting {
			t.Fatalf("%+v was believed", m)
		}
	}
	w.hand(packet{b, a, encodeFrame(header{kindHeld, a.id, b.id, l.session, l.nonce}, &held{Parts: parts - 1, Echo: w.now})})
	if l.held != parts-1 || len(w.take(kind(a, kindStart))) != 1 {
		t.Error("true word was not believed")
	}
	w.hand(packet{b, a, encodeFrame(header{kindHeld, a.id, b.id, l.session, l.nonce}, &held{Parts: 1, Echo: w.now})})
	if l.held != parts-1 || len(w.wire) > 0 {
		t.Error("an older word came late and was believed")
	}
}

package gossip

import (
	"slices"
	"testing"
)

// Rule 1. B tells A (0, 1], A applies it and later forgets B; then B's old frames
// arrive once more, all of them.
func TestLateFramesOfADeadSession(t *testing.T) {
	w, b, a := pair(t)
	w.take(kind(b, kindHello))
	b.open(a)
	b.spend(5)
	var old []packet
	for range 5 { // record the whole session while it works
		b.tick()
		now := w.takeAll()
		for _, p := range now {
			if p.to == a {
				old = append(old, p)
			}
		}
		w.handAll(now)
	}
	if n, _ := a.Number(b.id); n != 1 {
		t.Fatalf("got number %d, want 1", n)
	}
	for _, forgotten := range []bool{false, true} {
		if forgotten {
			w.skip(a.memory() + 1)
			a.tick()
			if _, known := a.Number(b.id); known {
				t.Fatal("the number of a silent origin is kept for ever")
			}
		}
		charges := len(a.charges)
		w.handAll(old)
		w.handAll(old)
		if got := len(a.charges) - charges; got != 0 {
			t.Errorf("forgotten %v: old frames were applied again: %d charges", forgotten, got)
		}
		w.takeAll()
	}
}

// Rule 1. A HELLO of an earlier session, or one more of a session that is open, is not
// answered and changes nothing.
func TestLateHelloIsNotAnswered(t *testing.T) {
	w, b, a := pair(t)
	b.closed(a)
	b.open(a)
	first := w.take(kind(b, kindHello))
	b.closed(a)
	b.open(a)
	second := w.take(kind(b, kindHello))
	w.handAll(second)
	w.handAll(first)
	w.settle()
	w.skip(5 * ms)
	w.handAll(first)
	w.handAll(second)
	if len(w.wire) > 0 || a.sources[b.id].heardAt == w.now || !b.Quiet() {
		t.Errorf("got answers %v, quiet %v", w.wire, b.Quiet())
	}
}

// Rule 1. Each frame after the HELLO needs both incarnations, the session and the nonce.
func TestForeignFramesChangeNothing(t *testing.T) {
	w, b, a := pair(t)
	b.spend(5)
	b.tick()
	batch := w.take(kind(b, kindBatch))[0].frame()
	h := batch.header
	others := map[string]header{
		"origin":  {kindBatch, h.origin + 5, h.peer, h.session, h.nonce},
		"peer":    {kindBatch, h.origin, h.peer + 5, h.session, h.nonce},
		"session": {kindBatch, h.origin, h.peer, h.session + 1, h.nonce},
		"older":   {kindBatch, h.origin, h.peer, h.session - 1, h.nonce},
		"nonce":   {kindBatch, h.origin, h.peer, h.session, h.nonce + 1},
	}
	for name, h := range others {
		w.hand(packet{b, a, encodeBatch(h, batch.batch, batch.body)})
		if n, _ := a.Number(b.id); n != 0 || len(a.charges) > 0 || len(w.wire) > 0 {
			t.Errorf("a batch with another %s: got number %d, %d charges, %d answers", name, n, len(a.charges), len(w.wire))
		}
	}
	w.hand(packet{b, a, encodeBatch(h, batch.batch, batch.body)})
	answer := w.take(kind(a, kindAck))[0]
	good := answer.frame()
	for name, h := range others {
		h.kind = kindAck
		w.hand(packet{a, b, encodeFrame(h, good.ack)})
		if b.links[0].cursor != 0 {
			t.Fatalf("an acknowledgement with another %s was believed", name)
		}
	}
	w.hand(answer)
	if !b.Quiet() {
		t.Error("the true acknowledgement was not believed")
	}
}

// Rule 1. The START is repeated until it is acknowledged, then the link redials, though
// there is nothing to send; until then the origin is not quiet.
func TestStartIsRepeatedUntilAcknowledged(t *testing.T) {
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	a.up(b)
	b.up(a)
	a.open(b)
	w.handAll(w.take(kind(a, kindHello)))
	w.handAll(w.take(kind(b, kindWelcome)))
	starts := len(w.take(kind(a, kindStart)))
	for range 20 {
		w.skip(100 * ms)
		a.tick()
		starts += len(w.take(kind(a, kindStart)))
		if a.Quiet() {
			t.Fatal("quiet without an acknowledged START")
		}
	}
	if starts != 5 { // at 0, 300, 600, 900 and 1200 ms
		t.Errorf("got %d STARTs in 1.5 s, want 5", starts)
	}
	if !slices.Equal(a.redials, []uint64{b.id}) {
		t.Errorf("got redials %v, want one", a.redials)
	}
	a.closed(b)
	a.open(b)
	w.settle()
	if !a.Quiet() {
		t.Error("not quiet after a whole opening")
	}
}

// A HELLO is repeated, too: the peer answers only once its own stream is there.
func TestHelloIsRepeatedUntilWelcomed(t *testing.T) {
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	a.up(b)
	b.up(a)
	a.open(b)
	w.takeAll()
	w.pass(400 * ms)
	if !a.Quiet() || len(a.redials) > 0 {
		t.Errorf("a lost HELLO: quiet %v, redials %v", a.Quiet(), a.redials)
	}
}

// Rule 1. A START above the receiver's number is loss, and counted.
func TestStartAboveTheNumberIsCounted(t *testing.T) {
	w, a, b := pair(t)
	a.spend(1)
	w.settle()
	a.closed(b)
	a.down(b)
	a.spend(2)
	a.spend(3)
	w.skip(a.cfg.PartitionMemory + 1)
	a.tick() // b's cursor is forgotten, and with it drains 2 and 3
	if entries, _ := a.Size(); entries != 0 {
		t.Fatalf("got %d entries in the log, want 0", entries)
	}
	a.up(b)
	a.open(b)
	w.settle()
	if n, _ := b.Number(a.id); n != 3 || b.Lost() != 2 {
		t.Errorf("got number %d, lost %d; want 3, 2", n, b.Lost())
	}
	if len(b.notes) != 1 {
		t.Errorf("got notes %v, want one", b.notes)
	}
}

// A START below the receiver's number would have it hear twice what it has: it is not
// taken, whoever sends it.
func TestStartBelowTheNumberIsRefused(t *testing.T) {
	w, a, b := pair(t)
	a.spend(1)
	w.settle()
	a.closed(b)
	a.open(b)
	w.handAll(w.take(kind(a, kindHello)))
	nonce := w.take(kind(b, kindWelcome))[0].frame().header.nonce
	h := header{kindStart, a.id, b.id, a.link(b.id).session, nonce}
	w.hand(packet{a, b, encodeFrame(h, &start{Numbers: []uint64{0}, Parts: 1, Sent: w.now})})
	if n, _ := b.Number(a.id); n != 1 || b.Heard() || len(w.wire) > 0 {
		t.Errorf("got number %d, heard %v, answers %v; want 1, false, none", n, b.Heard(), w.wire)
	}
}

// A peer comes back after its cursor was given up, and before it has forgotten our
// number: the new session must be newer to it than the ones it knows.
func TestSessionsGoOnAfterACursorIsFreed(t *testing.T) {
	w, a, b := pair(t)
	for range 3 {
		a.closed(b)
		a.open(b)
		w.settle()
	}
	a.down(b)
	w.skip(a.cfg.PartitionMemory + 1)
	a.tick()
	a.up(b)
	a.open(b)
	w.settle()
	a.spend(4)
	w.settle()
	if n, _ := b.Number(a.id); n != 1 || !a.Quiet() {
		t.Errorf("got number %d, quiet %v: the link is dead", n, a.Quiet())
	}
}

package gossip

import (
	"slices"
	"testing"
)

// A batch that does not continue what was applied is asked for again, from where the gap
// begins.
func TestGapAsksAgain(t *testing.T) {
	w, a, b := pair(t)
	for i := range 3 {
		w.skip(10 * ms)
		a.spend(int64(i) + 1)
		a.tick()
	}
	batches := w.take(kind(a, kindBatch))
	w.hand(batches[2])
	acks := w.take(kind(b, kindAck))
	if len(acks) != 1 || !acks[0].frame().ack.Gap || acks[0].frame().ack.Number != 0 || len(b.charges) != 0 {
		t.Fatalf("got answers %v and %d charges, want one gap at 0", acks, len(b.charges))
	}
	w.handAll(acks)
	again := w.take(kind(a, kindBatch))
	if len(again) != 3 {
		t.Fatalf("got %v again, want three batches", again)
	}
	w.handAll(again)
	if n, _ := b.Number(a.id); n != 3 {
		t.Errorf("got number %d, want 3", n)
	}
}

// One lost frame with a window full behind it is one gap: not every frame after it has
// all of them sent again.
func TestOneGapIsOneResend(t *testing.T) {
	w, a, b := pair(t)
	w.pass(10 * ms)
	var batches []packet
	for range 16 {
		a.spend(1)
		w.skip(2 * ms)
		a.tick()
		batches = append(batches, w.take(kind(a, kindBatch))...)
	}
	if len(batches) != 16 {
		t.Fatalf("got %d batches in flight, want 16", len(batches))
	}
	w.skip(ms)
	w.handAll(batches[1:])
	w.skip(ms)
	w.handAll(w.take(kind(b, kindAck)))
	again := w.take(kind(a, kindBatch))
	if len(again) != 16 {
		t.Errorf("got %d batches again, want 16", len(again))
	}
	w.skip(ms)
	w.handAll(again[1:]) // and the first is lost once more
	w.skip(ms)
	w.handAll(w.take(kind(b, kindAck)))
	if again = w.take(kind(a, kindBatch)); len(again) != 16 {
		t.Errorf("the second time got %d batches again, want 16", len(again))
	}
	w.handAll(again)
	w.settle()
	if len(b.charges) != 16 || !a.Quiet() {
		t.Errorf("got %d charges, quiet %v; want 16, true", len(b.charges), a.Quiet())
	}
}

// What a peer has applied it drops, and acknowledges again.
func TestDuplicateIsDropped(t *testing.T) {
	w, a, b := pair(t)
	a.spend(1)
	a.tick()
	batch := w.take(kind(a, kindBatch))
	for range 3 {
		w.handAll(batch)
		acks := w.take(kind(b, kindAck))
		if len(acks) != 1 || acks[0].frame().ack.Number != 1 || acks[0].frame().ack.Gap {
			t.Fatalf("got %v, want one acknowledgement of 1", acks)
		}
	}
	if len(b.charges) != 1 {
		t.Errorf("got %d charges, want 1", len(b.charges))
	}
}

// Acknowledgements may overtake each other and repeat: a cursor never goes back.
func TestAcknowledgementsOutOfOrder(t *testing.T) {
	w, a, b := pair(t)
	for range 3 {
		w.skip(10 * ms)
		a.spend(1)
		a.tick()
	}
	w.handAll(w.take(kind(a, kindBatch)))
	acks := w.take(kind(b, kindAck))
	if len(acks) != 3 {
		t.Fatalf("got %d acknowledgements, want 3", len(acks))
	}
	for _, step := range []struct {
		ack  int
		want uint64
	}{{1, 2}, {0, 2}, {1, 2}, {2, 3}, {0, 3}, {2, 3}} {
		w.hand(acks[step.ack])
		if got := a.links[0].cursor; got != step.want {
			t.Fatalf("acknowledgement %d: got cursor %d, want %d", step.ack+1, got, step.want)
		}
	}
	if !a.Quiet() {
		t.Error("not quiet")
	}
}

// An acknowledgement of what was never sent is not believed.
func TestAcknowledgementOfNothingSent(t *testing.T) {
	w, a, b := pair(t)
	a.spend(1)
	a.tick()
	a.spend(2)
	l := a.links[0]
	h := header{kindAck, a.id, b.id, l.session, l.nonce}
	for _, n := range []uint64{2, 3, 1 << 63} {
		w.hand(packet{b, a, encodeFrame(h, &ack{Number: n, Echo: w.now})})
		if l.cursor != 0 {
			t.Fatalf("number %d was believed: cursor %d", n, l.cursor)
		}
	}
}

// An idle link is pinged, and dialled again when no answer comes.
func TestKeepaliveAndRedial(t *testing.T) {
	w, a, b := pair(t)
	w.pass(10_000 * ms)
	if len(a.redials) > 0 || a.Links(w.now)[0].SilentFor != 0 || w.now-a.link(b.id).sentAt > 1000*ms {
		t.Errorf("idle: got redials %v", a.redials)
	}
	silent := w.now
	for len(a.redials) == 0 && w.now < silent+5000*ms {
		w.skip(50 * ms)
		a.tick()
		w.takeAll()
	}
	if took := w.now - silent; took < 1500*ms || took > 2600*ms {
		t.Errorf("got a redial after %d ms of silence, want 1.5 s after the next ping", took/ms)
	}
	if !slices.Equal(a.redials, []uint64{b.id}) || a.Links(w.now)[0].InStep || a.Links(w.now)[0].Redials != 1 {
		t.Errorf("got redials %v, links %+v", a.redials, a.Links(w.now))
	}
	w.pass(5000 * ms)
	if len(w.wire) > 0 || len(a.redials) != 1 {
		t.Error("a closed link sends or redials")
	}
	a.open(b)
	w.settle()
	if !a.Quiet() {
		t.Error("not quiet after the redial")
	}
}

// One lost ping is no reason to dial again.
func TestOneLostPing(t *testing.T) {
	w, a, _ := pair(t)
	for range 20 {
		w.pass(1500 * ms)
		w.skip(1000 * ms)
		a.tick()
		w.take(kind(a, kindPing))
	}
	if len(a.redials) > 0 {
		t.Errorf("got %d redials", len(a.redials))
	}
}

// A slow peer that steadily takes what it is sent is neither dialled again nor sent
// everything twice.
func TestSlowPeerIsLeftInPeace(t *testing.T) {
	w, a, b := pair(t)
	w.pass(10 * ms)
	var queue []packet
	sent, took := 0, 0
	for i := range 100 { // ten drains a second, and five batches a second are taken
		a.spend(1)
		a.tick()
		batches := w.take(kind(a, kindBatch))
		sent += len(batches)
		queue = append(queue, batches...)
		if i%2 == 1 && len(queue) > 0 {
			w.hand(queue[0])
			queue, took = queue[1:], took+1
		}
		w.handAll(w.take(kind(b, kindAck)))
		w.skip(100 * ms)
	}
	if len(a.redials) > 0 {
		t.Errorf("got %d redials", len(a.redials))
	}
	if sent > took+16 {
		t.Errorf("got %d batches sent for %d taken", sent, took)
	}
}

// But one that answers pings and takes nothing is dialled again.
func TestStuckPeerIsRedialled(t *testing.T) {
	w, a, b := pair(t)
	a.spend(1)
	for range 40 {
		a.tick()
		w.take(kind(a, kindBatch))
		if l := a.links[0]; l.state == live {
			a.ping(w.now, l)
			a.collect()
		}
		w.settleOnly(b)
		w.skip(50 * ms)
	}
	if len(a.redials) != 1 {
		t.Errorf("got %d redials in 2 s, want 1", len(a.redials))
	}
}

// settleOnly delivers what is on the wire and the answers of one node.
func (w *world) settleOnly(n *node) {
	w.handAll(w.takeAll())
	w.handAll(w.take(func(p packet) bool { return p.from == n }))
}

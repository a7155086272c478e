package gossip

import (
	"math"
	"testing"
)

// trip carries one drain from a to b, out and back taking so long.
func trip(w *world, a, b *node, out, back int64) {
	w.t.Helper()
	a.spend(1)
	a.tick()
	batch := w.take(kind(a, kindBatch))
	w.skip(out)
	w.handAll(batch)
	acks := w.take(kind(b, kindAck))
	w.skip(back)
	w.handAll(acks)
	w.skip(10 * ms)
}

// The round trip is the least of the last half to whole minute, however long answers
// took otherwise.
func TestRoundTrip(t *testing.T) {
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	a.up(b)
	b.up(a)
	if got := a.Links(w.now)[0].RoundTrip; got != 0 {
		t.Errorf("before any: got %d", got)
	}
	a.open(b)
	for _, k := range []struct {
		from *node
		kind uint8
	}{{a, kindHello}, {b, kindWelcome}, {a, kindStart}, {b, kindAck}} {
		w.skip(20 * ms)
		w.handAll(w.take(kind(k.from, k.kind)))
	}
	if got := a.Links(w.now)[0].RoundTrip; got != 40*ms {
		t.Errorf("after the opening: got %d ms, want 40", got/ms)
	}
	for _, step := range []struct{ out, back, want int64 }{{9, 3, 12}, {50, 50, 12}, {1, 1, 2}, {4, 4, 2}} {
		trip(w, a, b, step.out*ms, step.back*ms)
		if got := a.Links(w.now)[0].RoundTrip; got != step.want*ms {
			t.Errorf("after %d + %d ms: got %d ms, want %d", step.out, step.back, got/ms, step.want)
		}
	}
	for range 10 {
		w.skip(10_000 * ms)
		trip(w, a, b, 5*ms, 2*ms)
	}
	if got := a.Links(w.now)[0].RoundTrip; got != 7*ms {
		t.Errorf("after 100 s of 7 ms: got %d ms", got/ms)
	}
}

// A resent frame has a time of its own, so that an answer to it is not taken for a slow
// answer to the first, nor the other way round.
func TestRoundTripOfAResentFrame(t *testing.T) {
	w, a, b := pair(t)
	w.skip(100_000 * ms)
	a.link(b.id).roundTrip = leastOf{}
	a.spend(1)
	a.tick()
	w.takeAll()
	w.skip(300 * ms)
	a.tick()
	w.handAll(w.take(kind(a, kindBatch)))
	w.skip(5 * ms)
	w.handAll(w.takeAll())
	if got := a.Links(w.now)[0].RoundTrip; got != 5*ms {
		t.Errorf("got %d ms, want 5", got/ms)
	}
}

// Clocks have nothing in common: a start is told in the origin's time and charged in the
// receiver's, late by the least delay on the link and never in its future. Time in
// queues counts as age.
func TestStartsInTheReceiversTime(t *testing.T) {
	for _, ahead := range []int64{0, 5e15, -5e15} {
		w := newWorld(t)
		a, b := w.born("a"), w.born("b")
		b.clock = ahead
		b.cfg.Born += ahead
		a.up(b)
		b.up(a)
		a.open(b)
		for len(w.wire) > 0 {
			w.skip(3 * ms)
			w.handAll(w.takeAll())
		}
		a.append([]Entry{{1, 1, 1, w.now, 0}, {1, 2, 1, w.now - 250*ms, 0}, {1, 3, 1, w.now + 99*ms, 0}})
		told := w.now
		w.skip(50 * ms) // in the log
		a.tick()
		batch := w.takeAll()
		w.skip(40 * ms) // in a queue
		w.handAll(batch)
		for i, want := range []int64{told + 3*ms, told - 247*ms, told + 102*ms} {
			if got := b.charges[i].Start - ahead; got != want {
				t.Errorf("clock ahead by %d: entry %d: got start %d ms after it was told, want %d", ahead, i, (got-told)/ms, (want-told)/ms)
			}
		}
		if s := b.Links(b.time())[0]; s.Lag != 87*ms || s.LagMax != 87*ms {
			t.Errorf("got lag %d, %d ms; want 87", s.Lag/ms, s.LagMax/ms)
		}
	}
}

// What a peer defined long before it could tell us says nothing about the age of its
// amounts. A node that met others a second after its start was taken for a second late, for
// 20 s, and so was the bound of all its limits.
func TestDefinitionsHaveNoAge(t *testing.T) {
	w, a, b := pair(t)
	a.closed(b)
	a.define(Definition{ID: 1, Name: "api", Text: "10/s"})
	w.skip(1000 * ms)
	a.append([]Entry{{1, 1, 1, w.now, 0}}) // coalesces with it
	w.skip(30 * ms)
	a.open(b)
	w.settle()
	if s := b.Links(w.now)[0]; len(b.defs) == 0 || len(b.charges) != 1 || s.Lag != 30*ms || s.LagMax != 30*ms {
		t.Errorf("got %d definitions, %d charges, lag %d, %d ms; want 30", len(b.defs), len(b.charges), s.Lag/ms, s.LagMax/ms)
	}
	a.closed(b)
	a.define(Definition{ID: 2, Name: "web", Text: "10/s"})
	w.skip(500 * ms)
	a.open(b)
	w.settle()
	if s := b.Links(w.now)[0]; s.Lag != 30*ms || s.LagMax != 30*ms {
		t.Errorf("after definitions only: got lag %d, %d ms; want 30 still", s.Lag/ms, s.LagMax/ms)
	}
}

// Lag is the age of the newest news when it was applied, LagMax the worst of the last 10
// to 20 s; both with the least round trip of the way back added, so that they are upper
// bounds whatever the two ways' shares are.
func TestLag(t *testing.T) {
	w, a, b := pair(t)
	b.open(a)
	w.settle()
	w.pass(70_000 * ms) // each way 1 ms
	for _, step := range []struct{ out, lag, worst int64 }{
		{30, 31, 31}, {5, 6, 31}, {70, 71, 71}, {1, 2, 71},
	} {
		trip(w, a, b, step.out*ms, 0)
		if s := b.Links(w.now)[0]; s.Lag != step.lag*ms || s.LagMax != step.worst*ms || !s.SourceSeen {
			t.Errorf("after %d ms: got %d, %d; want %d, %d", step.out, s.Lag/ms, s.LagMax/ms, step.lag, step.worst)
		}
	}
	w.pass(9_000 * ms)
	if got := b.Links(w.now)[0].LagMax; got != 71*ms {
		t.Errorf("after 9 s: got %d ms, want 71 still", got/ms)
	}
	w.pass(11_500 * ms)
	if got := b.Links(w.now)[0].LagMax; got > 4*ms {
		t.Errorf("after 20 s: got %d ms, want the round trip and the last news", got/ms)
	}
	w.skip(5_000 * ms) // a peer of which nothing is heard is as late as that
	if got := b.Links(w.now)[0].LagMax; got < 4_000*ms || got > 5_010*ms {
		t.Errorf("after 5 s of silence, one of them usual: got %d ms, want 4000 to 5000", got/ms)
	}
}

// What was urgent for a while before it was drained is that much older.
func TestLagCountsFromUrgency(t *testing.T) {
	w, a, b := pair(t)
	w.skip(10 * ms)
	a.Append(w.now, w.now-40*ms, []Entry{{1, 1, 1, w.now, 0}})
	a.record([]Entry{{1, 1, 1, w.now, 0}})
	a.tick()
	w.settle()
	if got := b.Links(w.now)[0].Lag; got != 40*ms {
		t.Errorf("got %d ms, want 40", got/ms)
	}
}

// Times that no honest origin tells do not overflow.
func TestTimesSaturate(t *testing.T) {
	for _, at := range []int64{math.MinInt64, -1 << 62, 0, 1 << 62, math.MaxInt64} {
		for _, sent := range []int64{math.MinInt64, 0, 1000 * ms, math.MaxInt64} {
			w, a, b := pair(t)
			l := a.link(b.id)
			s := &segment{first: at, last: at, entries: []Entry{{1, 1, 1, math.MinInt64, 0}, {1, 2, 1, at, 0}}}
			n, _ := b.Number(a.id)
			frame := encodeBatch(header{kindBatch, a.id, b.id, l.session, l.nonce},
				&batch{From: n, To: n + 1, Parts: 1, Sent: sent}, encodeBodies(s, nil, 1000)[0])
			if err := b.Receive(w.now, a.id, frame); err != nil {
				t.Error(err)
			}
			for _, c := range b.Output().Charges {
				if c.Start > w.now {
					t.Errorf("told %d, sent %d: got a start in the future: %d", at, sent, c.Start)
				}
			}
			if got := b.Links(w.now)[0]; got.Lag < 0 || got.LagMax < 0 {
				t.Errorf("told %d, sent %d: got lag %d, %d", at, sent, got.Lag, got.LagMax)
			}
		}
	}
}

func TestSaturation(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	for _, x := range []struct{ a, b, sum, difference int64 }{
		{0, 0, 0, 0}, {1, 2, 3, -1}, {-1, 0, -1, -1}, {most, 1, most, most - 1}, {least, -1, least, least + 1},
		{most, -1, most - 1, most}, {least, 1, least + 1, least}, {0, least, least, most}, {-1, least, least, most},
		{most, least, -1, most}, {least, most, -1, least}, {most, most, most, 0}, {least, least, least, 0},
	} {
		if got := addSat(x.a, x.b); got != x.sum {
			t.Errorf("%d + %d: got %d, want %d", x.a, x.b, got, x.sum)
		}
		if got := subSat(x.a, x.b); got != x.difference {
			t.Errorf("%d − %d: got %d, want %d", x.a, x.b, got, x.difference)
		}
	}
}

func TestExtremes(t *testing.T) {
	const s = 1000 * ms
	var least leastOf
	for _, x := range []struct{ at, see, want int64 }{
		{0, 5, 5}, {1, 7, 5}, {29, 6, 5}, {31, 9, 5}, {59, 8, 5}, {61, 8, 8}, {62, 3, 3}, {91, 4, 3}, {121, 9, 4}, {400, 100, 100},
	} {
		if least.see(x.at*s, x.see); least.least(x.at*s) != x.want {
			t.Errorf("at %d s: got the least %d, want %d", x.at, least.least(x.at*s), x.want)
		}
	}
	var most mostOf
	for _, x := range []struct{ at, see, want int64 }{
		{0, 5, 5}, {1, 3, 5}, {9, 4, 5}, {11, 3, 5}, {19, 2, 5}, {21, 1, 3}, {31, 0, 1}, {500, 0, 0}, {501, 7, 7},
	} {
		if most.see(x.at*s, x.see); most.most(x.at*s) != x.want {
			t.Errorf("at %d s: got the most %d, want %d", x.at, most.most(x.at*s), x.want)
		}
	}
}

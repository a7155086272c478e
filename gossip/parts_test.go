package gossip

import (
	"bytes"
	"testing"
)

// small makes frames of four entries.
func small(c *Config) { c.MaxFrame = 150 }

// many is n amounts, all different.
func many(n int) []int64 {
	amounts := make([]int64, n)
	for i := range amounts {
		amounts[i] = int64(i) + 1
	}
	return amounts
}

// behind is a pair in which b has missed n entries of a, all in one segment.
func behind(t *testing.T, n int, change ...func(*Config)) (w *world, a, b *node) {
	w, a, b = pair(t, append([]func(*Config){small}, change...)...)
	a.closed(b)
	a.spend(many(n)...)
	if got := len(a.log.segments); got != 1 {
		t.Fatalf("got %d segments, want 1", got)
	}
	w.skip(10 * ms)
	a.open(b)
	w.handAll(w.take(kind(a, kindHello)))
	w.handAll(w.take(kind(b, kindWelcome)))
	w.handAll(w.take(kind(a, kindStart)))
	w.handAll(w.take(kind(b, kindAck)))
	return w, a, b
}

// A segment too large for one frame travels in parts, and is applied when it is whole.
func TestPartsAreAppliedAsOne(t *testing.T) {
	w, a, b := behind(t, 30)
	a.tick()
	parts := w.take(kind(a, kindBatch))
	if len(parts) < 4 {
		t.Fatalf("got %d frames, want several", len(parts))
	}
	for _, p := range parts {
		if len(p.data) > 150+100 {
			t.Errorf("got a frame of %d bytes, want about 150 at most", len(p.data))
		}
	}
	w.handAll(parts[:len(parts)-1])
	if len(b.charges) != 0 {
		t.Errorf("got %d charges of a part, want none", len(b.charges))
	}
	w.hand(parts[len(parts)-1])
	if len(b.charges) != 30 {
		t.Errorf("got %d charges, want 30", len(b.charges))
	}
}

// Parts come in any order, twice, or not at all: what is missing is asked for again, and
// all is applied once.
func TestPartsLostDoubledAndReordered(t *testing.T) {
	for _, order := range []string{"", "0", "1", "0123456789", "9876543210", "00112233", "02134", "55501234567"} {
		w, a, b := behind(t, 30)
		a.tick()
		parts := w.take(kind(a, kindBatch))
		for _, i := range order {
			if i := int(i - '0'); i < len(parts) {
				w.hand(parts[i])
			}
		}
		w.pass(400 * ms)
		if len(b.charges) != 30 || !a.Quiet() || b.Lost() != 0 {
			t.Errorf("order %q: got %d charges, quiet %v, lost %d; want 30, true, 0", order, len(b.charges), a.Quiet(), b.Lost())
		}
		if len(a.redials) > 0 {
			t.Errorf("order %q: redialled", order)
		}
	}
}

// A peer that was away has more to catch up on than its link's queue holds: it gets
// there all the same, a window at a time.
func TestBacklogLargerThanTheLinksQueue(t *testing.T) {
	const queue = 5
	w, a, b := behind(t, 300, func(c *Config) { c.Window = 4 })
	w.auto = true
	for range 2000 {
		a.tick()
		sent := w.take(kind(a, kindBatch))
		sent = append(sent, w.take(kind(a, kindPing))...)
		w.now += ms
		w.handAll(sent[:min(len(sent), queue)])
		w.handAll(w.takeAll())
	}
	if n, _ := b.Number(a.id); n != a.Head() || !a.Quiet() {
		t.Errorf("after 2 s got number %d of %d, %d redials", n, a.Head(), len(a.redials))
	}
}

// Parts left over from one session are not taken for parts of the next: definitions may
// have changed meanwhile, and the drain that said so be lost.
func TestPartsDoNotOutliveTheirSession(t *testing.T) {
	w := newWorld(t)
	a, b := w.born("a", small), w.born("b", small)
	for i := range 10 {
		a.define(Definition{ID: uint64(i), Name: "limit", Text: "10/s"})
	}
	a.up(b)
	b.up(a)
	a.open(b)
	w.handAll(w.take(kind(a, kindHello)))
	w.handAll(w.take(kind(b, kindWelcome)))
	w.handAll(w.take(kind(a, kindStart))[:1])
	a.closed(b)
	a.down(b)
	w.skip(a.cfg.PartitionMemory + 1)
	a.tick()
	a.define(Definition{ID: 0, Name: "limit", Text: "20/s"})
	a.up(b)
	a.open(b)
	w.settle()
	text := ""
	for _, d := range b.defs {
		if d.ID == 0 {
			text = d.Text
		}
	}
	if text != "20/s" || !a.Quiet() {
		t.Errorf("got %q, quiet %v; want the definition of the second session", text, a.Quiet())
	}
}

// Within a session what is sent again is the same to the byte, but for the time at
// which it was sent.
func TestResendIsIdentical(t *testing.T) {
	w, a, _ := behind(t, 10)
	a.tick()
	first := w.take(kind(a, kindBatch))
	for range 20 {
		a.spend(many(12)...) // would coalesce
	}
	w.skip(a.cfg.Resend)
	a.tick()
	again := w.take(func(p packet) bool { return kind(a, kindBatch)(p) && p.frame().batch.From == 0 })
	if len(first) == 0 || len(again) != len(first) {
		t.Fatalf("got %d frames, then %d", len(first), len(again))
	}
	for i := range first {
		f, g := first[i].frame(), again[i].frame()
		f.batch.Sent = g.batch.Sent
		if *f.batch != *g.batch || f.header != g.header || !bytes.Equal(f.body, g.body) {
			t.Errorf("frame %d: got %v, want %v", i, again[i], first[i])
		}
	}
}

// Many definitions at once need parts, too, with or without entries beside them.
func TestDefinitionsInParts(t *testing.T) {
	w, a, b := pair(t, small)
	a.closed(b)
	for i := range 40 {
		a.define(Definition{ID: uint64(i + 1), Name: "a limit of some name", Text: "100/min"})
	}
	a.spend(1, 2, 3)
	w.skip(10 * ms)
	b.defs = nil
	a.open(b)
	for len(w.wire) > 0 || !a.Quiet() {
		for _, p := range w.take(kind(a, kindBatch)) {
			if len(p.data) > 250 {
				t.Fatalf("got a frame of %d bytes, want 250 at most", len(p.data))
			}
			w.hand(p)
		}
		w.handAll(w.takeAll())
		a.tick()
		w.skip(ms)
	}
	if len(b.defs) < 80 || len(b.charges) != 3 {
		t.Errorf("got %d definitions and %d charges, want 40 of the START, 40 of the log, and 3", len(b.defs), len(b.charges))
	}
}

// Entries of many limits cost more than those of one: the frame's bound holds for them.
func TestFramesOfManyLimits(t *testing.T) {
	cfg := Config{MaxFrame: 4096}.withDefaults()
	var entries []Entry
	for i := range 1000 {
		entries = append(entries, Entry{uint64(i) << 48, uint64(i), -1 << 62, -1 << 62, 0})
	}
	s := &segment{from: 0, to: 1, last: 1 << 62, entries: entries}
	count := 0
	for i, body := range encodeBodies(s, nil, cfg.MaxFrame) {
		if len(body) > cfg.MaxFrame+64 {
			t.Errorf("body %d has %d bytes, want %d at most", i, len(body), cfg.MaxFrame)
		}
		if _, err := decodeBody(body, func(e Entry) { count++ }); err != nil {
			t.Error(err)
		}
	}
	if count != len(entries) {
		t.Errorf("got %d entries, want %d", count, len(entries))
	}
}

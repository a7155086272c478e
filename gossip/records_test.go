package gossip

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// ban is one of a key until so long after now, or the end of one.
func (n *node) ban(hash uint64, open bool, life int64) Record {
	return Record{Kind: RecordBan, Limit: 1, Hash: hash, Open: open, Until: n.time() + life, Label: "ann"}
}

// holding is an open hold of 100 events made by n.
func (n *node) holding(id uint64, life int64) Record {
	return Record{Kind: RecordHold, Limit: 1, Hash: 5, Maker: n.id, ID: id, Open: true, N: 100, Start: n.time(), Until: n.time() + life}
}

// Case 11, as far as it is told: a hold and its settling are heard once each, as what
// replaces what; a duplicate, or an older one that comes late, is no news.
func TestRecordsAreHeardOnce(t *testing.T) {
	w, a, b := pair(t)
	h := a.holding(1, 9000*ms)
	a.put(h)
	a.tick()
	first := w.take(kind(a, kindBatch))
	w.skip(10 * ms)
	h.Open, h.N = false, 37
	a.put(h)
	a.tick()
	second := w.take(kind(a, kindBatch))
	for range 2 {
		w.handAll(first)
	}
	for range 2 {
		w.handAll(second)
		w.handAll(first)
	}
	if len(b.news) != 2 || b.news[0].Known || b.news[0].New.N != 100 || !b.news[0].New.Open {
		t.Fatalf("got news %+v, want an open hold of 100 and what became of it", b.news)
	}
	if n := b.news[1]; !n.Known || n.Old != b.news[0].New || n.New.N != 37 || n.New.Open {
		t.Errorf("got %+v, want the settling of the first", n)
	}
	if got, ok := b.Record(h.Key()); !ok || got != b.news[1].New || len(b.Records(RecordHold)) != 1 || len(b.Records(RecordBan)) != 0 {
		t.Errorf("got %+v, %v", got, ok)
	}
}

// Clocks have nothing in common: Until and Start are told in the writer's time and kept in
// the receiver's, late by the least delay on the link, in batches and in a START. Where a
// hold lands in a window is told in cluster time.
func TestRecordsInTheReceiversTime(t *testing.T) {
	const ahead, delay = 5e15, 3 * ms
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	b.clock = ahead
	b.cfg.Born += ahead
	windowed := a.holding(1, 500*ms)
	windowed.Start, windowed.Per = 60_000*ms, 60_000*ms
	a.put(windowed)
	a.put(a.holding(2, -20*ms))
	a.up(b)
	b.up(a)
	a.open(b)
	for len(w.wire) > 0 {
		w.skip(delay)
		w.handAll(w.takeAll())
	}
	a.put(a.holding(3, 700*ms))
	a.put(a.holding(4, -300*ms))
	w.skip(50 * ms) // in the log
	a.tick()
	batch := w.takeAll()
	w.skip(40 * ms) // in a queue
	w.handAll(batch)
	if len(b.news) != 4 {
		t.Fatalf("got %d records, want 4", len(b.news))
	}
	for _, n := range b.news {
		want, _ := a.Record(n.New.Key())
		if want.Until += ahead + delay; want.Per == 0 {
			want.Start += ahead + delay
		}
		if want.life += ahead + delay; n.New != want {
			t.Errorf("got %+v, want %+v", n.New, want)
		}
	}
}

// An absent peer costs one mention of each record, whatever became of it meanwhile, and
// hears what it is then.
func TestRecordsCoalesce(t *testing.T) {
	w, a, b := pair(t)
	a.closed(b)
	for i := range 100 {
		a.put(a.ban(uint64(i%3), i%2 == 0, 9000*ms))
		a.put(a.holding(uint64(i), 9000*ms))
		h := a.holding(uint64(i), 9000*ms)
		h.Open, h.N = false, int64(i)
		a.put(h)
		a.spend(1)
	}
	if s := a.log.segments[0]; len(a.log.segments) != 1 || len(s.records) != 103 {
		t.Fatalf("got %d segments, %d mentions; want 1, 103", len(a.log.segments), len(s.records))
	}
	w.skip(10 * ms)
	a.open(b)
	w.take(kind(a, kindStart))
	w.handAll(w.takeAll())
	for _, p := range w.take(kind(a, kindStart)) { // without its records: they come in the log, too
		f := p.frame()
		f.start.Records = nil
		p.data = encodeFrame(f.header, f.start)
		w.hand(p)
	}
	w.settle()
	if len(b.news) != 103 {
		t.Fatalf("got %d news, want one of each record: 103", len(b.news))
	}
	for _, n := range b.news {
		if want, _ := a.Record(n.New.Key()); want.Version != n.New.Version || n.New.Kind == RecordHold && n.New.N != int64(n.New.ID) {
			t.Errorf("got %+v, want %+v", n.New, want)
		}
	}
}

// Rule 5. Each START is followed by all records, of all makers, those of nodes that are gone
// included: so none is lost while anyone knows it.
func TestRecordsFollowEachStart(t *testing.T) {
	w, a, b := pair(t)
	c := w.born("c")
	c.up(a)
	a.up(c)
	c.open(a)
	c.put(c.holding(1, 90_000*ms))
	c.put(c.ban(7, true, 90_000*ms))
	w.skip(10 * ms)
	w.settle()
	w.crash(c)
	a.put(a.ban(8, true, 90_000*ms))
	w.skip(10 * ms)
	w.settle()
	if len(a.news) != 2 || len(b.news) != 1 {
		t.Fatalf("before: got %d and %d news, want 2 and 1", len(a.news), len(b.news))
	}
	for range 2 {
		a.closed(b)
		a.open(b)
		w.skip(10 * ms)
		w.settle()
	}
	if len(b.news) != 3 || len(b.Records(RecordHold)) != 1 || len(b.Records(RecordBan)) != 2 {
		t.Errorf("got news %+v, want all three records once", b.news)
	}
}

// Of two words on one record the later stands everywhere, whoever says it; of two at once
// that of the greater incarnation.
func TestLastWriterWins(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.born("a"), w.born("b"), w.born("c")
	w.meet()
	w.settle()
	step := func() {
		w.skip(10 * ms)
		w.settle()
	}
	check := func(what string, writer uint64, open bool) {
		t.Helper()
		for _, n := range w.nodes() {
			r, _ := n.Record(RecordKey{Kind: RecordBan, Limit: 1, Hash: 1})
			if r.Writer != writer || r.Open != open {
				t.Errorf("%s: %s has %+v, want that of %d, open: %v", what, n.name, r, writer, open)
			}
		}
	}
	a.put(a.ban(1, true, 60_000*ms))
	c.put(c.ban(1, false, 60_000*ms))
	b.put(b.ban(1, true, 60_000*ms))
	step()
	check("at once", c.id, false)
	a.put(a.ban(1, true, 60_000*ms))
	step()
	check("later", a.id, true)
	b.put(b.ban(1, false, 60_000*ms))
	step()
	check("lifted", b.id, false)
}

// What is no record is not put, and of a peer it is passed over.
func TestUnsoundRecords(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"no kind":          func(r *Record) { r.Kind = 0 },
		"a kind to come":   func(r *Record) { r.Kind = 3 },
		"negative amount":  func(r *Record) { r.N = -1 },
		"negative period":  func(r *Record) { r.Per = math.MinInt64 },
		"ban with a maker": func(r *Record) { r.Kind = RecordBan },
	} {
		w, a, b := pair(t)
		r := a.holding(1, 1000*ms)
		r.Version = 5
		if change(&r); a.Put(w.now, r) || a.Head() != 0 || a.Restore(w.now, r) {
			t.Errorf("%s: accepted", name)
		}
		s := &segment{to: 1, last: w.now}
		l := a.link(b.id)
		frame := encodeBatch(header{kindBatch, a.id, b.id, l.session, l.nonce}, &batch{To: 1, Parts: 1, Sent: w.now}, encodeBodies(s, []*Record{&r}, 1000)[0])
		if err := b.Receive(w.now, a.id, frame); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n, _ := b.Number(a.id); n != 1 || len(b.Output().Records) > 0 {
			t.Errorf("%s: got number %d, or it was taken in", name, n)
		}
	}
}

// Labels that are too long are cut here, and not believed of a peer.
func TestLongLabels(t *testing.T) {
	w, a, b := pair(t)
	r := a.ban(1, true, 1000*ms)
	r.Label = strings.Repeat("x", MaxLabel+1)
	a.Put(w.now, r)
	a.tick()
	if got, _ := a.Record(r.Key()); len(got.Label) != MaxLabel {
		t.Errorf("got a label of %d bytes, want %d", len(got.Label), MaxLabel)
	}
	r.Version = 9
	data, err := decodeBody(encodeBodies(&segment{to: 1}, []*Record{&r}, 1000)[0], func(Entry) {})
	if err != nil || len(data.records) != 0 {
		t.Errorf("got %v, %v; want no record and no error", data.records, err)
	}
	if b.RecordsDropped() != 0 {
		t.Error("counted as dropped for want of room")
	}
}

// What was kept on disk is known again, and told to no open link; a newer one stands.
func TestRestore(t *testing.T) {
	w, a, b := pair(t)
	r := a.ban(1, true, 60_000*ms)
	r.Version, r.Writer, r.life = 3, 77, r.Until
	w.puts[versionOf(&r)] = r
	older := r
	older.Version = 2
	if !a.Restore(w.now, r) || a.Restore(w.now, r) || a.Restore(w.now, older) || a.Head() != 0 {
		t.Error("want the first taken in, and nothing else, and no drain")
	}
	a.collect()
	if len(a.news) != 0 {
		t.Errorf("got news %v of what this node restored itself", a.news)
	}
	a.closed(b)
	a.open(b)
	w.settle()
	if got, _ := b.Record(r.Key()); got != r {
		t.Errorf("got %+v, want %+v", got, r)
	}
	a.put(a.ban(1, false, 60_000*ms))
	if got, _ := a.Record(r.Key()); got.Version != 4 || got.Writer != a.id {
		t.Errorf("got %+v, want version 4 of this node", got)
	}
}

// A segment with many records travels in frames of the size asked for.
func TestRecordsFitFrames(t *testing.T) {
	_, a := alone(t)
	for i := range 200 {
		r := a.ban(uint64(i)<<40, true, math.MaxInt64/2)
		r.Label = strings.Repeat("x", i%MaxLabel)
		a.put(r)
	}
	told := a.named(a.log.segments[0])
	var heard []*Record
	for _, most := range []int{1, 300, 5000, 1 << 20} {
		heard = heard[:0]
		for _, body := range encodeBodies(a.log.segments[0], told, most) {
			if len(body) > max(most, maxRecordBytes+MaxLabel)+32 {
				t.Errorf("frames of %d: got a body of %d bytes", most, len(body))
			}
			b, err := decodeBody(body, func(Entry) {})
			if err != nil {
				t.Fatal(err)
			}
			heard = append(heard, b.records...)
		}
		if !slices.EqualFunc(heard, told, func(a, b *Record) bool { return *a == *b }) {
			t.Errorf("frames of %d: got %d records, want %d, the same", most, len(heard), len(told))
		}
	}
}

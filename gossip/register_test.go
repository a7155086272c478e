package gossip

import (
	"math"
	"slices"
	"testing"
)

// A record is remembered for 2·PartitionMemory after its life, to the nanosecond, and taken
// in from peers for PartitionMemory after it.
func TestRecordsAreForgotten(t *testing.T) {
	w := newWorld(t)
	a := w.born("a")
	r := a.ban(1, true, 5000*ms)
	a.put(r)
	w.skip(5000*ms + 2*a.cfg.PartitionMemory)
	if a.tick(); len(a.Records(RecordBan)) != 1 {
		t.Error("forgotten too early")
	}
	w.skip(1)
	if a.tick(); len(a.Records(RecordBan)) != 0 {
		t.Error("not forgotten")
	}
	for late, want := range map[int64]bool{0: true, 1: false} {
		b := w.born("b")
		b.learn(r.Until+b.cfg.PartitionMemory+late, 1, &Record{Kind: RecordBan, Version: 1, Until: r.Until})
		if got := len(b.Output().Records) == 1; got != want {
			t.Errorf("told %d ns later than PartitionMemory after its life: taken in: %v, want %v", late, got, want)
		}
	}
}

// What was forgotten does not come back from a peer that remembers it a little longer, nor
// is it applied twice.
func TestForgottenRecordsStayAway(t *testing.T) {
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	h := a.holding(1, 1000*ms)
	h.Open = false
	a.put(h)
	w.meet()
	for len(w.wire) > 0 {
		w.skip(10 * ms) // so b has it 10 ms longer
		w.handAll(w.takeAll())
	}
	w.now = 1000 * ms
	w.skip(1000*ms + 2*a.cfg.PartitionMemory + 5*ms)
	a.tick()
	b.tick()
	if len(a.Records(RecordHold)) != 0 || len(b.Records(RecordHold)) != 1 {
		t.Fatalf("got %d and %d records, want a to have forgotten", len(a.Records(RecordHold)), len(b.Records(RecordHold)))
	}
	b.link(a.id).state, b.opening = closed, cutOpening(nil, b.register.sorted(func(*Record) bool { return true }), 1000) // told all the same
	b.open(a)
	w.settle()
	if len(a.news) != 0 || !b.Quiet() {
		t.Errorf("got news %+v", a.news)
	}
}

// A ban made shorter, or lifted, is remembered for as long as the longer one would have
// lasted: whoever has only heard of that learns better, in time.
func TestShortenedBanIsRemembered(t *testing.T) {
	w, a, b := pair(t)
	hour := int64(3600_000 * ms)
	a.put(a.ban(1, true, hour))
	w.settle()
	a.closed(b)
	a.put(a.ban(1, true, 1*ms))
	w.skip(3 * a.cfg.PartitionMemory)
	a.tick()
	a.open(b)
	w.settle()
	got, ok := b.Record(RecordKey{Kind: RecordBan, Limit: 1, Hash: 1})
	if !ok || got.Version != 2 || got.Until > w.now {
		t.Errorf("got %+v, want the shorter ban", got)
	}
}

// The same, if who shortened it had never heard of the longer one: on hearing of it, a node
// whose own version is over for so long that no START brings it tells it once more.
func TestOlderVersionThatOutlives(t *testing.T) {
	w, a, b := pair(t)
	a.put(a.ban(2, true, 1)) // a counts two versions, b none
	a.put(a.ban(1, true, 1))
	a.closed(b)
	b.put(b.ban(1, true, 3600_000*ms))
	w.skip(a.cfg.PartitionMemory + 10*ms)
	a.open(b)
	b.open(a)
	w.settle()
	w.skip(10 * ms)
	w.settle()
	got, _ := b.Record(RecordKey{Kind: RecordBan, Limit: 1, Hash: 1})
	if got.Writer != a.id || !a.Quiet() {
		t.Errorf("got %+v, quiet %v; want a's version", got, a.Quiet())
	}
}

// A version that a START brings is not told in the log as well; and the same version, told
// back by a peer who had it later, does not live longer for that.
func TestVersionsOfALife(t *testing.T) {
	w, a, b := pair(t)
	a.put(a.ban(2, true, 1))
	a.put(a.ban(1, true, 1))
	a.closed(b)
	b.put(b.ban(1, true, 3600_000*ms))
	w.skip(10 * ms)
	head := a.Head()
	a.open(b)
	b.open(a)
	w.settle()
	known, _ := a.Record(RecordKey{Kind: RecordBan, Limit: 1, Hash: 1})
	if got, _ := b.Record(known.Key()); got.Writer != a.id || a.Head() != head || known.life < w.now+3000_000*ms {
		t.Errorf("got %+v, %d drains more; want a's version, as long as b's, and none", got, a.Head()-head)
	}
	same := known
	same.life += 1000 * ms
	a.learn(w.now, b.id, &same)
	if got, _ := a.Record(known.Key()); got != known {
		t.Errorf("got %+v, want %+v", got, known)
	}
}

// A hold settled long after it had expired is news to all: a word is never too old when it
// is said.
func TestLateWord(t *testing.T) {
	w, a, b := pair(t)
	h := a.holding(1, 1000*ms)
	a.put(h)
	w.settle()
	w.skip(1000*ms + 3*a.cfg.PartitionMemory/2)
	h.Open, h.N = false, 37
	a.put(h)
	w.settle()
	if got, _ := b.Record(h.Key()); got.N != 37 {
		t.Errorf("got %+v, want 37 settled", got)
	}
	w.skip(2 * a.cfg.PartitionMemory)
	if a.tick(); len(a.Records(RecordHold)) != 1 {
		t.Error("forgotten before the peers might have heard of it")
	}
}

// A peer may remember what this node has forgotten: versions go on from the highest that
// this node has seen of any record, but not from what no honest node has.
func TestVersionsGoOn(t *testing.T) {
	w := newWorld(t)
	a := w.born("a")
	version := func() uint64 {
		r := a.ban(1, true, 1000*ms)
		if !a.put(r) {
			return 0
		}
		got, _ := a.Record(r.Key())
		return got.Version
	}
	version()
	if got := version(); got != 2 {
		t.Errorf("got version %d, want 2", got)
	}
	w.skip(1001*ms + 2*a.cfg.PartitionMemory)
	a.tick()
	if _, known := a.Record(RecordKey{Kind: RecordBan, Limit: 1, Hash: 1}); known {
		t.Fatal("was to be forgotten")
	}
	if got := version(); got != 3 {
		t.Errorf("after the first was forgotten: got version %d, want 3", got)
	}
	restore := func(hash, v uint64) {
		r := a.ban(hash, true, 1000*ms)
		r.Version = v
		a.Restore(w.now, r)
	}
	restore(2, 40)
	restore(3, maxVersion)
	restore(4, math.MaxUint64)
	if got := version(); got != 41 {
		t.Errorf("after others: got version %d, want 41", got)
	}
	restore(1, math.MaxUint64-1)
	if got := version(); got != math.MaxUint64 {
		t.Errorf("got version %d, want the highest", got)
	}
	if got := version(); got != 0 {
		t.Errorf("got version %d, want none above the highest", got)
	}
}

// Records have a bound: past it new ones are not put, and those of peers are dropped and
// counted, with one note; known ones change as ever, and there is room again when some are
// forgotten.
func TestRecordBound(t *testing.T) {
	w, a, b := pair(t, func(c *Config) { c.MaxRecords = 3 })
	for i := range uint64(5) {
		if got := a.put(a.ban(i, true, 1000*ms)); got != (i < 3) {
			t.Errorf("ban %d: put: %v", i, got)
		}
	}
	head := a.Head()
	if head != 3 || !a.put(a.ban(0, false, 1000*ms)) {
		t.Errorf("got %d drains, or a known record could not be put", head)
	}
	b.put(b.ban(7, true, 1000*ms))
	b.put(b.ban(8, true, 90_000_000*ms))
	w.skip(10 * ms)
	w.settle()
	if len(b.Records(RecordBan)) != 3 || b.RecordsDropped() != 2 || len(b.notes) != 1 {
		t.Errorf("got %d records, %d dropped, notes %v; want 3, 2 and one", len(b.Records(RecordBan)), b.RecordsDropped(), b.notes)
	}
	if n, _ := b.Number(a.id); n != a.Head() || b.Lost() != 0 {
		t.Errorf("got number %d of %d, lost %d", n, a.Head(), b.Lost())
	}
	w.skip(1010*ms + 2*a.cfg.PartitionMemory)
	if !b.put(b.ban(9, true, 1000*ms)) || len(b.Records(RecordBan)) != 2 {
		t.Errorf("got %d records, want room after the others were forgotten", len(b.Records(RecordBan)))
	}
}

// Registers of any history hand out what they keep in order, and forget in any.
func TestRegisterOrder(t *testing.T) {
	w := newWorld(t)
	a := w.born("a")
	for range 500 {
		r := a.holding(w.rand.Uint64N(50), w.rand.Int64N(1000)*ms)
		r.Hash = w.rand.Uint64N(3)
		a.put(r)
		w.skip(w.rand.Int64N(20) * ms)
	}
	for len(a.register.known) > 0 {
		holds := a.Records(RecordHold)
		if !slices.IsSortedFunc(holds, func(x, y Record) int { return x.Key().compare(y.Key()) }) || len(holds) != len(a.register.known) {
			t.Fatal("out of order, or some are missing")
		}
		for _, r := range holds {
			if w.now-r.life > 2*a.cfg.PartitionMemory {
				t.Fatalf("at %d: %+v is still remembered", w.now, r)
			}
		}
		w.skip(a.cfg.PartitionMemory / 10)
		a.tick()
	}
}

package gossip

import (
	"math"
	"slices"
	"testing"
)

// alone is a node whose only peer is away, with what it has in its log.
func alone(t *testing.T, change ...func(*Config)) (w *world, a *node) {
	w = newWorld(t)
	a = w.born("a", change...)
	a.Up(w.now, 9, "absent")
	return w, a
}

// Amounts of one window add, saturating, in whatever order segments merge; amounts of
// different windows, of another length, or of none, stay apart. Only the last kind is
// composed.
func TestWindowsNeverMeet(t *testing.T) {
	const most = math.MaxInt64
	drains := [][]Entry{
		{{1, 1, 5, 60, 60}, {1, 1, 7, 120, 60}, {1, 1, 1, 3, 0}},
		{{1, 1, -2, 60, 60}},
		{{1, 1, 4, 60, 30}, {1, 1, 8, 60, 60}, {2, 1, 9, 60, 60}, {1, 2, 9, 60, 60}, {1, 1, 1, 4, 0}, {3, 1, most, 0, 60}},
		{{1, 1, -7, 120, 60}, {1, 1, 1, 5, 0}, {3, 1, 1, 0, 60}},
	}
	want := []Entry{
		{1, 1, 4, 60, 30}, {1, 1, 11, 60, 60}, {1, 1, 0, 120, 60}, {1, 1, 3, 345, 0},
		{1, 2, 9, 60, 60}, {2, 1, 9, 60, 60}, {3, 1, most, 0, 60},
	}
	_, a := alone(t, func(c *Config) {
		c.Compose = func(a, b Entry) Entry {
			if a.Per != 0 || b.Per != 0 {
				t.Fatalf("asked to compose %v and %v", a, b)
			}
			a.N, a.Start = a.N+b.N, 10*a.Start+b.Start
			return a
		}
	})
	for _, d := range drains {
		a.append(d)
	}
	got := slices.Clone(a.log.segments[0].entries)
	slices.SortFunc(got, func(a, b Entry) int {
		return slices.Compare([]int64{int64(a.Limit), int64(a.Hash), a.Start, a.Per}, []int64{int64(b.Limit), int64(b.Hash), b.Start, b.Per})
	})
	if len(a.log.segments) != 1 || !slices.Equal(got, want) {
		t.Errorf("got %d segments, %v; want %v", len(a.log.segments), got, want)
	}
	a.append([]Entry{{1, 2, 1, 60, 60}})
	if entries, _ := a.Size(); entries != len(want) {
		t.Errorf("got %d entries after one more of a known window, want %d", entries, len(want))
	}
}

// A window's start is in cluster time: it arrives as it was told, whatever the clocks of
// the two. Refunds and amounts of any size arrive to the event, and an amount of a window
// that comes to nothing does not travel.
func TestAmountsArriveExactly(t *testing.T) {
	const day = 24 * 3600 * 1000 * ms
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	b.clock = -1e15
	b.cfg.Born += b.clock
	w.meet()
	w.settle()
	entries := []Entry{
		{1, 1, -5, 7 * day, day}, {1, 1, 5, 8 * day, day}, {1, 2, math.MinInt64, -day, day}, {2, 1, math.MaxInt64, math.MinInt64, math.MaxInt64},
		{1, 3, 0, 7 * day, day}, {3, 1, -9, w.now, 0}, {3, 2, math.MinInt64, w.now, 0}, {3, 3, 0, w.now, 0},
	}
	a.append(entries)
	w.settle()
	want := make(map[windowKey]int64)
	for _, e := range entries {
		if e.Hash != 3 || e.Per == 0 {
			want[keyOf(e)] = e.N
		}
	}
	if len(b.charges) != len(want) {
		t.Errorf("got %d charges, want %d", len(b.charges), len(want))
	}
	for _, c := range b.charges {
		if n, ok := want[keyOf(c.Entry)]; !ok || n != c.N {
			t.Errorf("got %+v, want %d", c.Entry, n)
		}
		if c.Per == 0 && c.Start != w.now+b.clock {
			t.Errorf("got start %d, want %d", c.Start, w.now+b.clock)
		}
	}
}

// A run that begins with a refund starts effectively after its cut, and so it is told; a
// reader that does not know of such starts takes it for started at the cut.
func TestStartsAfterTheCut(t *testing.T) {
	const last = 9_000_000
	s := &segment{to: 1, last: last, entries: []Entry{{1, 1, 3, last + 1_000_001, 0}, {1, 2, 3, last - 1500, 0}, {1, 3, -3, last + 1, 0}, {1, 4, 1, last, 0}}}
	want := map[uint64]int64{1: last + 1_001_000, 2: last - 1000, 3: last + 1000, 4: last}
	got := make(map[uint64]int64)
	body := encodeBodies(s, nil, 1000)[0]
	if _, err := decodeBody(body, func(e Entry) { got[e.Hash] = e.Start }); err != nil {
		t.Fatal(err)
	}
	for hash, start := range want {
		if got[hash] != start {
			t.Errorf("key %d: got start %d, want %d", hash, got[hash]-last, start-last)
		}
	}
	d := newDecoder(body)
	d.array(1)
	d.int()
	d.int()
	d.definitions()
	groups := d.array(1)
	if groups != 2 {
		t.Errorf("got %d groups, want those after the cut in one and the others in one", groups)
	}
	for ; groups > 0; groups-- {
		fields := d.array(1)
		d.uint()
		d.amounts(6, last, func(e Entry) { // as version 1 reads it
			if want := min(want[e.Hash], last); e.Start != want {
				t.Errorf("key %d, to version 1: got start %d, want %d", e.Hash, e.Start-last, want-last)
			}
		})
		d.skip(fields - 6)
	}
	if d.records(last); d.err != nil {
		t.Error(d.err)
	}
}

// A typical amount of a window takes at most 14 bytes on the wire, all headers included.
func TestTypicalWindowEntryIsSmall(t *testing.T) {
	for _, n := range []int{100, 10_000} {
		w, a, b := pair(t)
		w.skip(1000 * ms)
		entries := typical(n, w.now)
		for i := range entries {
			entries[i].Start, entries[i].Per = 1_700_000_040_000*ms, 60_000*ms
		}
		a.append(entries)
		a.tick()
		bytes := 0
		for _, p := range w.take(kind(a, kindBatch)) {
			bytes += len(p.data)
			w.hand(p)
		}
		if len(b.charges) != n {
			t.Fatalf("got %d charges, want %d", len(b.charges), n)
		}
		if each := float64(bytes) / float64(n); each > 14 {
			t.Errorf("%d entries: got %.2f bytes each, want at most 14", n, each)
		}
	}
}

// rolling names entries of windows that ended before *now.
func rolling(now *int64) func(*Config) {
	return func(c *Config) { c.Expired = func(e Entry) bool { return e.Per != 0 && e.Start+e.Per <= *now } }
}

// Windows that are over leave the log of an absent peer: what it costs does not grow with
// the time it is away.
func TestExpiredWindowsLeaveTheLog(t *testing.T) {
	now := int64(0)
	w, a := alone(t, rolling(&now))
	for ; now < 1000; now++ {
		entries := []Entry{{2, 1, 1, w.now, 0}}
		for i := range uint64(100) {
			entries = append(entries, Entry{1, i, 1, now, 1})
		}
		a.append(entries)
		if entries, _ := a.Size(); entries > 400 {
			t.Fatalf("after %d windows of 100 keys: got %d entries, want about twice what is in force", now+1, entries)
		}
	}
	for _, e := range a.log.segments[0].entries {
		if e.Limit == 2 && e.N != 1000 {
			t.Errorf("got %d of the bucket, want 1000", e.N)
		}
	}
}

// What has expired when a batch is made is not sent; what is sent again later is still the
// same to the byte.
func TestExpiredWindowsAreNotSent(t *testing.T) {
	now := int64(0)
	w, a, b := pair(t, rolling(&now))
	w.over = func(k windowKey) bool { return k.start+k.per <= now }
	w.skip(10 * ms)
	a.append([]Entry{{1, 1, 1, 0, 10}, {1, 1, 2, 10, 10}, {1, 2, 3, 0, 10}, {2, 1, 4, w.now, 0}})
	now = 10
	a.tick()
	first := w.take(kind(a, kindBatch))
	now = 20
	w.skip(a.cfg.Resend)
	a.tick()
	again := w.take(kind(a, kindBatch))
	if len(first) != 1 || len(again) != 1 || string(first[0].frame().body) != string(again[0].frame().body) {
		t.Fatalf("got %v, then %v; want one batch, twice", first, again)
	}
	w.handAll(again)
	if len(b.charges) != 2 || b.charges[0].N+b.charges[1].N != 6 {
		t.Errorf("got %v, want what was in force when the batch was made", b.charges)
	}
	a.append([]Entry{{1, 1, 1, 0, 10}})
	w.skip(10 * ms)
	w.settle()
	if n, _ := b.Number(a.id); n != 2 || len(b.charges) != 2 || !a.Quiet() {
		t.Errorf("nothing left to tell: got number %d, %d charges; want 2, 2", n, len(b.charges))
	}
}

// Before a cursor is given up for want of room, what has expired goes.
func TestExpiredWindowsGoBeforeCursors(t *testing.T) {
	now := int64(0)
	w, a := alone(t, rolling(&now), func(c *Config) { c.MaxBytes = 120_000 })
	fill := func(from, to uint64) {
		for i := from; i < to; i++ {
			a.append([]Entry{{1, i, 1, now, 1}})
		}
	}
	fill(0, 700)
	now++
	w.skip(1000 * ms)
	fill(0, 700)
	if len(a.notes) > 0 {
		t.Errorf("got %v: half of the log had expired", a.notes)
	}
	w.skip(1000 * ms)
	fill(700, 3000)
	if len(a.notes) == 0 {
		t.Error("got no cursor given up with the log full of what is in force")
	}
}

// The same where the ends of batches in flight keep segments apart; and it is not looked
// for again at every step while the log is full of what is in force.
func TestFullLogLooksForExpiredWindows(t *testing.T) {
	now, asked := int64(0), 0
	w, a, _ := pair(t, rolling(&now), func(c *Config) {
		c.Window, c.MaxBytes, c.Timeout, c.Resend = 200, 120_000, 1e12, 1e12
		expired := c.Expired
		c.Expired = func(e Entry) bool { asked++; return expired(e) }
	})
	fill := func(keys uint64) {
		w.skip(10 * ms)
		var entries []Entry
		for i := range keys {
			entries = append(entries, Entry{1, i, 1, now, 1})
		}
		a.Append(w.now, w.now, entries)
		a.Tick(w.now)
		a.Output()
	}
	for _, bytes := a.Size(); bytes < 80_000; _, bytes = a.Size() {
		fill(20)
	}
	now++
	for _, bytes := a.Size(); bytes < 115_000; _, bytes = a.Size() {
		fill(20)
	}
	w.skip(1000 * ms)
	for range 10 {
		fill(20)
		a.verify()
	}
	if _, bytes := a.Size(); len(a.notes) > 0 || bytes > 100_000 {
		t.Errorf("got notes %v and %d bytes: more than half of the log had expired", a.notes, bytes)
	}
	asked = 0
	for range 50 {
		a.log.prune()
	}
	if asked > 0 {
		t.Errorf("asked of %d entries within a second of the last time", asked)
	}
}

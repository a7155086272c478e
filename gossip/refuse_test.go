package gossip

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// Another protocol version or another seed is refused, and noted once.
func TestStrangersAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		hello hello
		ok    bool
		note  string
	}{
		"same":            {hello{Version, Oldest, 7, 0, wall{}, false}, true, ""},
		"newer, compat":   {hello{Version + 5, Version, 7, 0, wall{}, false}, true, ""},
		"newer":           {hello{Version + 5, Version + 1, 7, 0, wall{}, false}, false, "protocol"},
		"older":           {hello{Oldest - 1, Oldest - 1, 7, 0, wall{}, false}, false, "protocol"},
		"another seed":    {hello{Version, Oldest, 8, 0, wall{}, false}, false, "seed"},
		"both are faulty": {hello{Version + 5, Version + 1, 8, 0, wall{}, false}, false, "protocol"},
	} {
		w := newWorld(t)
		a, b := w.born("a"), w.born("b")
		for session := range uint64(5) {
			w.skip(10 * ms)
			test.hello.Sent = w.now
			w.hand(packet{a, b, encodeFrame(header{kindHello, a.id, b.id, session/2 + 1, 0}, &test.hello)})
		}
		if welcome := len(w.take(kind(b, kindWelcome))) > 0; welcome != test.ok {
			t.Errorf("%s: welcomed: %v, want %v", name, welcome, test.ok)
		}
		if test.note == "" && len(b.notes) != 0 || test.note != "" && (len(b.notes) != 1 || !strings.Contains(b.notes[0].Text, test.note)) {
			t.Errorf("%s: got notes %v, want one about %q", name, b.notes, test.note)
		}
	}
}

// A batch that does not decode changes nothing: the number stays, nothing of its sound
// parts is charged. Its origin gives up on the session, and may do better in the next.
func TestPoisonChangesNothing(t *testing.T) {
	w, a, b := behind(t, 12)
	a.tick()
	parts := w.take(kind(a, kindBatch))
	last := parts[len(parts)-1].frame()
	bad := bytes.Clone(last.body)
	bad[len(bad)-2] |= 0x80 // the last age has no end; no record follows
	w.handAll(parts[:len(parts)-1])
	w.takeAll()
	poison := encodeBatch(last.header, last.batch, bad)
	if err := b.Receive(w.now, a.id, poison); err == nil {
		t.Error("got no error of a body that does not decode")
	}
	b.collect()
	for range 3 {
		if err := b.Receive(w.now, a.id, poison); err != nil {
			t.Errorf("once more: %v", err)
		}
		b.collect()
	}
	if n, _ := b.Number(a.id); n != 0 || len(b.charges) != 0 || len(b.defs) != 0 || b.Lost() != 0 {
		t.Errorf("got number %d, %d charges, %d definitions, lost %d; want none", n, len(b.charges), len(b.defs), b.Lost())
	}
	w.auto = true
	w.pass(2000 * ms)
	if len(b.charges) != 12 || !a.Quiet() || len(a.redials) != 1 {
		t.Errorf("the next session: got %d charges, quiet %v, %d redials; want 12, true, 1", len(b.charges), a.Quiet(), len(a.redials))
	}
}

// Frames that no decoder should choke on are dropped with an error, and change nothing.
func TestMalformedFrames(t *testing.T) {
	w, a, b := pair(t)
	a.spend(1)
	a.tick()
	good := w.take(kind(a, kindBatch))[0]
	for i := range good.data {
		if err := b.Receive(w.now, a.id, good.data[:i]); err == nil {
			t.Errorf("got no error of the first %d bytes of a frame", i)
		}
	}
	h := good.frame().header
	for name, frame := range map[string][]byte{
		"empty range":  encodeBatch(h, &batch{From: 1, To: 1, Parts: 1}, []byte{}),
		"back":         encodeBatch(h, &batch{From: 2, To: 1, Parts: 1}, []byte{}),
		"no part":      encodeBatch(h, &batch{From: 0, To: 1}, []byte{}),
		"part beyond":  encodeBatch(h, &batch{From: 0, To: 1, Part: 3, Parts: 3}, []byte{}),
		"no body":      encodeBatch(h, &batch{From: 0, To: 1, Parts: 1}, []byte{}),
		"not an array": {0xc0},
		"a map":        {0x81, 0x01, 0x01},
	} {
		if err := b.Receive(w.now, a.id, frame); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if n, _ := b.Number(a.id); n != 0 || len(b.charges) > 0 {
		t.Errorf("got number %d, %d charges", n, len(b.charges))
	}
}

// extended is a frame with more fields of all kinds behind its own.
func extended(t *testing.T, data []byte) []byte {
	t.Helper()
	dec := msgpack.NewDecoder(bytes.NewReader(data))
	n, err := dec.DecodeArrayLen()
	if err != nil {
		t.Fatal(err)
	}
	rest := data[1:]
	if n > 15 {
		t.Fatal("a frame of more than 15 fields")
	}
	var buf bytes.Buffer
	enc := msgpack.NewEncoder(&buf)
	more := []any{nil, true, -5, math.Pi, "text", []byte{1, 2}, []any{1, []any{"deep"}}, map[string]any{"a": 1, "b": []any{}}}
	if err := enc.EncodeArrayLen(n + len(more)); err != nil {
		t.Fatal(err)
	}
	buf.Write(rest)
	for _, v := range more {
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

// What a later version adds is skipped: fields behind a frame's own, kinds of frames,
// and within a body fields, groups of other kinds, and fields of a group.
func TestAdditionsAreSkipped(t *testing.T) {
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	a.define(Definition{1, "api", "10/s"})
	a.up(b)
	b.up(a)
	a.open(b)
	a.spend(3, 4)
	for range 20 {
		a.tick()
		for _, p := range w.takeAll() {
			p.data = extended(t, p.data)
			w.hand(p)
		}
		w.skip(5 * ms)
	}
	w.hand(packet{a, b, encodeFrame(header{200, a.id, b.id, 1, 0}, nil)})
	w.hand(packet{a, b, encodeFrame(header{math.MaxUint8, a.id, b.id, 1, b.sources[a.id].nonce}, &ping{})})
	if !a.Quiet() || !maps3(b.heard[a.id].sums, 3, 4) || len(b.defs) != 1 {
		t.Errorf("got sums %v, definitions %v", b.heard[a.id].sums, b.defs)
	}
}

func TestAdditionsToBodiesAreSkipped(t *testing.T) {
	e := newEncoder(header{})
	e.array(7) // two more fields
	e.int(5000)
	e.int(4000)
	e.array(1)
	e.array(4) // of a definition: one more
	e.uint(1)
	e.string("api")
	e.string("10/s")
	e.array(0)
	e.array(4)
	e.array(3) // a group of another kind
	e.uint(77)
	e.string("x")
	e.array(1)
	e.int(1)
	e.array(8) // amounts, none of them ahead, and one more field
	e.uint(groupAmounts, 1, 1)
	e.bin([]byte{9, 0, 0, 0, 0, 0, 0, 0})
	e.bin([]byte{6})
	e.bin([]byte{2})
	e.bin([]byte{})
	e.string("more")
	e.array(8) // amounts of a window, and one more field
	e.uint(groupWindow, 1, 1, 60, 30)
	e.bin([]byte{9, 0, 0, 0, 0, 0, 0, 0})
	e.bin([]byte{6})
	e.string("more")
	e.array(1) // a kind and nothing else
	e.uint(78)
	e.array(2)
	for kind := range uint64(2) { // records, the first of a kind to come, with one more field
		e.array(recordFields + 1)
		e.uint(9-8*kind, 1, 2, 3, 4, 5, 6)
		e.bool(true)
		e.uint(7, 8, 0, 9, 1)
		e.string("")
		e.array(0)
	}
	e.bool(true)
	e.string("more")
	var got []Entry
	b, err := decodeBody(e.bytes(), func(x Entry) { got = append(got, x) })
	want := []Entry{{1, 9, 3, 3000, 0}, {1, 9, 3, 60, 30}}
	record := Record{Kind: RecordHold, Limit: 1, Hash: 2, Maker: 3, ID: 4, Version: 5, Writer: 6, Open: true, N: 7, Start: 5008, Until: 5009, life: 5010}
	if err != nil || !slices.Equal(got, want) || b.first != 4000 || len(b.defs) != 1 || len(b.records) != 1 || *b.records[0] != record {
		t.Errorf("got %v, %+v, %v; want two entries and one record", got, b, err)
	}
}

// A window is of some length.
func TestWindowsWithoutLength(t *testing.T) {
	for _, per := range []int64{1, 0, -1, math.MinInt64} {
		e := newEncoder(header{})
		e.array(4)
		e.int(5000)
		e.int(4000)
		e.array(0)
		e.array(1)
		e.array(7)
		e.uint(groupWindow, 1, 1)
		e.int(60)
		e.int(per)
		e.bin([]byte{9, 0, 0, 0, 0, 0, 0, 0})
		e.bin([]byte{6})
		entries := 0
		if _, err := decodeBody(e.bytes(), func(Entry) { entries++ }); (err == nil) != (per == 1) || entries > 0 && err != nil {
			t.Errorf("length %d: got %d entries, error %v", per, entries, err)
		}
	}
}

// Numbers of chunks to come may have more fields, too.
func TestAdditionsToNumbersAreSkipped(t *testing.T) {
	e := newEncoder(header{kindWelcome, 1, 2, 3, 4})
	e.fields(3)
	e.bool(false)
	e.array(2)
	for i := range uint64(2) {
		e.array(4)
		e.uint(numberKnown, i)
		e.string("more")
		e.array(0)
	}
	e.int(5)
	f, err := decodeFrame(e.bytes())
	if err != nil || len(f.welcome.Numbers) != 2 || f.welcome.Numbers[1] != (number{numberKnown, 1}) || f.welcome.Echo != 5 {
		t.Errorf("got %+v, %v", f, err)
	}
}

// Frames are only taken from whom they are of.
func TestFramesOfOthers(t *testing.T) {
	w, a, b := pair(t)
	c := w.born("c")
	c.up(a)
	a.up(c)
	a.spend(1)
	a.tick()
	batch := w.take(kind(a, kindBatch))[0]
	for _, from := range []uint64{c.id, b.id, 0, 99} {
		if err := b.Receive(w.now, from, batch.data); err != nil || len(b.Output().Charges) > 0 {
			t.Errorf("a frame of %d that %d sent was taken (%v)", a.id, from, err)
		}
	}
	w.hand(batch)
	answer := w.take(kind(b, kindAck))[0]
	if err := a.Receive(w.now, c.id, answer.data); err != nil || a.Quiet() {
		t.Errorf("an acknowledgement of another was taken (%v)", err)
	}
}

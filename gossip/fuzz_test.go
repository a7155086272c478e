package gossip

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
)

// samples are one sound frame of each kind and what else a decoder may meet.
func samples() [][]byte {
	h := header{origin: 1, peer: 2, session: 1, nonce: 1 << 63}
	of := func(kind uint8) header { h := h; h.kind = kind; return h }
	defs := []Definition{{1, "api", "10/s"}, {1 << 63, "", "5/m burst=7"}}
	s := &segment{to: 3, first: 1000, last: 9000, entries: mixed(9000), defs: defs}
	data := [][]byte{
		encodeFrame(of(kindHello), &hello{Version, Oldest, 7, 5, wall{9, true}, true}),
		encodeFrame(of(kindWelcome), &welcome{false, []number{{numberKnown, 3}}, 5, wall{-9, true}, 1 << 60}),
		encodeFrame(of(kindStart), &start{[]uint64{0}, 0, 1, 5, defs, someRecords()}),
		encodeBatch(of(kindBatch), &batch{0, 3, 0, 1, 5}, encodeBodies(s, someRecords(), 1<<20)[0]),
		encodeFrame(of(kindAck), &ack{3, 0, true, 5, wall{}}),
		encodeFrame(of(kindPing), &ping{5, wall{-1 << 62, true}}),
		encodeFrame(of(kindGoodbye), nil),
		encodeFrame(of(kindHeld), &held{2, 5}),
		encodeFrame(of(99), &ping{5, wall{-1 << 62, true}}),
		encodeBodies(s, someRecords(), 1<<20)[0],
		{},
	}
	data = append(data, joinSamples()...)
	for _, bomb := range bombs() {
		if len(bomb) < 1000 {
			data = append(data, bomb)
		} else {
			data = append(data, bomb[:200])
		}
	}
	return data
}

// mixed are entries of all groups.
func mixed(last int64) []Entry {
	const minute = 60_000 * ms
	return append(typical(20, last), []Entry{
		{1, 1, 5, minute, minute}, {1, 2, -7, minute, minute}, {1, 1, 2, 0, minute}, {1, 1, 9, 0, minute / 2}, {2, 1, 1 << 62, -minute, minute},
		{1, 3, -4, last - 5000, 0}, {1, 4, 3, last + 5001, 0}, {1, 5, -3, last + 1, 0},
	}...)
}

// someRecords are a hold, as it opens and settled, and a ban.
func someRecords() []*Record {
	return []*Record{
		{Kind: RecordHold, Limit: 1, Hash: 5, Maker: 1, ID: 1, Version: 1, Writer: 1, Open: true, N: 100, Start: 8000, Until: 5000 * ms},
		{Kind: RecordHold, Limit: 1, Hash: 5, Maker: 1, ID: 2, Version: 2, Writer: 1, N: 37, Start: -60_000 * ms, Per: 60_000 * ms, Until: 9},
		{Kind: RecordBan, Limit: 1 << 63, Hash: 7, Version: 3, Writer: 1 << 63, Open: true, Until: 1 << 62, Label: "ann"},
	}
}

// Frames and bodies are msgpack to the last byte: each array has as many elements as it
// says.
func TestWireIsMsgpack(t *testing.T) {
	for i, data := range append(samples()[:10:10], joinSamples()...) {
		d := newDecoder(data)
		if d.skipValue(0); d.err != nil || d.r.Len() > 0 {
			t.Errorf("sample %d: %d bytes are left (%v)", i, d.r.Len(), d.err)
		}
	}
}

// A frame never panics, and what decodes encodes to a frame that says the same.
func FuzzFrame(f *testing.F) {
	for _, data := range samples() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decodeFrame(data)
		if err != nil {
			return
		}
		var again []byte
		switch {
		case got.hello != nil:
			again = encodeFrame(got.header, got.hello)
		case got.welcome != nil:
			again = encodeFrame(got.header, got.welcome)
		case got.start != nil:
			again = encodeFrame(got.header, got.start)
		case got.batch != nil:
			if again = encodeBatch(got.header, got.batch, got.body); !bytes.Contains(data, got.body) {
				t.Fatal("the body is not part of the frame")
			}
		case got.ack != nil:
			again = encodeFrame(got.header, got.ack)
		case got.ping != nil:
			again = encodeFrame(got.header, got.ping)
		case got.held != nil:
			again = encodeFrame(got.header, got.held)
		case got.holding != nil:
			again = encodeFrame(got.header, got.holding)
		case got.want != nil:
			again = encodeFrame(got.header, got.want)
		case got.chunk != nil:
			again = encodeChunk(got.header, got.chunk, got.body)
		case got.refused != nil:
			again = encodeFrame(got.header, got.refused)
		default:
			return
		}
		second, err := decodeFrame(again)
		if err != nil {
			t.Fatalf("its own encoding: %v", err)
		}
		if got.size = second.size; !equalFrames(*got, *second) {
			t.Fatalf("got %+v, then %+v", got, second)
		}
	})
}

func equalFrames(a, b frame) bool {
	encode := func(f frame) []byte {
		switch {
		case f.start != nil:
			return encodeFrame(f.header, f.start)
		case f.batch != nil:
			return encodeBatch(f.header, f.batch, f.body)
		case f.welcome != nil:
			return encodeFrame(f.header, f.welcome)
		case f.hello != nil:
			return encodeFrame(f.header, f.hello)
		case f.ping != nil:
			return encodeFrame(f.header, f.ping)
		case f.held != nil:
			return encodeFrame(f.header, f.held)
		case f.holding != nil:
			return encodeFrame(f.header, f.holding)
		case f.want != nil:
			return encodeFrame(f.header, f.want)
		case f.chunk != nil:
			return encodeChunk(f.header, f.chunk, f.body)
		case f.refused != nil:
			return encodeFrame(f.header, f.refused)
		}
		return encodeFrame(f.header, f.ack)
	}
	return a.sent == b.sent && bytes.Equal(encode(a), encode(b))
}

// A body never panics and has no more entries than its bytes allow.
func FuzzBody(f *testing.F) {
	for _, data := range samples() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries := 0
		b, err := decodeBody(data, func(Entry) { entries++ })
		if 9*entries > len(data) {
			t.Fatalf("got %d entries of %d bytes", entries, len(data))
		}
		if 4*len(b.defs)+15*len(b.records) > len(data) {
			t.Fatalf("got %d definitions and %d records of %d bytes", len(b.defs), len(b.records), len(data))
		}
		if err == nil {
			again, err := decodeBody(encodeBody(&segment{first: b.first, last: b.last}, nil, b.defs, b.records), func(Entry) {})
			if err != nil || !reflect.DeepEqual(again, b) {
				t.Fatalf("got %+v, then %+v (%v)", b, again, err)
			}
		}
	})
}

// FuzzReceive feeds a ledger whatever frames: it never panics, no number or cursor ever
// goes back, it answers nobody else, and a frame that is refused with an error leaves no
// charge.
func FuzzReceive(f *testing.F) {
	var all []byte
	for _, data := range samples() {
		one := append(binary.AppendUvarint(nil, uint64(len(data))), data...)
		f.Add(one)
		all = append(all, one...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, script []byte) {
		w, a, b := pair(t, func(c *Config) { c.Rand = func() uint64 { return 1 << 63 } })
		b.open(a)
		w.settle()
		a.spend(1)
		b.spend(2)
		b.tick()
		for len(script) > 0 {
			size, n := binary.Uvarint(script)
			if n <= 0 {
				return
			}
			script = script[n:]
			data := script[:min(size, uint64(len(script)))]
			script = script[len(data):]
			before, knew := b.Number(a.id)
			var cursor uint64
			if l := b.link(a.id); l != nil {
				cursor = l.cursor
			}
			err := b.Receive(w.now, a.id, bytes.Clone(data))
			out := b.Output()
			if err != nil && len(out.Charges) > 0 {
				t.Fatalf("%d charges of a frame with the error %v", len(out.Charges), err)
			}
			if after, knows := b.Number(a.id); knew && (!knows || after < before) {
				t.Fatalf("the number went from %d to %d", before, after)
			}
			if l := b.link(a.id); l != nil && l.cursor < cursor {
				t.Fatalf("the cursor went from %d to %d", cursor, l.cursor)
			}
			for _, frame := range out.Frames {
				if frame.To != a.id {
					t.Fatalf("a frame for %d", frame.To)
				}
			}
			b.verify()
			w.now += ms
			b.Tick(w.now)
			b.Output()
		}
	})
}

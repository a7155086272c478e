package gossip

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// samples are one sound frame of each kind and what else a decoder may meet.
func samples() [][]byte {
	h := header{origin: 1, peer: 2, session: 1, nonce: 1 << 63}
	of := func(kind uint8) header { h := h; h.kind = kind; return h }
	defs := []Definition{{1, "api", "10/s"}, {1 << 63, "", "5/m burst=7"}}
	s := &segment{to: 3, first: 1000, last: 9000, entries: typical(20, 9000), defs: defs}
	data := [][]byte{
		encodeFrame(of(kindHello), &hello{Version, Oldest, 7, 5}),
		encodeFrame(of(kindWelcome), &welcome{false, []number{{numberKnown, 3}}, 5}),
		encodeFrame(of(kindStart), &start{[]uint64{0}, 0, 1, 5, defs}),
		encodeBatch(of(kindBatch), &batch{0, 3, 0, 1, 5}, encodeBodies(s, 1<<20)[0]),
		encodeFrame(of(kindAck), &ack{3, 0, true, 5}),
		encodeFrame(of(kindPing), &ping{5}),
		encodeFrame(of(kindGoodbye), nil),
		encodeFrame(of(99), &ping{5}),
		encodeBodies(s, 1<<20)[0],
		{},
	}
	for _, bomb := range bombs() {
		if len(bomb) < 1000 {
			data = append(data, bomb)
		} else {
			data = append(data, bomb[:200])
		}
	}
	return data
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
		if 10*entries > len(data) {
			t.Fatalf("got %d entries of %d bytes", entries, len(data))
		}
		if err == nil && 4*len(b.defs) > len(data) {
			t.Fatalf("got %d definitions of %d bytes", len(b.defs), len(data))
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

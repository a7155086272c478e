package gossip

import (
	"bytes"
	"runtime"
	"testing"
)

// allocated is how many bytes f allocates, at least in one of a few runs: the runtime
// allocates now and then, too.
func allocated(f func()) uint64 {
	least := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// bombs are frames and bodies that claim more than they hold. Lengths are of every width.
func bombs() map[string][]byte {
	head := func(kind, fields byte) []byte { return []byte{0x90 | fields, kind, 1, 2, 3, 4} }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	million := bytes.Repeat([]byte{0x91}, 1<<20)
	huge := []byte{0xdd, 0xff, 0xff, 0xff, 0xff}
	bin := []byte{0xc6, 0xff, 0xff, 0xff, 0xff}
	return map[string][]byte{
		"an array":                  huge,
		"a frame of many fields":    join([]byte{0xdd, 0, 0xff, 0xff, 0xff, 200, 1, 2, 3, 4}, million),
		"numbers":                   join(head(kindWelcome, 8), []byte{0xc2}, huge),
		"numbers of the right size": join(head(kindWelcome, 8), []byte{0xc2, 0xdd, 0, 0x05, 0, 0}, million),
		"start numbers":             join(head(kindStart, 10), huge),
		"start numbers that fit":    join(head(kindStart, 10), []byte{0xdd, 0, 0x0f, 0, 0}, million),
		"definitions":               join(head(kindStart, 10), []byte{0x90, 0, 1, 5}, huge),
		"definitions that fit":      join(head(kindStart, 10), []byte{0x90, 0, 1, 5, 0xdd, 0, 0x03, 0, 0}, million),
		"a name":                    join(head(kindStart, 10), []byte{0x90, 0, 1, 5, 0x91, 0x93, 1, 0xdb, 0xff, 0xff, 0xff, 0xff}),
		"a body":                    join(head(kindBatch, 11), []byte{0, 1, 0, 1, 5}, bin),
		"deep":                      million,
		"deep in a definition":      join(head(kindStart, 10), []byte{0x90, 0, 1, 5, 0x91, 0x94, 1, 0xa0, 0xa0}, million),
		"a map in a definition":     join(head(kindStart, 10), []byte{0x90, 0, 1, 5, 0x91, 0x94, 1, 0xa0, 0xa0, 0xdf, 0xff, 0xff, 0xff, 0xff}, million),
		"deep maps":                 join(head(kindStart, 10), []byte{0x90, 0, 1, 5, 0x91, 0x94, 1, 0xa0, 0xa0}, bytes.Repeat([]byte{0x81, 0x01}, 1<<19)),
		"an extension":              join(head(kindStart, 10), []byte{0x90, 0, 1, 5, 0x91, 0x94, 1, 0xa0, 0xa0, 0xc9, 0xff, 0xff, 0xff, 0xff, 1}),
		"a body of groups":          join([]byte{0x94, 1, 1, 0x90}, huge),
		"groups that fit":           join([]byte{0x94, 1, 1, 0x90, 0xdd, 0, 0x02, 0, 0}, million),
		"a body of definitions":     join([]byte{0x94, 1, 1}, huge),
		"a deep group":              join([]byte{0x94, 1, 1, 0x90, 0x91, 0x92, 9}, million),
		"hashes":                    join([]byte{0x94, 1, 1, 0x90, 0x91, 0x96, 0, 1, 5}, bin),
		"a count that wraps":        join([]byte{0x94, 1, 1, 0x90, 0x91, 0x96, 0, 1, 0xcf, 0x20, 0, 0, 0, 0, 0, 0, 0, 0xc4, 0, 0xc4, 0, 0xc4, 0}),
		"hashes without amounts":    join([]byte{0x94, 1, 1, 0x90, 0x91, 0x96, 0, 1, 1, 0xc4, 8}, make([]byte, 8), []byte{0xc4, 0, 0xc4, 0}),
	}
}

// Promise 10. What a frame says of its size is believed only as far as its bytes go:
// decoding allocates at most a small multiple of them, and nothing makes it go deep.
func TestBombs(t *testing.T) {
	for name, data := range bombs() {
		bytes := allocated(func() {
			_, _ = decodeFrame(data)
			_, _ = decodeBody(data, func(Entry) {})
		})
		if most := uint64(16*len(data) + 4096); bytes > most {
			t.Errorf("%s: allocated %d bytes for %d, want %d at most", name, bytes, len(data), most)
		}
		if name == "a frame of many fields" {
			continue // of a kind to come: skipped
		}
		if _, err := decodeFrame(data); err == nil {
			t.Errorf("%s: a frame without error", name)
		}
		if _, err := decodeBody(data, func(Entry) {}); err == nil {
			t.Errorf("%s: a body without error", name)
		}
	}
}

// A field that a later version added may nest to a depth, and not beyond.
func TestNestingIsBounded(t *testing.T) {
	for depth := range 20 {
		for name, level := range map[string][]byte{"arrays": {0x91}, "maps": {0x81, 0x01}} {
			e := newEncoder(header{})
			e.array(1)
			e.array(4)
			e.uint(1)
			e.string("name")
			e.string("text")
			e.buf.Write(append(bytes.Repeat(level, depth), 0xc0))
			d := newDecoder(e.bytes())
			if d.definitions(); (d.err == nil) != (depth <= 8) {
				t.Errorf("%d %s: got error %v", depth, name, d.err)
			}
		}
	}
}

// Promise 10. An origin that sends parts without end makes us hold no more than
// maxGathered, however small what it sends is.
func TestGatheredPartsAreBounded(t *testing.T) {
	w, a, b := pair(t)
	l := a.link(b.id)
	h := header{kindBatch, a.id, b.id, l.session, l.nonce}
	const parts = 1 << 20
	bulk := make([]byte, 100_000)
	held := 0
	for i := range parts {
		m := batch{From: 0, To: 1, Part: i, Parts: parts, Sent: w.now}
		frame := encodeBatch(h, &m, bulk)
		if err := b.Receive(w.now, a.id, frame); err != nil {
			break
		}
		held += len(frame)
		b.Output()
	}
	if held > maxGathered || held < maxGathered/2 {
		t.Errorf("got %d bytes held, want about %d at most", held, maxGathered)
	}
	if n, _ := b.Number(a.id); n != 0 {
		t.Errorf("got number %d", n)
	}
}

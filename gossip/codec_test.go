package gossip

import (
	"bytes"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawHeader(t *rapid.T, kind uint8) header {
	u := rapid.Uint64()
	return header{kind, u.Draw(t, "origin"), u.Draw(t, "peer"), u.Draw(t, "session"), u.Draw(t, "nonce")}
}

var definitions = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Definition {
	return Definition{rapid.Uint64().Draw(t, "id"), rapid.String().Draw(t, "name"), rapid.String().Draw(t, "text")}
}), 0, 5)

var walls = rapid.Custom(func(t *rapid.T) wall {
	if rapid.Bool().Draw(t, "known") {
		return wall{rapid.Int64().Draw(t, "raw"), true}
	}
	return wall{}
})

var records = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *Record {
	u, i := rapid.Uint64(), rapid.Int64()
	r := &Record{Kind: RecordHold, Limit: u.Draw(t, "limit"), Hash: u.Draw(t, "hash"), Version: u.Draw(t, "version"), Writer: u.Draw(t, "writer"),
		Open: rapid.Bool().Draw(t, "open"), N: rapid.Int64Min(0).Draw(t, "n"), Start: i.Draw(t, "start"), Per: rapid.Int64Min(0).Draw(t, "per"),
		Until: i.Draw(t, "until"), Label: rapid.StringN(0, 32, MaxLabel).Draw(t, "label"), life: i.Draw(t, "life")}
	if rapid.Bool().Draw(t, "ban") {
		r.Kind = RecordBan
	} else {
		r.Maker, r.ID = u.Draw(t, "maker"), u.Draw(t, "id")
	}
	return r
}), 0, 5)

// messages draws one frame of each kind.
var messages = map[string]func(t *rapid.T) (want frame, data []byte){
	"hello": func(t *rapid.T) (frame, []byte) {
		m := hello{small20.Draw(t, "version"), small20.Draw(t, "oldest"), rapid.Uint64().Draw(t, "seed"), rapid.Int64().Draw(t, "sent"), walls.Draw(t, "wall"), rapid.Bool().Draw(t, "joining")}
		h := drawHeader(t, kindHello)
		return frame{header: h, hello: &m, sent: m.Sent}, encodeFrame(h, &m)
	},
	"welcome": func(t *rapid.T) (frame, []byte) {
		numbers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) number {
			return number{rapid.Uint8().Draw(t, "kind"), rapid.Uint64().Draw(t, "n")}
		}), 0, 4).Draw(t, "numbers")
		m := welcome{rapid.Bool().Draw(t, "joining"), numbers, rapid.Int64().Draw(t, "echo"), walls.Draw(t, "wall"), rapid.Int64().Draw(t, "written")}
		h := drawHeader(t, kindWelcome)
		return frame{header: h, welcome: &m}, encodeFrame(h, &m)
	},
	"start": func(t *rapid.T) (frame, []byte) {
		parts := rapid.IntRange(1, 1<<20).Draw(t, "parts")
		m := start{rapid.SliceOfN(rapid.Uint64(), 0, 4).Draw(t, "numbers"), rapid.IntRange(0, parts-1).Draw(t, "part"), parts,
			rapid.Int64().Draw(t, "sent"), definitions.Draw(t, "definitions"), records.Draw(t, "records")}
		h := drawHeader(t, kindStart)
		return frame{header: h, start: &m, sent: m.Sent}, encodeFrame(h, &m)
	},
	"batch": func(t *rapid.T) (frame, []byte) {
		parts, to := rapid.IntRange(1, 1<<20).Draw(t, "parts"), rapid.Uint64Min(1).Draw(t, "to")
		m := batch{rapid.Uint64Max(to-1).Draw(t, "from"), to, rapid.IntRange(0, parts-1).Draw(t, "part"), parts, rapid.Int64().Draw(t, "sent")}
		h, body := drawHeader(t, kindBatch), rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body")
		if body == nil {
			body = []byte{}
		}
		return frame{header: h, batch: &m, body: body, sent: m.Sent}, encodeBatch(h, &m, body)
	},
	"ack": func(t *rapid.T) (frame, []byte) {
		m := ack{rapid.Uint64().Draw(t, "number"), small20.Draw(t, "parts"), rapid.Bool().Draw(t, "gap"), rapid.Int64().Draw(t, "echo"), walls.Draw(t, "wall")}
		h := drawHeader(t, kindAck)
		return frame{header: h, ack: &m}, encodeFrame(h, &m)
	},
	"ping": func(t *rapid.T) (frame, []byte) {
		m := ping{rapid.Int64().Draw(t, "sent"), walls.Draw(t, "wall")}
		h := drawHeader(t, kindPing)
		return frame{header: h, ping: &m, sent: m.Sent}, encodeFrame(h, &m)
	},
	"held": func(t *rapid.T) (frame, []byte) {
		m := held{small20.Draw(t, "parts"), rapid.Int64().Draw(t, "echo")}
		h := drawHeader(t, kindHeld)
		return frame{header: h, held: &m}, encodeFrame(h, &m)
	},
	"goodbye": func(t *rapid.T) (frame, []byte) {
		h := drawHeader(t, kindGoodbye)
		return frame{header: h}, encodeFrame(h, nil)
	},
}

var small20 = rapid.IntRange(0, 1<<20)

// Every frame comes out as it went in, and so does it with fields of a later version
// behind its own.
func TestFramesRoundTrip(t *testing.T) {
	all := maps.Clone(messages)
	maps.Copy(all, joinMessages)
	for name, draw := range all {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				want, data := draw(r)
				for _, data := range [][]byte{data, extended(t, data)} {
					got, err := decodeFrame(data)
					if err != nil {
						r.Fatal(err)
					}
					want.size = len(data)
					if !reflect.DeepEqual(normal(*got), normal(want)) {
						r.Fatalf("got %+v, want %+v", *got, want)
					}
				}
			})
		})
	}
}

// normal is f with no difference between nil and empty.
func normal(f frame) frame {
	if f.body = slices.Clone(f.body); len(f.body) == 0 {
		f.body = nil
	}
	if f.welcome != nil && len(f.welcome.Numbers) == 0 {
		m := *f.welcome
		m.Numbers, f.welcome = nil, &m
	}
	if f.start != nil {
		m := *f.start
		m.Numbers, m.Defs = append([]uint64(nil), m.Numbers...), append([]Definition(nil), m.Defs...)
		m.Records = append([]*Record(nil), m.Records...)
		f.start = &m
	}
	return normalJoin(f)
}

// Entries and records come out as they went in, grouped by limit and window; starts in
// whole microseconds before or after the cut, never earlier than they were, and by less
// than one microsecond later. Amounts of either sign and those of windows are exact.
func TestBodiesRoundTrip(t *testing.T) {
	entry := rapid.Custom(func(t *rapid.T) Entry {
		e := Entry{rapid.Uint64Max(5).Draw(t, "limit"), rapid.Uint64().Draw(t, "hash"), rapid.Int64().Draw(t, "n"), rapid.Int64().Draw(t, "start"), 0}
		if rapid.Bool().Draw(t, "window") {
			e.Start, e.Per = rapid.SampledFrom([]int64{-5, 0, 60, math.MaxInt64}).Draw(t, "from"), rapid.SampledFrom([]int64{1, 60, math.MaxInt64}).Draw(t, "per")
		}
		return e
	})
	rapid.Check(t, func(t *rapid.T) {
		last := rapid.Int64().Draw(t, "last")
		s := &segment{to: 1, first: rapid.Int64Max(last).Draw(t, "first"), last: last,
			entries: rapid.SliceOfN(entry, 0, 60).Draw(t, "entries"), defs: definitions.Draw(t, "definitions")}
		told := records.Draw(t, "records")
		most := rapid.IntRange(1, 1000).Draw(t, "most")
		var got []Entry
		var defs []Definition
		var heard []*Record
		for _, data := range encodeBodies(s, told, most) {
			b, err := decodeBody(data, func(e Entry) { got = append(got, e) })
			if err != nil || b.first != s.first || b.last != s.last {
				t.Fatalf("got first %d, last %d; want %d, %d (%v)", b.first, b.last, s.first, s.last, err)
			}
			defs, heard = append(defs, b.defs...), append(heard, b.records...)
		}
		want := slices.SortedStableFunc(slices.Values(s.entries), func(a, b Entry) int { return groupOf(&a, s.last).compare(groupOf(&b, s.last)) })
		if !slices.Equal(defs, s.defs) || len(got) != len(want) {
			t.Fatalf("got %d entries, %v; want %d, %v", len(got), defs, len(want), s.defs)
		}
		if !slices.EqualFunc(heard, told, func(a, b *Record) bool { return *a == *b }) {
			t.Fatalf("got records %v, want %v", heard, told)
		}
		for i, w := range want {
			if extreme := subSat(s.last, w.Start); w.Per == 0 && extreme < math.MaxInt64 && extreme > math.MinInt64+1000 {
				if late := uint64(got[i].Start) - uint64(w.Start); late >= 1000 {
					t.Fatalf("entry %d: got start %d, want %d and less than 1 µs later", i, got[i].Start, w.Start)
				}
				w.Start = got[i].Start
			} else if w.Per == 0 {
				w.Start = got[i].Start
			}
			if got[i] != w {
				t.Fatalf("entry %d: got %v, want %v", i, got[i], w)
			}
		}
	})
}

// typical is a drain of n entries as a busy node makes them: two limits, a few events a
// key, runs that began within the last sync interval.
func typical(n int, now int64) []Entry {
	entries := make([]Entry, n)
	hash := uint64(1)
	for i := range entries {
		hash ^= hash<<13 | 1
		hash ^= hash >> 7
		hash ^= hash << 17
		entries[i] = Entry{Limit: 1 << 63 >> (i & 1), Hash: hash, N: 1 + int64(hash%60), Start: now - int64(hash%100_000_000)}
	}
	return entries
}

// A typical entry takes at most 14 bytes on the wire, all headers included.
func TestTypicalEntryIsSmall(t *testing.T) {
	for _, n := range []int{100, 10_000} {
		w, a, b := pair(t)
		w.skip(1000 * ms)
		a.append(typical(n, w.now))
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

// A frame is the receiver's to keep, and many links share a body: decoding changes
// neither, and encoding does not either.
func TestBodiesAreShared(t *testing.T) {
	s := &segment{to: 1, last: 5000, entries: []Entry{{2, 1, 1, 1, 0}, {1, 2, 2, 2, 0}, {2, 3, 3, 3, 0}}}
	before := slices.Clone(s.entries)
	body := encodeBodies(s, nil, 1000)[0]
	kept := bytes.Clone(body)
	one := encodeBatch(header{kind: kindBatch, peer: 1}, &batch{To: 1, Parts: 1}, body)
	other := encodeBatch(header{kind: kindBatch, peer: 2}, &batch{To: 1, Parts: 1}, body)
	for _, frame := range [][]byte{one, other} {
		f, err := decodeFrame(frame)
		if err != nil || !bytes.Equal(f.body, kept) {
			t.Errorf("got body %x, want %x (%v)", f.body, kept, err)
		}
		if _, err := decodeBody(f.body, func(Entry) {}); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(body, kept) || !slices.Equal(s.entries, before) {
		t.Error("a body or segment was changed")
	}
}

// encodeBatch is a whole batch frame.
func encodeBatch(h header, b *batch, body []byte) []byte {
	return slices.Concat(encodeCarrier(h, b, body), body)
}

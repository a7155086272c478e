package statefile

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSampleRoundTrips(t *testing.T) {
	path := path(t)
	if err := Write(path, sample()[0].(Header), play(sample())); err != nil {
		t.Fatal(err)
	}
	var v record
	if err := Read(path, seed, &v); err != nil {
		t.Fatal(err)
	}
	check(t, v.items, sample())
}

// All that was written comes back, whatever the numbers, over many chunks, and rows of
// several limits in any order.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := drawItems(t)
		var v record
		if err := decode(encodeRapid(t, items), &v); err != nil {
			t.Fatal(err)
		}
		if len(v.items) != len(items) {
			t.Fatalf("got %d items, want %d", len(v.items), len(items))
		}
		if again := encodeRapid(t, v.items); !bytes.Equal(again, encodeRapid(t, items)) {
			t.Fatalf("got %v, want %v", v.items, items)
		}
	})
}

func drawItems(t *rapid.T) []any {
	i64, u64 := rapid.Int64(), rapid.Uint64()
	events := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Event { return Event{i64.Draw(t, "at"), i64.Draw(t, "n")} }), 0, 4)
	items := []any{Header{seed, i64.Draw(t, "wall")}}
	limits := rapid.IntRange(1, 5).Draw(t, "limits")
	for id := range limits {
		items = append(items, Limit{uint64(id), rapid.String().Draw(t, "name"), rapid.String().Draw(t, "text")})
	}
	for range rapid.IntRange(0, 40).Draw(t, "rows") {
		r := Row{Limit: uint64(rapid.IntRange(0, limits-1).Draw(t, "limit")), Hash: u64.Draw(t, "hash")}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			r.At, r.Rem = i64.Draw(t, "at"), u64.Draw(t, "rem")
		case 1:
			r.At, r.Counts = i64.Draw(t, "from"), [3]int64{i64.Draw(t, "a"), i64.Draw(t, "b"), i64.Draw(t, "c")}
		case 2:
			if r.Log = events.Draw(t, "log"); len(r.Log) == 0 {
				r.Log = nil
			}
		case 3:
			items = append(items, drawRegister(t), drawPart(t))
		}
		items = append(items, r)
	}
	return items
}

func drawRegister(t *rapid.T) Register {
	i64, u64 := rapid.Int64(), rapid.Uint64()
	return Register{
		Kind: rapid.Uint8().Draw(t, "kind"), Limit: u64.Draw(t, "limit"), Hash: u64.Draw(t, "hash"),
		Maker: u64.Draw(t, "maker"), ID: u64.Draw(t, "id"), Version: u64.Draw(t, "version"), Writer: u64.Draw(t, "writer"),
		Open: rapid.Bool().Draw(t, "open"), N: i64.Draw(t, "n"), Start: i64.Draw(t, "start"), Per: i64.Draw(t, "per"),
		Until: i64.Draw(t, "until"), Label: rapid.String().Draw(t, "label"), Charged: i64.Draw(t, "charged"), Life: i64.Draw(t, "life"),
	}
}

func drawPart(t *rapid.T) Part {
	p := Part{From: uint8(rapid.IntRange(0, 254).Draw(t, "from"))}
	p.To = uint8(rapid.IntRange(int(p.From)+1, 255).Draw(t, "to"))
	for range rapid.IntRange(0, 3).Draw(t, "numbers") {
		n := Number{rapid.Uint64().Draw(t, "origin"), rapid.Uint64().Draw(t, "number"), rapid.Bool().Draw(t, "doubtful"), rapid.Int64Range(0, 1<<63-1).Draw(t, "silent")}
		p.Vector = append(p.Vector, n)
	}
	return p
}

func encodeRapid(t *rapid.T, items []any) []byte {
	var data bytes.Buffer
	w := newWriter(&data, items[0].(Header))
	if err := errors.Join(play(items)(w), w.finish()); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// A file of format 1 is read: it has no parts, and of a hold its row counts what it says.
func TestOlderFormat(t *testing.T) {
	items := slices.DeleteFunc(sample(), func(item any) bool { _, part := item.(Part); return part })
	var v record
	if err := decode(older(t, items), &v); err != nil {
		t.Fatal(err)
	}
	for i, item := range items {
		if r, ok := item.(Register); ok {
			r.Charged, r.Life = r.N, r.Until
			items[i] = r
		}
	}
	check(t, v.items, items)
}

// As many origins as a node hands over have room.
func TestLargestVector(t *testing.T) {
	p := Part{0, 64, make([]Number, MaxVector)}
	for i := range p.Vector {
		p.Vector[i] = Number{1<<64 - 1, 1<<64 - 1, true, 1<<63 - 1}
	}
	var v record
	if err := decode(encode(t, []any{Header{Seed: seed}, p}), &v); err != nil {
		t.Fatal(err)
	}
	check(t, v.items, []any{Header{Seed: seed}, p})
}

// Fields are compared one by one here, as the law above compares encodings only.
func TestExtremes(t *testing.T) {
	const most, least = 1<<63 - 1, -1 << 63
	items := []any{
		Header{seed, least}, Limit{1<<64 - 1, "", ""}, Limit{0, "a", "b"},
		Row{Limit: 0, Hash: 1, At: most, Rem: 1<<64 - 1}, Row{Limit: 0, At: least, Counts: [3]int64{least, most, 0}}, Row{Limit: 0, At: most},
		Row{Limit: 1<<64 - 1, At: 3, Log: []Event{{least, most}, {most, least}, {0, 0}}}, Row{Limit: 1<<64 - 1, At: 3}, Row{Limit: 1<<64 - 1},
		Register{}, Register{255, 1, 2, 3, 4, 5, 6, true, least, most, least, most, "\x00\xff", least, least},
		Part{From: 254, To: 255}, Part{0, 1, []Number{{1<<64 - 1, 1<<64 - 1, true, most}, {}}},
	}
	var v record
	if err := decode(encode(t, items), &v); err != nil {
		t.Fatal(err)
	}
	check(t, v.items, items)
}

// A definition that is said again is written once; a changed one, and one changed back,
// each time.
func TestLimitsAreSaidOnce(t *testing.T) {
	a, b, c := Limit{1, "a", "1/s"}, Limit{2, "b", "1/s"}, Limit{1, "a", "2/s"}
	row := Row{Limit: 1, Hash: 5, At: 9}
	var v record
	if err := decode(encode(t, []any{Header{Seed: seed}, a, b, a, row, c, row, c, a, row}), &v); err != nil {
		t.Fatal(err)
	}
	check(t, v.items, []any{Header{Seed: seed}, a, b, row, c, row, a, row})
}

// Chunks are written as they fill up, none is longer than a reader takes, and the
// writer's memory stays that of one chunk.
func TestChunks(t *testing.T) {
	long := strings.Repeat("x", maxItem-100)
	items := []any{Header{Seed: seed}}
	for i := range 40_000 {
		if i%10_000 == 0 {
			items = append(items, Limit{uint64(i), long, ""}, Limit{uint64(i + 1), "", long})
		}
		items = append(items, Row{Limit: uint64(i / 10_000 * 10_000), Hash: uint64(i), At: int64(i) << 30})
	}
	var v record
	if err := decode(encode(t, items), &v); err != nil {
		t.Fatal(err)
	}
	check(t, v.items, items)

	w := newWriter(io.Discard, Header{})
	w.Limit(Limit{})
	for i := range 1_000_000 {
		w.Row(&Row{Hash: uint64(i)})
		if len(w.buf) >= chunkSize || cap(w.buf) > 2*chunkSize {
			t.Fatalf("row %d: got %d bytes waiting, room for %d", i, len(w.buf), cap(w.buf))
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		items []any
		want  error
	}{
		"row without limit":  {[]any{Header{}, Limit{ID: 1}, Row{Limit: 2}, Limit{ID: 2}}, errNoLimit},
		"long name":          {[]any{Header{}, Limit{Name: strings.Repeat("x", maxItem)}}, errTooLong},
		"long label":         {[]any{Header{}, Register{Label: strings.Repeat("x", maxItem)}, Limit{}}, errTooLong},
		"long vector":        {[]any{Header{}, Part{0, 1, make([]Number, maxItem/10)}}, errTooLong},
		"log of many events": {[]any{Header{}, Limit{}, Row{Log: make([]Event, maxItem/2)}}, errTooLong},
	} {
		w := newWriter(io.Discard, Header{})
		if err := play(c.items)(w); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if err := w.finish(); !errors.Is(err, c.want) {
			t.Errorf("%s: at the end got %v, want %v", name, err, c.want)
		}
	}
}

// A disk that is full anywhere shows in the end.
func TestWriterKeepsTheFirstError(t *testing.T) {
	whole := len(encode(t, sample()))
	for room := range whole {
		w := newWriter(&limited{io.Discard, room}, Header{})
		play(sample())(w)
		if err := w.finish(); err != errStop || w.Err() != errStop {
			t.Fatalf("room for %d of %d bytes: got %v and %v, want %v", room, whole, err, w.Err(), errStop)
		}
	}
}

package gossip

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var someTime = rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1e12, 1e12))

var rowsOfAll = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Row {
	r := Row{Limit: rapid.Uint64Max(3).Draw(t, "limit"), Hash: rapid.Uint64().Draw(t, "hash"), Shape: Shape(rapid.IntRange(0, int(RowUnknown)).Draw(t, "shape"))}
	count := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-5, 1000))
	if r.Shape != RowLog {
		r.At = someTime.Draw(t, "at")
	}
	if r.Shape == RowBucket || r.Shape == RowUnknown {
		r.Rem = rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64()).Draw(t, "rem")
	}
	if r.Shape == RowWindow || r.Shape == RowUnknown {
		r.Counts = [3]int64{count.Draw(t, "a"), count.Draw(t, "b"), count.Draw(t, "c")}
	}
	if r.Shape == RowLog {
		r.Moments = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Moment { return Moment{someTime.Draw(t, "when"), count.Draw(t, "n")} }), 1, 20).Draw(t, "moments")
	}
	return r
}), 0, 40)

var heldOfAll = rapid.Custom(func(t *rapid.T) (holds []Held) {
	for _, r := range records.Draw(t, "records") {
		holds = append(holds, Held{*r, rapid.Int64().Draw(t, "charged")})
	}
	return holds
})

// Rows of all shapes, holds and what is charged of them come out as they went in, to the
// nanosecond, in bodies of any size: of a bound as small as one likes, each has something.
func TestRowsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, holds, defs := rowsOfAll.Draw(t, "rows"), heldOfAll.Draw(t, "holds"), definitions.Draw(t, "definitions")
		cut, most := someTime.Draw(t, "cut"), rapid.IntRange(1, 4000).Draw(t, "most")
		want := slices.SortedStableFunc(slices.Values(rows), func(a, b Row) int { return cmp.Or(order(a.Limit, b.Limit), cmp.Compare(a.Shape, b.Shape)) })
		var got Chunk
		bodies := encodeRows(cut, defs, slices.Clone(rows), holds, most)
		for _, body := range bodies {
			if err := decodeRows(body, cut, &got); err != nil {
				t.Fatal(err)
			}
		}
		if len(bodies) > 1+len(rows)+len(holds)+len(defs) {
			t.Fatalf("%d bodies for %d rows, %d holds, %d definitions", len(bodies), len(rows), len(holds), len(defs))
		}
		if !slices.EqualFunc(got.Rows, want, func(a, b Row) bool { return reflect.DeepEqual(a, b) }) {
			t.Fatalf("got rows %v, want %v", got.Rows, want)
		}
		if !slices.Equal(got.Holds, holds) || !slices.Equal(got.Definitions, defs) {
			t.Fatalf("got %v, %v; want %v, %v", got.Holds, got.Definitions, holds, defs)
		}
	})
}

// A bound on frames is kept wherever one row is smaller than it.
func TestRowsFitFrames(t *testing.T) {
	for _, most := range []int{500, 4000, 100_000} {
		for _, body := range encodeRows(7, nil, someRows(3000), nil, most) {
			if len(body) > most+64 {
				t.Errorf("got a body of %d bytes, want %d at most", len(body), most)
			}
		}
	}
}

// someRows are n of them, of all shapes and several limits, the times large.
func someRows(n int) (rows []Row) {
	for i := range n {
		r := Row{Limit: uint64(i % 5), Hash: uint64(i) << 40, Shape: Shape(i % 4), At: math.MaxInt64 - int64(i)}
		switch r.Shape {
		case RowBucket:
			r.Rem = 1 << 63
		case RowLog:
			r.At, r.Moments = 0, []Moment{{1, 1 << 62}, {-5, 1}}
		default:
			r.Counts = [3]int64{1 << 62, -1 << 62, int64(i)}
		}
		rows = append(rows, r)
	}
	return rows
}

// A row's field that a later version adds to a group, and a shape of its own, are skipped.
func TestAdditionsToRowsAreSkipped(t *testing.T) {
	e := newEncoder(header{})
	e.array(6)
	e.definitions(nil)
	e.array(2)
	for _, shape := range []uint64{uint64(RowWindow), 9} {
		e.array(6)
		e.uint(shape, 1, 1)
		e.bin([]byte{9, 0, 0, 0, 0, 0, 0, 0})
		e.bin([]byte{8, 2, 4, 6})
		e.string("more")
	}
	e.array(0)
	e.bin([]byte{})
	e.array(1)
	e.bool(true)
	e.string("more")
	var got Chunk
	err := decodeRows(e.bytes(), 100, &got)
	if want := (Row{Limit: 1, Hash: 9, Shape: RowWindow, At: 4, Counts: [3]int64{1, 2, 3}}); err != nil || len(got.Rows) != 1 || !reflect.DeepEqual(got.Rows[0], want) {
		t.Errorf("got %+v, %v; want %+v", got.Rows, err, want)
	}
}

// rowBombs are bodies of rows that claim more than they hold.
func rowBombs() map[string][]byte {
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	huge := []byte{0xdd, 0xff, 0xff, 0xff, 0xff}
	bin := []byte{0xc6, 0xff, 0xff, 0xff, 0xff}
	million := bytes.Repeat([]byte{0x91}, 1<<20)
	many := binOf(make([]byte, 1<<19))
	group := func(shape byte, count []byte, columns ...[]byte) []byte {
		return join([]byte{0x94, 0x90, 0x91, 0x95, shape, 1}, count, join(columns...))
	}
	return map[string][]byte{
		"definitions":          join([]byte{0x94}, huge),
		"groups":               join([]byte{0x94, 0x90}, huge),
		"groups that fit":      join([]byte{0x94, 0x90, 0xdd, 0, 0x0f, 0, 0}, million),
		"hashes":               group(0, []byte{5}, bin),
		"rows without data":    group(1, []byte{0xcd, 0xff, 0xff}, many, binOf([]byte{})),
		"a count that wraps":   group(0, []byte{0xcf, 0x20, 0, 0, 0, 0, 0, 0, 0}, binOf([]byte{}), binOf([]byte{})),
		"moments":              group(2, []byte{1}, binOf(make([]byte, 8)), binOf([]byte{0xff, 0xff, 0xff, 0xff, 0x7f})),
		"moments that fit":     group(2, []byte{1}, binOf(make([]byte, 8)), binOf(join([]byte{0x80, 0x80, 0x20}, make([]byte, 1<<20)))),
		"records":              join([]byte{0x94, 0x90, 0x90}, huge),
		"records that fit":     join([]byte{0x94, 0x90, 0x90, 0xdd, 0, 0, 0xff, 0xff}, million),
		"holds and no charges": join([]byte{0x94, 0x90, 0x90}, oneRecord(), []byte{0xc4, 0}),
	}
}

func binOf(data []byte) []byte {
	e := newEncoder(header{})
	e.bin(data)
	return e.bytes()
}

func oneRecord() []byte {
	e := newEncoder(header{})
	e.records(4, someRecords()[:1])
	return e.bytes()
}

// Promise 10, for what a donor gives, and for what a newcomer asks.
func TestJoinBombs(t *testing.T) {
	for name, data := range rowBombs() {
		used := allocated(func() { _ = decodeRows(data, 0, &Chunk{}) })
		most := uint64(20*len(data) + 4096)
		if raceEnabled { // where the compiler makes a slice first to append it
			most += most / 2
		}
		if used > most {
			t.Errorf("%s: allocated %d bytes for %d, want %d at most", name, used, len(data), most)
		}
		if err := decodeRows(data, 0, &Chunk{}); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	huge := []byte{0xdd, 0xff, 0xff, 0xff, 0xff}
	fits := append([]byte{0xdd, 0, 0x0f, 0, 0}, bytes.Repeat([]byte{0x91}, 1<<20)...)
	for name, start := range map[string][]byte{
		"holders": {0x9a, kindWant, 1, 2, 3, 4, 1, 1, 0, 0xc2},
		"missing": {0x99, kindRefused, 1, 2, 3, 4, 1, 0xc2},
		"claims":  {0x9f, kindChunk, 1, 2, 3, 4, 1, 0, 1, 0, 1, 5, 4},
	} {
		for _, rest := range [][]byte{huge, fits} {
			data := slices.Concat(start, rest)
			used := allocated(func() { _, _ = decodeFrame(data) })
			if most := uint64(16*len(data) + 4096); used > most {
				t.Errorf("%s: allocated %d bytes for %d, want %d at most", name, used, len(data), most)
			}
			if _, err := decodeFrame(data); err == nil {
				t.Errorf("%s: got no error", name)
			}
		}
	}
}

// A full frame of rows, however it is cut into groups, takes a small multiple of its
// size; and all parts of one answer together do.
func TestRowsAreBounded(t *testing.T) {
	for _, limits := range []int{1, 1000, 20_000} {
		rows := make([]Row, 20_000)
		for i := range rows {
			rows[i] = Row{Limit: uint64(i % limits), Hash: uint64(i)}
		}
		bodies := encodeRows(0, nil, rows, nil, 1<<16)
		size := 0
		for _, body := range bodies {
			size += len(body)
		}
		used := allocated(func() {
			_ = decodeAllRows(bodies, 0, &Chunk{})
		})
		if most := uint64(20 * size); used > most {
			t.Errorf("%d limits: allocated %d bytes for %d, want %d at most", limits, used, size, most)
		}
	}
}

// FuzzRows: a body of rows never panics, has no more rows than its bytes allow, and what
// decodes encodes to one that says the same.
func FuzzRows(f *testing.F) {
	f.Add(rowBody(), int64(4))
	for _, data := range rowBombs() {
		f.Add(data[:min(len(data), 200)], int64(-1))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int64) {
		var c, again Chunk
		err := decodeRows(data, cut, &c)
		if 9*len(c.Rows)+4*len(c.Definitions)+15*len(c.Holds) > len(data) {
			t.Fatalf("got %d rows, %d definitions, %d holds of %d bytes", len(c.Rows), len(c.Definitions), len(c.Holds), len(data))
		}
		if err != nil {
			return
		}
		for _, body := range encodeRows(cut, c.Definitions, slices.Clone(c.Rows), c.Holds, 1<<20) {
			if err := decodeRows(body, cut, &again); err != nil {
				t.Fatalf("its own encoding: %v", err)
			}
		}
		slices.SortStableFunc(c.Rows, func(a, b Row) int {
			return cmp.Or(order(a.Limit, b.Limit), cmp.Compare(a.Shape, b.Shape))
		})
		if got, want := fmt.Sprintf("%v", again), fmt.Sprintf("%v", c); got != want {
			t.Fatalf("got %s, then %s", want, got)
		}
	})
}

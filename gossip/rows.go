package gossip

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Shape says what a row's numbers are.
type Shape uint8

// Shapes of rows.
const (
	RowBucket  Shape = 0 // At, a time; Rem
	RowWindow  Shape = 1 // At, where the newest window starts in cluster time; Counts
	RowLog     Shape = 2 // Moments
	RowUnknown Shape = 3 // of a limit without a definition: At, a time, or a window's start if Rem is not 0; Rem, Counts
)

// Row is the state of one key, as a donor has it. Times are the holder's monotonic
// nanoseconds.
type Row struct {
	Limit, Hash uint64
	Shape       Shape
	At          int64
	Rem         uint64
	Counts      [3]int64
	Moments     []Moment
}

// Moment is events of a log at one time.
type Moment struct{ At, N int64 }

// Held is a hold, and as how many events the row of its key counts it.
type Held struct {
	Record  Record
	Charged int64
}

// Chunk is a range of a donor's table, to be merged: what each key has become there, and
// what this node has told of it since as far as the donor knew (Own). Times are this
// node's.
type Chunk struct {
	Donor       uint64
	From, To    int // chunks From … To − 1
	Definitions []Definition
	Rows        []Row
	Holds       []Held
	Own         []Entry
	Wall        int64 // the donor's cluster time, less our time
	Exact       bool  // all that is here of its keys is in it, in Own, in Holds or unsent: they are to be just that, also those not in Rows
}

// move has the row's times as long before or after here as they were before or after cut.
func (r *Row) move(cut, here int64) {
	switch r.Shape {
	case RowBucket:
		r.At = moved(r.At, cut, here)
	case RowLog:
		for i := range r.Moments {
			r.Moments[i].At = moved(r.Moments[i].At, cut, here)
		}
	case RowUnknown:
		if r.Rem == 0 {
			r.At = moved(r.At, cut, here)
		}
	}
}

// What follows the head of a CHUNK: definitions, groups of rows, holds, and as what each of
// these is charged. Rows of one limit and shape are a group; in data, a row's numbers follow
// each other as varints, times as nanoseconds from the cut.
//
//	[[definition…], [[shape, limit, count, hashes, data]…], [record…], charges]
const (
	maxRowBytes      = 8 + 5*binary.MaxVarintLen64
	maxMomentBytes   = 2 * binary.MaxVarintLen64
	maxRowGroupBytes = 40
)

func (r *Row) sameGroup(o *Row) bool { return r.Limit == o.Limit && r.Shape == o.Shape }

// encodeRows is all of it in as many bodies of at most max bytes as it needs.
func encodeRows(cut int64, defs []Definition, rows []Row, holds []Held, max int) (bodies [][]byte) {
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Or(order(a.Limit, b.Limit), cmp.Compare(a.Shape, b.Shape)) })
	for {
		d, room := fitDefinitions(defs, max)
		h := min(len(holds), room/(maxRecordBytes+binary.MaxVarintLen64))
		n := fitRows(rows, room-h*(maxRecordBytes+binary.MaxVarintLen64))
		if d == 0 && h == 0 && n == 0 { // whatever max is
			h = min(1, len(holds))
			n = min(1-h, len(rows))
		}
		bodies = append(bodies, encodeRowBody(cut, defs[:d], rows[:n], holds[:h]))
		if defs, rows, holds = defs[d:], rows[n:], holds[h:]; len(defs) == 0 && len(rows) == 0 && len(holds) == 0 {
			return bodies
		}
	}
}

func fitRows(rows []Row, room int) (n int) {
	for ; n < len(rows); n++ {
		if n == 0 || !rows[n].sameGroup(&rows[n-1]) {
			room -= maxRowGroupBytes
		}
		if room -= rows[n].size(); room < 0 {
			break
		}
	}
	return n
}

// size is what a row takes at most.
func (r *Row) size() int {
	if r.Shape == RowBucket {
		return 8 + 2*binary.MaxVarintLen64
	}
	return maxRowBytes + maxMomentBytes*len(r.Moments)
}

func encodeRowBody(cut int64, defs []Definition, rows []Row, holds []Held) []byte {
	e := newEncoder(header{})
	e.buf.Grow(64 + 24*len(rows))
	e.array(4)
	e.definitions(defs)
	groups := 0
	for i := range rows {
		if i == 0 || !rows[i].sameGroup(&rows[i-1]) {
			groups++
		}
	}
	e.array(groups)
	for i, j := 0, 0; i < len(rows); i = j {
		for j = i + 1; j < len(rows) && rows[j].sameGroup(&rows[i]); {
			j++
		}
		e.rows(cut, rows[i:j])
	}
	records, charges := make([]*Record, len(holds)), []byte{}
	for i := range holds {
		records[i] = &holds[i].Record
		charges = binary.AppendVarint(charges, holds[i].Charged)
	}
	e.records(cut, records)
	e.bin(charges)
	return e.bytes()
}

func (e *encoder) rows(cut int64, rows []Row) {
	e.array(5)
	e.uint(uint64(rows[0].Shape), rows[0].Limit, uint64(len(rows)))
	column := make([]byte, 0, 8*len(rows))
	for i := range rows {
		column = binary.LittleEndian.AppendUint64(column, rows[i].Hash)
	}
	e.bin(column)
	column = column[:0]
	for i := range rows {
		column = rows[i].append(column, cut)
	}
	e.bin(column)
}

func (r *Row) append(data []byte, cut int64) []byte {
	switch r.Shape {
	case RowBucket:
		return binary.AppendUvarint(binary.AppendVarint(data, r.At-cut), r.Rem)
	case RowLog:
		data = binary.AppendUvarint(data, uint64(len(r.Moments)))
		for _, m := range r.Moments {
			data = binary.AppendVarint(binary.AppendVarint(data, m.At-cut), m.N)
		}
		return data
	case RowUnknown:
		at := r.At
		if r.Rem == 0 {
			at -= cut
		}
		data = binary.AppendUvarint(binary.AppendVarint(data, at), r.Rem)
	default:
		data = binary.AppendVarint(data, r.At)
	}
	for _, n := range r.Counts {
		data = binary.AppendVarint(data, n)
	}
	return data
}

// minRowBytes is what a row takes at least, so that there is room for all at once.
const minRowBytes = 10

// decodeAllRows adds what bodies hold to into, in the donor's time.
func decodeAllRows(bodies [][]byte, cut int64, into *Chunk) error {
	size := 0
	for _, data := range bodies {
		size += len(data)
	}
	into.Rows = slices.Grow(into.Rows, size/minRowBytes)
	for _, data := range bodies {
		if err := decodeRows(data, cut, into); err != nil {
			return err
		}
	}
	return nil
}

func decodeRows(data []byte, cut int64, into *Chunk) error {
	into.Rows = slices.Grow(into.Rows, len(data)/minRowBytes)
	d := newDecoder(data)
	fields := d.array(1)
	into.Definitions = append(into.Definitions, d.definitions()...)
	for groups := d.array(1); groups > 0 && d.err == nil; groups-- {
		into.Rows = d.rows(cut, into.Rows)
	}
	records := d.records(cut)
	charges := d.bin()
	d.skip(fields - 4)
	for _, r := range records {
		n, i := binary.Varint(charges)
		if i <= 0 {
			d.fail("charges")
			break
		}
		charges = charges[i:]
		into.Holds = append(into.Holds, Held{*r, n})
	}
	return d.err
}

func (d *decoder) rows(cut int64, rows []Row) []Row {
	fields := d.array(1)
	shape, limit, count := d.uint(), d.uint(), d.uint()
	hashes, data := d.hashes(count), d.bin()
	d.skip(fields - 5)
	if d.err != nil || shape > uint64(RowUnknown) {
		return rows
	}
	for ; len(hashes) > 0; hashes = hashes[8:] {
		r := Row{Limit: limit, Hash: binary.LittleEndian.Uint64(hashes), Shape: Shape(shape)}
		var ok bool
		if data, ok = r.read(data, cut); !ok {
			d.fail("rows")
			break
		}
		rows = append(rows, r)
	}
	return rows
}

// read is append's reverse.
func (r *Row) read(data []byte, cut int64) (rest []byte, ok bool) {
	ok = true
	uint := func() uint64 {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			ok = false
			return 0
		}
		data = data[n:]
		return v
	}
	int := func() int64 {
		v := uint()
		return int64(v>>1) ^ -int64(v&1)
	}
	switch r.Shape {
	case RowBucket:
		r.At, r.Rem = int()+cut, uint()
		return data, ok
	case RowLog:
		n := uint()
		if n > uint64(len(data)/2) {
			return data, false
		}
		r.Moments = make([]Moment, n)
		for i := range r.Moments {
			r.Moments[i] = Moment{int() + cut, int()}
		}
		return data, ok
	case RowUnknown:
		if r.At, r.Rem = int(), uint(); r.Rem == 0 {
			r.At += cut
		}
	default:
		r.At = int()
	}
	for i := range r.Counts {
		r.Counts[i] = int()
	}
	return data, ok
}

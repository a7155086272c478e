package statefile

import "encoding/binary"

// decoder hands out the items of chunks. A number or text that is not there sets bad,
// and all after it reads as zero.
type decoder struct {
	visitor Visitor
	format  byte
	data    []byte // the whole chunk, to be used again
	rest    []byte // of the chunk
	bad     bool

	limits []known
	place  uint64 // in limits, of the last row's
	row    Row    // handed out again and again
	part   Part   // likewise
}

// known is a limit's ID and the At of its last row.
type known struct {
	id uint64
	at int64
}

// chunk hands out the items of one chunk.
func (d *decoder) chunk(data []byte) error {
	d.data, d.rest = data, data
	if d.format == 1 {
		d.vector()
	}
	for len(d.rest) > 0 && !d.bad {
		if err := d.item(); err != nil {
			return err
		}
	}
	if d.bad {
		return malformed("a chunk makes no sense")
	}
	return nil
}

// vector is skipped: it says nothing.
func (d *decoder) vector() {
	for n := d.uint(); n > 0 && !d.bad; n-- {
		d.uint()
		d.uint()
	}
}

func (d *decoder) item() error {
	head := d.rest[0]
	d.rest = d.rest[1:]
	switch {
	case head == itemLimit:
		return d.aLimit()
	case head == itemRegister || head == itemOpen:
		return d.aRegister(head == itemOpen)
	case head == itemPart && d.format > 1:
		return d.aPart()
	case head >= itemRow:
		return d.aRow(head)
	}
	d.bad = true
	return nil
}

func (d *decoder) aLimit() error {
	l := Limit{d.fixed(), d.text(), d.text()}
	if d.bad {
		return nil
	}
	d.limits = append(d.limits, known{id: l.ID})
	return d.visitor.Limit(l)
}

func (d *decoder) aRow(fields byte) error {
	hash := d.fixed()
	if fields&hasLimit != 0 {
		d.place = d.uint()
	}
	if d.place >= uint64(len(d.limits)) {
		d.bad = true
		return nil
	}
	r, limit := &d.row, &d.limits[d.place]
	*r = Row{Limit: limit.id, Hash: hash, At: limit.at, Log: r.Log[:0]}
	if fields&hasAt != 0 {
		r.At += d.int()
	}
	if fields&hasRem != 0 {
		r.Rem = d.uint()
	}
	for i := range r.Counts {
		if fields&(hasCount0<<i) != 0 {
			r.Counts[i] = d.int()
		}
	}
	if fields&hasLog != 0 {
		d.log(r)
	}
	if limit.at = r.At; d.bad {
		return nil
	}
	return d.visitor.Row(r)
}

func (d *decoder) log(r *Row) {
	at := r.At
	for n := d.uint(); n > 0 && !d.bad; n-- {
		at += d.int()
		r.Log = append(r.Log, Event{at, d.int()})
	}
}

func (d *decoder) aRegister(open bool) error {
	r := &Register{Open: open, Kind: d.byte(), Limit: d.fixed(), Hash: d.fixed(), Maker: d.fixed(), Writer: d.fixed()}
	r.ID, r.Version = d.uint(), d.uint()
	r.N, r.Start, r.Per, r.Until = d.int(), d.int(), d.int(), d.int()
	r.Label = d.text()
	if r.Charged, r.Life = r.N, r.Until; d.format > 1 {
		r.Charged, r.Life = d.int(), r.Until+d.int()
	}
	if d.bad {
		return nil
	}
	return d.visitor.Register(r)
}

func (d *decoder) aPart() error {
	p := &d.part
	p.From, p.To, p.Vector = d.byte(), d.byte(), p.Vector[:0]
	for n := d.uint(); n > 0 && !d.bad; n-- {
		x := Number{Origin: d.fixed(), Number: d.uint()}
		silent := d.uint()
		x.Silent, x.Doubtful = int64(silent>>1), silent&1 != 0
		p.Vector = append(p.Vector, x)
	}
	if d.bad = d.bad || p.From >= p.To; d.bad {
		return nil
	}
	return d.visitor.Part(p)
}

// next takes n bytes off the rest.
func (d *decoder) next(n uint64) (data []byte) {
	if d.bad || n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	data, d.rest = d.rest[:n], d.rest[n:]
	return data
}

func (d *decoder) byte() byte {
	if b := d.next(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) fixed() uint64 {
	if b := d.next(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) text() string { return string(d.next(d.uint())) }

func (d *decoder) uint() uint64 {
	x, n := binary.Uvarint(d.rest)
	if n <= 0 || d.bad {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return x
}

func (d *decoder) int() int64 {
	x := d.uint()
	return int64(x>>1) ^ -int64(x&1)
}

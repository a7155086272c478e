package gossip

import "cmp"

// RecordKind says what a record is about.
type RecordKind uint8

// Kinds of records.
const (
	RecordHold RecordKind = 1 // events taken until their number is known
	RecordBan  RecordKind = 2 // a key to which everything is refused
)

// Record is a register that every node keeps: a hold or a ban. Unlike amounts, records
// are idempotent: of two versions of one the newer stands, however often and in
// whatever order they come. Times are the holder's monotonic nanoseconds.
type Record struct {
	Kind  RecordKind
	Limit uint64 // hash of the limit's name
	Hash  uint64 // of the key
	Maker uint64 // of a hold: incarnation that made it; of a ban: 0
	ID    uint64 // of a hold: its number at its maker; of a ban: 0

	Version uint64 // the greater stands,
	Writer  uint64 // of equals that of the greater incarnation

	Open  bool   // a hold that is not settled yet, a ban in force; false: settled, lifted
	N     int64  // of a hold: events held, once settled events spent, ≥ 0; of a ban: 0
	Start int64  // of a hold: where the amount lands, as in Entry
	Per   int64  // as in Entry
	Until int64  // when an open hold expires or a ban ends
	Label string // of a ban: the key as people know it, at most MaxLabel bytes; may be empty

	life int64 // until when some version of it matters, ≥ Until
}

// MaxLabel is the most bytes of a record's label. Longer ones are cut.
const MaxLabel = 128

// RecordKey is what a record is known by. It is comparable.
type RecordKey struct {
	Kind        RecordKind
	Limit, Hash uint64
	Maker, ID   uint64
}

// Key is what r is known by.
func (r *Record) Key() RecordKey { return RecordKey{r.Kind, r.Limit, r.Hash, r.Maker, r.ID} }

// RecordNews is a record of a peer, newer than what this node had.
type RecordNews struct {
	Old   Record // what it replaces
	Known bool   // there was something to replace
	New   Record
}

// sound reports whether r is what a record of its kind can be.
func (r *Record) sound() bool {
	switch {
	case r.N < 0, r.Per < 0, len(r.Label) > MaxLabel:
		return false
	case r.Kind == RecordBan:
		return r.Maker == 0 && r.ID == 0
	}
	return r.Kind == RecordHold
}

// newerThan says which of two versions stands.
func (r *Record) newerThan(old *Record) bool {
	if r.Version != old.Version {
		return r.Version > old.Version
	}
	return r.Writer > old.Writer
}

func (k RecordKey) compare(m RecordKey) int {
	return cmp.Or(cmp.Compare(k.Kind, m.Kind), order(k.Limit, m.Limit), order(k.Hash, m.Hash), order(k.Maker, m.Maker), order(k.ID, m.ID))
}

// A record on the wire is one array; Start, unless it is that of a window, and Until
// are told as nanoseconds from the time that the body was cut or the frame was sent,
// life as nanoseconds from Until.
//
//	[kind, limit, hash, maker, id, version, writer, open, n, start, per, until, life, label]
const (
	recordFields   = 14
	maxRecordBytes = 108 // without the label
)

// records writes them; differences wrap, so that whatever goes in comes out.
func (e *encoder) records(cut int64, records []*Record) {
	e.array(len(records))
	for _, r := range records {
		start := r.Start
		if r.Per == 0 {
			start -= cut
		}
		e.array(recordFields)
		e.uint(uint64(r.Kind), r.Limit, r.Hash, r.Maker, r.ID, r.Version, r.Writer)
		e.bool(r.Open)
		e.int(r.N)
		e.int(start)
		e.int(r.Per)
		e.int(r.Until - cut)
		e.int(r.life - r.Until)
		e.string(r.Label)
	}
}

// records reads them, in the origin's time. What is no record that this version knows
// is left out.
func (d *decoder) records(cut int64) (records []*Record) {
	for n := d.array(1 + recordFields); n > 0 && d.err == nil; n-- {
		fields := d.array(1)
		kind := d.uint()
		r := &Record{
			Kind: RecordKind(min(kind, 255)), Limit: d.uint(), Hash: d.uint(), Maker: d.uint(), ID: d.uint(), Version: d.uint(), Writer: d.uint(),
			Open: d.bool(), N: d.int(), Start: d.int(), Per: d.int(), Until: d.int() + cut,
		}
		r.life = r.Until + d.int()
		if r.Label = d.string(); r.Per == 0 {
			r.Start += cut
		}
		d.skip(fields - recordFields)
		if d.err == nil && r.sound() {
			records = append(records, r)
		}
	}
	return records
}

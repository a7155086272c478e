package gossip

import (
	"cmp"
	"encoding/binary"
	"math"
)

// A group is the entries of a body that have something in common, by column: hashes of
// 8 bytes, amounts as varints, and for amounts of no window ages as varints. An age is
// how long before the cut a run started, in microseconds. Entries that started after
// the cut are a group of their own, of age 0, with one more column, how long after; a
// reader that does not know it takes them for started at the cut. All times are rounded
// so that no start is told as earlier than it was.
//
//	[0, limit, count, hashes, amounts, ages] or [0, limit, count, hashes, amounts, ages, aheads]
//	[4, limit, count, start, per, hashes, amounts]
//
// Groups of unknown kind are skipped. Reserved: 3 amounts to one peer.
const (
	groupAmounts = 0
	groupWindow  = 4
)

// What an entry and a group's head take on the wire at most.
const (
	maxEntryBytes = 8 + 2*binary.MaxVarintLen64
	maxGroupBytes = 48
)

// group is what the entries of one have in common.
type group struct {
	limit      uint64
	start, per int64 // of a window
	ahead      bool  // started after the cut
}

func groupOf(e *Entry, last int64) group {
	if e.Per != 0 {
		return group{limit: e.Limit, start: e.Start, per: e.Per}
	}
	return group{limit: e.Limit, ahead: e.Start > last}
}

func (a group) compare(b group) int {
	if a.limit != b.limit {
		return order(a.limit, b.limit)
	}
	if a.ahead != b.ahead {
		if b.ahead {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.per, b.per), cmp.Compare(a.start, b.start))
}

// groups cuts entries that are in order into stretches of one group each.
func groups(entries []Entry, last int64) (groups [][]Entry) {
	for i, j := 0, 0; i < len(entries); i = j {
		for g := groupOf(&entries[i], last); j < len(entries) && groupOf(&entries[j], last) == g; j++ {
		}
		groups = append(groups, entries[i:j])
	}
	return groups
}

func (e *encoder) group(last int64, entries []Entry) {
	g := groupOf(&entries[0], last)
	switch {
	case g.per != 0:
		e.array(7)
		e.uint(groupWindow, g.limit, uint64(len(entries)))
		e.int(g.start)
		e.int(g.per)
	case g.ahead:
		e.array(7)
		e.uint(groupAmounts, g.limit, uint64(len(entries)))
	default:
		e.array(6)
		e.uint(groupAmounts, g.limit, uint64(len(entries)))
	}
	column := make([]byte, 0, 8*len(entries))
	for i := range entries {
		column = binary.LittleEndian.AppendUint64(column, entries[i].Hash)
	}
	e.bin(column)
	column = column[:0]
	for i := range entries {
		column = binary.AppendVarint(column, entries[i].N)
	}
	e.bin(column)
	if g.per != 0 {
		return
	}
	column = column[:0]
	for i := range entries {
		column = binary.AppendUvarint(column, uint64(subSat(last, min(entries[i].Start, last)))/1000)
	}
	e.bin(column)
	if !g.ahead {
		return
	}
	column = column[:0]
	for i := range entries {
		ahead := (uint64(subSat(entries[i].Start, last)) + 999) / 1000
		column = binary.AppendUvarint(column, min(ahead, math.MaxInt64/1000))
	}
	e.bin(column)
}

// group hands each entry of a group to yield, in the origin's time.
func (d *decoder) group(last int64, yield func(Entry)) {
	fields := d.array(1)
	switch d.uint() {
	case groupAmounts:
		d.amounts(fields, last, yield)
	case groupWindow:
		d.window(fields, yield)
	default:
		d.skip(fields - 1)
	}
}

func (d *decoder) amounts(fields int, last int64, yield func(Entry)) {
	limit, count := d.uint(), d.uint()
	hashes, amounts, ages := d.hashes(count), d.bin(), d.bin()
	var aheads []byte
	if fields > 6 {
		aheads = d.bin()
		fields--
	}
	d.skip(fields - 6)
	some := len(aheads) > 0
	for ; d.err == nil && len(hashes) > 0; hashes = hashes[8:] {
		n, i := binary.Varint(amounts)
		age, j := binary.Uvarint(ages)
		if i <= 0 || j <= 0 || age > math.MaxInt64/1000 {
			d.fail("columns")
			return
		}
		amounts, ages = amounts[i:], ages[j:]
		e := Entry{Limit: limit, Hash: binary.LittleEndian.Uint64(hashes), N: n, Start: subSat(last, int64(age)*1000)}
		if some {
			ahead, k := binary.Uvarint(aheads)
			if k <= 0 || ahead > math.MaxInt64/1000 {
				d.fail("aheads")
				return
			}
			e.Start, aheads = addSat(e.Start, int64(ahead)*1000), aheads[k:]
		}
		yield(e)
	}
}

func (d *decoder) window(fields int, yield func(Entry)) {
	e := Entry{Limit: d.uint()}
	count := d.uint()
	e.Start, e.Per = d.int(), d.int()
	hashes, amounts := d.hashes(count), d.bin()
	d.skip(fields - 7)
	if e.Per <= 0 {
		d.fail("window")
	}
	for ; d.err == nil && len(hashes) > 0; hashes = hashes[8:] {
		n, i := binary.Varint(amounts)
		if i <= 0 {
			d.fail("columns")
			return
		}
		e.Hash, e.N, amounts = binary.LittleEndian.Uint64(hashes), n, amounts[i:]
		yield(e)
	}
}

// hashes is a column of so many.
func (d *decoder) hashes(count uint64) []byte {
	hashes := d.bin()
	if d.err == nil && (len(hashes)%8 != 0 || uint64(len(hashes)/8) != count) {
		d.fail("hashes")
	}
	return hashes
}

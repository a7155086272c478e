package gossip

import (
	"encoding/binary"
	"math"
	"slices"
)

// A body is what a batch carries, encoded once and shared by all links: the time its
// drains were cut, and groups of entries. A group is the entries of one limit, by
// column: hashes of 8 bytes, amounts and ages as varints. An age is how long before
// the cut a run started, in microseconds; it is rounded down, so that a start is never
// told as earlier than it was.
//
//	[last, first, [definition…], [group…]]     group: [kind, limit, count, hashes, amounts, ages]
//
// Groups of unknown kind are skipped. Reserved: 1 holds, 2 bans, 3 amounts to one peer.
const groupAmounts = 0

// What an entry and a group's head take on the wire at most.
const (
	maxEntryBytes = 8 + 2*binary.MaxVarintLen64
	maxGroupBytes = 32
)

// encodeBodies is a segment in as many bodies of at most max bytes as it needs.
func encodeBodies(s *segment, max int) (bodies [][]byte) {
	for rest, defs := byLimit(s.entries), s.defs; ; {
		d, room := fitDefinitions(defs, max)
		n := fitEntries(rest, room)
		if d == 0 && n == 0 && len(rest) > 0 {
			n = 1 // whatever max is
		}
		bodies = append(bodies, encodeBody(s, rest[:n], defs[:d]))
		if rest, defs = rest[n:], defs[d:]; len(rest) == 0 && len(defs) == 0 {
			return bodies
		}
	}
}

// fitDefinitions is how many fit, but at least one, and the room that they leave.
func fitDefinitions(defs []Definition, room int) (n, left int) {
	for ; n < len(defs); n++ {
		size := 24 + len(defs[n].Name) + len(defs[n].Text)
		if size > room && n > 0 {
			break
		}
		room = max(room-size, 0)
	}
	return n, room
}

func fitEntries(entries []Entry, room int) (n int) {
	for ; n < len(entries); n++ {
		if n == 0 || entries[n].Limit != entries[n-1].Limit {
			room -= maxGroupBytes
		}
		if room -= maxEntryBytes; room < 0 {
			break
		}
	}
	return n
}

// byLimit is entries in order of their limits: themselves if they are, or a copy.
func byLimit(entries []Entry) []Entry {
	byLimit := func(a, b Entry) int { return order(a.Limit, b.Limit) }
	if slices.IsSortedFunc(entries, byLimit) {
		return entries
	}
	return slices.SortedStableFunc(slices.Values(entries), byLimit)
}

func encodeBody(s *segment, entries []Entry, defs []Definition) []byte {
	e := newEncoder(header{})
	e.buf.Grow(64 + 14*len(entries))
	e.array(4)
	e.int(s.last)
	e.int(s.first)
	e.definitions(defs)
	groups := groupByLimit(entries)
	e.array(len(groups))
	for _, g := range groups {
		e.group(s.last, g)
	}
	return e.bytes()
}

// groupByLimit cuts entries that are in order into stretches of one limit each.
func groupByLimit(entries []Entry) (groups [][]Entry) {
	for i, j := 0, 0; i < len(entries); i = j {
		for j < len(entries) && entries[j].Limit == entries[i].Limit {
			j++
		}
		groups = append(groups, entries[i:j])
	}
	return groups
}

func (e *encoder) group(last int64, entries []Entry) {
	e.array(6)
	e.uint(groupAmounts, entries[0].Limit, uint64(len(entries)))
	column := make([]byte, 0, 8*len(entries))
	for _, x := range entries {
		column = binary.LittleEndian.AppendUint64(column, x.Hash)
	}
	e.bin(column)
	column = column[:0]
	for _, x := range entries {
		column = binary.AppendVarint(column, x.N)
	}
	e.bin(column)
	column = column[:0]
	for _, x := range entries {
		column = binary.AppendUvarint(column, uint64(subSat(last, min(x.Start, last)))/1000)
	}
	e.bin(column)
}

// body is a decoded body's own fields.
type body struct {
	first int64
	defs  []Definition
}

// decodeBody hands each entry to yield, in the origin's time.
func decodeBody(data []byte, yield func(Entry)) (body, error) {
	d := newDecoder(data)
	fields := d.array(1)
	last := d.int()
	b := body{first: d.int(), defs: d.definitions()}
	for groups := d.array(6); groups > 0 && d.err == nil; groups-- {
		d.group(last, yield)
	}
	d.skip(fields - 4)
	return b, d.err
}

func (d *decoder) group(last int64, yield func(Entry)) {
	fields := d.array(1)
	if d.uint() != groupAmounts {
		d.skip(fields - 1)
		return
	}
	limit, count := d.uint(), d.uint()
	hashes, amounts, ages := d.bin(), d.bin(), d.bin()
	d.skip(fields - 6)
	if d.err == nil && (len(hashes)%8 != 0 || uint64(len(hashes)/8) != count) {
		d.fail("hashes")
	}
	for ; d.err == nil && len(hashes) > 0; hashes = hashes[8:] {
		n, i := binary.Varint(amounts)
		age, j := binary.Uvarint(ages)
		if i <= 0 || j <= 0 || age > math.MaxInt64/1000 {
			d.fail("columns")
			return
		}
		amounts, ages = amounts[i:], ages[j:]
		yield(Entry{Limit: limit, Hash: binary.LittleEndian.Uint64(hashes), N: n, Start: subSat(last, int64(age)*1000)})
	}
}

// chunkDefs cuts definitions into lists that each fit a frame; there is always one.
func chunkDefs(defs []Definition, max int) (chunks [][]Definition) {
	for {
		n, _ := fitDefinitions(defs, max)
		chunks = append(chunks, defs[:n])
		if defs = defs[n:]; len(defs) == 0 {
			return chunks
		}
	}
}

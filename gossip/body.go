package gossip

// A body is what a batch carries, encoded once and shared by all links: the time its
// newest drain was cut, the time its oldest news became urgent, and what was defined,
// spent and recorded.
//
//	[last, first, [definition…], [group…], [record…]]

// encodeBodies is a segment in as many bodies of at most max bytes as it needs. records
// are those that it names.
func encodeBodies(s *segment, records []*Record, max int) (bodies [][]byte) {
	for rest, defs := inGroups(s.entries, s.last), s.defs; ; {
		d, room := fitDefinitions(defs, max)
		r, room := fitRecords(records, room)
		n := fitEntries(rest, s.last, room)
		if d == 0 && r == 0 && n == 0 { // whatever max is
			r = min(1, len(records))
			n = min(1-r, len(rest))
		}
		bodies = append(bodies, encodeBody(s, rest[:n], defs[:d], records[:r]))
		rest, defs, records = rest[n:], defs[d:], records[r:]
		if len(rest) == 0 && len(defs) == 0 && len(records) == 0 {
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

// fitRecords is how many fit, and the room that they leave.
func fitRecords(records []*Record, room int) (n, left int) {
	for ; n < len(records); n++ {
		size := maxRecordBytes + len(records[n].Label)
		if size > room {
			break
		}
		room -= size
	}
	return n, room
}

func fitEntries(entries []Entry, last int64, room int) (n int) {
	for ; n < len(entries); n++ {
		if n == 0 || groupOf(&entries[n], last) != groupOf(&entries[n-1], last) {
			room -= maxGroupBytes
		}
		if room -= maxEntryBytes; room < 0 {
			break
		}
	}
	return n
}

func encodeBody(s *segment, entries []Entry, defs []Definition, records []*Record) []byte {
	e := newEncoder(header{})
	e.buf.Grow(64 + 14*len(entries) + maxRecordBytes*len(records))
	e.array(5)
	e.int(s.last)
	e.int(min(s.first, s.last))
	e.definitions(defs)
	groups := groups(entries, s.last)
	e.array(len(groups))
	for _, g := range groups {
		e.group(s.last, g)
	}
	e.records(s.last, records)
	return e.bytes()
}

// body is a decoded body's own fields, in the origin's time.
type body struct {
	last, first int64
	defs        []Definition
	records     []*Record
}

// decodeBody hands each entry to yield, in the origin's time.
func decodeBody(data []byte, yield func(Entry)) (body, error) {
	d := newDecoder(data)
	fields := d.array(1)
	b := body{last: d.int(), first: d.int(), defs: d.definitions()}
	for groups := d.array(1); groups > 0 && d.err == nil; groups-- {
		d.group(b.last, yield)
	}
	if fields > 4 {
		b.records = d.records(b.last)
		fields--
	}
	d.skip(fields - 4)
	return b, d.err
}

package gossip

import "slices"

// segment is the drains (from, to] of the log, as one: at most one entry for a key or a
// window of it, and at most one mention of a record, which is told as it stands when it
// is told.
type segment struct {
	from, to uint64
	first    int64 // when its oldest news became urgent, or was drained; the end of time if it has none but definitions
	last     int64 // when its newest drain was cut
	entries  []Entry
	defs     []Definition
	records  []RecordKey
	index    map[entryKey]int32     // of entries of no window; nil until something was merged
	windows  map[windowKey]int32    // of the others; nil likewise
	named    map[RecordKey]struct{} // records; nil likewise
	pruned   int                    // entries that were left when last looked for expired ones
	parts    [][]byte               // encoded, while a batch of it may be sent
}

// entryKey is what entries are about, and windowKey what those of windows are: the
// former is half as large, and quicker to find.
type (
	entryKey  struct{ limit, hash uint64 }
	windowKey struct {
		entryKey
		start, per int64
	}
)

func (e *Entry) key() entryKey { return entryKey{e.Limit, e.Hash} }

func (e *Entry) window() windowKey { return windowKey{e.key(), e.Start, e.Per} }

// log is what this node has spent, from the oldest drain that a cursor may still ask
// for. Segments are adjacent: each starts where the one before it ends.
type log struct {
	compose  func(a, b Entry) Entry
	expired  func(e Entry) bool // may be nil
	stale    func(e Entry) bool // may be nil
	aged     uint64             // drains up to this are lacked by peers long dead alone
	forgiven int64              // events of entries that were stale
	head     uint64             // number of the newest drain
	told     uint64             // number of the newest drain that was sent to anyone
	cutAt    int64              // when the newest drain was
	prunedAt int64              // when all segments were last
	segments []*segment
	bytes    int
	defs     []Definition // live ones, sorted by ID
}

// base is the number before the oldest drain that is still here.
func (lg *log) base() uint64 {
	if len(lg.segments) == 0 {
		return lg.head
	}
	return lg.segments[0].from
}

// append puts one drain into the log: s, which is cut now.
func (lg *log) append(now int64, s *segment) {
	s.from, s.to, s.last = lg.head, lg.head+1, now
	lg.head++
	lg.cutAt = now
	lg.segments = append(lg.segments, s)
	lg.bytes += s.size()
}

// define keeps d as the live definition of its ID and reports whether it was news.
func (lg *log) define(d Definition) bool {
	i, found := slices.BinarySearchFunc(lg.defs, d.ID, func(d Definition, id uint64) int { return order(d.ID, id) })
	switch {
	case !found:
		lg.defs = slices.Insert(lg.defs, i, d)
	case lg.defs[i] == d:
		return false
	default:
		lg.defs[i] = d
	}
	return true
}

// after is the segment that continues a cursor, nil at the head.
func (lg *log) after(cursor uint64) *segment {
	if i := lg.find(cursor); i < len(lg.segments) {
		return lg.segments[i]
	}
	return nil
}

// find is the index of the first segment with from ≥ n.
func (lg *log) find(n uint64) int {
	i, _ := slices.BinarySearchFunc(lg.segments, n, func(s *segment, n uint64) int { return order(s.from, n) })
	return i
}

// boundary is the least number ≥ n at which a cursor can stand.
func (lg *log) boundary(n uint64) uint64 {
	if s := lg.after(n); s != nil {
		return s.from
	}
	return lg.head
}

func (lg *log) entriesAfter(cursor uint64) (n int) {
	for _, s := range lg.segments[lg.find(cursor):] {
		n += len(s.entries)
	}
	return n
}

// keeping is what the log keeps that no cursor asks for.
type keeping uint8

const (
	nothing keeping = iota
	allOfIt         // all drains, of which some may be one
	asItIs          // and that each by itself
)

// compact drops what every link has acknowledged and merges neighbours that no cursor
// and no end of an unacknowledged batch separates. (Such an end stays a boundary until
// the peer has stated its number: it may have applied the batch, and a batch that
// covers the same drains and more would then be dropped or doubled.)
//
// What a hold covers is kept as it is, and so is all while keep says so.
func (lg *log) compact(links []*link, keep keeping) {
	least := lg.head
	if keep != nothing {
		least = lg.base()
	}
	if lg.aged = least; keep == nothing {
		lg.aged = lg.head
	}
	for _, l := range links {
		if least = min(least, l.cursor); !l.long {
			lg.aged = min(lg.aged, l.cursor)
		}
	}
	drop := 0
	for drop < len(lg.segments) && lg.segments[drop].to <= least {
		lg.bytes -= lg.segments[drop].size()
		drop++
	}
	lg.segments = slices.Delete(lg.segments, 0, drop)
	if keep == asItIs || slices.ContainsFunc(links, func(l *link) bool { return l.hold }) {
		return
	}
	for i := 0; i+1 < len(lg.segments); {
		if separated(links, lg.segments[i].to) {
			i++
			continue
		}
		a, b := lg.segments[i], lg.segments[i+1]
		lg.bytes -= a.size() + b.size()
		lg.segments[i] = lg.merge(a, b)
		lg.bytes += lg.segments[i].size()
		lg.segments = slices.Delete(lg.segments, i+1, i+2)
	}
}

func separated(links []*link, n uint64) bool {
	for _, l := range links {
		if l.cursor == n || l.sentTo(n) || slices.Contains(l.marks, n) {
			return true
		}
	}
	return false
}

func order(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

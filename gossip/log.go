package gossip

import "slices"

// segment is the drains (from, to] of the log, as one: at most one entry a key.
type segment struct {
	from, to uint64
	first    int64 // when its oldest news became urgent, or was drained
	last     int64 // when its newest drain was cut; no entry starts after it
	entries  []Entry
	defs     []Definition
	index    map[entryKey]int32 // of entries; nil until something was merged
	parts    [][]byte           // encoded, while a batch of it may be sent
}

type entryKey struct{ limit, hash uint64 }

// log is what this node has spent, from the oldest drain that a cursor may still ask
// for. Segments are adjacent: each starts where the one before it ends.
type log struct {
	compose  func(a, b Entry) Entry
	head     uint64 // number of the newest drain
	told     uint64 // number of the newest drain that was sent to anyone
	cutAt    int64  // when the newest drain was
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

func (lg *log) append(now, first int64, entries []Entry, defs []Definition) {
	s := &segment{from: lg.head, to: lg.head + 1, first: first, last: now,
		entries: slices.Clone(entries), defs: defs}
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

// compact drops what every link has acknowledged and merges neighbours that no cursor
// and no end of an unacknowledged batch separates. (Such an end stays a boundary until
// the peer has stated its number: it may have applied the batch, and a batch that
// covers the same drains and more would then be dropped or doubled.)
func (lg *log) compact(links []*link) {
	least := lg.head
	for _, l := range links {
		least = min(least, l.cursor)
	}
	drop := 0
	for drop < len(lg.segments) && lg.segments[drop].to <= least {
		lg.bytes -= lg.segments[drop].size()
		drop++
	}
	lg.segments = slices.Delete(lg.segments, 0, drop)
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
		if l.cursor == n || l.sentTo(n) {
			return true
		}
	}
	return false
}

// merge is a and then b, in the larger of the two.
func (lg *log) merge(a, b *segment) *segment {
	into, from, swap := a, b, false
	if len(a.entries) < len(b.entries) {
		into, from, swap = b, a, true
	}
	if into.index == nil {
		into.index = make(map[entryKey]int32, len(into.entries)+len(from.entries))
		for i, e := range into.entries {
			into.index[entryKey{e.Limit, e.Hash}] = int32(i)
		}
	}
	for _, e := range from.entries {
		i, ok := into.index[entryKey{e.Limit, e.Hash}]
		switch {
		case !ok:
			into.index[entryKey{e.Limit, e.Hash}] = int32(len(into.entries))
			into.entries = append(into.entries, e)
		case swap:
			into.entries[i] = lg.compose(e, into.entries[i])
		default:
			into.entries[i] = lg.compose(into.entries[i], e)
		}
	}
	into.first, into.last = min(a.first, b.first), max(a.last, b.last)
	into.defs = mergeDefs(a.defs, b.defs)
	into.from, into.to, into.parts = a.from, b.to, nil
	return into
}

// mergeDefs keeps the later definition of each ID, in order of first appearance.
func mergeDefs(a, b []Definition) []Definition {
	merged := slices.Clone(a)
	for _, d := range b {
		if i := slices.IndexFunc(merged, func(m Definition) bool { return m.ID == d.ID }); i >= 0 {
			merged[i] = d
		} else {
			merged = append(merged, d)
		}
	}
	return merged
}

// size is a segment's memory in bytes, about.
func (s *segment) size() int {
	n := 128 + 32*cap(s.entries) + 24*len(s.index) + 64*len(s.defs)
	for _, p := range s.parts {
		n += len(p)
	}
	return n
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

package gossip

import "slices"

// merge is a and then b, in the larger of the two.
func (lg *log) merge(a, b *segment) *segment {
	into, from, swap := a, b, false
	if len(a.entries) < len(b.entries) {
		into, from, swap = b, a, true
	}
	lg.mergeEntries(into, from, swap)
	into.mergeRecords(from)
	into.first, into.last = min(a.first, b.first), max(a.last, b.last)
	into.defs = mergeDefs(a.defs, b.defs)
	into.from, into.to, into.parts = a.from, b.to, nil
	if len(into.entries) >= 2*max(into.pruned, 16) {
		lg.pruneSegment(into)
	}
	return into
}

// mergeEntries adds those of from; earlier says that they were spent before.
func (lg *log) mergeEntries(into, from *segment, earlier bool) {
	if into.index == nil && len(from.entries) > 0 {
		into.index = make(map[entryKey]int32, len(into.entries)+len(from.entries))
		into.windows = make(map[windowKey]int32)
		for i := range into.entries {
			into.note(&into.entries[i], int32(i))
		}
	}
	for i := range from.entries {
		e := &from.entries[i]
		j, ok := into.find(e)
		switch {
		case !ok:
			into.note(e, int32(len(into.entries)))
			into.entries = append(into.entries, *e)
		case e.Per != 0:
			into.entries[j].N = addSat(into.entries[j].N, e.N)
		case earlier:
			into.entries[j] = lg.compose(*e, into.entries[j])
		default:
			into.entries[j] = lg.compose(into.entries[j], *e)
		}
	}
}

// find is where the segment has an entry about the same as e.
func (s *segment) find(e *Entry) (i int32, ok bool) {
	if e.Per == 0 {
		i, ok = s.index[e.key()]
	} else {
		i, ok = s.windows[e.window()]
	}
	return i, ok
}

func (s *segment) note(e *Entry, i int32) {
	if e.Per == 0 {
		s.index[e.key()] = i
	} else {
		s.windows[e.window()] = i
	}
}

func (s *segment) mergeRecords(from *segment) {
	if len(from.records) == 0 {
		return
	}
	if s.named == nil {
		s.named = make(map[RecordKey]struct{}, len(s.records)+len(from.records))
		for _, k := range s.records {
			s.named[k] = struct{}{}
		}
	}
	for _, k := range from.records {
		if _, ok := s.named[k]; !ok {
			s.named[k] = struct{}{}
			s.records = append(s.records, k)
		}
	}
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

// prune drops from all segments what has expired, before anything else is given up. It
// looks at all entries, so it does so once a second at most.
func (lg *log) prune() {
	const second = 1_000_000_000
	if lg.prunedAt != 0 && lg.cutAt-lg.prunedAt < second {
		return
	}
	lg.prunedAt = max(lg.cutAt, 1)
	for _, s := range lg.segments {
		lg.bytes -= s.size()
		lg.pruneSegment(s)
		lg.bytes += s.size()
	}
}

// pruneSegment drops the entries that matter to nobody any more: those that have
// expired, amounts of a window that come to nothing, and what is stale where only peers
// long dead lack it. (A run of a bucket that comes to nothing may still matter, see
// bucket.Run.) A segment's bodies, once made, stay.
func (lg *log) pruneSegment(s *segment) {
	n := len(s.entries)
	stale := lg.stale != nil && s.to <= lg.aged
	s.entries = slices.DeleteFunc(s.entries, func(e Entry) bool {
		switch {
		case e.Per != 0 && e.N == 0, lg.expired != nil && lg.expired(e):
			return true
		case stale && lg.stale(e):
			lg.forgiven = addSat(lg.forgiven, max(e.N, 0))
			return true
		}
		return false
	})
	if len(s.entries) < n {
		s.index, s.windows = nil, nil
		if len(s.entries) <= cap(s.entries)/2 {
			s.entries = slices.Clone(s.entries)
		}
	}
	s.pruned = len(s.entries)
}

// size is a segment's memory in bytes, about.
func (s *segment) size() int {
	n := 160 + 40*cap(s.entries) + 24*len(s.index) + 40*len(s.windows) + 64*len(s.defs) + 40*cap(s.records) + 48*len(s.named)
	for _, p := range s.parts {
		n += len(p)
	}
	return n
}

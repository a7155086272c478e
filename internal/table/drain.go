package table

import (
	"math"
	"math/bits"
	"runtime"
)

// rows is how many rows a drain copies under one hold of a shard's lock, two for an entry
// at most.
const rows = 256

// row is an entry's unsent amount on its way out.
type row struct {
	limit *Limit
	hash  uint64
	Row
}

// Drain takes what is unsent out of the table: of all entries, or of the urgent ones.
// It calls emit for each, without a lock held. Of one key there may be several rows: of
// two windows, or in the terms of two definitions. Amounts taken while it runs are in it
// or in the next, once.
//
// It reports whether there was anything, and since when the first of the emitted
// entries had been urgent, math.MaxInt64 if none was.
func (t *Table) Drain(urgentOnly bool, emit func(l *Limit, hash uint64, r Row)) (since int64, any bool) {
	t.poked.Store(false) // before looking: who becomes urgent from here on pokes again
	marks := t.dirty
	if urgentOnly {
		marks = t.urgent
	}
	since = math.MaxInt64
	for w := range marks {
		if marks[w].Load() == 0 {
			continue
		}
		var few [together]*shard
		for m := marks[w].Swap(0); m != 0; {
			n := 0
			for ; m != 0 && n < together; m &= m - 1 {
				few[n] = &t.shards[w*64+bits.TrailingZeros64(m)]
				n++
			}
			at, some := t.drainShards(few[:n], urgentOnly, emit)
			since, any = min(since, at), any || some
		}
	}
	return since, any
}

// together is how many shards are held at once to be drained: enough that the processor
// fetches their entries from memory side by side instead of one after the other, which
// is most of what a drain costs.
const together = 8

// drainShards drains a few shards, in the order of their locks. Those with more than
// the rest leaves room for go one by one.
func (t *Table) drainShards(shards []*shard, urgentOnly bool, emit func(*Limit, uint64, Row)) (since int64, any bool) {
	var buf [rows]row
	var many [together]*shard
	since = math.MaxInt64
	n, later := 0, many[:0]
	for _, s := range shards {
		s.mu.Lock()
	}
	for _, s := range shards {
		runtime.KeepAlive(s.touchLocked(urgentOnly))
	}
	for _, s := range shards {
		if n+2*s.markedLocked(urgentOnly) > len(buf) || !urgentOnly && s.leftLocked() > 0 {
			later = append(later, s)
			continue
		}
		if s.urgentCount > 0 {
			since = min(since, s.urgentSince)
		}
		more, _ := t.fetchLocked(s, buf[n:], 0, urgentOnly)
		n += more
	}
	for _, s := range shards {
		s.mu.Unlock()
	}
	for i := range buf[:n] {
		buf[i].tell(emit)
	}
	any = n > 0
	for _, s := range later {
		at, some := t.drainShard(s, urgentOnly, emit)
		since, any = min(since, at), any || some
	}
	return since, any
}

// markedLocked is how many entries are to be drained.
func (s *shard) markedLocked(urgentOnly bool) int {
	if urgentOnly {
		return int(s.urgentCount)
	}
	return int(s.dirtyCount)
}

// touchLocked reads from every entry that is to be drained, and depends on none of them.
func (s *shard) touchLocked(urgentOnly bool) (sum uint64) {
	left := s.markedLocked(urgentOnly)
	for at := 0; at < len(s.groups) && left > 0; at++ {
		m := s.groups[at].marked(urgentOnly)
		left -= bits.OnesCount8(m)
		for ; m != 0; m &= m - 1 {
			sum += s.entries[at*groupSlots+bits.TrailingZeros8(m)].hash
		}
	}
	return sum
}

func (g *group) marked(urgentOnly bool) uint8 {
	if urgentOnly {
		return g.urgent
	}
	return g.dirty
}

func (r *row) tell(emit func(*Limit, uint64, Row)) { emit(r.limit, r.hash, r.Row) }

// drainShard drains one shard, a few rows at a time.
func (t *Table) drainShard(s *shard, urgentOnly bool, emit func(*Limit, uint64, Row)) (since int64, any bool) {
	var buf [rows]row
	since = math.MaxInt64
	if !urgentOnly {
		any = s.drainLeft(emit)
	}
	for from, groups := 0, -1; from >= 0; {
		s.mu.Lock()
		if groups != len(s.groups) { // it grew meanwhile, and its entries have moved
			from, groups = 0, len(s.groups)
		}
		if s.urgentCount > 0 {
			since = min(since, s.urgentSince)
		}
		var n int
		n, from = t.fetchLocked(s, buf[:], from, urgentOnly)
		s.mu.Unlock()
		for i := range buf[:n] {
			buf[i].tell(emit)
		}
		any = any || n > 0
	}
	return since, any
}

// drainLeft takes out the amounts that were left beside the entries.
func (s *shard) drainLeft(emit func(*Limit, uint64, Row)) bool {
	s.mu.Lock()
	var left []row
	if s.aside != nil {
		left, s.aside.left = s.aside.left, nil
	}
	s.mu.Unlock()
	for i := range left {
		left[i].tell(emit)
	}
	return len(left) > 0
}

// fetchLocked moves unsent amounts to buf, from group from on. It returns how many and
// the group to go on from, -1 at the end.
func (t *Table) fetchLocked(s *shard, buf []row, from int, urgentOnly bool) (n, next int) {
	limits := *t.limits.Load()
	for at := from; at < len(s.groups); at++ {
		if s.dirtyCount == 0 || urgentOnly && s.urgentCount == 0 {
			return n, -1
		}
		g := &s.groups[at]
		m := g.marked(urgentOnly)
		if n+2*bits.OnesCount8(m) > len(buf) {
			return n, at
		}
		if m == 0 {
			continue
		}
		s.dirtyCount -= int32(bits.OnesCount8(m))
		s.urgentCount -= int32(bits.OnesCount8(m & g.urgent))
		g.dirty &^= m
		g.urgent &^= m
		for ; m != 0; m &= m - 1 {
			e := &s.entries[at*groupSlots+bits.TrailingZeros8(m)]
			l := limits[e.limit-1]
			for _, r := range e.rows(l.at(e.gen)) {
				if r.N != 0 {
					buf[n] = row{l, e.hash, r}
					n++
				}
			}
			e.told()
		}
	}
	// What was marked behind our back has the next drain come again.
	if s.dirtyCount > 0 {
		t.dirty.set(s.index)
	}
	if s.urgentCount > 0 {
		t.urgent.set(s.index)
	}
	return n, -1
}

package table

import (
	"math"
	"math/bits"

	"github.com/stint-go/stint/bucket"
)

// grace is how long, in nanoseconds, a bucket has been full before its entry is cleaned
// away. Since when it has been full matters to news from before that moment, so it is
// as long as news counts as fresh; and longer than any taker sits between its clock and
// the lock, so that a late one does not find more than there was at its time.
const grace = bucket.FreshFor

// restingAt is the time since which what is cleaned away at now has been full.
func restingAt(now int64) int64 {
	if at := now - grace; at < now {
		return at
	}
	return math.MinInt64
}

// Sweep drops the entries at rest of the next so many shards, and gives back slots
// where many are free. Each shard is locked for some ten microseconds.
func (t *Table) Sweep(now int64, shards int) {
	for range min(shards, len(t.shards)) {
		s := &t.shards[int(t.swept.Add(1)-1)%len(t.shards)]
		s.mu.Lock()
		if s.most > 0 {
			t.cleanLocked(s, now)
			if n := sizeFor(int(s.used + s.used/8)); n < len(s.groups) {
				s.resize(n)
			}
		}
		s.mu.Unlock()
	}
}

// cleanLocked drops the entries that have been at rest for a while.
func (t *Table) cleanLocked(s *shard, now int64) {
	at := restingAt(now)
	gone := int64(0)
	for i := range s.groups {
		g := &s.groups[i]
		for m := g.occupied() &^ g.dirty; m != 0; m &= m - 1 {
			slot := i*groupSlots + bits.TrailingZeros8(m)
			e := &s.entries[slot]
			if e.flags&unknown != 0 {
				t.settle(e, now)
			}
			if !e.restsAt(at) {
				continue
			}
			if e.flags&overflow == 0 {
				gone++
			}
			s.remove(slot)
		}
	}
	if gone > 0 {
		t.keys.Add(-gone)
	}
}

// settle turns an entry of a limit that was unknown into what its definition, if there
// is one by now, makes of it.
func (t *Table) settle(e *entry, now int64) {
	l := t.limit(e.limit)
	switch v := l.current.Load(); v.Kind {
	case Unknown:
	case Bucket:
		l.refresh(e, v, now)
	default: // entries mean nothing to it
		e.flags &^= unknown
		e.state = full
	}
}

package table

import (
	"math"
	"math/bits"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
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
		t.sweepBansLocked(s, now)
		if s.most > 0 {
			t.cleanLocked(s, now)
			s.packLogs()
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
				t.enlighten(s, slot, now)
			}
			if !t.restsAt(s, e, at) {
				continue
			}
			if e.flags&overflow == 0 {
				gone++
			}
			s.drop(slot)
		}
	}
	if gone > 0 {
		t.keys.Add(-gone)
	}
}

// restsAt reports whether an entry, which must not be dirty, carries no information at
// now.
func (t *Table) restsAt(s *shard, e *entry, now int64) bool {
	if e.flags&(shape|pinned) == 0 {
		return e.state.At < now
	}
	return t.othersRest(s, e, now)
}

func (t *Table) othersRest(s *shard, e *entry, now int64) bool {
	if e.flags&(unknown|pinned) != 0 {
		return false
	}
	v := t.limit(e.limit).at(e.gen)
	switch state := &e.window().state; {
	case e.flags&logged != 0:
		return v.Log.AtRest(s.events(e), now)
	case v.fixed:
		return fixedRests(state, v.frameAt(t.Wall(now)))
	default:
		return v.Window.AtRest(*state, t.Wall(now))
	}
}

// fixedRests is [window.Limit.AtRest] of a window that does not slide, by the frame of the
// moment: so the calendar is asked once, and not for each entry.
func fixedRests(s *window.State, f window.Frame) bool {
	switch {
	case s.From < f.From:
		return true
	case s.From == f.From:
		return s.Counts[0] == 0
	case s.From == f.To:
		return s.Counts[0] == 0 && s.Counts[1] == 0
	}
	return s.Counts == [3]int64{} // the clock went back
}

// enlighten turns an entry of a limit that was unknown into what its definition, if there
// is one by now, makes of it.
func (t *Table) enlighten(s *shard, i int, now int64) {
	e := &s.entries[i]
	l := t.limit(e.limit)
	switch v := l.current.Load(); {
	case v.Kind == Unknown:
	case v.Kind.counts():
		t.refreshLocked(s, i, l, v, now)
	default: // entries mean nothing to it
		e.bucketBody, e.flags = bucketBody{state: full}, e.flags&^shape
	}
}

package table

import (
	"math"
	"math/bits"
)

// sample is how many entries are compared for the least loss, in groups.
const sample = 8

// insertLocked makes an entry for a key that has none and returns its slot, or -1 if
// there is no room. An overflow entry always has room.
func (t *Table) insertLocked(s *shard, l *Limit, v *version, hash uint64, now int64) int {
	e := entry{hash: hash, state: full, limit: l.index, gen: v.gen}
	if v.Kind == Unknown {
		e.flags = unknown
	}
	if hash == l.overflow {
		e.flags |= overflow
	} else if !t.admitLocked(s, now) {
		return -1
	}
	if s.room() == 0 {
		t.growLocked(s, now)
	}
	i := s.place(hash)
	s.entries[i] = e
	return i
}

// admitLocked counts one more entry, if need be by giving up another of the shard.
func (t *Table) admitLocked(s *shard, now int64) bool {
	if int(s.used) < t.maxShard && t.keys.Load() < t.maxKeys {
		if t.keys.Add(1) <= t.maxKeys {
			return true
		}
		t.keys.Add(-1)
	}
	i := t.victimLocked(s, now)
	if i < 0 {
		return false
	}
	if !s.entries[i].restsAt(now) {
		t.evicted.Add(1)
	}
	s.remove(i)
	return true
}

// growLocked makes room: by dropping what is at rest, if that is enough of it, else by
// moving to a larger size.
func (t *Table) growLocked(s *shard, now int64) {
	t.cleanLocked(s, now)
	used := int(s.used)
	if n := sizeFor(used + used/16 + 1); n*groupLoad != int(s.most) {
		s.resize(n)
	}
}

// victimLocked chooses the entry to give up for a fresh key, -1 if none may go. The
// search goes round the shard like the hand of a clock.
func (t *Table) victimLocked(s *shard, now int64) int {
	if s.used == 0 {
		return -1
	}
	best, soonest, seen := -1, int64(math.MaxInt64), 0
	for range s.groups {
		if s.hand++; int(s.hand) >= len(s.groups) {
			s.hand = 0
		}
		g := &s.groups[s.hand]
		for m := g.occupied() &^ g.dirty; m != 0; m &= m - 1 {
			i := int(s.hand)*groupSlots + bits.TrailingZeros8(m)
			e := &s.entries[i]
			if e.flags&overflow != 0 {
				continue
			}
			if e.restsAt(now) {
				return i
			}
			if e.state.At < soonest && t.mayGo(e, now) {
				best, soonest = i, e.state.At
			}
			seen++
		}
		if best >= 0 && seen >= sample {
			break
		}
	}
	return best
}

// mayGo reports whether an entry that carries something, all of it sent, may be given
// up: not if its key is at its limit.
func (t *Table) mayGo(e *entry, now int64) bool {
	if e.flags&(keep&^unknown) != 0 {
		return false
	}
	l := t.limit(e.limit)
	v := l.current.Load()
	if v.Kind != Bucket {
		return true
	}
	state, _ := l.convert(e, v, now)
	_, ok := v.Bucket.Take(state, now, 1)
	return ok
}

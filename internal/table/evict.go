package table

import (
	"math"
	"math/bits"

	"github.com/stint-go/stint/window"
)

// sample is how many entries are compared for the least loss, in groups.
const sample = 8

// insertLocked makes an entry for a key that has none and returns its slot, or -1 if
// there is no room. An overflow entry always has room.
func (t *Table) insertLocked(s *shard, l *Limit, v *version, hash uint64, now int64) int {
	e := entry{hash: hash, limit: l.index}
	e.blank(v)
	if s.aside != nil {
		if _, known := s.aside.bans[banID{hash, l.index}]; known {
			e.flags |= banned
		}
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
	if !t.restsAt(s, &s.entries[i], now) {
		t.evicted.Add(1)
	}
	s.drop(i)
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
	best, least, seen := -1, int64(math.MaxInt64), 0
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
			if t.restsAt(s, e, now) {
				return i
			}
			seen++
			if e.flags&pinned != 0 || e.flags&shape == 0 && e.state.At-now >= least {
				continue
			}
			if carries, limited := t.carries(s, i, now); carries < least && !limited {
				best, least = i, carries
			}
		}
		if best >= 0 && seen >= sample {
			break
		}
	}
	return best
}

// carries is how much would be forgotten with the entry in slot i, as the time in which
// its limit's rate gives as many events back; and whether its key is at its limit.
func (t *Table) carries(s *shard, i int, now int64) (span int64, limited bool) {
	e := &s.entries[i]
	l := t.limit(e.limit)
	v := l.current.Load()
	if !v.Kind.counts() {
		return 0, false
	}
	t.refreshLocked(s, i, l, v, now)
	if v.Kind == Bucket {
		_, ok := v.Bucket.Take(e.state, now, 1)
		return minus(e.state.At, now), !ok
	}
	used := t.usedLocked(s, e, v, now)
	return spread(used, v.most, t.length(v, now)), used >= v.most
}

// length is how long the budget of windows or a log lasts.
func (t *Table) length(v *version, now int64) int64 {
	if v.Kind == Window {
		f := v.frameAt(t.Wall(now))
		return f.To - f.From
	}
	return v.Log.ResetAfter(window.Log{{At: now, N: 1}}, now)
}

// spread is used/most of a length.
func spread(used, most, length int64) int64 {
	if used >= most {
		return length
	}
	hi, lo := bits.Mul64(uint64(max(used, 0)), uint64(length))
	q, _ := bits.Div64(hi, lo, uint64(most)) // used < most
	return int64(q)
}

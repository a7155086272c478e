package table

import "math/bits"

// Keys calls emit for every key that there is an entry of and whose hash is in [first, last],
// at rest or not, without a lock held. Keys that come or go meanwhile may be in it or not.
func (t *Table) Keys(first, last uint64, emit func(l *Limit, hash uint64)) {
	type key struct{ limit, hash uint64 }
	var keys []key
	for i := t.place(first); i <= t.place(last); i++ {
		s := &t.shards[i]
		keys = keys[:0]
		s.mu.Lock()
		for at := range s.groups {
			for m := s.groups[at].occupied(); m != 0; m &= m - 1 {
				if e := &s.entries[at*groupSlots+bits.TrailingZeros8(m)]; e.hash >= first && e.hash <= last {
					keys = append(keys, key{uint64(e.limit), e.hash})
				}
			}
		}
		s.mu.Unlock()
		limits := *t.limits.Load()
		for _, k := range keys {
			emit(limits[k.limit-1], k.hash)
		}
	}
}

package table

import (
	"cmp"
	"slices"
)

// fewAsks is how many asks TakeAll serves without allocating.
const fewAsks = 8

// Ask is one take of TakeAll.
type Ask struct {
	Limit *Limit
	Hash  uint64
	N     int64
}

// pick is an ask at work.
type pick struct {
	limit *Limit
	hash  uint64
	n     int64
	sum   int64 // n and those of the asks before it for the same key
	v     *version
	slot  int32 // of the entry, -1 if there is none
	index int32 // in asks
	same  bool  // the ask before it is for the same key
	last  bool  // of its key
	out   bool  // there is no room for an entry
	ok    bool  // sum can be taken
}

// TakeAll makes all of the takes or none, in one step, and reports which. Asks for the
// same key add up. into, as long as asks, gets the result of each: of admitted takes
// what Take would return; else OK tells which asks would have been admitted together
// with those before them, and the times are what they would have had to wait. If any
// is refused, no key changes and only the refused asks are counted.
func (t *Table) TakeAll(asks []Ask, now int64, into []Result) bool {
	if len(asks) <= quickAsks && t.takeQuick(asks, now, into) {
		return true
	}
	return t.takeAll(asks, now, into)
}

func (t *Table) takeAll(asks []Ask, now int64, into []Result) bool {
	var few [fewAsks]pick
	picks := few[:0]
	if len(asks) > fewAsks {
		picks = make([]pick, 0, len(asks))
	}
	for i := range asks {
		a := &asks[i]
		picks = append(picks, pick{limit: a.Limit, hash: a.Hash, n: max(a.N, 0), index: int32(i)})
	}
	for {
		order(picks)
		t.lockAll(picks)
		ok, poke := t.tryLocked(picks, now), false
		seated := !ok || t.seatLocked(picks, now)
		switch {
		case !ok:
			t.refuseLocked(picks, now, into)
		case seated:
			poke = t.commitLocked(picks, now, into)
		}
		t.unlockAll(picks)
		if poke {
			t.poke()
		}
		if seated {
			return ok
		}
		t.redirect(picks)
	}
}

// order puts the shards in the order of their locks, and the asks for one key next to
// each other in their own order.
func order(picks []pick) {
	if len(picks) > fewAsks {
		slices.SortFunc(picks, func(a, b pick) int { return byPlace(&a, &b) })
		return
	}
	for i := 1; i < len(picks); i++ {
		for j := i; j > 0 && byPlace(&picks[j], &picks[j-1]) < 0; j-- {
			picks[j], picks[j-1] = picks[j-1], picks[j]
		}
	}
}

func byPlace(a, b *pick) int {
	switch {
	case a.hash != b.hash:
		return cmp.Compare(a.hash, b.hash)
	case a.limit != b.limit:
		return cmp.Compare(a.limit.index, b.limit.index)
	}
	return cmp.Compare(a.index, b.index)
}

func (t *Table) lockAll(picks []pick) {
	for i := range picks {
		if i == 0 || t.place(picks[i].hash) != t.place(picks[i-1].hash) {
			if s := t.shard(picks[i].hash); !s.mu.TryLock() {
				s.wait()
			}
		}
	}
}

func (t *Table) unlockAll(picks []pick) {
	for i := range picks {
		if i == 0 || t.place(picks[i].hash) != t.place(picks[i-1].hash) {
			t.shard(picks[i].hash).mu.Unlock()
		}
	}
}

// tryLocked finds each pick's entry, and reports whether all can be taken.
func (t *Table) tryLocked(picks []pick, now int64) bool {
	all := true
	for i := range picks {
		p := &picks[i]
		s := t.shard(p.hash)
		p.last = true
		if p.same = i > 0 && p.hash == picks[i-1].hash && p.limit == picks[i-1].limit; p.same {
			q := &picks[i-1]
			q.last = false
			p.v, p.sum, p.slot = q.v, addSat(q.sum, p.n), q.slot
		} else {
			p.v, p.sum, p.slot = p.limit.current.Load(), p.n, -1
			if p.v.Kind.counts() {
				p.slot = int32(t.readyLocked(s, p.limit, p.v, p.hash, now))
			}
		}
		switch {
		case !p.v.Kind.counts():
			p.ok = p.v.Kind == Unlimited
		case t.banLeft(s, p.limit, p.hash, now) > 0:
			p.ok = false
		default:
			p.ok = t.fitsLocked(s, int(p.slot), p.v, now, p.sum)
		}
		all = all && p.ok
	}
	return all
}

// seatLocked gives every key that is about to be charged an entry. If there is no room
// for some of them, it marks these as out and reports false. (It may then have given
// up an entry for one of the others, and the asks be refused after all: the one way in
// which a refusal can cost something, in a table full of keys at their limits.)
func (t *Table) seatLocked(picks []pick, now int64) bool {
	missing := false
	for i := range picks {
		p := &picks[i]
		missing = missing || p.charges() && p.slot < 0
	}
	if !missing {
		return true
	}
	for i := range picks { // so that none makes room for another
		if p := &picks[i]; p.charges() && p.slot >= 0 {
			t.entryLocked(p).flags |= pinned
		}
	}
	for i := range picks {
		if p := &picks[i]; p.charges() && p.slot < 0 {
			p.slot = int32(t.insertLocked(t.shard(p.hash), p.limit, p.v, p.hash, now))
			if p.out = p.slot < 0; !p.out {
				t.entryLocked(p).flags |= pinned
			}
		}
	}
	seated := true
	for i := len(picks) - 1; i >= 0; i-- {
		p := &picks[i]
		switch {
		case !p.last: // as the last of its key
			p.slot, p.out = picks[i+1].slot, picks[i+1].out
		case !p.out && p.v.Kind.counts(): // it may have moved meanwhile, or gone if it charges nothing
			if p.slot = int32(t.shard(p.hash).find(p.hash, p.limit.index)); p.slot >= 0 {
				t.entryLocked(p).flags &^= pinned
			}
		}
		seated = seated && !p.out
	}
	return seated
}

// redirect sends the keys that are out to the overflow entries of their limits.
func (t *Table) redirect(picks []pick) {
	for i := range picks {
		if p := &picks[i]; p.out {
			t.overflowed.Add(1)
			p.hash, p.out = p.limit.overflow, false
		}
	}
}

// commitLocked makes the takes, one after the other; all that take have an entry, and
// pass. It reports whether to poke.
func (t *Table) commitLocked(picks []pick, now int64, into []Result) (poke bool) {
	for i := range picks {
		p := &picks[i]
		r := &into[p.index]
		s := t.shard(p.hash)
		switch {
		case !p.v.Kind.counts():
			p.limit.count(p.n, true)
			*r = flat(p.v.Kind)
		case p.n == 0:
			*r = t.weighLocked(s, int(p.slot), p.v, now, 0)
		default:
			var more bool
			*r, more = t.spendLocked(s, int(p.slot), p.v, now, p.n, true)
			s.of(p.limit).admit(p.n)
			poke = poke || more
		}
	}
	return poke
}

// refuseLocked says what the takes would have got, and counts those refused.
func (t *Table) refuseLocked(picks []pick, now int64, into []Result) {
	for i := range picks {
		p := &picks[i]
		r := &into[p.index]
		s := t.shard(p.hash)
		if !p.ok {
			s.of(p.limit).refuse(p.n)
		}
		if !p.v.Kind.counts() {
			*r = flat(p.v.Kind)
			continue
		}
		*r = t.weighLocked(s, int(p.slot), p.v, now, p.sum)
		if left := t.banLeft(s, p.limit, p.hash, now); left > 0 {
			r.ban(left)
		}
	}
}

// charges reports whether the key is charged, and this is the last pick of it.
func (p *pick) charges() bool { return p.last && p.sum > 0 && p.v.Kind.counts() }

func (t *Table) entryLocked(p *pick) *entry { return &t.shard(p.hash).entries[p.slot] }

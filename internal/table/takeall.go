package table

import (
	"cmp"
	"slices"

	"github.com/stint-go/stint/bucket"
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
	state bucket.State // before the first of them
	slot  int32        // of the entry, -1 if there is none
	index int32        // in asks
	first bool         // of its key
	last  bool         // of its key: the key is charged with its sum
	out   bool         // there is no room for an entry
	ok    bool         // sum can be taken
}

// TakeAll makes all of the takes or none, in one step, and reports which. Asks for the
// same key add up. into, as long as asks, gets the result of each: of admitted takes
// what Take would return; else OK tells which asks would have been admitted together
// with those before them, and the times are what they would have had to wait. If any
// is refused, no key changes and only the refused asks are counted.
func (t *Table) TakeAll(asks []Ask, now int64, into []Result) bool {
	var few [fewAsks]pick
	picks := few[:0]
	if len(asks) > fewAsks {
		picks = make([]pick, 0, len(asks))
	}
	for i, a := range asks {
		picks = append(picks, pick{limit: a.Limit, hash: a.Hash, n: max(a.N, 0), index: int32(i)})
	}
	for {
		order(picks)
		t.lockAll(picks)
		ok := t.weighLocked(picks, now)
		seated := !ok || t.seatLocked(picks, now)
		poke := ok && seated && t.commitLocked(picks, now)
		if !ok {
			t.refuseLocked(picks)
		}
		t.unlockAll(picks)
		if poke {
			t.poke()
		}
		if seated {
			for i := range picks {
				into[picks[i].index] = picks[i].answer(now, ok)
			}
			return ok
		}
		t.redirect(picks)
	}
}

// order puts the shards in the order of their locks, and the asks for one key next to
// each other in their own order.
func order(picks []pick) {
	if len(picks) > fewAsks {
		slices.SortFunc(picks, byPlace)
		return
	}
	for i := 1; i < len(picks); i++ {
		for j := i; j > 0 && byPlace(picks[j], picks[j-1]) < 0; j-- {
			picks[j], picks[j-1] = picks[j-1], picks[j]
		}
	}
}

func byPlace(a, b pick) int {
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
			t.shard(picks[i].hash).mu.Lock()
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

// weighLocked finds out what each pick would do, and reports whether all can be taken.
func (t *Table) weighLocked(picks []pick, now int64) bool {
	all := true
	for i := range picks {
		p := &picks[i]
		if p.first = i == 0 || p.hash != picks[i-1].hash || p.limit != picks[i-1].limit; p.first {
			p.v, p.sum = p.limit.current.Load(), p.n
			p.state, p.slot = t.lookLocked(t.shard(p.hash), p.limit, p.v, p.hash, now)
		} else {
			q := &picks[i-1]
			q.last = false
			p.v, p.sum, p.state, p.slot = q.v, addSat(q.sum, p.n), q.state, q.slot
		}
		p.last = true
		p.ok = p.v.Kind == Unlimited
		if p.v.Kind == Bucket {
			p.ok = t.tryLocked(p, now)
		}
		all = all && p.ok
	}
	return all
}

// tryLocked reports whether the sum so far can be taken from the key's bucket.
func (t *Table) tryLocked(p *pick, now int64) bool {
	state, ok := p.v.Bucket.Take(p.state, now, p.sum)
	if !ok && state != p.state { // the clock went back
		p.state = state
		if p.slot >= 0 {
			t.entryLocked(p).state = state
		}
	}
	return ok
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
	for i := range picks {
		p := &picks[i]
		if !p.charges() {
			continue
		}
		if seated = seated && !p.out; !p.out { // it may have moved meanwhile
			p.slot = int32(t.shard(p.hash).find(p.hash, p.limit.index))
			t.entryLocked(p).flags &^= pinned
		}
	}
	return seated
}

// redirect sends the keys that are out to the overflow entries of their limits.
func (t *Table) redirect(picks []pick) {
	for i := len(picks) - 1; i >= 0; i-- {
		p := &picks[i]
		if !p.last {
			p.out = picks[i+1].out
		}
		if p.out {
			t.overflowed.Add(1)
		}
	}
	for i := range picks {
		if p := &picks[i]; p.out {
			p.hash, p.out = p.limit.overflow, false
		}
	}
}

// commitLocked charges every key; all have an entry and can be charged. It reports
// whether to poke.
func (t *Table) commitLocked(picks []pick, now int64) (poke bool) {
	for i := range picks {
		p := &picks[i]
		if !p.charges() {
			continue
		}
		s := t.shard(p.hash)
		e := &s.entries[p.slot]
		var unrecorded bucket.Run
		run := e.run(p.v, &unrecorded)
		left, _ := p.v.Bucket.Spend(&e.state, run, now, p.sum)
		s.of(p.limit).admit(p.sum)
		if p.v.record && t.markSpentLocked(s, int(p.slot), run.N, left, now) {
			poke = true
		}
	}
	return poke
}

// refuseLocked counts a refusal.
func (t *Table) refuseLocked(picks []pick) {
	for i := range picks {
		if p := &picks[i]; !p.ok {
			t.shard(p.hash).of(p.limit).refuse(p.n)
		}
	}
}

// charges reports whether the key's entry is charged with the sum of this pick.
func (p *pick) charges() bool { return p.last && p.sum > 0 && p.v.Kind == Bucket }

func (t *Table) entryLocked(p *pick) *entry { return &t.shard(p.hash).entries[p.slot] }

// answer is the result of the pick, once all are taken or none is.
func (p *pick) answer(now int64, taken bool) Result {
	if p.v.Kind != Bucket {
		if taken {
			p.limit.count(p.n, true)
		}
		return flat(p.v.Kind)
	}
	b := &p.v.Bucket
	if !taken {
		return result(b, p.state, now, p.sum, p.ok)
	}
	state, _ := b.Take(p.state, now, p.sum)
	return result(b, state, now, 0, true)
}

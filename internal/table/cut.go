package table

import "math/bits"

// Cut calls emit for every key whose hash is in [first, last] as Dump does, those of
// unknown limits too, and told for what was unsent of it, which is taken out of the table
// at the same moment: what has been drained, the cut included, is all that the saved
// states have of what was taken here. Neither is called with a lock held.
//
// What is at rest only for a short while counts still, where older events come on top.
//
// Of an unknown limit, At is when the newest of its amounts started, Rem how long that
// window is (0: none), and Counts the events in it, in the window before, and where that
// starts.
func (t *Table) Cut(now int64, first, last uint64, told func(l *Limit, hash uint64, r Row), emit func(l *Limit, s *Saved)) {
	d := dump{t: t, now: now, limits: make([]*Limit, 0, dumpKeys), saved: make([]Saved, dumpKeys)}
	c := cut{dump: &d, first: first, last: last}
	for i := t.place(first); i <= t.place(last); i++ {
		s := &t.shards[i]
		for from, groups := 0, -1; from >= 0; {
			s.mu.Lock()
			if groups != len(s.groups) { // it grew meanwhile, and its entries have moved
				from, groups = 0, len(s.groups)
			}
			from = c.copyLocked(s, from)
			s.mu.Unlock()
			for i := range c.told {
				c.told[i].tell(told)
			}
			for j, l := range d.limits {
				emit(l, &d.saved[j])
			}
		}
	}
}

type cut struct {
	*dump
	first, last uint64
	told        []row
}

// copyLocked is dump's, for the keys of the cut.
func (c *cut) copyLocked(s *shard, from int) int {
	c.limits, c.events, c.told = c.limits[:0], c.events[:0], c.told[:0]
	if s.used == 0 {
		return -1
	}
	limits := *c.t.limits.Load()
	for at := from; at < len(s.groups); at++ {
		if len(c.limits)+groupSlots > dumpKeys || len(c.events) > dumpEvents {
			return at
		}
		g := &s.groups[at]
		for m := g.occupied(); m != 0; m &= m - 1 {
			i := at*groupSlots + bits.TrailingZeros8(m)
			if e := &s.entries[i]; e.hash >= c.first && e.hash <= c.last {
				c.entryLocked(s, i, limits[e.limit-1])
			}
		}
	}
	return -1
}

func (c *cut) entryLocked(s *shard, i int, l *Limit) {
	t, e, v := c.t, &s.entries[i], l.current.Load()
	if v.Kind.counts() {
		t.refreshLocked(s, i, l, v, c.now)
	}
	c.takeLocked(s, i, l)
	switch {
	case v.Kind == Unknown:
		u := e.unknown()
		c.saved[len(c.limits)] = Saved{Hash: e.hash, At: u.start, Rem: uint64(u.per), Counts: [3]int64{u.n, u.old, u.before}}
	case !v.Kind.counts() || t.restsAt(s, e, restingAt(c.now)):
		return
	default:
		c.saved[len(c.limits)] = c.save(s, e)
	}
	c.limits = append(c.limits, l)
}

// takeLocked takes out what is unsent of the entry in slot i, also what is left beside it.
func (c *cut) takeLocked(s *shard, i int, l *Limit) {
	e, g, bit := &s.entries[i], &s.groups[i/groupSlots], slotBit(i)
	if g.dirty&bit != 0 {
		s.dirtyCount--
		if g.urgent&bit != 0 {
			s.urgentCount--
		}
		g.dirty &^= bit
		g.urgent &^= bit
		for _, r := range e.rows(l.at(e.gen)) {
			if r.N != 0 {
				c.told = append(c.told, row{l, e.hash, r})
			}
		}
		e.told()
	}
	if s.leftLocked() == 0 {
		return
	}
	kept := s.aside.left[:0]
	for _, r := range s.aside.left {
		if r.limit == l && r.hash == e.hash {
			c.told = append(c.told, r)
		} else {
			kept = append(kept, r)
		}
	}
	s.aside.left = kept
}

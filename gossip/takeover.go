package gossip

import "slices"

// turnedDown is a donor's refusal: not ready itself, or somebody does not hold yet.
func (g *Ledger) turnedDown(now int64, h header, m *refused) {
	j := g.join
	if j == nil || h.origin != j.donor || m.Ask != j.ask {
		return
	}
	j.movedAt, j.retryAt, j.waits = now, now+g.cfg.Resend/4, true
	if m.Joining {
		if l := g.link(j.donor); l != nil {
			l.ready = false
		}
		j.leave()
	}
}

// given takes in a part of what was asked for. All parts together are merged.
func (g *Ledger) given(now int64, h header, s *source, f *frame) error {
	j, m := g.join, f.chunk
	if j == nil || h.origin != j.donor || m.Ask != j.ask || m.From != j.chunk {
		return nil
	}
	j.movedAt = now
	v := &j.given
	switch {
	case m.Part == 0 && v.total == 0:
		v.chunk = *m
		v.parts.begin(0, 1, m.Parts)
	case m.Part != len(v.bodies), m.Cut != v.Cut, m.Parts != v.total:
		return nil // come twice, or too early
	}
	if err := v.parts.add(f.body, f.size); err != nil {
		g.giveUpDonor(now)
		return err
	}
	if !v.whole() {
		g.want(now, false)
		return nil
	}
	if err := g.take(now, h.origin, s); err != nil {
		g.giveUpDonor(now)
		return err
	}
	g.askNext(now)
	return nil
}

// take hands over the chunks that are here, in our time, with what they lack of our own.
func (g *Ledger) take(now int64, donor uint64, s *source) error {
	j := g.join
	v := &j.given
	out := Chunk{Donor: donor, From: v.From, To: v.To}
	if err := decodeAllRows(v.bodies, v.Cut, &out); err != nil {
		return err
	}
	here := min(addSat(v.Cut, s.delay.least(now)), now)
	out.Wall = subSat(v.Wall, here)
	for i := range out.Rows {
		out.Rows[i].move(v.Cut, here)
	}
	first, last := Range(v.From, v.To)
	if slices.ContainsFunc(out.Rows, func(r Row) bool { return r.Hash < first || r.Hash > last }) {
		return errMalformed
	}
	records := make([]*Record, len(out.Holds))
	for i := range out.Holds {
		r := out.Holds[i].Record
		records[i] = &r
	}
	g.learnAll(now, donor, s, v.Cut, records)
	for i := range out.Holds {
		out.Holds[i].Record = *records[i]
	}
	own := uint64(0) // what the donor has of this node's log
	for _, n := range v.Numbers {
		if n.origin == g.cfg.Incarnation {
			own = n.N
		}
	}
	whole := false
	out.Own, whole = g.ownSince(own, first, last)
	for c := v.From; c < v.To; {
		from, how := c, j.compare(c, v.Numbers, g.cfg.Incarnation, whole)
		for ; c < v.To && j.compare(c, v.Numbers, g.cfg.Incarnation, whole) == how; c++ {
			j.claim(c, v.Numbers, how)
			j.loaded[c] = true
		}
		if how == ignored {
			g.out.Definitions = append(g.out.Definitions, out.Definitions...)
			continue
		}
		part := out.cut(from, c)
		part.Exact = how == instead
		g.out.Chunks = append(g.out.Chunks, part)
	}
	return nil
}

// cut is a part of c, of some of its chunks.
func (c Chunk) cut(from, to int) Chunk {
	if from == c.From && to == c.To {
		return c
	}
	first, last := Range(from, to)
	out := func(hash uint64) bool { return hash < first || hash > last }
	c.From, c.To = from, to
	c.Rows = slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return out(r.Hash) })
	c.Own = slices.DeleteFunc(slices.Clone(c.Own), func(e Entry) bool { return out(e.Hash) })
	c.Holds = slices.DeleteFunc(slices.Clone(c.Holds), func(h Held) bool { return out(h.Record.Hash) })
	return c
}

// claim notes what a chunk has in it. Where two were merged by maximum, the greater of two
// numbers holds, what one of them lacks of the other is counted, for of each key only one
// is taken, and what one of them did not name is doubtful.
func (j *join) claim(c int, claims []claim, how merging) {
	before := j.claims[c]
	if how == ignored {
		return
	}
	j.claims[c] = make(map[uint64]claim, len(claims))
	for _, n := range claims {
		if before != nil && how == byMaximum {
			old, ok := before[n.origin]
			if !ok {
				n.Kind = numberDoubtful
			} else {
				j.misses(n.origin, min(old.N, n.N), max(old.N, n.N))
				n.number = number{max(old.Kind, n.Kind), max(old.N, n.N)}
			}
		}
		j.claims[c][n.origin] = n
	}
	if how == instead {
		return
	}
	for origin, old := range before {
		if _, ok := j.claims[c][origin]; !ok {
			old.Kind = numberDoubtful
			j.claims[c][origin] = old
		}
	}
}

// misses notes that the drains (from, to] of a log may be missing of some keys.
func (j *join) misses(origin, from, to uint64) {
	if from < to {
		if j.missed == nil {
			j.missed = make(map[uint64][]span)
		}
		j.missed[origin] = append(j.missed[origin], span{from, to})
	}
}

// lost is how many drains are missing of some key.
func (j *join) lost() (n uint64) {
	for _, spans := range j.missed {
		n += covered(spans)
	}
	return n
}

// ownSince is what this node has told after a drain, of the keys in a range; whole says that
// nothing of it is missing.
func (g *Ledger) ownSince(drain, first, last uint64) (own []Entry, whole bool) {
	whole = true
	missing := func(to uint64) {
		whole = false
		g.join.misses(g.cfg.Incarnation, drain, to)
	}
	if base := g.log.base(); base > drain {
		missing(base)
	}
	for _, s := range g.log.segments {
		switch {
		case s.from >= drain:
			for _, e := range s.entries {
				if e.Hash >= first && e.Hash <= last {
					own = append(own, e)
				}
			}
		case s.to > drain:
			missing(s.to)
		}
	}
	return own, whole
}

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
	own, lost := uint64(0), j.lost
	out.Exact = !g.cfg.Restored
	for c := v.From; c < v.To; c++ {
		out.Exact = out.Exact && j.claims[c] == nil
		j.claim(c, v.Numbers)
		own = j.claims[c][g.cfg.Incarnation].N
		j.loaded[c] = true
	}
	out.Own = g.ownSince(own, first, last)
	out.Exact = out.Exact && j.lost == lost
	g.out.Chunks = append(g.out.Chunks, out)
	return nil
}

// claim notes what a chunk has in it. Where two were merged by maximum, the greater of two
// numbers holds, what that skips is counted, and what one of them did not name is
// doubtful.
func (j *join) claim(c int, claims []claim) {
	before := j.claims[c]
	j.claims[c] = make(map[uint64]claim, len(claims))
	for _, n := range claims {
		if before != nil {
			old, ok := before[n.origin]
			switch {
			case !ok:
				n.Kind = numberDoubtful
			case old.N > n.N:
				j.lost += old.N - n.N
				n.N = old.N
			}
		}
		j.claims[c][n.origin] = n
	}
	for origin, old := range before {
		if _, ok := j.claims[c][origin]; !ok {
			old.Kind = numberDoubtful
			j.claims[c][origin] = old
		}
	}
}

// ownSince is what this node has told after a drain, of the keys in a range.
func (g *Ledger) ownSince(drain, first, last uint64) (own []Entry) {
	if base := g.log.base(); base > drain {
		g.join.lost += base - drain
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
			g.join.lost += s.to - drain
		}
	}
	return own
}

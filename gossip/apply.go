package gossip

import "math"

// apply turns whole bodies into charges and records, in our own time: the amounts of those
// chunks whose number they continue. Nothing is applied unless all of it decodes.
func (g *Ledger) apply(now int64, origin uint64, s *source, bodies [][]byte) error {
	charges, defs, first := len(g.out.Charges), len(g.out.Definitions), int64(math.MaxInt64)
	shift := s.delay.least(now)
	told := make([]body, len(bodies))
	yield := func(e Entry) { g.out.Charges = append(g.out.Charges, Charge{origin, e}) }
	if s.numbers.each != nil {
		yield = func(e Entry) {
			if s.numbers.takes(ChunkOf(e.Hash), s.cursor) {
				g.out.Charges = append(g.out.Charges, Charge{origin, e})
			}
		}
	}
	for i, raw := range bodies {
		of := len(g.out.Charges)
		b, err := decodeBody(raw, yield)
		if err != nil {
			g.out.Charges, g.out.Definitions = g.out.Charges[:charges], g.out.Definitions[:defs]
			return err
		}
		for cut := min(addSat(b.last, shift), now); of < len(g.out.Charges); of++ {
			if e := &g.out.Charges[of].Entry; e.Per == 0 {
				e.Start = moved(e.Start, b.last, cut)
			}
		}
		g.out.Definitions = append(g.out.Definitions, b.defs...)
		if of > charges || len(b.records) > 0 { // definitions by themselves have no age that matters
			first = min(first, addSat(b.first, shift))
		}
		told[i] = b
	}
	for i := range told {
		g.learnAll(now, origin, s, told[i].last, told[i].records)
	}
	if first < math.MaxInt64 {
		s.lag = subSat(now, min(first, now))
		s.worst.see(now, s.lag)
	}
	return nil
}

// learnAll takes in records that were told at the origin's time at.
func (g *Ledger) learnAll(now int64, origin uint64, s *source, at int64, records []*Record) {
	news := len(g.out.Records)
	here := min(addSat(at, s.delay.least(now)), now)
	for _, r := range records {
		if r.Until, r.life = moved(r.Until, at, here), moved(r.life, at, here); r.Per == 0 {
			r.Start = moved(r.Start, at, here)
		}
		g.learn(now, origin, r)
	}
	if news < len(g.out.Records) && g.gone(origin) { // its last words
		g.inherit(now, origin)
	}
}

// moved is a time of an origin in ours, as long before or after here as it was before
// or after at.
func moved(t, at, here int64) int64 { return addSat(here, subSat(t, at)) }

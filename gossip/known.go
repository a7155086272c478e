package gossip

import (
	"maps"
	"slices"
)

// A node that has read a state file knows, chunk by chunk, how much of each log its table
// has in it, before it hears of anybody. That is provisional: of a chunk that a donor gives
// it, only what the donor does not have counts for anything; where nobody answers, its
// numbers are stated to the origins, who continue from there.

// Known is how much of one log a chunk of the table has in it.
type Known struct {
	Origin   uint64 // incarnation
	Number   uint64 // of its drains, all up to this are in it, or lost
	Doubtful bool   // perhaps more are: see the rule of joining for merged chunks
	Silent   int64  // ns since the origin was last heard of, while this node ran
}

// Vector is how much of each log a chunk of this node's table has in it, its own included, in
// order of origin. It says what is in the table between two calls of the Ledger, when all
// that was taken of the chunk has been appended, and what Output gave is applied.
func (g *Ledger) Vector(now int64, chunk int) (known []Known) {
	for _, c := range g.vector(now, chunk) {
		known = append(known, Known{c.origin, c.N, c.Kind == numberDoubtful, c.silent})
	}
	slices.SortFunc(known, func(a, b Known) int { return order(a.Origin, b.Origin) })
	return known
}

// vector is that with this node last.
func (g *Ledger) vector(now int64, chunk int) (claims []claim) {
	if j := g.join; j != nil {
		for _, c := range j.claims[chunk] {
			if c.origin != g.cfg.Incarnation {
				claims = append(claims, c)
			}
		}
		slices.SortFunc(claims, func(a, b claim) int { return order(a.origin, b.origin) })
	} else {
		for _, origin := range g.origins() {
			s := g.sources[origin]
			if n := s.numbers.at(chunk); n.Kind != numberNone {
				claims = append(claims, claim{origin, n, max(now-s.heardAt, 0)})
			}
		}
	}
	return append(claims, claim{g.cfg.Incarnation, number{numberKnown, g.log.head}, 0})
}

// Know says, before the first Up, that the chunks from … to − 1 of the table hold what a
// state file had: so much of each log, as Vector gave it. written is when that was, in
// cluster time; of nodes that all start again, the one with the newest file is ready first. A
// file that does not say what it has of whom gives no vector for any chunk.
func (g *Ledger) Know(now, written int64, from, to int, vector []Known) {
	claims := make(map[uint64]claim, len(vector))
	for _, k := range vector {
		n := number{numberKnown, k.Number}
		if k.Doubtful {
			n.Kind = numberDoubtful
		}
		if k.Origin != g.cfg.Incarnation {
			claims[k.Origin] = claim{k.Origin, n, max(k.Silent, 0)}
		}
	}
	if g.filed == nil {
		g.filed = new(filed)
	}
	g.filed.written = max(written, 1)
	for c := max(from, 0); c < min(to, Chunks); c++ {
		g.filed.claims[c] = claims
		if g.join != nil {
			g.join.claims[c] = claims
			continue
		}
		for _, n := range claims {
			g.sourceOf(now, n).numbers.set(c, n.number)
		}
	}
	for _, s := range g.sources {
		s.numbers.pack()
	}
}

// filed is what a state file had. Its maps are never changed.
type filed struct {
	written int64
	claims  [Chunks]map[uint64]claim
}

// sourceOf is the origin of a claim, known from now on.
func (g *Ledger) sourceOf(now int64, n claim) *source {
	s := g.sources[n.origin]
	if s == nil {
		s = &source{heardAt: subSat(now, max(n.silent, 0))}
		g.sources[n.origin] = s
	}
	return s
}

// written is when this node's state file was; 0: it has none.
func (g *Ledger) written() int64 {
	if g.filed == nil {
		return 0
	}
	return g.filed.written
}

// heardNothing reports whether all that this node has of others was in its state file.
func (g *Ledger) heardNothing() bool {
	for origin, s := range g.sources {
		if g.filed == nil {
			if s.numbers.any() {
				return false
			}
			continue
		}
		for c := range Chunks {
			if n := s.numbers.at(c); n.N > 0 && n != g.filed.claims[c][origin].number {
				return false
			}
		}
	}
	return true
}

// merging is how a donor's chunk meets what this node has of it.
type merging uint8

const (
	byMaximum merging = iota // of each key, what is more
	instead                  // the donor has all that is here, and takes its place
	ignored                  // all that the donor has is here
)

// compare says how a chunk with these claims is to be merged with what is here; whole, that
// nothing of this node's own is missing from its log that the donor lacks. A maximum of two
// is only for those of which each has something that the other has not: it takes what was
// given back for spent, and loses, of a key, what one side alone has.
func (j *join) compare(c int, claims []claim, self uint64, whole bool) merging {
	before := j.claims[c]
	there := make(map[uint64]number, len(claims))
	more := false // there is more in the donor's
	for _, n := range claims {
		if n.origin == self {
			continue
		}
		there[n.origin] = n.number
		if n.N > 0 && !before[n.origin].covers(n.number) {
			more = true
		}
	}
	for origin, n := range before {
		if origin != self && (n.N > 0 || n.Kind == numberDoubtful) && !there[origin].covers(n.number) {
			if more {
				return byMaximum
			}
			return ignored
		}
	}
	if whole {
		return instead
	}
	return byMaximum
}

// covers reports whether all of a log that m stands for is in n.
func (n number) covers(m number) bool { return n.known() && m.known() && n.N >= m.N }

// Alike is how many chunks, from one on, have the same Vector.
func (g *Ledger) Alike(chunk int) int {
	j := g.join
	if j == nil {
		return g.alike(chunk)
	}
	same := func(a, b claim) bool { return a.number == b.number }
	for c := chunk + 1; c < Chunks; c++ {
		if !maps.EqualFunc(j.claims[chunk], j.claims[c], same) {
			return c - chunk
		}
	}
	return Chunks - chunk
}

// Life is until when some version of the record matters to anyone, ≥ Until.
func (r *Record) Life() int64 { return max(r.life, r.Until) }

// Recall is Restore of a record that had this Life.
func (g *Ledger) Recall(now int64, r Record, life int64) (accepted bool) {
	r.life = life
	return g.Restore(now, r)
}

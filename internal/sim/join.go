package sim

import (
	"maps"
	"slices"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// serving names what a donor gave a newcomer.
type serving struct{ to, ask uint64 }

// served is what a donor had, by key, when it cut some chunks.
type served map[int]*given

// given is what a donor had of a key: of whom, which drains and how much of each spot.
type given struct {
	of     map[uint64]part
	tally  tally
	holds  map[gossip.RecordKey]stake
	fullAt int64
	limit  Limit
	vague  bool
}

type part struct {
	coverage
	amounts map[int]int64 // by spot
}

// arrival is a CHUNK that a newcomer takes in; done once it is booked.
type arrival struct {
	donor  *Node
	f      frame
	loaded int
	done   bool
}

// Cut is the table's; what is unsent in the range is drained, and what is cut remembered.
func (t *audited) Cut(now int64, first, last uint64, told func(*table.Limit, uint64, table.Row), emit func(*table.Limit, *table.Saved)) {
	b := &t.n.book
	t.n.cut = true
	t.Table.Cut(now, first, last, func(l *table.Limit, hash uint64, r table.Row) {
		b.drained = append(b.drained, amount{t.n.w.spotOf(t.n.w.keyOf(l, hash), r.Start, r.Per), r.N})
		told(l, hash, r)
	}, emit)
}

// hasServed notes what a donor has, if it has just cut chunks for the newcomer that asked.
func (n *Node) hasServed(to *Node, f frame) {
	if !n.cut {
		return
	}
	for _, m := range n.w.nodes {
		if m != n && m != to && !m.gone && !n.knows[m.id] && !m.holdsFor(to) {
			n.w.waive() // the donor does not know that it lives
		}
	}
	s := make(served)
	for _, k := range n.w.keys {
		s[k.index] = n.given(k)
	}
	n.book.served[serving{to.id, f.own[0]}] = &s
	n.cut = false
}

func (n *Node) given(k *key) *given {
	g := &given{of: make(map[uint64]part), tally: n.tallies[k.index].clone(), holds: make(map[gossip.RecordKey]stake), fullAt: n.book.fullAt[k.index], limit: n.limit(k), vague: n.book.vague[k.index]}
	for origin, a := range n.book.accounts {
		g.of[origin] = part{coverage{slices.Clone(a.keys[k.index].spans)}, n.w.amountsOf(k, a.applied)}
	}
	own := sums{}
	for _, d := range n.book.drains {
		for _, x := range d {
			own.add(x.spot, x.n)
		}
	}
	g.of[n.id] = part{coverage{[]stretch{{0, uint64(len(n.book.drains))}}}, n.w.amountsOf(k, own)}
	for id, s := range n.book.holds {
		if n.w.holds[id].key == k {
			g.holds[id] = *s
		}
	}
	return g
}

func (w *World) amountsOf(k *key, all sums) map[int]int64 {
	amounts := make(map[int]int64)
	for i, v := range all {
		if v != 0 && w.spots[i].key == k.index {
			amounts[i] = v
		}
	}
	return amounts
}

func (t *tally) clone() tally {
	c := *t
	c.counts, c.moments = maps.Clone(t.counts), slices.Clone(t.moments)
	return c
}

// Merge is the table's; before the first of an answer the whole of it is booked.
func (t *audited) Merge(l *table.Limit, now int64, o table.Other) {
	t.n.takesOver()
	t.Table.Merge(l, now, o)
}

// expects notes that a frame may bring chunks.
func (n *Node) expects(from *Node, f frame) {
	n.coming = nil
	if ledger := n.engine.Ledger(); f.kind == gives && ledger.Joining() {
		n.coming = &arrival{donor: from, f: f, loaded: ledger.Loaded()}
	}
}

// takenOver books chunks that had nothing in them to be merged, and looks at those that
// had.
func (n *Node) takenOver() {
	c, w := n.coming, n.w
	if c == nil {
		return
	}
	if ledger := n.engine.Ledger(); !ledger.Joining() || ledger.Loaded() > c.loaded {
		n.takesOver()
		for _, k := range w.keys {
			if n.peek(k); k.bucket() && n.limits[k.limit] != nil {
				w.checkBalance(n, k)
			}
		}
	}
	n.coming = nil
}

// takesOver books what a donor gave, once.
func (n *Node) takesOver() {
	c, w := n.coming, n.w
	if c == nil || c.done {
		return
	}
	c.done = true
	s := c.donor.book.served[serving{n.id, c.f.own[0]}]
	if s == nil {
		w.failf("%v takes over what %v never gave", n, c.donor)
		return
	}
	w.Stats.TakenOver++
	for _, k := range w.keys {
		if from, to := c.f.own[1], c.f.own[2]; uint64(k.chunk) >= from && uint64(k.chunk) < to {
			n.inherits(k, (*s)[k.index], c.donor)
		}
	}
}

// inherits has the node's account of a key become the donor's, with what is its own and
// the donor had not heard of on top.
func (n *Node) inherits(k *key, g *given, donor *Node) {
	w, b := n.w, &n.book
	vague := g.vague || b.vague[k.index]
	for _, origin := range slices.Sorted(maps.Keys(g.of)) {
		if origin != n.id {
			vague = n.replaces(k, origin, g.of[origin]) || vague
		}
	}
	for _, origin := range slices.Sorted(maps.Keys(b.accounts)) {
		if _, named := g.of[origin]; !named && b.accounts[origin].keys[k.index].heard() {
			vague = true
		}
	}
	n.inheritsHolds(k, g)
	rest := n.ownRest(k, g.of[n.id].amounts)
	if own := g.of[n.id]; b.active[k.index] && (w.opts.Ledger.MaxBytes > 0 || !own.whole(own.end())) {
		vague = true // its log may have given something up that the donor never heard
	}
	if vague {
		b.vague[k.index] = true
		w.Stats.Vague++
	}
	if b.fullAt[k.index] = max(b.fullAt[k.index], g.fullAt); len(rest) == 0 {
		b.fullAt[k.index] = g.fullAt
	}
	n.inheritsTally(k, g, rest, donor)
}

// replaces takes over what a donor has of one origin. It reports whether the node had
// something that the donor has not: then nobody knows what the greater of both counts.
func (n *Node) replaces(k *key, origin uint64, p part) (vague bool) {
	w, b, a := n.w, &n.book, n.account(origin)
	c := &a.keys[k.index]
	vague = !c.within(&p.coverage)
	at := max(c.end(), p.end())
	for i, v := range w.amountsOf(k, a.applied) {
		a.applied.add(i, -v)
		b.known.add(i, -v)
		b.applied[k.index] -= v
	}
	for i, v := range p.amounts {
		a.applied.add(i, v)
		b.known.add(i, v)
		b.applied[k.index] += v
	}
	if *c = (coverage{slices.Clone(p.spans)}); at > c.end() || at == 0 && p.heard() && !c.heard() {
		c.begin(at)
	}
	return vague
}

// inheritsHolds takes over how a donor counts holds that the node had not heard of.
func (n *Node) inheritsHolds(k *key, g *given) {
	b := &n.book
	for id, s := range g.holds {
		if b.holds[id] != nil {
			continue
		}
		b.holds[id] = &stake{counts: s.counts} // which heeds is to hear of
		b.held[k.index] += s.counts
		b.known.add(n.w.spotOf(k.index, s.Start, s.Per), s.counts)
	}
}

// ownRest is what a node has of its own of a key, by spot, that a donor had not heard of.
func (n *Node) ownRest(k *key, heard map[int]int64) map[int]int64 {
	rest := make(map[int]int64)
	for i, v := range heard {
		rest[i] -= v
	}
	for _, d := range n.book.drains {
		for _, x := range d {
			if n.w.spots[x.spot].key == k.index {
				rest[x.spot] += x.n
			}
		}
	}
	for i, v := range n.w.amountsOf(k, n.book.unsent) {
		rest[i] += v
	}
	maps.DeleteFunc(rest, func(_ int, v int64) bool { return v == 0 })
	return rest
}

package sim

import "slices"

// account is what one incarnation has of one origin: of each key some stretches of its
// drains, and what they came to. Most nodes have the same of all keys; one that has
// joined has of each what its donor had.
type account struct {
	keys    []coverage
	applied sums // by spot
}

// coverage is the drains that are in the count of a key: stretches in order, of which
// none overlap. What lies between them was lost, or was over before the node began.
type coverage struct{ spans []stretch }

type stretch struct{ from, to uint64 } // drains (from, to]

func newAccount(keys int) *account { return &account{keys: make([]coverage, keys)} }

// account is the node's of an origin, made if need be.
func (n *Node) account(origin uint64) *account {
	a := n.book.accounts[origin]
	if a == nil {
		a = newAccount(len(n.w.keys))
		n.book.accounts[origin] = a
	}
	return a
}

// heard reports whether the node has begun to hear of a key, and end is up to where it
// has.
func (c *coverage) heard() bool { return len(c.spans) > 0 }

func (c *coverage) end() uint64 {
	if !c.heard() {
		return 0
	}
	return c.spans[len(c.spans)-1].to
}

// begin has the next stretch start at a drain, extend the last one go on to another.
func (c *coverage) begin(at uint64) {
	if !c.heard() || c.end() != at {
		c.spans = append(c.spans, stretch{at, at})
	}
}

func (c *coverage) extend(to uint64) { c.spans[len(c.spans)-1].to = to }

// covers reports whether a drain is in the count.
func (c *coverage) covers(d uint64) bool {
	return d != 0 && slices.ContainsFunc(c.spans, func(s stretch) bool { return d > s.from && d <= s.to })
}

// within reports whether all that is in c is in other as well.
func (c *coverage) within(other *coverage) bool {
	for _, s := range c.spans {
		if s.from < s.to && !slices.ContainsFunc(other.spans, func(o stretch) bool { return s.from >= o.from && s.to <= o.to }) {
			return false
		}
	}
	return true
}

// whole reports whether it is everything from the first drain on, up to head.
func (c *coverage) whole(head uint64) bool {
	at := uint64(0)
	for _, s := range c.spans {
		if s.from > at {
			return false
		}
		at = s.to
	}
	return at == head
}

// upTo reports whether the node has heard of all keys up to a drain.
func (a *account) upTo(head uint64) bool {
	return a != nil && !slices.ContainsFunc(a.keys, func(c coverage) bool { return c.end() != head || !c.heard() && head > 0 })
}

// number is a node's number of an origin's log, for the chunk that a key is in.
type number struct {
	n     uint64
	known bool
}

// numbers are those of all keys, as the node's ledger has them.
func (n *Node) numbers(origin uint64, into []number) []number {
	into = into[:0]
	ledger := n.engine.Ledger()
	for _, k := range n.w.keys {
		at, known := ledger.NumberOf(origin, k.chunk)
		into = append(into, number{at, known})
	}
	return into
}

package gossip

import (
	"maps"
	"slices"
	"testing"
)

// serve gives a newcomer what it wants of this node's table: of each key all that the node
// has told and heard of it.
func (n *node) serve(w Want) {
	to := w.Chunk + w.Most
	if n.most > 0 {
		to = min(to, w.Chunk+n.most)
	}
	first, last := Range(w.Chunk, to)
	var rows []Row
	for hash, v := range n.counts() {
		if hash >= first && hash <= last {
			rows = append(rows, Row{Limit: 1, Hash: hash, Shape: RowWindow, Counts: [3]int64{v}})
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return order(a.Hash, b.Hash) })
	n.Serve(n.time(), 0, w, to, nil, rows, nil)
}

// counts is what the node has of each key: what it told, what it was given and what it
// heard.
func (n *node) counts() map[uint64]int64 {
	counts := maps.Clone(n.given)
	for _, d := range n.told {
		for k, v := range d {
			counts[k.hash] += v
		}
	}
	for _, c := range n.charges {
		counts[c.Hash] += c.N
	}
	return counts
}

// count is what it has of key 0.
func (n *node) count() int64 { return n.counts()[0] }

// take keeps a chunk: of each key the greater of what this node has, and of what the donor
// has with this node's own on top.
func (n *node) take(c Chunk) {
	n.chunks = append(n.chunks, c)
	theirs := make(map[uint64]int64)
	for _, r := range c.Rows {
		theirs[r.Hash] += r.Counts[0]
	}
	for _, e := range c.Own {
		theirs[e.Hash] += e.N
	}
	mine := n.counts()
	for hash, v := range theirs {
		if c.Exact || v > mine[hash] {
			n.given[hash] += v - mine[hash]
		}
	}
}

func joins(first bool) func(*Config) {
	return func(c *Config) { c.Joins, c.First, c.Grace = true, first, 1 }
}

// meeting has all know each other, and their links open.
func meeting(nodes ...*node) {
	for _, a := range nodes {
		for _, b := range nodes {
			if a != b && a.link(b.id) == nil {
				a.up(b)
				a.open(b)
			}
		}
	}
}

// Rules 7, 8, 11 and 12: what the donor has not heard yet of an origin, or of the newcomer,
// when it is asked is told by their logs, once; so is what comes while the newcomer joins.
func TestJoin(t *testing.T) {
	for delay := range 40 {
		w := newWorld(t)
		o, d := w.born("o", joins(true)), w.born("d", joins(false))
		meeting(o, d)
		w.pass(3000 * ms)
		if d.Joining() || !d.Heard() {
			t.Fatal("the second is not ready")
		}
		o.spend(1)
		w.pass(100 * ms)
		o.spend(2)
		d.spend(10)
		w.now += 5 * ms
		o.tick()
		late := w.take(kind(o, kindBatch)) // the donor has applied 1 of these 3
		n := w.born("n", joins(false))
		n.spend(100)
		meeting(o, d, n)
		total := int64(113)
		for i := range delay {
			for _, m := range []*node{o, d, n} {
				m.tick()
			}
			if len(w.wire) > 0 {
				p := w.wire[0]
				w.wire = w.wire[1:]
				if p.from != o || p.to != d || !kind(o, kindBatch)(p) { // else lost: the donor hears nothing new
					w.hand(p)
				}
			}
			w.now += ms
			if i%7 == 0 {
				o.spend(1000)
				n.spend(10_000)
				total += 11_000
			}
		}
		w.handAll(late)
		w.pass(5000 * ms)
		for _, m := range []*node{o, d, n} {
			if got := m.count(); got != total || m.Joining() || m.Lost() > 0 || !m.Quiet() {
				t.Fatalf("delay %d: %s has %d of %d, joining %v, lost %d, quiet %v", delay, m.name, got, total, m.Joining(), m.Lost(), m.Quiet())
			}
		}
		if len(n.chunks) == 0 {
			t.Fatal("nothing was taken over")
		}
	}
}

// Rule 9. Two join at once: a donor serves nobody for whom not all hold their logs.
func TestTwoJoinAtOnce(t *testing.T) {
	w := newWorld(t)
	d := w.born("d", joins(true))
	d.spend(1)
	x, y := w.born("x", joins(false)), w.born("y", joins(false))
	d.up(x)
	d.up(y)
	x.up(d)
	y.up(d)
	d.open(x)
	d.open(y)
	x.open(d)
	y.open(d)
	y.spend(10)
	w.pass(1000 * ms)
	if len(x.chunks) > 0 || len(y.chunks) > 0 {
		t.Fatal("served though one of the newcomers holds nothing for the other")
	}
	x.up(y)
	y.up(x)
	x.open(y)
	y.open(x)
	w.pass(3000 * ms)
	for _, m := range []*node{d, x, y} {
		if got := m.count(); got != 11 || m.Joining() || m.Lost() > 0 {
			t.Errorf("%s has %d of 11, joining %v, lost %d", m.name, got, m.Joining(), m.Lost())
		}
	}
}

package sim

import "github.com/stint-go/stint/gossip"

// near is how far apart nodes may see the end of a hold or a ban: the worst delay of a
// frame that a cut has held.
const near = 1200 * Millisecond

// ending reports whether a hold or a ban is about to end, or just has: nodes may differ
// for a moment.
func (w *World) ending() bool {
	soon := func(at int64) bool { return at > w.now-near && at < w.now+near }
	for _, h := range w.made {
		if h.Open && soon(h.ends) {
			return true
		}
	}
	for _, b := range w.banned {
		if soon(b.ends) || soon(b.last) {
			return true
		}
	}
	return false
}

// banning is a ban as it stands in truth: by the newest word of anyone.
type banning struct {
	gossip.Record
	key  *key
	ends int64 // virtual
	last int64 // the latest that anyone has said
}

// checkRecords is what must hold of holds and bans once all is quiet: every node has the
// same record, which is the last word if who said it lives, and does what it says.
func (w *World) checkRecords() {
	for _, h := range w.made {
		w.checkRecord(h.Record, h.ends, h.key)
		for _, n := range w.nodes {
			s := n.book.holds[h.Key()]
			if s != nil && s.counts != n.due(&s.Record) {
				w.failf("%v counts a hold of %v as %d events, due are %d: %+v", n, w.spots[h.spot], s.counts, n.due(&s.Record), s.Record)
			}
		}
	}
	for _, b := range w.banned {
		w.checkRecord(b.Record, b.ends, b.key)
	}
	for _, n := range w.nodes {
		n.checkOpen()
	}
}

// checkRecord compares what the nodes have of one.
func (w *World) checkRecord(last gossip.Record, ends int64, k *key) {
	first, known := w.nodes[0].engine.Ledger().Record(last.Key())
	for _, n := range w.nodes {
		r, ok := n.engine.Ledger().Record(last.Key())
		if ok != known || r.Open != first.Open || r.Version != first.Version || r.Writer != first.Writer || r.N != first.N {
			w.failf("%v and %v disagree on key %d: %+v, %+v", n, w.nodes[0], k.index, r, first)
		}
	}
	if known && first.Kind == gossip.RecordBan && first.Open && ends > w.now {
		w.Stats.BansAlike++
	}
	if writer := w.byID[last.Writer]; writer.gone {
		return
	}
	if !known || first.Version != last.Version || first.Writer != last.Writer {
		w.failf("all have %+v of key %d, and %v wrote %+v", first, k.index, w.byID[last.Writer], last)
	}
	if first.Kind == gossip.RecordHold {
		w.Stats.HoldsAlike++
	}
}

// checkOpen compares what the engine shows with what it knows.
func (n *Node) checkOpen() {
	open, bans := 0, 0
	for _, s := range n.book.holds {
		if s.Open && s.Until > n.now() {
			open++
		}
	}
	for _, r := range n.book.bans {
		if r.Open && r.Until > n.now() {
			bans++
		}
	}
	if got := len(n.engine.Holds(n.now())); got != open {
		n.w.failf("%v shows %d open holds, want %d", n, got, open)
	}
	if got := len(n.engine.Bans(n.now())); got != bans {
		n.w.failf("%v shows %d bans, want %d", n, got, bans)
	}
}

package sim

import "math"

// central is one bucket for the whole cluster, which everything admitted anywhere is
// charged to at the moment it happens: GCRA in floating point, in virtual time.
type central struct{ full float64 }

// take charges n events if they fit the burst.
func (c *central) take(at, n int64, l Limit) bool {
	if c.used(at, l.interval())+float64(n) > float64(l.Burst) {
		return false
	}
	c.charge(at, n, l.interval())
	return true
}

func (c *central) charge(at, n int64, interval float64) {
	c.full = math.Max(c.full, float64(at)) + float64(n)*interval
}

// used is how many events are not back yet.
func (c *central) used(at int64, interval float64) float64 {
	return math.Max(0, c.full-float64(at)) / interval
}

// excess is by how many events the admissions up to now exceed B + R·t over the worst
// interval that ends now.
func (w *World) excess(k *key) float64 {
	return math.Max(0, k.central.used(w.now, k.interval())-float64(k.Burst))
}

// unheard is what a node does not know of a key: all that was ever admitted less its own
// and what it has applied.
func (n *Node) unheard(k *key) int64 {
	return k.total - n.book.admitted[k.index] - n.book.applied[k.index]
}

// checkExcess is the heart of promise 3, true whatever the network does: by how much an
// admission overspends, its node has not heard, or was told so late that it forgave it.
func (w *World) checkExcess(n *Node, k *key) {
	excess, unheard := w.excess(k), n.unheard(k)
	w.Stats.Excess = math.Max(w.Stats.Excess, excess)
	if most := float64(unheard+w.forgiven(n)) + w.slack(k); excess > most {
		w.overspent("%v overspends key %d by %.3f events, having not heard of %d", n, k.index, excess, unheard)
	}
	if w.opts.InTouch {
		w.checkBound(n, k, excess, unheard)
	}
}

func (w *World) overspent(format string, args ...any) {
	if !w.opts.RateOnly {
		w.failf(format, args...)
	}
}

// slack is what clocks of different speeds are worth by now, in events of a key: a node
// refills by its own clock, and maps a peer's by what the two showed up to a minute ago.
func (w *World) slack(k *key) float64 {
	const rounding = 1e-6
	return rounding + 3e-6*float64(w.opts.PPM)*k.rate(w.now)
}

// forgiven is how many events of charges a node has cut off so far; each time part of
// one may have gone with them.
func (w *World) forgiven(n *Node) int64 { return 2 * n.book.forgiven }

func (w *World) forgave(n *Node) {
	now := n.table.Stats().Forgiven
	w.Stats.Forgiven += now - n.book.forgiven
	n.book.forgiven = now
}

// checkRate is promise 4 for a key that was first asked for at a time: what was admitted
// since is at most B + R·t and the bound, and nothing that came in time was forgiven.
func (w *World) checkRate(k *key, since int64) error {
	if most := float64(k.Burst) + k.rate(w.now-since) + float64(w.Stats.Bound); float64(k.total) > most {
		w.failf("key %d was admitted %d events since %d ms, at most %.0f allowed", k.index, k.total, since/Millisecond, most)
	}
	if w.Stats.Forgiven > 0 {
		w.failf("%d events were forgiven although all news was fresh", w.Stats.Forgiven)
	}
	return w.err
}

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

// trueWindow is a window as it is cut from the true time: what was admitted while it
// lasted, and as much of that as its nodes counted elsewhere, their clocks being off.
type trueWindow struct{ count, stray int64 }

func (k *key) window(start int64) *trueWindow {
	t := k.trues[start]
	if t == nil {
		t = &trueWindow{}
		k.trues[start] = t
	}
	return t
}

// spend has the one judge of the whole cluster count what was admitted in the window that
// its node says begins at start.
func (w *World) spend(k *key, events, start int64) {
	k.central.charge(w.now, events, k.interval())
	switch {
	case k.log():
		k.moments.count(w.now, events)
	case k.windows():
		t := k.window(k.cut(w.truth()))
		t.count = max(t.count, 0) + events
		if start != k.cut(w.truth()) {
			t.stray += events
		}
	}
}

// unspend is what is given back. Of a log the judge takes out the newest, which no node
// counts for longer.
func (w *World) unspend(k *key, events, start int64) {
	k.refunded += events
	k.central.full -= float64(events) * k.interval()
	switch {
	case k.log():
		k.moments.count(math.MaxInt64, -events)
	case k.windows():
		k.window(start).count -= events
	}
}

// excess is by how many events the admissions up to now exceed what one judge would have
// let pass: B + R·t over the worst interval that ends now, or the limit of this window.
func (w *World) excess(k *key) float64 {
	most := float64(k.most())
	switch {
	case k.windows():
		start := k.cut(w.truth())
		used := float64(max(k.window(start).count, 0))
		if k.Algorithm == SlidingWindow {
			left := float64(start + k.Per - w.truth())
			used += float64(max(k.window(start-k.Per).count, 0)) * left / float64(k.Per)
		}
		return math.Max(0, used-most)
	case k.log():
		short := 3e-6 * float64(w.opts.PPM) * float64(w.now) // a clock may run fast
		return math.Max(0, float64(k.moments.since(w.now-k.Per+int64(short)))-most)
	}
	return math.Max(0, k.central.used(w.now, k.interval())-most)
}

// unheard is what a node does not know of a key: all that was ever admitted less its own
// and what it has applied.
func (n *Node) unheard(k *key) int64 {
	return k.total - n.book.admitted[k.index] - n.book.applied[k.index] - n.book.held[k.index]
}

// unheardAt is the same of one spot.
func (n *Node) unheardAt(at int) int64 { return n.w.total.at(at) - n.book.known.at(at) }

// checkExcess is the heart of promise 3, true whatever the network does: by how much an
// admission overspends, its node has not heard, or was told so late that it forgave it.
// (What is given back, the node may have heard of before it heard of what was taken. Of
// windows that somebody counts otherwise, because his clock is off, nothing is known.)
func (w *World) checkExcess(n *Node, k *key, at int) {
	if k.changed || n.book.vague[k.index] || k.windows() && (w.foreign[at] || w.spots[at].start != k.cut(w.truth())) {
		return
	}
	excess, unheard := w.excess(k), n.unheard(k)
	w.Stats.Excess = math.Max(w.Stats.Excess, excess)
	most := float64(unheard+w.forgiven(n)) + w.slack(k)
	if k.windows() {
		most = n.unheardWindows(k, at)
	}
	if excess > most+float64(k.refunded) {
		w.overspent("%v overspends key %d by %.3f events, having not heard of %d", n, k.index, excess, unheard)
	}
	if w.opts.InTouch {
		w.checkBound(n, k, excess, unheard)
	}
}

// unheardWindows is how much a node may overspend a window: what it has not heard of it,
// what others count elsewhere, and, where the window before still counts, as much of that
// as its clock is off.
func (n *Node) unheardWindows(k *key, at int) float64 {
	w, start := n.w, n.w.spots[at].start
	most := float64(n.unheardAt(at) + max(k.window(start).stray, 0))
	if k.Algorithm == SlidingWindow {
		before := w.spotOf(k.index, start-k.Per, k.Per)
		off := math.Abs(float64(n.cluster()-w.truth())) / float64(k.Per)
		if w.foreign[before] {
			return math.Inf(1)
		}
		most += float64(max(n.unheardAt(before), 0)+max(k.window(start-k.Per).stray, 0)) + float64(max(n.book.known.at(before), 0))*off + 1
	}
	return most
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

// forgiven is how many events of charges a node has cut off so far, or was not told of;
// each time part of one may have gone with them.
func (w *World) forgiven(n *Node) int64 { return 2 * (n.book.forgiven + w.untold()) }

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

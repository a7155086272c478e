package gossip

import (
	"maps"
	"slices"
)

// calm mends everything and waits until all know all.
func (r *run) calm() {
	for _, n := range r.nodes() {
		for _, m := range r.nodes() {
			if n != m {
				n.up(m)
				if n.link(m.id).state == closed {
					n.open(m)
				}
			}
		}
	}
	r.quiet()
}

func (r *run) quiet() {
	for range 100 {
		r.pass(100 * ms)
		quiet := true
		for _, n := range r.nodes() {
			quiet = quiet && n.Quiet() && n.Heard()
		}
		if quiet {
			return
		}
	}
	r.t.Fatal("no quiet after 10 s")
}

// agree opens all sessions anew: then all know the same holds and bans, of nodes that
// are gone, too, but for those that are or may be forgotten somewhere. If nobody was
// believed dead who lives, all did so before.
func (r *run) agree() {
	if !r.hostile {
		r.quiet()
		r.compare("left alone")
	}
	for _, n := range r.nodes() {
		for _, m := range r.nodes() {
			if n != m {
				n.closed(m)
				n.open(m)
			}
		}
	}
	r.quiet()
	r.compare("in new sessions")
}

func (r *run) compare(when string) {
	for _, n := range r.nodes() {
		if n.register.dropped > 0 {
			return
		}
	}
	for _, n := range r.nodes() {
		for _, r1 := range slices.Concat(n.Records(RecordHold), n.Records(RecordBan)) {
			for _, m := range r.nodes() {
				r2, ok := m.Record(r1.Key())
				if r1.life > n.time()+100_000*ms && (!ok || r1.Version != r2.Version || r1.Writer != r2.Writer) {
					r.t.Errorf("%s: %s has %+v, %s has %+v", when, n.name, r1, m.name, r2)
				}
			}
		}
	}
}

func (r *run) check() {
	for _, n := range r.nodes() {
		for _, from := range r.nodes() {
			if n == from {
				continue
			}
			h := n.heard[from.id]
			if number, _ := n.Number(from.id); number != from.Head() {
				r.t.Errorf("%s has number %d of %s, want %d", n.name, number, from.name, from.Head())
			}
			if r.hostile {
				continue
			}
			if want := sumOf(from.told[h.start:]); h.lost > 0 || !maps.Equal(r.counting(h.sums), r.counting(want)) {
				r.t.Errorf("%s heard %v of %s from %d on, lost %d; want %v", n.name, h.sums, from.name, h.start, h.lost, want)
			}
			if n.id <= 2 && from.id <= 2 && h.start != 0 {
				r.t.Errorf("%s begins %s at %d, want 0", n.name, from.name, h.start)
			}
		}
		if entries, _ := n.Size(); entries > 0 && !r.hostile && len(n.links) < len(r.nodes()) {
			r.t.Errorf("%s: %d entries are left in the log", n.name, entries)
		}
	}
	for _, p := range r.old { // and nothing of the past changes anything now
		charges, news := len(p.to.charges), len(p.to.news)
		if r.hand(p); r.node(p.from.id) == p.from && (len(p.to.charges) != charges || len(p.to.news) != news) {
			r.t.Errorf("%v was applied after all", p)
		}
	}
}

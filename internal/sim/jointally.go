package sim

import (
	"maps"
	"slices"

	"github.com/stint-go/stint/internal/table"
)

// inheritsTally has the naive account of a key become what the donor had counted with
// the rest of the node's own on top.
func (n *Node) inheritsTally(k *key, g *given, rest map[int]int64, donor *Node) {
	t, was, l := &n.tallies[k.index], n.tallies[k.index], n.limit(k)
	*t = g.tally.clone()
	t.exact = max(t.exact, was.exact)
	t.loose, t.early = t.loose || was.loose, t.early || was.early
	if g.limit != l || l.Opaque || l.Without > 0 || n.book.vague[k.index] {
		t.loose = true
		if l.windows() { // of which it may have, or come to have, another count; not of those after
			t.exact = max(t.exact, l.cut(n.cluster())+2*l.Per)
		}
	}
	switch {
	case l.windows():
		n.windowsOnTop(k, t, rest)
	case l.log():
		n.logOnTop(k, t, rest, g, donor)
	}
}

func (n *Node) windowsOnTop(k *key, t *tally, rest map[int]int64) {
	l, w := n.limit(k), n.w
	for _, i := range slices.Sorted(maps.Keys(rest)) {
		if s := w.spots[i]; rest[i] != 0 {
			start, ok := n.lands(l, table.Row{N: rest[i], Start: s.start, Per: s.per})
			if ok {
				t.add(start, rest[i])
			}
		}
	}
	for _, h := range w.made { // that the node knew, and counts otherwise than the donor
		if s := n.book.holds[h.Key()]; h.key == k && s != nil {
			if d := s.counts - n.donorCounts(h); d != 0 {
				if start, ok := n.lands(l, table.Row{N: d, Start: s.Start, Per: s.Per}); ok {
					t.add(start, d)
				}
			}
		}
	}
}

// donorCounts is as what the donor counts a hold that is being taken over.
func (n *Node) donorCounts(h *holding) int64 {
	s := (*n.coming.donor.book.served[serving{n.id, n.coming.f.own[0]}])[h.key.index].holds[h.Key()]
	return s.counts
}

// logOnTop has moments by the node's own clock. Those that may expire while the network
// has them are not compared.
func (n *Node) logOnTop(k *key, t *tally, rest map[int]int64, g *given, donor *Node) {
	t.loose = t.loose || g.limit.Per < 60*Second
	for i := range t.moments {
		t.moments[i].at = n.clock.read(donor.clock.when(t.moments[i].at))
	}
	for i, v := range rest {
		if n.w.spots[i].per != 0 || v < 0 {
			t.loose = true
		}
		t.moments.count(n.now(), v)
	}
	for _, h := range n.w.made {
		if s := n.book.holds[h.Key()]; s != nil && h.key == k {
			t.moments.count(n.now(), s.counts-n.donorCounts(h))
		}
	}
}

package gossip

import "github.com/vmihailenco/msgpack/v5/msgpcode"

// wall is a node's wall clock minus its monotonic time, as it tells it to a peer. Only
// what both say of themselves at one instant is compared, through the difference of
// their monotonic clocks.
type wall struct {
	Raw   int64
	Known bool
}

// SetWall tells the ledger this node's wall clock minus its monotonic time, in
// nanoseconds; until then LinkStats.Wall is not known. Call it about as often as the
// wall clock might be set.
func (g *Ledger) SetWall(raw int64) { g.wall = wall{raw, true} }

// wallOf is how far a peer's wall clock is ahead of ours at one instant. A frame of the
// peer arrives, by our clock, later than it was sent by the peer's: by the difference
// of the clocks and the way. The least of that is known, and so is the least round trip,
// half of which is taken for the way; the error is at most the other half.
func (g *Ledger) wallOf(now int64, l *link, s *source) (ahead int64, known bool) {
	if l.state != live || s == nil || !s.started || !s.wall.Known || !g.wall.Known || !l.roundTrip.seen() {
		return 0, false
	}
	clock := subSat(l.roundTrip.least(now)/2, s.delay.least(now))
	return addSat(clock, subSat(s.wall.Raw, g.wall.Raw)), true
}

// told keeps what a peer says of its wall clock.
func (g *Ledger) told(peer uint64, w wall) {
	if s := g.sources[peer]; s != nil && w.Known {
		s.wall = w
	}
}

func (e *encoder) wall(w wall) {
	if w.Known {
		e.int(w.Raw)
	} else {
		e.keep(e.enc.EncodeNil())
	}
}

func (d *decoder) wall(there bool) (w wall) {
	if !there || d.err != nil {
		return w
	}
	if c, err := d.dec.PeekCode(); err == nil && c == msgpcode.Nil {
		d.skip(1)
		return w
	}
	w.Raw = d.int()
	w.Known = d.err == nil
	return w
}

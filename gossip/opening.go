package gossip

import "slices"

// opening is what a START brings: all live definitions and records, cut into what a
// frame holds. Links that open at the same time share one; it stays as it is for as
// long as a session takes to open, for its parts are asked for by number.
type opening struct{ pieces []piece }

type piece struct {
	defs    []Definition
	records []*Record
}

func cutOpening(defs []Definition, records []*Record, max int) *opening {
	o := &opening{}
	for {
		d, room := fitDefinitions(defs, max)
		r, _ := fitRecords(records, room)
		if d == 0 && r == 0 {
			r = min(1, len(records)) // whatever max is
		}
		o.pieces = append(o.pieces, piece{defs[:d], records[:r]})
		if defs, records = defs[d:], records[r:]; len(defs) == 0 && len(records) == 0 {
			return o
		}
	}
}

// openingNow is what a session that opens now has to tell. Records over for so long that
// no peer would take them in are left out.
func (g *Ledger) openingNow(now int64) *opening {
	if g.opening == nil {
		records := g.register.sorted(func(r *Record) bool { return subSat(now, r.life) <= g.cfg.PartitionMemory })
		g.opening = cutOpening(slices.Clone(g.log.defs), records, g.cfg.MaxFrame)
	}
	return g.opening
}

// start sends the START of the session, from the first part that the peer does not have.
func (g *Ledger) start(now int64, l *link) {
	l.offered = l.held
	g.offer(now, l)
}

// offer sends as many parts of a START as the window has room for, taking all for full.
func (g *Ledger) offer(now int64, l *link) {
	l.askedAt = now
	g.mark(now, l)
	h := header{kind: kindStart, origin: g.cfg.Incarnation, peer: l.peer, session: l.session, nonce: l.nonce}
	pieces, room := l.opening.pieces, max(g.window(now, l)/(1+g.cfg.MaxFrame>>17), 1)
	for ; l.offered < min(l.held+room, len(pieces)); l.offered++ {
		p := &pieces[l.offered]
		g.send(l.peer, encodeFrame(h, &start{Numbers: l.starts, Part: l.offered, Parts: len(pieces), Sent: now, Defs: p.defs, Records: p.records}))
	}
}

// holds is the peer having so many parts of our START: it is sent more of them. A peer of
// version 1 does not say so, and gets all that the window holds at a time.
func (g *Ledger) holds(now int64, l *link, h header, m *held) {
	if l.state != starting || h.session != l.session || h.nonce != l.nonce || m.Parts <= l.held || m.Parts >= len(l.opening.pieces) {
		return
	}
	g.answered(now, l, m.Echo)
	l.held = m.Parts
	l.offered = max(l.offered, l.held)
	g.offer(now, l)
}

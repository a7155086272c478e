package gossip

import "slices"

// Want is a newcomer asking for chunks of this node's table, from Chunk on: one at least,
// and Most at most. Answer it by [Ledger.Serve], at once.
type Want struct {
	Peer, Ask   uint64
	Chunk, Most int
}

// serving is what a newcomer was given last, while it may ask for it again.
type serving struct {
	chunk   // of every part
	bodies  [][]byte
	offered int // parts that were sent
}

// holdFor keeps the log for a newcomer, from the oldest drain that is left, and says so.
func (g *Ledger) holdFor(now int64, l *link) {
	if !l.hold {
		l.skipTo(g.log.base())
		l.hold, l.wantsAt = true, 0
	}
	h := header{kind: kindHolding, origin: g.cfg.Incarnation, peer: l.peer, session: l.session, nonce: l.nonce}
	g.send(l.peer, encodeFrame(h, &holding{From: l.cursor, Sent: now}))
}

// wanted is a newcomer asking for a chunk. It has to wait until all who are alive hold
// their logs for it, and is told who does not; after a time-out it is served anyway, and
// counts what it misses.
func (g *Ledger) wanted(now int64, l *link, h header, m *want) {
	if l.state != waiting || h.session != l.session || h.nonce != l.nonce || m.Ask < l.asked {
		return
	}
	l.wordAt = now
	if s := l.serving; s != nil && s.Ask == m.Ask {
		g.give(now, l, m.Have, m.Again)
		return
	}
	l.asked, l.serving = m.Ask, nil
	if l.wantsAt == 0 {
		l.wantsAt = max(now, 1)
	}
	missing := g.unheld(l, m.Holders)
	if g.join != nil || len(missing) > 0 && now-l.wantsAt < g.cfg.HoldTimeout {
		h.kind = kindRefused
		g.send(l.peer, encodeFrame(h, &refused{Ask: m.Ask, Joining: g.join != nil, Missing: missing, Sent: now}))
		return
	}
	if len(missing) > 0 {
		g.note(l.peer, "joins though %d members do not hold their logs for it yet", len(missing))
	}
	g.out.Wants = append(g.out.Wants, Want{Peer: l.peer, Ask: m.Ask, Chunk: m.Chunk, Most: g.alike(m.Chunk)})
}

// unheld are the members alive, this one included, that a newcomer has no word of. A node
// that was ready by itself waits, too, for those that have not said what they are, and for
// whom the newcomer knows and it does not: it may have to join itself.
func (g *Ledger) unheld(l *link, holders []uint64) (missing []uint64) {
	for _, m := range g.links {
		if m != l && m.deadAt == 0 && (!slices.Contains(holders, m.peer) || g.alone && m.state < waiting) {
			missing = append(missing, m.peer)
		}
	}
	for _, h := range holders {
		if g.alone && h != g.cfg.Incarnation && g.link(h) == nil {
			missing = append(missing, h)
		}
	}
	if !slices.Contains(holders, g.cfg.Incarnation) {
		missing = append(missing, g.cfg.Incarnation)
	}
	return missing
}

// alike is how many chunks, from one on, have the same numbers.
func (g *Ledger) alike(chunk int) int {
	for c := chunk + 1; c < Chunks; c++ {
		for _, s := range g.sources {
			if s.numbers.at(c) != s.numbers.at(chunk) {
				return c - chunk
			}
		}
	}
	return Chunks - chunk
}

// Serve answers a Want with the chunks up to, and without, to: rows and holds as they are
// when everything that was taken of these keys and is in them has been appended, and all
// that was received is charged. Definitions are those of the rows' limits. It is all
// encoded before Serve returns. wall is cluster time.
func (g *Ledger) Serve(now, wall int64, w Want, to int, defs []Definition, rows []Row, holds []Held) {
	l := g.link(w.Peer)
	if l == nil || l.state != waiting || l.asked != w.Ask {
		return
	}
	s := &serving{chunk: chunk{Ask: w.Ask, From: w.Chunk, To: to, Cut: now, Wall: wall, Numbers: g.vector(now, w.Chunk)}}
	s.bodies = encodeRows(now, defs, rows, holds, g.cfg.MaxFrame)
	s.Parts = len(s.bodies)
	g.log.told = g.log.head
	g.alone = false
	l.serving = s
	g.give(now, l, 0, false)
}

// give sends as many parts as a link's queue has room for, taking all for full.
func (g *Ledger) give(now int64, l *link, have int, again bool) {
	s := l.serving
	if s.offered = max(s.offered, have); again {
		s.offered = have
	}
	h := header{kind: kindChunk, origin: g.cfg.Incarnation, peer: l.peer, session: l.session, nonce: l.nonce}
	room := max(g.cfg.Window/(1+g.cfg.MaxFrame>>17), 1)
	for ; s.offered < min(have+room, len(s.bodies)); s.offered++ {
		m := s.chunk
		m.Part, m.Sent = s.offered, now
		if m.Part > 0 {
			m.Numbers = nil
		}
		g.sendBody(l.peer, h, &m, s.bodies[m.Part])
	}
}

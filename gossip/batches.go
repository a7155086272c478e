package gossip

import "math"

// sendBatches sends what the peer has not been sent yet, at most once a gap, and again
// what it has not acknowledged in time. It returns when it wants to be called again.
// The gap counts from when the newest of what was sent last was drained, not from when
// it was sent: else a link once out of step with the drains would stay so, and news
// would wait for the drain and then, up to another gap, for the link.
func (g *Ledger) sendBatches(now int64, l *link) (next int64) {
	next = math.MaxInt64
	if (l.sent < g.log.head || l.unfinished() != nil) && l.load() < g.window(now, l) {
		due := l.batchAt + g.gap()
		if l.batchAt != 0 && now < due {
			next = due
		} else {
			g.sendNew(now, l)
		}
	}
	if len(l.flight) > 0 {
		if now-l.resentOrMoved() >= g.cfg.Resend {
			g.resend(now, l)
		}
		next = min(next, l.resentOrMoved()+g.cfg.Resend)
	}
	return next
}

// sendNew fills the window. A segment that takes more frames than there is room for is
// finished as the peer acknowledges its parts: a link's queue is bounded.
func (g *Ledger) sendNew(now int64, l *link) {
	l.batchAt = max(g.log.cutAt, 1)
	for room := g.window(now, l) - l.load(); room > 0; {
		f := l.unfinished()
		if f == nil {
			s := g.log.after(l.sent)
			if s == nil {
				return
			}
			parts := g.encoded(s)
			f = l.fly(flight{from: s.from, to: s.to, parts: len(parts), weight: weight(parts[0]), firstAt: now})
			g.log.told = max(g.log.told, s.to)
		}
		g.sendPart(now, l, f, f.sent)
		f.sent++
		room -= f.weight
	}
}

// window is how much may be in flight on a link: as much as a batch each gap comes to in
// a round trip, where that is more than the configured window. Else news to a peer far
// away would wait for acknowledgements, for longer than the gap that promise 3 counts on.
// The least round trip is not that of a peer who is slow to take what he is sent.
func (g *Ledger) window(now int64, l *link) int {
	const most = 256
	return max(g.cfg.Window, int(min(l.roundTrip.least(now)/g.gap()+2, most)))
}

// weight is what a frame counts in the window: a large one counts as several, for a
// link's queue is bounded in bytes.
func weight(body []byte) int { return 1 + len(body)>>17 }

// resend repeats all that is in flight. Its bodies are the same to the byte: its
// segments cannot have changed while their ends are boundaries.
func (g *Ledger) resend(now int64, l *link) {
	l.resentAt = now
	for i := range l.flight {
		for f, part := &l.flight[i], l.flight[i].held; part < f.sent; part++ {
			g.sendPart(now, l, f, part)
		}
	}
}

func (g *Ledger) sendPart(now int64, l *link, f *flight, part int) {
	s := g.log.after(f.from)
	if s == nil || s.from != f.from || s.to != f.to {
		return // cannot be, for the same reason
	}
	g.mark(now, l)
	h := header{kind: kindBatch, origin: g.cfg.Incarnation, peer: l.peer, session: l.session, nonce: l.nonce}
	b := batch{From: f.from, To: f.to, Part: part, Parts: f.parts, Sent: now}
	g.sendBody(l.peer, h, &b, g.encoded(s)[part])
}

// encoded is a segment's bodies, made once for all links, without what has expired.
func (g *Ledger) encoded(s *segment) [][]byte {
	if s.parts == nil {
		g.log.bytes -= s.size()
		g.log.pruneSegment(s)
		s.parts = encodeBodies(s, g.named(s), g.cfg.MaxFrame)
		g.log.bytes += s.size()
	}
	return s.parts
}

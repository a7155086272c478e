package gossip

import "math"

// A session is opened by three frames: HELLO says who calls whom, WELCOME answers with
// a nonce of the receiver and its number for this log, START says from which number
// the log will be told. Every later frame carries session and nonce, so that nothing
// of an earlier session, however late, is mistaken for part of this one.

func (g *Ledger) greet(now int64, l *link) {
	l.askedAt = now
	g.mark(now, l)
	h := header{kind: kindHello, origin: g.cfg.Incarnation, peer: l.peer, session: l.session}
	g.send(l.peer, encodeFrame(h, &hello{Version: Version, Oldest: Oldest, Seed: g.cfg.Seed, Sent: now, Wall: g.wall, Joining: g.join != nil}))
}

// mark notes that a frame went out on which an answer must follow.
func (g *Ledger) mark(now int64, l *link) {
	l.sentAt = now
	if l.unanswered == 0 {
		l.unanswered = max(now, 1)
	}
}

// welcomed is the peer's answer to our hello. A newcomer has its numbers later: until
// then the log is held for it, from the oldest drain that is left.
func (g *Ledger) welcomed(now int64, l *link, h header, w *welcome) {
	if l.state >= starting && w.Joining && h.session == l.session && h.nonce != l.nonce {
		g.redial(l) // it was ready and has turned newcomer
		return
	}
	if l.state != greeting && (l.state != waiting || h.nonce != l.nonce) || h.session != l.session || len(w.Numbers) != 1 && len(w.Numbers) != Chunks {
		return
	}
	g.answered(now, l, w.Echo)
	g.told(l.peer, w.Wall)
	l.nonce, l.wordAt, l.ready, l.written = h.nonce, now, !w.Joining, w.Written
	if w.Joining {
		l.state, l.acked = waiting, false
		g.holdFor(now, l)
		return
	}
	g.meet(now)
	l.metAt = now
	starts := make([]uint64, len(w.Numbers))
	for c, n := range w.Numbers {
		starts[c] = g.startFor(now, l, n)
	}
	l.startAt(starts)
	l.state, l.wantsAt, l.serving = starting, 0, nil
	g.settle()
	g.free(func(m *link) bool { return m.precedes(l) })
	l.opening, l.held = g.openingNow(now), 0
	g.start(now, l)
}

// startFor is where a peer's hearing of this log begins, from the number it states.
// Only a number at a boundary can be continued; another moves up to the next one, and
// the peer counts the difference as lost. A peer without a number hears all that is
// still here, unless it has heard of this log and forgotten, or may have, this log
// being so old: then it starts past everything ever told to anyone. (Old is a little
// less than what peers remember: clocks differ in speed.)
func (g *Ledger) startFor(now int64, l *link, n number) uint64 {
	switch {
	case n.Kind != numberKnown && (l.acked || now-g.cfg.Born > g.old()):
		return g.log.boundary(g.log.told)
	case n.Kind == numberNone:
		return g.log.base()
	case n.N > g.log.head:
		return g.log.head
	}
	return g.log.boundary(max(n.N, g.log.base()))
}

// acknowledged is a peer stating its number within a session.
func (g *Ledger) acknowledged(now int64, l *link, h header, a *ack) {
	if l.state < starting || h.session != l.session || h.nonce != l.nonce {
		return
	}
	if a.Number != l.cursor && !l.sentTo(a.Number) {
		return // older than what it stated before, or nothing we sent
	}
	long := l.state == starting && len(l.opening.pieces) > 1 // what followed the first part was dropped
	l.state, l.acked, l.wordAt, l.opening = live, true, now, nil
	g.answered(now, l, a.Echo)
	g.told(l.peer, a.Wall)
	if l.stated(a.Number, a.Parts) {
		l.movedAt = now
		g.settle()
	}
	if long {
		l.movedAt = now
	}
	if len(l.flight) > 0 {
		l.unanswered = l.waitsSince()
		if long || a.Gap && a.Echo >= l.resentAt { // else what is missing is on its way already
			g.resend(now, l)
		}
	}
}

// answered notes that the peer has replied to what was sent at the time it echoes.
func (g *Ledger) answered(now int64, l *link, echo int64) {
	l.unanswered = 0
	if echo > 0 && echo <= now {
		l.roundTrip.see(now, now-echo)
	}
}

// tickLink does what is due on one link and says when it wants to be called again.
func (g *Ledger) tickLink(now int64, l *link) (next int64) {
	if l.deadAt != 0 {
		return g.forgetsAt(l)
	}
	if l.state == closed {
		return math.MaxInt64
	}
	if l.unanswered != 0 && now-l.unanswered >= g.cfg.Timeout {
		g.redial(l)
		return math.MaxInt64
	}
	switch l.state {
	case greeting, waiting, starting:
		next = g.repeatOpening(now, l)
	case live:
		next = max(l.sentAt+g.cfg.Keepalive, now+1)
		if now-l.sentAt >= g.cfg.Keepalive {
			g.ping(now, l)
			next = now + g.cfg.Keepalive
		}
	}
	if l.state >= starting {
		next = min(next, g.sendBatches(now, l))
	}
	if l.unanswered != 0 {
		next = min(next, l.unanswered+g.cfg.Timeout)
	}
	return next
}

func (g *Ledger) repeatOpening(now int64, l *link) (next int64) {
	if now-l.askedAt >= g.cfg.Resend {
		if l.state != starting {
			g.greet(now, l)
		} else {
			g.start(now, l)
		}
	}
	return l.askedAt + g.cfg.Resend
}

func (g *Ledger) ping(now int64, l *link) {
	g.mark(now, l)
	h := header{kind: kindPing, origin: g.cfg.Incarnation, peer: l.peer, session: l.session, nonce: l.nonce}
	g.send(l.peer, encodeFrame(h, &ping{Sent: now, Wall: g.wall}))
}

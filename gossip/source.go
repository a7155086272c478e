package gossip

import "fmt"

// source is one origin as we hear it: how much of its log we have applied, and the
// session in which it tells us more.
type source struct {
	numbers vector // of each chunk: drains of the origin up to this are applied there, or lost
	cursor  uint64 // the lowest of them, once the session has started
	holding bool   // while we join: it keeps its log for us, from heldAt on
	heldAt  uint64

	session uint64 // the newest it opened
	nonce   uint64 // ours, for that session
	started bool   // its START has come
	refused bool   // it was told off already
	left    bool   // it said goodbye
	parts   parts  // of a START or BATCH that is not whole yet

	heardAt   int64   // when a frame of its log last came
	currentAt int64   // when one last came after which we had all that it had sent; 0: never yet
	wall      wall    // what it last said of its wall clock
	delay     leastOf // receive − send, in the difference of the two clocks
	lag       int64   // age of the newest news when it was applied
	worst     mostOf  // the largest such age
	lost      uint64  // drains skipped
}

// parts gathers the parts of a START, or of the batch that continues our number; they
// come in order.
type parts struct {
	from, to uint64
	total    int
	bodies   [][]byte // those that are here
	bytes    int      // of their frames
}

// maxGathered bounds what one origin can make us hold: one entry for each of some
// millions of keys.
const maxGathered = 64 << 20

// maxSources bounds the origins that are known at a time, those included that died within
// twice PartitionMemory: more than thousands of nodes make that restart every minute.
const maxSources = 1 << 14

// begin keeps what is here of (from, to] in total parts, and nothing else.
func (p *parts) begin(from, to uint64, total int) {
	if p.from != from || p.to != to || p.total != total {
		*p = parts{from: from, to: to, total: total}
	}
}

func (p *parts) add(body []byte, size int) error {
	if p.bytes += size + 64; p.bytes > maxGathered {
		return fmt.Errorf("gossip: the drains (%d, %d] come in more than %d bytes", p.from, p.to, maxGathered)
	}
	p.bodies = append(p.bodies, body)
	return nil
}

func (p *parts) whole() bool { return len(p.bodies) == p.total }

// Receive takes in one frame that came from the peer with the incarnation from. A
// frame that is malformed, late or meant for somebody else changes nothing; the error
// says why a malformed one was dropped.
func (g *Ledger) Receive(now int64, from uint64, frame []byte) error {
	f, err := decodeFrame(frame)
	if err != nil {
		return err
	}
	h := f.header
	switch h.kind {
	case kindWelcome, kindAck, kindHeld, kindWant: // about our log, or our table
		l := g.link(from)
		if h.peer != from || h.origin != g.cfg.Incarnation || l == nil {
			return nil
		}
		switch h.kind {
		case kindWelcome:
			g.welcomed(now, l, h, f.welcome)
		case kindAck:
			g.acknowledged(now, l, h, f.ack)
		case kindHeld:
			g.holds(now, l, h, f.held)
		case kindWant:
			g.wanted(now, l, h, f.want)
		}
		return nil
	}
	if h.origin != from || h.peer != g.cfg.Incarnation || from == g.cfg.Incarnation || from == 0 {
		return nil
	}
	return g.hear(now, f)
}

// hear takes in a frame of a peer's log.
func (g *Ledger) hear(now int64, f *frame) error {
	h := f.header
	s := g.sources[h.origin]
	if h.kind == kindHello {
		g.greeted(now, h, f.hello)
		return nil
	}
	if h.kind == kindGoodbye {
		g.bidden(h.origin)
		return nil
	}
	if s == nil || s.refused || h.session != s.session || h.nonce != s.nonce {
		return nil
	}
	s.heardAt = now
	s.delay.see(now, now-f.sent)
	switch h.kind {
	case kindStart:
		return g.opened(now, h, s, f)
	case kindBatch:
		return g.admit(now, h, s, f)
	case kindPing:
		if g.told(h.origin, f.ping.Wall); s.started { // nothing else was under way
			s.currentAt = now
			g.acknowledge(h, s, f.sent, false)
		}
	case kindHolding:
		g.heldBy(s, h.origin, f.holding)
	case kindChunk:
		return g.given(now, h, s, f)
	case kindRefused:
		g.turnedDown(now, h, f.refused)
	}
	return nil
}

// greeted answers a HELLO with a nonce of our own. A hello older than the session in
// course is a late duplicate.
func (g *Ledger) greeted(now int64, h header, m *hello) {
	s := g.sources[h.origin]
	if s == nil {
		if len(g.sources) >= maxSources {
			if !g.crowded {
				g.crowded = true
				g.note(h.origin, "there were %d nodes lately, and no more can be heard before some are forgotten", len(g.sources))
			}
			return
		}
		s = &source{}
		g.sources[h.origin] = s
	}
	if why := g.refusal(m); why != "" {
		if !s.refused {
			g.note(h.origin, "%s", why)
		}
		s.refused, s.heardAt = true, now
		return
	}
	if h.session < s.session || h.session == s.session && s.started {
		return
	}
	if !m.Joining {
		g.meet(now)
	}
	if h.session > s.session {
		s.session, s.nonce = h.session, g.cfg.Rand()
		s.close()
	}
	s.heardAt = now
	s.delay.see(now, now-m.Sent)
	g.told(h.origin, m.Wall)
	g.welcome(h.origin, s, m.Sent)
}

// welcome states our numbers to an origin, or that we are still joining.
func (g *Ledger) welcome(origin uint64, s *source, echo int64) {
	m := &welcome{Numbers: s.numbers.list(), Echo: echo, Wall: g.wall}
	if g.join != nil {
		m.Joining, m.Written = true, g.written()
	}
	g.reply(header{kind: kindWelcome, origin: origin, peer: g.cfg.Incarnation, session: s.session, nonce: s.nonce}, m)
}

// close ends the session in course, or has the next one begin.
func (s *source) close() { s.started, s.holding, s.parts = false, false, parts{} }

// refusal says why a peer cannot be heard, or nothing.
func (g *Ledger) refusal(m *hello) string {
	switch {
	case m.Oldest > Version || m.Version < Oldest:
		return fmt.Sprintf("speaks protocol %d to %d, this node %d to %d: upgrade one of them", m.Oldest, m.Version, Oldest, Version)
	case m.Seed != g.cfg.Seed:
		return "hashes keys with another seed: give all nodes the same HashSeed and Label"
	}
	return ""
}

// opened takes in a START. A number above ours is news that can no longer be had.
func (g *Ledger) opened(now int64, h header, s *source, f *frame) error {
	m := f.start
	if s.started { // once more: its definitions may be older than those of a batch since
		g.acknowledge(h, s, f.sent, false)
		return nil
	}
	if g.join != nil || len(m.Numbers) != 1 && len(m.Numbers) != Chunks || !s.numbers.allows(m.Numbers) {
		return nil
	}
	s.parts.begin(0, 0, m.Parts)
	if m.Part == len(s.parts.bodies) {
		if err := s.parts.add(nil, f.size); err != nil {
			return err
		}
		g.out.Definitions = append(g.out.Definitions, m.Defs...)
		g.learnAll(now, h.origin, s, m.Sent, m.Records)
	}
	if !s.parts.whole() {
		h.kind = kindHeld
		g.reply(h, &held{Parts: len(s.parts.bodies), Echo: f.sent})
		return nil
	}
	g.missed(h.origin, s, s.numbers.begin(m.Numbers, g.cfg.Joins))
	s.cursor, s.started, s.parts, s.currentAt = s.numbers.least(), true, parts{}, now
	g.acknowledge(h, s, f.sent, false)
	return nil
}

// lose moves all numbers on without what lay between.
func (g *Ledger) lose(origin uint64, s *source, to uint64) {
	g.missed(origin, s, to-s.cursor)
	s.numbers.raise(to)
	s.cursor, s.parts = to, parts{}
}

// missed counts drains that were not to be had.
func (g *Ledger) missed(origin uint64, s *source, n uint64) {
	if n > 0 {
		s.lost, g.lost = s.lost+n, g.lost+n
		g.note(origin, "%d drains lost: its log no longer had them", n)
	}
}

// admit applies a batch if it continues exactly what was applied before.
func (g *Ledger) admit(now int64, h header, s *source, f *frame) error {
	b := f.batch
	switch {
	case !s.started:
		return nil // its START was lost; both come again
	case b.To <= s.cursor:
		if b.To == s.cursor {
			s.currentAt = now
		}
		g.acknowledge(h, s, f.sent, false)
		return nil
	case b.From > s.cursor:
		g.acknowledge(h, s, f.sent, true)
		return nil
	case b.From < s.cursor: // no rule of ours makes such a batch: never apply half of one
		g.lose(h.origin, s, b.To)
		g.acknowledge(h, s, f.sent, false)
		return nil
	}
	s.parts.begin(b.From, b.To, b.Parts)
	if held := len(s.parts.bodies); b.Part != held {
		g.acknowledge(h, s, f.sent, b.Part > held)
		return nil
	}
	if !g.mayGather(s, f.size) {
		return nil // it comes again
	}
	if err := s.parts.add(f.body, f.size); err != nil {
		return err
	}
	if s.parts.whole() {
		// Bodies that do not decode stay: the same ones need not come again.
		if err := g.apply(now, h.origin, s, s.parts.bodies); err != nil {
			return err
		}
		g.missed(h.origin, s, s.numbers.straddled(b.From, b.To))
		s.numbers.raise(b.To)
		s.cursor, s.parts, s.currentAt = b.To, parts{}, now
	}
	g.acknowledge(h, s, f.sent, false)
	return nil
}

// mayGather reports whether a batch may wait here for more of its parts: all that wait have
// a bound, over which only that one goes on of which most is here. So one always does.
func (g *Ledger) mayGather(s *source, size int) bool {
	if s.parts.total == 1 {
		return true
	}
	all, most := size, 0
	for _, o := range g.sources {
		if o.started {
			all, most = all+o.parts.bytes, max(most, o.parts.bytes)
		}
	}
	return all <= g.cfg.MaxGathered || s.parts.bytes == most
}

func (g *Ledger) acknowledge(h header, s *source, echo int64, gap bool) {
	h.kind = kindAck
	g.reply(h, &ack{Number: s.cursor, Parts: len(s.parts.bodies), Gap: gap, Echo: echo, Wall: g.wall})
}

// reply sends a frame about the origin's log back to it.
func (g *Ledger) reply(h header, m message) { g.send(h.origin, encodeFrame(h, m)) }

// bidden is a peer's goodbye: it will hear nothing more, so its cursor is free.
func (g *Ledger) bidden(peer uint64) {
	if s := g.sources[peer]; s != nil {
		s.left = true
	}
	g.free(func(l *link) bool { return l.peer == peer })
}

package gossip

import "math"

// owed is an acknowledgement that waits for a batch to the same peer, for at most
// Config.AckDelay: under load every other frame would be an acknowledgement by itself, and
// what a small frame costs is that its reader wakes up. Only a batch that is applied at
// once is acknowledged so; whatever tells of a gap, a part or a repeat goes without delay.
type owed struct {
	header  header
	echo    int64 // when the newest of the batches was sent
	heardAt int64 // and when it came
	due     int64 // 0: nothing is owed
	batches int   // < mostOwed
}

// mostOwed is how many batches one acknowledgement may answer: far fewer than a window.
const mostOwed = 4

// owe acknowledges a batch, now or soon. A peer without a link is answered at once: there
// is no batch to wait for.
func (g *Ledger) owe(now int64, h header, s *source, echo int64) {
	l := g.link(h.origin)
	if g.cfg.AckDelay <= 0 || l == nil || l.state == closed || s.owed.batches+1 >= mostOwed {
		g.acknowledge(h, s, echo, false)
		return
	}
	if s.owed.due == 0 {
		s.owed.due = now + g.cfg.AckDelay
	}
	s.owed.header, s.owed.echo, s.owed.heardAt = h, echo, now
	s.owed.batches++
}

// pay sends the acknowledgement that is owed to a peer.
func (g *Ledger) pay(now int64, peer uint64) {
	s := g.sources[peer]
	if s == nil || s.owed.due == 0 {
		return
	}
	o := s.owed
	s.owed, o.header.kind = owed{}, kindAck
	g.reply(o.header, &ack{Number: s.cursor, Parts: len(s.parts.bodies), Echo: o.echo, Wall: g.wall, Held: now - o.heardAt})
}

// payDue does so if it is due, and returns when it will be.
func (g *Ledger) payDue(now int64, peer uint64) (next int64) {
	s := g.sources[peer]
	if s == nil || s.owed.due == 0 {
		return math.MaxInt64
	}
	if s.owed.due <= now {
		g.pay(now, peer)
		return math.MaxInt64
	}
	return s.owed.due
}

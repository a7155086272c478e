package cluster

import (
	"context"
	"errors"
	"sync/atomic"
)

// counters count one peer's traffic, both ways.
type counters struct {
	framesOut, bytesOut, framesIn, bytesIn atomic.Int64
	opened                                 atomic.Int64 // outgoing streams
}

// peer is what belongs to one incarnation of another node. It is kept while
// it is in the roster or something of it runs.
type peer struct {
	count counters
	turn  chan struct{} // held, by being full, by the stream whose frames are taken

	// Guarded by Cluster.mu.
	link    *link    // nil unless the member is up
	in      *inbound // the newest accepted stream
	reading int      // accepted streams not yet dismissed
}

// LinkStats describes the links with one peer. The numbers count from when the
// peer was first seen, over all streams there were, headers included.
type LinkStats struct {
	Name        string
	Incarnation uint64
	Open        bool // the outgoing stream
	FramesOut   int64
	BytesOut    int64
	FramesIn    int64
	BytesIn     int64
	Reconnects  int64 // outgoing streams opened after the first
	Queued      int   // frames that wait to be written
	QueuedBytes int
}

// Links returns the state of the links with every other member that Members
// lists, by name.
func (c *Cluster) Links() []LinkStats {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []LinkStats
	for _, m := range c.roster.members() {
		if m.Self {
			continue
		}
		s := LinkStats{Name: m.Name, Incarnation: m.Incarnation}
		if p := c.peers[m.Incarnation]; p != nil {
			s.fill(p)
		}
		all = append(all, s)
	}
	return all
}

func (s *LinkStats) fill(p *peer) {
	s.FramesOut, s.BytesOut = p.count.framesOut.Load(), p.count.bytesOut.Load()
	s.FramesIn, s.BytesIn = p.count.framesIn.Load(), p.count.bytesIn.Load()
	s.Reconnects = max(p.count.opened.Load()-1, 0)
	if p.link != nil {
		s.Queued, s.QueuedBytes, s.Open = p.link.queued()
	}
}

// Send queues a frame of 1 to MaxFrame bytes, in one part or several, for the
// member with this incarnation, and reports whether it did: not without an open
// link, nor when 1024 frames or 4 MiB wait there already. It never blocks. A
// frame queued may still be lost with its stream. Nobody may change the parts
// afterwards; they may belong to frames for several members.
func (c *Cluster) Send(to uint64, parts ...[]byte) bool {
	l, f := c.linkTo(to), frame(parts)
	n := f.size()
	return l != nil && n > 0 && n <= MaxFrame && l.send(f)
}

// Redial breaks the outgoing stream to a member and opens a new one, with a
// pause of at most 50 ms before it. LinkDown and LinkUp follow. It does nothing
// while no stream is open.
func (c *Cluster) Redial(to uint64) {
	if l := c.linkTo(to); l != nil {
		l.reopen()
	}
}

func (c *Cluster) linkTo(incarnation uint64) *link {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if p := c.peers[incarnation]; p != nil {
		return p.link
	}
	return nil
}

func (c *Cluster) peerLocked(incarnation uint64) *peer {
	p := c.peers[incarnation]
	if p == nil {
		p = &peer{turn: make(chan struct{}, 1)}
		c.peers[incarnation] = p
	}
	return p
}

func (c *Cluster) pruneLocked(incarnation uint64, p *peer) {
	if p.link == nil && p.reading == 0 && c.roster.records[incarnation] == nil {
		delete(c.peers, incarnation)
	}
}

// startLink, dropLink and linkChanged belong to the control goroutine.

func (c *Cluster) startLink(m Member) {
	l := &link{
		peer:      m,
		preamble:  preamble{from: c.self.Incarnation, to: m.Incarnation, label: c.cfg.Label, name: c.self.Name}.encode(),
		transport: c.cfg.Transport,
		sealer:    c.wire.links,
		done:      make(chan struct{}),
		wake:      make(chan struct{}, 1),
	}
	l.ctx, l.cancel = context.WithCancel(c.ctx)
	l.changed = func(up bool) { c.post(func() { c.linkChanged(l, up) }) }
	l.failed = func(err error) { c.linkFailed(m, err) }
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		l.cancel()
		return
	}
	p := c.peerLocked(m.Incarnation)
	l.count, p.link = &p.count, l
	c.wg.Go(l.run)
}

// dropLink ends the link of a member that is down or moves.
func (c *Cluster) dropLink(m Member) {
	c.mu.Lock()
	p := c.peers[m.Incarnation]
	if p == nil {
		c.mu.Unlock()
		return
	}
	l := p.link
	p.link = nil
	c.pruneLocked(m.Incarnation, p)
	c.mu.Unlock()
	if l == nil {
		return
	}
	l.stop()
	if l.announced {
		c.cfg.Change(Event{LinkDown, m})
	}
}

func (c *Cluster) linkChanged(l *link, up bool) {
	if c.linkTo(l.peer.Incarnation) != l || l.announced == up {
		return // an older link, or one that was dropped
	}
	l.announced = up
	kind := LinkDown
	if up {
		kind = LinkUp
	}
	c.cfg.Logger.Debug(kind.String(), "name", l.peer.Name, "addr", l.peer.Addr)
	c.cfg.Change(Event{kind, l.peer})
}

// linkFailed is called by a link's own goroutine.
func (c *Cluster) linkFailed(m Member, err error) {
	var r refused
	switch fault := sealFault(err); {
	case errors.As(err, &r) && r.answer == answerStranger:
		// It was restarted, and membership has not noticed.
		c.seeker.hint(m.Addr)
	case errors.As(err, &r) && r.answer != answerBusy:
		c.faults.log(m.Name, "a member refuses our link: "+r.answer.String(), "addr", m.Addr)
		return
	case fault != nil:
		c.faults.log(m.Name, "a link to a member cannot be sealed: "+fault.Error(), "addr", m.Addr, "err", err)
		return
	case isTimeout(err):
		c.faults.log(m.Name, "a member does not take what we send", "addr", m.Addr, "err", err)
		return
	}
	c.cfg.Logger.Debug("link failed", "name", m.Name, "addr", m.Addr, "err", err)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

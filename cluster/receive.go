package cluster

import (
	"errors"
	"net"
	"time"
)

// inbound is one accepted stream of a peer.
type inbound struct {
	conn net.Conn
	drop chan struct{} // closed when a newer one takes its place
}

// receive reads a link that a peer dialled, whose first byte is read and whose
// handshake is over. It runs in a goroutine of the wire, which closes the stream
// afterwards.
func (c *Cluster) receive(conn net.Conn) {
	host := hostOf(conn)
	conn.SetDeadline(time.Now().Add(firstTimeout))
	p, err := readPreamble(conn)
	if err != nil {
		var r refused
		if errors.As(err, &r) {
			conn.Write([]byte{byte(r.answer)})
		}
		c.faults.log(host, "refused a link with a malformed preamble", "err", err)
		return
	}
	if a := p.check(c.cfg.Label, c.self.Incarnation); a != answerWelcome {
		conn.Write([]byte{byte(a)})
		if a == answerLabel {
			c.faults.log(host, "refused a link of a cluster with another label", "name", p.name, "label", p.label)
		}
		return
	}
	in := &inbound{conn: conn, drop: make(chan struct{})}
	peer, ok := c.admit(p.from, in)
	if !ok {
		conn.Write([]byte{byte(answerBusy)})
		return
	}
	defer c.dismiss(p.from, peer, in)
	if !c.turn(peer, in) {
		return
	}
	defer func() { <-peer.turn }()
	if _, err := conn.Write([]byte{byte(answerWelcome)}); err != nil || conn.SetDeadline(time.Time{}) != nil {
		return
	}
	c.readFrames(p, peer, conn)
}

// turn waits until an older stream of the same peer has handed over its last
// frame, so that a peer's frames come one at a time. It gives up when an even
// newer stream is there, or the dialling side will have.
func (c *Cluster) turn(p *peer, in *inbound) bool {
	t := time.NewTimer(dialTimeout)
	defer t.Stop()
	select {
	case p.turn <- struct{}{}:
		return true
	case <-in.drop:
	case <-t.C:
	case <-c.ctx.Done():
	}
	return false
}

func (c *Cluster) readFrames(p preamble, peer *peer, conn net.Conn) {
	r := newFrameReader(conn)
	for {
		frame, err := r.next()
		var size errFrameSize
		switch {
		case c.ctx.Err() != nil:
			return
		case errors.Is(err, errGoodbye):
			c.post(func() { c.update(func(now time.Time) []Event { return c.roster.leave(p.from, now) }) })
			return
		case errors.Is(err, errHandover):
			conn.SetWriteDeadline(time.Now().Add(writeTimeout))
			conn.Write([]byte{byte(answerTaken)})
			return
		case errors.As(err, &size):
			c.faults.log(hostOf(conn), "closed a link that sent too large a frame", "name", p.name, "err", err)
			return
		case err != nil:
			c.cfg.Logger.Debug("a peer's link ended", "name", p.name, "err", err)
			return
		}
		peer.count.framesIn.Add(1)
		peer.count.bytesIn.Add(int64(frameHead + len(frame)))
		c.cfg.Frame(p.from, frame)
	}
}

// admit notes the stream as its peer's newest and breaks the one before. It does
// neither if the key that sealed it is no longer in the ring.
func (c *Cluster) admit(from uint64, in *inbound) (*peer, bool) {
	c.mu.Lock()
	if r := c.ring.Load(); c.closing || r != nil && fromStranger(in.conn, r) {
		c.mu.Unlock()
		return nil, false
	}
	p := c.peerLocked(from)
	old := p.in
	p.in = in
	p.reading++
	c.mu.Unlock()
	if old != nil {
		close(old.drop)
		old.conn.Close()
	}
	return p, true
}

func (c *Cluster) dismiss(from uint64, p *peer, in *inbound) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.reading--
	if p.in == in {
		p.in = nil
	}
	c.pruneLocked(from, p)
}

// hostOf is a peer's address without its port, which it can change at will.
func hostOf(conn net.Conn) string { return hostIn(conn.RemoteAddr().String()) }

func hostIn(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	return host
}

package memnet

import (
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// conn is one end of a stream.
type conn struct {
	net           *Network
	host          *Host
	peer          *conn
	local, remote netip.AddrPort

	// Guarded by net.mu.
	in, out *half
	closed  bool
	broken  bool // reset: reads and writes fail
	readBy  time.Time
	writeBy time.Time
}

func newConnsLocked(near, far *Host, from, to netip.AddrPort) (*conn, *conn) {
	there := &half{pair: pair{near.ip, far.ip}, wake: make(chan struct{})}
	back := &half{pair: pair{far.ip, near.ip}, wake: make(chan struct{})}
	a := &conn{net: near.net, host: near, local: from, remote: to, in: back, out: there}
	b := &conn{net: near.net, host: far, local: to, remote: from, in: there, out: back}
	a.peer, b.peer = b, a
	near.conns[a], far.conns[b] = true, true
	return a, b
}

func (c *conn) Read(b []byte) (int, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	for {
		if err := c.stateLocked(c.readBy); err != nil {
			return 0, c.fail("read", err)
		}
		if len(b) == 0 {
			return 0, nil
		}
		due, ready := c.in.headLocked(c.net)
		if ready {
			n, err := c.in.takeLocked(b)
			if err != nil && err != io.EOF {
				err = c.fail("read", err)
			}
			return n, err
		}
		c.waitLocked(c.in, sooner(due, c.readBy))
	}
}

func (c *conn) Write(b []byte) (int, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	done := 0
	for {
		if err := c.stateLocked(c.writeBy); err != nil {
			return done, c.fail("write", err)
		}
		if c.out.ended {
			return done, c.fail("write", syscall.EPIPE)
		}
		if _, stalled := c.net.cutSinceLocked(c.out.pair); c.out.gone && !stalled {
			return done, c.fail("write", syscall.ECONNRESET)
		}
		if room := window - c.out.size; room > 0 {
			n := min(room, len(b)-done)
			if n > 0 {
				c.out.putLocked(c.net, chunk{data: append([]byte(nil), b[done:done+n]...)})
			}
			if done += n; done == len(b) {
				return done, nil
			}
			continue
		}
		c.waitLocked(c.out, c.writeBy)
	}
}

// Close ends both directions. What was written still arrives.
func (c *conn) Close() error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if c.closed {
		return c.fail("close", net.ErrClosed)
	}
	c.closeLocked()
	return nil
}

// CloseWrite ends the direction away from here, as that of net.TCPConn does.
func (c *conn) CloseWrite() error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if c.closed {
		return c.fail("close", net.ErrClosed)
	}
	c.out.endLocked(c.net, io.EOF)
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return net.TCPAddrFromAddrPort(c.local) }
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

func (c *conn) SetDeadline(t time.Time) error {
	c.setDeadlines(&t, &t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.setDeadlines(&t, nil)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.setDeadlines(nil, &t)
	return nil
}

func (c *conn) setDeadlines(read, write *time.Time) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if read != nil {
		c.readBy = *read
		c.in.wakeLocked()
	}
	if write != nil {
		c.writeBy = *write
		c.out.wakeLocked()
	}
}

func (c *conn) stateLocked(deadline time.Time) error {
	switch {
	case c.closed:
		return net.ErrClosed
	case c.broken:
		return syscall.ECONNRESET
	case passed(deadline):
		return os.ErrDeadlineExceeded
	}
	return nil
}

func (c *conn) waitLocked(h *half, until time.Time) {
	wake, moved := h.wake, c.net.moved
	c.net.mu.Unlock()
	pause(wake, moved, until)
	c.net.mu.Lock()
}

func (c *conn) closeLocked() {
	c.closed = true
	delete(c.host.conns, c)
	c.out.endLocked(c.net, io.EOF)
	c.in.gone = true
	c.in.chunks, c.in.size = nil, 0
	c.in.wakeLocked()
}

func (c *conn) breakLocked() {
	c.broken = true
	delete(c.host.conns, c)
	c.in.gone = true
	c.in.wakeLocked()
	c.out.wakeLocked()
}

func (c *conn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

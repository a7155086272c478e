package memnet

import (
	"container/heap"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"
)

const (
	maxUnread = 4096  // packets that wait for a reader, flying ones included
	maxPacket = 65507 // bytes that fit a datagram
)

type packet struct {
	due  time.Time
	seq  uint64
	from netip.AddrPort
	data []byte
}

// flight is a heap of packets by time of arrival, and by order of sending
// among those that arrive together.
type flight []packet

func (f flight) Len() int      { return len(f) }
func (f flight) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f flight) Less(i, j int) bool {
	if f[i].due.Equal(f[j].due) {
		return f[i].seq < f[j].seq
	}
	return f[i].due.Before(f[j].due)
}
func (f *flight) Push(x any) { *f = append(*f, x.(packet)) }
func (f *flight) Pop() any {
	old := *f
	p := old[len(old)-1]
	*f = old[:len(old)-1]
	return p
}

type packetConn struct {
	host *Host
	port uint16

	// Guarded by host.net.mu.
	queue    flight
	seq      uint64
	closed   bool
	deadline time.Time // of reads; writes never wait
	wake     chan struct{}
}

func (c *packetConn) ReadFrom(b []byte) (int, net.Addr, error) {
	n := c.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		if c.closed {
			return 0, nil, c.fail("read", net.ErrClosed)
		}
		if passed(c.deadline) {
			return 0, nil, c.fail("read", os.ErrDeadlineExceeded)
		}
		var due time.Time
		if len(c.queue) > 0 {
			due = c.queue[0].due
			if !time.Now().Before(due) {
				p := heap.Pop(&c.queue).(packet)
				return copy(b, p.data), net.UDPAddrFromAddrPort(p.from), nil
			}
		}
		wake := c.wake
		until := sooner(due, c.deadline)
		n.mu.Unlock()
		pause(wake, nil, until)
		n.mu.Lock()
	}
}

func (c *packetConn) WriteTo(b []byte, addr net.Addr) (int, error) {
	to, err := addrPort(addr)
	if err != nil {
		return 0, c.fail("write", err)
	}
	if len(b) > maxPacket {
		return 0, c.fail("write", errors.New("message too long"))
	}
	n := c.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.closed {
		return 0, c.fail("write", net.ErrClosed)
	}
	c.sendLocked(b, to)
	return len(b), nil
}

func (c *packetConn) sendLocked(b []byte, to netip.AddrPort) {
	n := c.host.net
	p := pair{c.host.ip, to.Addr()}
	f, dice := n.faultsLocked(p), n.diceLocked(p)
	if _, cut := n.cuts[p]; cut || chance(dice, f.Loss) {
		return
	}
	copies := 1
	if chance(dice, f.Duplicate) {
		copies = 2
	}
	for range copies {
		d := f.flight(dice)
		if chance(dice, f.Reorder) {
			d += f.Delay + f.Jitter + time.Millisecond
		}
		if far := n.hosts[to.Addr()]; far != nil && far.packets[to.Port()] != nil {
			far.packets[to.Port()].arriveLocked(packet{
				due:  time.Now().Add(d),
				from: netip.AddrPortFrom(c.host.ip, c.port),
				data: append([]byte(nil), b...),
			})
		}
	}
}

func (c *packetConn) arriveLocked(p packet) {
	if len(c.queue) >= maxUnread {
		return
	}
	c.seq++
	p.seq = c.seq
	heap.Push(&c.queue, p)
	c.wakeLocked()
}

func (c *packetConn) Close() error {
	c.host.net.mu.Lock()
	defer c.host.net.mu.Unlock()
	if c.closed {
		return c.fail("close", net.ErrClosed)
	}
	c.closeLocked()
	return nil
}

func (c *packetConn) LocalAddr() net.Addr {
	return net.UDPAddrFromAddrPort(netip.AddrPortFrom(c.host.ip, c.port))
}

func (c *packetConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

func (c *packetConn) SetReadDeadline(t time.Time) error {
	c.host.net.mu.Lock()
	defer c.host.net.mu.Unlock()
	c.deadline = t
	c.wakeLocked()
	return nil
}

func (c *packetConn) SetWriteDeadline(time.Time) error { return nil }

func (c *packetConn) closeLocked() {
	c.closed = true
	c.queue = nil
	delete(c.host.packets, c.port)
	c.wakeLocked()
}

func (c *packetConn) wakeLocked() {
	close(c.wake)
	c.wake = make(chan struct{})
}

func (c *packetConn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "udp", Source: c.LocalAddr(), Err: err}
}

func addrPort(a net.Addr) (netip.AddrPort, error) {
	if u, ok := a.(*net.UDPAddr); ok {
		ap := u.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
	}
	ap, err := netip.ParseAddrPort(a.String())
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), err
}

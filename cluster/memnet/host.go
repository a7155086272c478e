package memnet

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// Host is one address of a Network and the sockets open there. It is a
// cluster.Transport. Get one from Network.Host.
type Host struct {
	net *Network
	ip  netip.Addr

	// All below is guarded by net.mu.
	listeners map[uint16]*listener
	packets   map[uint16]*packetConn
	conns     map[*conn]bool
	last      uint16 // the last port chosen for a caller who asked for 0
}

// Host returns the host with this IP address and makes it if there is none. It
// panics if the address is not an IP.
func (n *Network) Host(ip string) *Host {
	addr := mustIP(ip)
	n.mu.Lock()
	defer n.mu.Unlock()
	if h, ok := n.hosts[addr]; ok {
		return h
	}
	h := &Host{
		net: n, ip: addr,
		listeners: make(map[uint16]*listener),
		packets:   make(map[uint16]*packetConn),
		conns:     make(map[*conn]bool),
		last:      39999,
	}
	n.hosts[addr] = h
	n.moveLocked()
	return h
}

// Listen opens a port for streams. The address is host:port; the host may be
// empty, unspecified or the host's own, port 0 picks a free one.
func (h *Host) Listen(addr string) (net.Listener, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	port, err := h.bindLocked(addr, func(p uint16) bool { return h.listeners[p] != nil })
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: err}
	}
	l := &listener{host: h, port: port, wake: make(chan struct{})}
	h.listeners[port] = l
	return l, nil
}

// ListenPacket opens a port for packets; see Listen for the address.
func (h *Host) ListenPacket(addr string) (net.PacketConn, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	port, err := h.bindLocked(addr, func(p uint16) bool { return h.packets[p] != nil })
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "udp", Err: err}
	}
	c := &packetConn{host: h, port: port, wake: make(chan struct{})}
	h.packets[port] = c
	return c, nil
}

// Dial opens a stream. It takes one round trip, or until the context ends if
// nobody answers.
func (h *Host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := h.dial(ctx, addr)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	return c, nil
}

// Crash ends all sockets of the host at once, as the kernel does for a killed
// process: peers see resets, the host's own calls fail. The host can be
// listened on again. To model a host without power, Split it off first.
func (h *Host) Crash() {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	for _, l := range h.listeners {
		l.closeLocked()
	}
	for _, c := range h.packets {
		c.closeLocked()
	}
	for c := range h.conns {
		c.breakLocked()
		c.out.endLocked(h.net, syscall.ECONNRESET)
	}
}

func (h *Host) bindLocked(addr string, taken func(uint16) bool) (uint16, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, err
	}
	if host != "" {
		ip, err := netip.ParseAddr(host)
		if err != nil {
			return 0, fmt.Errorf("%q is not an IP address", host)
		}
		if !ip.IsUnspecified() && ip.Unmap() != h.ip {
			return 0, fmt.Errorf("%s is not an address of host %s", host, h.ip)
		}
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is not a port", service)
	}
	if port != 0 {
		if taken(uint16(port)) {
			return 0, syscall.EADDRINUSE
		}
		return uint16(port), nil
	}
	for range 20000 {
		p := h.portLocked()
		if !taken(p) {
			return p, nil
		}
	}
	return 0, syscall.EADDRINUSE
}

func (h *Host) portLocked() uint16 {
	if h.last == 65535 {
		h.last = 39999
	}
	h.last++
	return h.last
}

func (h *Host) dial(ctx context.Context, addr string) (*conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	for {
		n := h.net
		n.mu.Lock()
		p := pair{h.ip, to.Addr()}
		far, moved := n.hosts[to.Addr()], n.moved
		_, stalled := n.cutSinceLocked(p)
		if far == nil || stalled {
			n.mu.Unlock()
			if err := sleep(ctx, moved, time.Time{}); err != nil {
				return nil, err
			}
			continue
		}
		there := time.Now().Add(n.transitLocked(p) + n.transitLocked(pair{p.to, p.from}))
		n.mu.Unlock()
		if err := sleep(ctx, nil, there); err != nil {
			return nil, err
		}
		n.mu.Lock()
		if _, stalled := n.cutSinceLocked(p); stalled {
			n.mu.Unlock()
			continue
		}
		c, err := h.connectLocked(far, to)
		n.mu.Unlock()
		return c, err
	}
}

func (h *Host) connectLocked(far *Host, to netip.AddrPort) (*conn, error) {
	l := far.listeners[to.Port()]
	if l == nil || len(l.backlog) >= maxBacklog {
		return nil, syscall.ECONNREFUSED
	}
	near, other := newConnsLocked(h, far, netip.AddrPortFrom(h.ip, h.portLocked()), to)
	l.backlog = append(l.backlog, other)
	l.wakeLocked()
	return near, nil
}

// sleep waits until something moved, the time has come (zero: never), or the
// context ends, which is the error.
func sleep(ctx context.Context, moved <-chan struct{}, until time.Time) error {
	pause(ctx.Done(), moved, until)
	return ctx.Err()
}

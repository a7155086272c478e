package memnet

import (
	"net"
	"net/netip"
	"time"
)

// maxBacklog is how many streams wait to be accepted; more are refused.
const maxBacklog = 128

type listener struct {
	host *Host
	port uint16

	// Guarded by host.net.mu.
	backlog []*conn
	closed  bool
	wake    chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	n := l.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		if l.closed {
			return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
		}
		if len(l.backlog) > 0 {
			c := l.backlog[0]
			l.backlog = l.backlog[1:]
			return c, nil
		}
		wake := l.wake
		n.mu.Unlock()
		pause(wake, nil, time.Time{})
		n.mu.Lock()
	}
}

func (l *listener) Close() error {
	l.host.net.mu.Lock()
	defer l.host.net.mu.Unlock()
	if l.closed {
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	l.closeLocked()
	return nil
}

func (l *listener) Addr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(l.host.ip, l.port))
}

func (l *listener) closeLocked() {
	l.closed = true
	delete(l.host.listeners, l.port)
	for _, c := range l.backlog {
		c.closeLocked()
	}
	l.backlog = nil
	l.wakeLocked()
}

func (l *listener) wakeLocked() {
	close(l.wake)
	l.wake = make(chan struct{})
}

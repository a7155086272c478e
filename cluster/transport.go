package cluster

import (
	"context"
	"net"
	"time"
)

// Transport is what a Cluster needs of a network: packets and streams on one
// port. Addresses are host:port with an IP literal. It must be safe for
// concurrent use. Package memnet has one for tests.
type Transport interface {
	// ListenPacket opens a port for packets. WriteTo is given *net.UDPAddr.
	ListenPacket(addr string) (net.PacketConn, error)

	// Listen opens a port for streams; port 0 picks a free one.
	Listen(addr string) (net.Listener, error)

	// Dial opens a stream, or fails when the context ends.
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// keepAlive finds within a quarter of a minute that a silent peer is gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 5}

// packetBuffer is asked of the kernel for packets not yet read.
const packetBuffer = 2 << 20

// sockets is the Transport of the operating system.
type sockets struct{}

func (sockets) ListenPacket(addr string) (net.PacketConn, error) {
	pc, err := net.ListenPacket("udp", addr)
	if udp, ok := pc.(*net.UDPConn); ok {
		// A smaller buffer than asked for only loses more under load.
		for size := packetBuffer; size > 64<<10 && udp.SetReadBuffer(size) != nil; size /= 2 {
		}
	}
	return pc, err
}

func (sockets) Listen(addr string) (net.Listener, error) {
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	return lc.Listen(context.Background(), "tcp", addr)
}

func (sockets) Dial(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: keepAlive}
	return d.DialContext(ctx, "tcp", addr)
}

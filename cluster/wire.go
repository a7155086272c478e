package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

const (
	maxStreams   = 1024 // accepted and not yet closed, of any kind
	maxFresh     = 256  // of those, not yet known to be a link or memberlist's
	maxFreshHost = 64   // of those, from one address
	firstTimeout = 5 * time.Second
	maxDatagram  = 64 << 10
)

var errClosed = errors.New("cluster: closed")

// wire runs one port: it is the memberlist.Transport, and sends each accepted
// stream to memberlist or to links by its first byte, once the handshake is over
// if it has to be sealed. It starts no goroutine before serve, and shut waits
// for all.
type wire struct {
	transport Transport
	ln        net.Listener
	pc        net.PacketConn
	advertise netip.AddrPort
	links     *sealer        // nil: in clear
	members   *sealer        // of memberlist's streams; nil: in clear
	onLink    func(net.Conn) // owns the stream until it returns; the first byte is read
	faults    *faults

	packets chan *memberlist.Packet
	streams chan net.Conn
	ctx     context.Context // ends when shut begins
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	mu       sync.Mutex
	conns    map[*wireConn]struct{} // every stream of memberlist and every accepted one
	accepted int                    // of conns, ≤ maxStreams
	fresh    int                    // of those accepted, ≤ maxFresh
	hosts    map[string]int         // of those fresh, by address, each ≤ maxFreshHost
}

// wireConn is a stream that shut closes, with bytes to be read first.
type wireConn struct {
	net.Conn
	wire     *wire
	accepted bool
	fresh    string // address it came from, until it is known what it is; guarded by wire.mu
	first    []byte
}

func newWire(t Transport, ln net.Listener, pc net.PacketConn, advertise netip.AddrPort) *wire {
	w := &wire{
		transport: t, ln: ln, pc: pc, advertise: advertise,
		packets: make(chan *memberlist.Packet, 16),
		streams: make(chan net.Conn),
		conns:   make(map[*wireConn]struct{}),
		hosts:   make(map[string]int),
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

func (w *wire) serve() {
	w.wg.Go(w.acceptAll)
	w.wg.Go(w.readPackets)
}

// shut closes the port and every stream, and waits for its goroutines. Calls
// after the first only wait.
func (w *wire) shut() {
	w.cancel()
	w.ln.Close()
	w.pc.Close()
	w.mu.Lock()
	conns := make([]*wireConn, 0, len(w.conns))
	for c := range w.conns {
		conns = append(conns, c)
	}
	w.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
	w.wg.Wait()
}

func (w *wire) acceptAll() {
	for {
		conn, err := w.ln.Accept()
		if err != nil {
			if !w.rest() {
				return
			}
			continue
		}
		c := &wireConn{Conn: conn, wire: w, accepted: true, fresh: hostOf(conn)}
		if !w.track(c) {
			conn.Close()
			continue
		}
		w.wg.Go(func() { w.route(c) })
	}
}

// rest keeps a failing socket from spinning; it is false when all is over.
func (w *wire) rest() bool {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-w.ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (w *wire) readPackets() {
	buf := make([]byte, maxDatagram)
	for {
		n, from, err := w.pc.ReadFrom(buf)
		now := time.Now()
		if err != nil {
			if !w.rest() {
				return
			}
			continue
		}
		if n == 0 {
			continue
		}
		if w.members != nil && deadlyPacket(buf[:n]) {
			w.faults.log(hostIn(from.String()), noKeyOpens, "err", "it has another form")
			continue
		}
		p := &memberlist.Packet{Buf: append([]byte(nil), buf[:n]...), From: from, Timestamp: now}
		select {
		case w.packets <- p:
		case <-w.ctx.Done():
			return
		}
	}
}

// track has shut close the stream; it is false when it is too late for that,
// or there are too many.
func (w *wire) track(c *wireConn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() != nil {
		return false
	}
	if c.accepted {
		if w.accepted >= maxStreams || w.fresh >= maxFresh || w.hosts[c.fresh] >= maxFreshHost {
			return false
		}
		w.accepted++
		w.fresh++
		w.hosts[c.fresh]++
	}
	w.conns[c] = struct{}{}
	return true
}

// known counts a stream no longer as one of which nothing is known.
func (w *wire) known(c *wireConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.knownLocked(c)
}

func (w *wire) knownLocked(c *wireConn) {
	if c.fresh == "" {
		return
	}
	w.fresh--
	if w.hosts[c.fresh]--; w.hosts[c.fresh] == 0 {
		delete(w.hosts, c.fresh)
	}
	c.fresh = ""
}

func (c *wireConn) Read(b []byte) (int, error) {
	if len(c.first) > 0 && len(b) > 0 {
		n := copy(b, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

func (c *wireConn) Close() error {
	c.wire.mu.Lock()
	if _, ok := c.wire.conns[c]; ok {
		delete(c.wire.conns, c)
		if c.accepted {
			c.wire.accepted--
			c.wire.knownLocked(c)
		}
	}
	c.wire.mu.Unlock()
	return c.Conn.Close()
}

// FinalAdvertiseAddr, WriteTo, PacketCh, DialTimeout, StreamCh and Shutdown
// make a memberlist.Transport.

func (w *wire) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return w.advertise.Addr().AsSlice(), int(w.advertise.Port()), nil
}

func (w *wire) WriteTo(b []byte, addr string) (time.Time, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return time.Time{}, fmt.Errorf("packet to %q: %w", addr, err)
	}
	if w.ctx.Err() != nil {
		return time.Time{}, errClosed // which ends a probe at once
	}
	_, err = w.pc.WriteTo(b, net.UDPAddrFromAddrPort(to))
	return time.Now(), err
}

func (w *wire) PacketCh() <-chan *memberlist.Packet { return w.packets }

func (w *wire) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(w.ctx, timeout)
	defer cancel()
	conn, err := w.transport.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	c := &wireConn{Conn: conn, wire: w}
	if !w.track(c) {
		conn.Close()
		return nil, errClosed
	}
	if w.members == nil {
		return c, nil
	}
	deadline, _ := ctx.Deadline()
	c.SetDeadline(deadline)
	s, err := w.members.dial(c, sealedMembershipByte)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("sealing a stream: %w", err)
	}
	return &vetted{Conn: s}, s.SetDeadline(time.Time{})
}

func (w *wire) StreamCh() <-chan net.Conn { return w.streams }

func (w *wire) Shutdown() error {
	w.shut()
	return nil
}

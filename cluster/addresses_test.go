package cluster

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"
)

// told tells what a cluster over real sockets has told.
type told struct {
	mu     sync.Mutex
	events []Event
	frames []string
	moved  chan struct{}
}

func newTold() *told { return &told{moved: make(chan struct{}, 1)} }

func (n *told) note(f func()) {
	n.mu.Lock()
	f()
	n.mu.Unlock()
	select {
	case n.moved <- struct{}{}:
	default:
	}
}

// until waits for something to have been told.
func (n *told) until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		n.mu.Lock()
		ok := cond()
		n.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-n.moved:
		case <-deadline:
			t.Fatalf("never: %s; got %v", what, n.events)
		}
	}
}

// openSocket opens a node over real sockets.
func openSocket(t *testing.T, cfg Config) (*Cluster, *told) {
	t.Helper()
	n := newTold()
	cfg.ProbeInterval = time.Second // nobody shall be taken for dead on a busy machine
	cfg.Keys = [][]byte{key(1)}
	cfg.Change = func(e Event) { n.note(func() { n.events = append(n.events, e) }) }
	cfg.Frame = func(from uint64, f []byte) { n.note(func() { n.frames = append(n.frames, string(f)) }) }
	c, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c, n
}

// talk has nodes meet, send each other a frame, and hear the goodbye of the last.
func talk(t *testing.T, nodes []*Cluster, heard []*told) {
	t.Helper()
	count := func(n *told, kind EventKind) (found int) {
		for _, e := range n.events {
			if e.Kind == kind {
				found++
			}
		}
		return found
	}
	for _, n := range heard {
		n.until(t, "links to all others", func() bool { return count(n, LinkUp) >= len(nodes)-1 })
	}
	for i, from := range nodes {
		for j, to := range nodes {
			if i != j && !from.Send(to.Incarnation(), []byte(from.cfg.Name)) {
				t.Errorf("%s cannot send to %s", from.cfg.Name, to.cfg.Name)
			}
		}
	}
	for i, n := range heard {
		n.until(t, "a frame of each", func() bool { return len(n.frames) == len(nodes)-1 })
		if slices.Contains(n.frames, nodes[i].cfg.Name) {
			t.Errorf("%s heard itself", nodes[i].cfg.Name)
		}
	}
	last := len(nodes) - 1
	if err := nodes[last].Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	for _, n := range heard[:last] {
		n.until(t, "the goodbye", func() bool {
			return slices.ContainsFunc(n.events, func(e Event) bool { return e.Kind == MemberDown && e.Member.State == Left })
		})
	}
}

// Over IPv6, on real sockets.
func TestIPv6Sockets(t *testing.T) {
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6 loopback: %v", err)
	}
	probe.Close()
	var nodes []*Cluster
	var heard []*told
	var join []string
	for i, name := range []string{"a", "b", "c"} {
		c, n := openSocket(t, Config{Name: name, Incarnation: uint64(i + 1), Bind: "[::1]:0", Join: join})
		if at := netip.MustParseAddrPort(c.Addr()); !at.Addr().Is6() || at.Port() == 0 {
			t.Errorf("%s is told to be at %s", name, c.Addr())
		}
		nodes, heard, join = append(nodes, c), append(heard, n), []string{c.Addr()}
	}
	talk(t, nodes, heard)
}

// A node that listens everywhere is reached at the address it advertises; one behind a
// proxy at the proxy's, with another port than its own.
func TestAdvertise(t *testing.T) {
	p := newForwarder(t)
	a, ha := openSocket(t, Config{Name: "a", Incarnation: 1, Bind: "0.0.0.0:0", Advertise: "127.0.0.1"})
	b, hb := openSocket(t, Config{Name: "b", Incarnation: 2, Bind: "127.0.0.1:0", Advertise: p.addr(), Join: []string{a.Addr()}})
	p.to(b.wire.ln.Addr().String())
	c, hc := openSocket(t, Config{Name: "c", Incarnation: 3, Bind: "127.0.0.1:0", Join: []string{b.Addr()}})
	if at := netip.MustParseAddrPort(a.Addr()); at.Addr().String() != "127.0.0.1" || at.Port() == 0 || b.Addr() != p.addr() {
		t.Errorf("they are told to be at %s and %s", a.Addr(), b.Addr())
	}
	talk(t, []*Cluster{a, c, b}, []*told{ha, hc, hb})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streams == 0 || p.packets == 0 {
		t.Errorf("%d streams and %d packets went through the proxy", p.streams, p.packets)
	}
}

// forwarder passes streams and packets of its port on to another.
type forwarder struct {
	ln net.Listener
	pc net.PacketConn
	wg sync.WaitGroup

	mu               sync.Mutex
	target           string
	conns            []net.Conn
	streams, packets int
}

func newForwarder(t *testing.T) *forwarder {
	t.Helper()
	ln, pc, err := listen(sockets{}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forwarder{ln: ln, pc: pc}
	f.wg.Go(f.accept)
	f.wg.Go(f.relay)
	t.Cleanup(func() {
		ln.Close()
		pc.Close()
		f.mu.Lock()
		for _, c := range f.conns {
			c.Close()
		}
		f.mu.Unlock()
		f.wg.Wait()
	})
	return f
}

func (f *forwarder) addr() string { return f.ln.Addr().String() }

func (f *forwarder) to(target string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.target = target
}

func (f *forwarder) accept() {
	for {
		near, err := f.ln.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		far, err := net.Dial("tcp", f.target)
		if err != nil {
			near.Close()
			f.mu.Unlock()
			continue
		}
		f.conns = append(f.conns, near, far)
		f.streams++
		f.mu.Unlock()
		pass := func(to, from net.Conn) {
			buf := make([]byte, 32<<10)
			for {
				n, err := from.Read(buf)
				if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
					to.Close()
					from.Close()
					return
				}
			}
		}
		f.wg.Go(func() { pass(near, far) })
		f.wg.Go(func() { pass(far, near) })
	}
}

// relay passes packets on; answers go straight to whom they are for.
func (f *forwarder) relay() {
	buf := make([]byte, maxDatagram)
	for {
		n, _, err := f.pc.ReadFrom(buf)
		if err != nil {
			return
		}
		f.mu.Lock()
		f.packets++
		target := f.target
		f.mu.Unlock()
		if to, err := netip.ParseAddrPort(target); err == nil {
			f.pc.WriteTo(buf[:n], net.UDPAddrFromAddrPort(to))
		}
	}
}

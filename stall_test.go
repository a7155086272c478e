package stint_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// sluggish is the network of a node that at times does not read what peers send it, or
// slowly: real sockets, whose kernel buffers fill.
type sluggish struct {
	mu      sync.Mutex
	stalled chan struct{} // open while nothing is read; nil: it reads
	most    int           // bytes a read; 0: any
}

// stall has nothing read until the function that it returns is called.
func (s *sluggish) stall() (resume func()) {
	gate := make(chan struct{})
	s.mu.Lock()
	s.stalled = gate
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		s.stalled = nil
		s.mu.Unlock()
		close(gate)
	})
}

// trickle has so many bytes read at a time, a millisecond apart; 0: as they come.
func (s *sluggish) trickle(most int) {
	s.mu.Lock()
	s.most = most
	s.mu.Unlock()
}

func (s *sluggish) ListenPacket(addr string) (net.PacketConn, error) {
	return net.ListenPacket("udp", addr)
}

func (s *sluggish) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", addr)
}

func (s *sluggish) Listen(addr string) (net.Listener, error) {
	ln, err := net.Listen("tcp", addr)
	return sluggishListener{ln, s}, err
}

type sluggishListener struct {
	net.Listener
	pace *sluggish
}

func (l sluggishListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &sluggishConn{Conn: c, pace: l.pace, closed: make(chan struct{})}, err
}

type sluggishConn struct {
	net.Conn
	pace   *sluggish
	once   sync.Once
	closed chan struct{}
}

func (c *sluggishConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func (c *sluggishConn) Read(b []byte) (int, error) {
	c.pace.mu.Lock()
	gate, most := c.pace.stalled, c.pace.most
	c.pace.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-c.closed:
		}
	}
	if most > 0 && most < len(b) {
		b = b[:most]
		select {
		case <-time.After(time.Millisecond):
		case <-c.closed:
		}
	}
	return c.Conn.Read(b)
}

// A peer that reads slowly, and then not at all with its sockets open, holds up neither
// the others nor memory: what is kept for it is one entry a key, and one more for what it
// may have had. When it reads again it has everything, to the event. Over real sockets.
func TestPeerThatDoesNotRead(t *testing.T) {
	const keys = 3000
	slug := &sluggish{}
	open := func(cfg stint.Config) *stint.Node {
		cfg.Bind, cfg.MaxKeys, cfg.SyncInterval = "127.0.0.1:0", 4*keys, 20*time.Millisecond
		n, err := stint.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close(gone()) })
		return n
	}
	a := open(stint.Config{Name: "a"})
	b := open(stint.Config{Name: "b", Join: []string{a.Addr()}})
	c := open(stint.Config{Name: "c", Join: []string{a.Addr()}, Transport: slug})
	wait := func(what string, done func() bool) {
		t.Helper()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.After(30 * time.Second); !done(); {
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatalf("not within 30s: %s\n%s\n%s\n%s", what, summary(a), summary(b), summary(c))
			}
		}
	}
	wait("all have met", func() bool {
		return a.Stats().Nodes == 3 && b.Stats().Nodes == 3 && c.Stats().Nodes == 3 && inStep(a) && inStep(b) && inStep(c)
	})
	daily := everyKind(1_000_000)[2].WithName("daily")
	left := int64(1_000_000)
	of := func(name string) stint.Member {
		for _, m := range a.Members() {
			if m.Name == name {
				return m
			}
		}
		return stint.Member{}
	}
	// round spends one event of each key, and waits until b knows.
	round := func() {
		for i := range keys {
			a.Allow(fmt.Sprint("key", i), daily)
		}
		left--
		wait("b has the news", func() bool { return b.Peek(fmt.Sprint("key", keys-1), daily).Remaining == left && of("b").Backlog == 0 })
	}
	rounds := func(d time.Duration, check func()) {
		for deadline := time.Now().Add(d); time.Now().Before(deadline); check() {
			round()
		}
	}
	slug.trickle(256)
	rounds(500*time.Millisecond, func() {})
	slug.trickle(0)
	wait("c has all that trickled", func() bool { return of("c").Backlog == 0 })

	resume := slug.stall()
	defer resume()
	most, in := 0, of("b").Unacked
	rounds(3*time.Second, func() {
		m, s := of("c"), a.Stats()
		most = max(most, s.LogEntries)
		if in = max(in, m.Unacked); m.State == "alive" && m.Unacked > 256 {
			t.Errorf("%d batches are under way to a peer that reads nothing", m.Unacked)
		}
		if s.LogBytes > 8<<20 {
			t.Fatalf("the log has %d bytes for %d keys", s.LogBytes, keys)
		}
	})
	// Drains that were under way as it fell silent may have come: each stays apart, up to
	// the window's 16 frames, of 20 ms each.
	if most > 20*keys || most < keys {
		t.Errorf("got up to %d entries for a peer that reads nothing, of %d keys", most, keys)
	}
	resume()
	wait("c is in step again", func() bool { return of("c").State == "alive" && inStep(a) && inStep(c) })
	for i := range keys {
		if got := c.Peek(fmt.Sprint("key", i), daily).Remaining; got != left {
			t.Fatalf("key %d: %d remain at c, want %d", i, got, left)
		}
	}
	for _, n := range []*stint.Node{a, b, c} {
		if s := n.Stats(); s.Lost != 0 || s.Malformed != 0 {
			t.Errorf("%s: lost %d, malformed %d", s.Name, s.Lost, s.Malformed)
		}
	}
	t.Logf("%d rounds, up to %d entries in the log, %d batches under way, c: %s", 1_000_000-left, most, in, summary(c))
}

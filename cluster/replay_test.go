package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// tape is a Transport that keeps what is said on the streams it dials, and ends
// a stream once so many bytes were said, or heard.
type tape struct {
	Transport
	sayNo, hearNo int // 0: never

	mu    sync.Mutex
	lines []*line
}

type line struct {
	net.Conn
	tape *tape
	to   string

	mu          sync.Mutex
	said        bytes.Buffer
	heardNumber int
}

func (t *tape) Dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := t.Transport.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	l := &line{Conn: conn, tape: t, to: addr}
	t.mu.Lock()
	t.lines = append(t.lines, l)
	t.mu.Unlock()
	return l, nil
}

func (l *line) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if no := l.tape.sayNo; no > 0 && l.said.Len()+len(b) >= no {
		l.Conn.Write(b[:no-l.said.Len()])
		l.Conn.Close()
		return 0, io.ErrClosedPipe
	}
	l.said.Write(b)
	return l.Conn.Write(b)
}

func (l *line) Read(b []byte) (int, error) {
	if no := l.tape.hearNo; no > 0 {
		if l.heardNumber == no {
			l.Conn.Close()
			return 0, io.EOF
		}
		b = b[:min(len(b), no-l.heardNumber)]
	}
	n, err := l.Conn.Read(b)
	l.heardNumber += n
	return n, err
}

// Sessions of links and of membership, heard on the wire and said again byte for
// byte, whole and cut, get nothing in. Nor can what was said be read.
func TestReplay(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.keys = [][]byte{key(1)}
		a := r.start("a", "10.0.0.1", 1)
		b := &node{host: r.net.Host("10.0.0.2"), ip: "10.0.0.2", log: &lines{}}
		spy := &tape{Transport: b.host}
		r.open(b, Config{
			Name: "b", Incarnation: 2, Label: "test", Bind: ":7946", Join: []string{a.Addr()}, Keys: r.keys,
			Transport: spy, Logger: b.log.logger(), Change: b.change, Frame: b.frame,
		})
		r.within(5*time.Second, "they meet", func() bool { return a.linked(2) && b.linked(1) })
		const secret = "a frame that nobody else should read"
		b.Send(1, []byte(secret))
		r.within(time.Second, "it is there", func() bool { return len(a.got()) == 1 })
		b.Redial(1)
		time.Sleep(10 * time.Second)
		b.Close(r.Context())
		r.within(time.Second, "b is gone", func() bool { return a.state(2) == "left" })
		time.Sleep(2 * time.Minute)
		a.hush()
		kinds := map[byte]int{}
		for _, l := range spy.lines {
			said := l.said.String()
			kinds[said[0]]++
			if strings.Contains(said, secret) || strings.Contains(said, "test") {
				r.Error("what is said can be read")
			}
			for _, s := range []string{said, said[:len(said)/2], said[1:]} {
				say(r, a.Addr(), s)
			}
		}
		if kinds[sealedLinkByte] < 2 || kinds[sealedMembershipByte] < 2 || len(kinds) != 2 {
			r.Errorf("got sessions of kinds %v", kinds)
		}
		time.Sleep(time.Minute)
		if peers, streams := a.held(); len(a.got()) != 0 || len(a.told()) != 0 || len(a.Members()) != 1 || peers+streams != 0 {
			r.Errorf("got %v, %v, %d peers, %d streams", a.got(), a.told(), peers, streams)
		}
	})
}

// handshake runs a handshake between a dialling side that ends after so many bytes
// and one that accepts, as links do, and returns what both say.
func handshake(t testing.TB, keys *ring, sayNo, hearNo int) (l *line, dialled, accepted error) {
	near, far := net.Pipe()
	w := &wire{links: linkSealer(keys), hosts: map[string]int{}, conns: map[*wireConn]struct{}{}, faults: newFaults((&lines{}).logger())}
	w.ctx, w.cancel = context.WithCancel(t.Context())
	defer w.cancel()
	in := make(chan error, 1)
	w.onLink = func(conn net.Conn) {
		_, err := readPreamble(conn)
		in <- err
		if err == nil {
			conn.Write([]byte{byte(answerWelcome)})
			conn.Read(make([]byte, 1))
		}
	}
	go func() {
		w.route(&wireConn{Conn: far, wire: w, accepted: true})
		in <- io.ErrUnexpectedEOF // it did not become a link
	}()
	l = &line{Conn: near, tape: &tape{sayNo: sayNo, hearNo: hearNo}}
	out := &link{preamble: preamble{from: 2, to: 1, name: "b"}.encode(), sealer: w.links}
	_, dialled = out.greet(l)
	near.Close()
	return l, dialled, <-in
}

func linkSealer(r *ring) *sealer {
	s := &sealer{proto: linkProto, ring: new(atomic.Pointer[ring])}
	s.ring.Store(r)
	return s
}

// A link cut at any byte that either side says is no link on that side, or on
// the other only once it was one.
func TestHandshakeCutAnywhere(t *testing.T) {
	keys := mustRing(t, key(1))
	l, dialled, accepted := handshake(t, keys, 0, 0)
	if dialled != nil || accepted != nil {
		t.Fatalf("uncut: got %v and %v", dialled, accepted)
	}
	said, heard := l.said.Len(), l.heardNumber
	if said > maxHello || heard > maxHello {
		t.Errorf("the handshake takes %d and %d bytes", said, heard)
	}
	step := 1
	if testing.Short() {
		step = 13
	}
	for n := 1; n <= said; n += step {
		if _, dialled, accepted := handshake(t, keys, n, 0); dialled == nil || n < said && accepted == nil {
			t.Fatalf("said %d bytes of %d: got %v and %v", n, said, dialled, accepted)
		}
	}
	for n := 1; n < heard; n += step {
		if _, dialled, _ := handshake(t, keys, 0, n); dialled == nil {
			t.Fatalf("heard %d bytes of %d: it is a link", n, heard)
		}
	}
}

// A stream of one kind, led to where another kind is read, is refused, and so is
// one of no kind.
func TestKindsDoNotMix(t *testing.T) {
	keys := mustRing(t, key(1))
	for _, proto := range []string{linkProto, membershipProto, ""} {
		near, far := net.Pipe()
		in := make(chan error, 1)
		go func() {
			_, err := linkSealer(keys).seal(far, false)
			far.Close()
			in <- err
		}()
		cfg := keys.config()
		if proto != "" {
			cfg.NextProtos = []string{proto}
		}
		err := tls.Client(near, cfg).Handshake()
		near.Close()
		if accepted := <-in; (accepted == nil) != (proto == linkProto) {
			t.Errorf("%q: got %v, the other side %v", proto, accepted, err)
		}
	}
}

// Close says no goodbye of TLS, for which it would wait.
func TestCloseOfSealedDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := linkSealer(mustRing(t, key(1)))
		near, far := net.Pipe()
		go keys.seal(far, false)
		s, err := keys.seal(near, true)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		s.Close()
		if d := time.Since(start); d != 0 {
			t.Errorf("Close took %v", d)
		}
		far.Close()
	})
}

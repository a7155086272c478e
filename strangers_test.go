package stint_test

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// siege is a cluster on real sockets, and strangers who do to its first node what they can.
type siege struct {
	*testing.T
	log              events
	nodes            []*stint.Node
	streams, packets atomic.Int64
	bytes            atomic.Int64
}

// Random bytes on the port of a node, in streams and packets, streams that are held open,
// and whole nodes with a wrong key or none, for as long as they like: nothing crashes,
// memory and goroutines stay flat, each cause is logged once and not each packet, and the
// cluster counts on. For 30 s with STINT_SOAK.
func TestStrangersAtThePort(t *testing.T) {
	s := &siege{T: t}
	for i := range 3 {
		cfg := stint.Config{
			Bind: "127.0.0.1:0", MaxKeys: fewKeys, Logger: slog.New(&s.log),
			ClusterKeys: [][]byte{clusterKey(1)}, Label: "ours",
		}
		if i > 0 {
			cfg.Join = []string{s.nodes[0].Addr()}
		}
		s.nodes = append(s.nodes, s.open(cfg))
	}
	s.eventually("all have met", s.inStep)
	lasts := time.Second
	if soaking() {
		lasts = 30 * time.Second
	}
	s.attack(lasts / 4) // what is to grow once has grown
	before, heap := s.quiet()
	warned := s.log.count(slog.LevelWarn, "")
	s.attack(lasts)
	after, heapAfter := s.quiet()
	t.Logf("%d streams, %d packets, %d bytes; goroutines %d, then %d; heap %d, then %d KiB; %d lines at warn",
		s.streams.Load(), s.packets.Load(), s.bytes.Load(), before, after, heap>>10, heapAfter>>10, s.log.count(slog.LevelWarn, ""))
	if after > before+5 {
		t.Errorf("%d goroutines, %d before", after, before)
	}
	if heapAfter > heap+4<<20 {
		t.Errorf("the heap has %d bytes, %d before", heapAfter, heap)
	}
	if n := s.log.count(slog.LevelWarn, ""); warned == 0 || n > 12 || n > warned+3 {
		t.Errorf("%d warnings, %d of them in the first quarter:\n%q", n, warned, s.log.lines)
	}
	s.eventually("all are in touch", s.inStep)
	if n := s.log.count(slog.LevelInfo, "member down"); n > 0 {
		t.Logf("members were taken for dead %d times: this machine was too busy for probes of 100 ms", n)
	}
}

func (s *siege) inStep() bool {
	for _, n := range s.nodes {
		if n.Stats().Nodes != len(s.nodes) || !inStep(n) {
			return false
		}
	}
	return true
}

func (s *siege) open(cfg stint.Config) *stint.Node {
	s.Helper()
	n, err := stint.Open(cfg)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { n.Close(gone()) })
	return n
}

// eventually polls: real sockets have no event to wait for.
func (s *siege) eventually(what string, cond func() bool) {
	s.Helper()
	tick, deadline := time.NewTicker(20*time.Millisecond), time.After(30*time.Second)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			s.Fatalf("never: %s", what)
		}
	}
}

// attack lasts so long. All the while takes go from node to node.
func (s *siege) attack(lasts time.Duration) {
	ctx, cancel := context.WithTimeout(s.Context(), lasts)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() { s.dial(ctx, uint64(i)) })
	}
	wg.Go(func() { s.sprinkle(ctx) })
	wg.Go(func() { s.hold(ctx) })
	for _, keys := range [][][]byte{{clusterKey(2)}, nil} {
		wg.Go(func() {
			n, err := stint.Open(stint.Config{Bind: "127.0.0.1:0", MaxKeys: fewKeys, Label: "ours", Join: []string{s.nodes[0].Addr()}, ClusterKeys: keys})
			if err != nil {
				s.Error(err)
				return
			}
			<-ctx.Done()
			if n.Stats().Nodes != 1 {
				s.Error("a stranger is a member")
			}
			n.Close(gone())
		})
	}
	l := slow(10_000)
	left := s.nodes[1].Peek("k", l).Remaining
	for ctx.Err() == nil {
		for i, n := range s.nodes {
			if !n.Allow("k", l).OK {
				s.Error("refused")
			}
			left--
			other := s.nodes[(i+1)%3]
			s.eventually("the take is known", func() bool { return other.Peek("k", l).Remaining == left })
		}
	}
	wg.Wait()
}

// junk fills b at random, but for the first byte, which one who knows the protocol chose.
func junk(dice *rand.Rand, b []byte) []byte {
	for i := range b {
		b[i] = byte(dice.Uint32())
	}
	firsts := []byte{0xD1, 0xD2, 0xD3, 244, 0, 1, 6, 10, 22, 'G', 0xff}
	if i := dice.IntN(len(firsts) + 1); i < len(firsts) {
		b[0] = firsts[i]
	}
	return b
}

// dial opens streams one after the other and says something random.
func (s *siege) dial(ctx context.Context, seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 1))
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", s.nodes[0].Addr())
		if err != nil {
			continue
		}
		n, _ := conn.Write(junk(dice, make([]byte, 1+dice.IntN(4000))))
		s.bytes.Add(int64(n))
		conn.(*net.TCPConn).CloseWrite()
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, conn); isTimeout(err) {
			s.Error("a stream is not hung up on")
		}
		conn.(*net.TCPConn).SetLinger(0) // else ports run out
		conn.Close()
		s.streams.Add(1)
	}
}

func isTimeout(err error) bool {
	t, ok := err.(net.Error)
	return ok && t.Timeout()
}

// hold opens streams and says nothing, or half of it, as many as it gets.
func (s *siege) hold(ctx context.Context) {
	var conns []net.Conn
	for ctx.Err() == nil && len(conns) < 500 {
		conn, err := net.Dial("tcp", s.nodes[0].Addr())
		if err != nil {
			continue
		}
		conn.Write([]byte("\xD2\x16\x03\x01\x40\x00")[:len(conns)%6])
		conns = append(conns, conn)
		s.streams.Add(1)
		if len(conns)%64 == 0 { // let others have a turn at the door
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
			for _, c := range conns {
				c.Close()
			}
			conns = conns[:0]
		}
	}
	for _, c := range conns {
		c.Close()
	}
}

// sprinkle sends packets at random, some thousands a second: to send more than a machine can
// take is another attack, which no program can stop on its port.
func (s *siege) sprinkle(ctx context.Context) {
	conn, err := net.Dial("udp", s.nodes[0].Addr())
	if err != nil {
		s.Error(err)
		return
	}
	defer conn.Close()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	dice := rand.New(rand.NewPCG(2, 2))
	b := make([]byte, 1400)
	for ctx.Err() == nil {
		n, _ := conn.Write(junk(dice, b[:1+dice.IntN(len(b)-1)]))
		s.bytes.Add(int64(n))
		if s.packets.Add(1)%50 == 0 {
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}
}

// quiet waits until the strangers' streams are gone, and returns goroutines and heap.
func (s *siege) quiet() (goroutines int, heap uint64) {
	least := 1 << 30
	same := 0
	s.eventually("goroutines stand still", func() bool {
		n := runtime.NumGoroutine()
		if n < least {
			least, same = n, 0
		}
		same++
		return same > 50 // 1 s
	})
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return least, m.HeapAlloc
}

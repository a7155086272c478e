package cluster

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Random bytes on the port, in streams and packets, by one who has read the
// protocol: nothing gets in, and each cause is logged once, not each packet.
func TestRandomBytes(t *testing.T) {
	for name, keys := range map[string][][]byte{"sealed": {key(1)}, "in clear": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.keys = keys
				a, b, _ := r.three()
				a.hush()
				stranger := r.net.Host("10.9.9.9")
				pc, err := stranger.ListenPacket(":1")
				if err != nil {
					r.Fatal(err)
				}
				defer pc.Close()
				dice := rand.New(rand.NewPCG(1, 1))
				to := net.UDPAddrFromAddrPort(a.wire.advertise)
				firsts := []byte{linkByte, sealedLinkByte, sealedMembershipByte, labelByte, 0, 6, 10, 22, 0xff}
				for i := range 2000 {
					junk := make([]byte, 1+dice.IntN(1400))
					for i := range junk {
						junk[i] = byte(dice.Uint32())
					}
					if keys == nil {
						junk[0] |= 0x20 // not memberlist's own, which has no key to tell by
					}
					pc.WriteTo(junk, to)
					if keys != nil || junk[0] == linkByte {
						junk[0] = firsts[i%len(firsts)]
					}
					say(r, a.Addr(), string(junk))
				}
				time.Sleep(10 * time.Second)
				if len(a.told()) != 0 || len(a.got()) != 0 || len(a.Members()) != 3 {
					r.Errorf("got %v, %v, %v", a.told(), a.got(), a.Members())
				}
				if n := a.log.warnings(); n == 0 || n > 6 || n != a.log.warnings("peer=10.9.9.9") {
					r.Errorf("got the log\n%s", a.log)
				}
				if peers, streams := a.held(); peers != 2 || streams > 3 || a.wire.fresh != 0 {
					r.Errorf("%d peers and %d streams stay, %d fresh", peers, streams, a.wire.fresh)
				}
				b.Send(1, []byte("x"))
				synctest.Wait()
				if len(a.got()) != 1 {
					r.Error("the cluster was harmed")
				}
			})
		})
	}
}

// What a stranger can make a node hold does not grow with how long he goes on.
func TestStrangersCostNoMemory(t *testing.T) {
	w := &wire{links: linkSealer(mustRing(t, key(1))), hosts: map[string]int{}, conns: map[*wireConn]struct{}{}, faults: newFaults((&lines{}).logger())}
	w.ctx, w.cancel = context.WithCancel(t.Context())
	defer w.cancel()
	endless := io.MultiReader(strings.NewReader("\xD2\x16\x03\x01\x40\x00\x01\x00\xff\x00"), zeros{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	conn := &mute{Reader: endless}
	w.route(&wireConn{Conn: conn, wire: w, accepted: true})
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 256<<10 {
		t.Errorf("it allocates %d bytes", got)
	}
	if conn.read > maxHello+maxUnread+64<<10 {
		t.Errorf("it reads %d bytes", conn.read)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// mute is a stream that says what its reader has and hears nothing.
type mute struct {
	net.Conn
	io.Reader
	read int
}

func (m *mute) Read(b []byte) (int, error) {
	n, err := m.Reader.Read(b)
	m.read += n
	return n, err
}

func (m *mute) Write(b []byte) (int, error)      { return len(b), nil }
func (m *mute) Close() error                     { return nil }
func (m *mute) SetDeadline(time.Time) error      { return nil }
func (m *mute) SetReadDeadline(time.Time) error  { return nil }
func (m *mute) SetWriteDeadline(time.Time) error { return nil }
func (m *mute) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(10, 9, 9, 9), Port: 1} }

// Whatever a stranger says to a node with a key, it is neither a link nor
// memberlist's, and is read only so far.
func FuzzStranger(f *testing.F) {
	keys := mustRing(f, key(1))
	l, _, _ := handshake(f, keys, 0, 0)
	f.Add(l.said.Bytes())
	f.Add(l.said.Bytes()[:200])
	f.Add([]byte("\xD3\x16\x03\x01\x00\x05hello"))
	f.Add(preamble{1, 2, "label", "name"}.encode())
	f.Add([]byte("\x06\xF4"))
	f.Fuzz(func(t *testing.T, said []byte) {
		w := &wire{
			links: linkSealer(keys), members: &sealer{proto: membershipProto, ring: linkSealer(keys).ring},
			streams: make(chan net.Conn), hosts: map[string]int{}, conns: map[*wireConn]struct{}{}, faults: newFaults((&lines{}).logger()),
			onLink: func(net.Conn) { t.Error("it is a link") },
		}
		w.ctx, w.cancel = context.WithCancel(context.Background())
		w.cancel() // nobody waits for streams
		conn := &mute{Reader: bytes.NewReader(said)}
		c := &wireConn{Conn: conn, wire: w, accepted: true, fresh: "10.9.9.9"}
		w.accepted, w.fresh, w.hosts[c.fresh], w.conns[c] = 1, 1, 1, struct{}{}
		w.route(c)
		if len(w.conns) != 0 || w.accepted != 0 || w.fresh != 0 || len(w.hosts) != 0 {
			t.Errorf("it leaves %d streams, %d fresh", len(w.conns), w.fresh)
		}
		if len(said) > 0 {
			if _, err := w.open(&wireConn{Conn: &mute{Reader: bytes.NewReader(said[1:])}, wire: w}, said[0]); err == nil {
				t.Error("it is let in")
			}
		}
	})
}

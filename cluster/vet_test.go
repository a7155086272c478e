package cluster

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
)

// packetTap keeps what a node sends in packets.
type packetTap struct {
	Transport
	packets chan []byte
}

func (p packetTap) ListenPacket(addr string) (net.PacketConn, error) {
	pc, err := p.Transport.ListenPacket(addr)
	return tappedConn{pc, p.packets}, err
}

type tappedConn struct {
	net.PacketConn
	packets chan []byte
}

func (c tappedConn) WriteTo(b []byte, to net.Addr) (int, error) {
	select {
	case c.packets <- bytes.Clone(b):
	default:
	}
	return c.PacketConn.WriteTo(b, to)
}

// Whoever overhears a sealed packet can change the byte that says how it is sealed, and
// needs no key for it. It ended the process: memberlist took the last byte of what was
// sealed for a length, and cut off as much.
func TestPacketOfTheOlderForm(t *testing.T) {
	for _, label := range []string{"", "test"} {
		inBubble(t, func(r *rig) {
			tap := packetTap{r.net.Host("10.0.0.1"), make(chan []byte, 100)}
			a := &node{log: &lines{}}
			r.open(a, Config{Name: "a", Incarnation: 1, Label: label, Bind: ":7946", Transport: tap, Keys: [][]byte{key(1)}, Logger: a.log.logger(), Change: a.change})
			b := &node{log: &lines{}}
			r.open(b, Config{Name: "b", Incarnation: 2, Label: label, Bind: ":7946", Transport: r.net.Host("10.0.0.2"), Keys: [][]byte{key(1)}, Join: []string{"10.0.0.1:7946"}, Logger: b.log.logger(), Change: b.change})
			r.within(5*time.Second, "they meet", func() bool { return a.linked(2) && b.linked(1) })
			time.Sleep(5 * time.Second)
			stranger, err := r.net.Host("10.9.9.9").ListenPacket(":1")
			if err != nil {
				r.Fatal(err)
			}
			defer stranger.Close()
			at := 0
			if label != "" {
				at = 2 + len(label)
			}
			for len(tap.packets) > 0 {
				p := <-tap.packets
				if p[at] != newForm {
					r.Fatalf("a packet of form %d", p[at])
				}
				p[at] = oldForm
				stranger.WriteTo(p, net.UDPAddrFromAddrPort(b.wire.advertise))
			}
			time.Sleep(time.Second)
			if b.log.warnings("no cluster key of ours opens", "peer=10.9.9.9") != 1 || b.log.warnings() != 1 || !b.linked(1) {
				r.Errorf("%q: got %v and the log\n%s", label, b.told(), b.log)
			}
		})
	}
}

// On a stream such a message comes from one who has a key, and is stopped as well.
func TestStreamOfTheOlderForm(t *testing.T) {
	long := strings.Repeat("x", 64)
	for _, tt := range []struct {
		name, said string
		ok         bool
	}{
		{"as ours", "\x0a\x00\x00\x00\x40\x01" + long, true},
		{"with a label", "\xf4\x04test\x0a\x00\x00\x00\x40\x01" + long, true},
		{"in clear", "\x06" + long, true}, // memberlist refuses it
		{"older", "\x0a\x00\x00\x00\x40\x00" + long, false},
		{"older, with a label", "\xf4\x04test\x0a\x00\x00\x00\x40\x00" + long, false},
		{"nothing sealed", "\x0a\x00\x00\x00\x1d\x01" + long, false},
		{"a form to come", "\x0a\x00\x00\x00\x40\x02" + long, false},
	} {
		v := &vetted{Conn: still{Reader: strings.NewReader(tt.said)}}
		got, err := io.ReadAll(v)
		if tt.ok != (err == nil) || tt.ok && string(got) != tt.said || !tt.ok && (len(got) > 0 || !errors.Is(err, errOldForm)) {
			t.Errorf("%s: got %d bytes, %v", tt.name, len(got), err)
		}
		for n := range min(len(tt.said), 12) {
			v := &vetted{Conn: still{Reader: strings.NewReader(tt.said[:n])}}
			if got, err := io.ReadAll(v); !strings.HasPrefix(tt.said[:n], string(got)) || err != nil && !errors.Is(err, errOldForm) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, %d bytes: got %q, %v", tt.name, n, got, err)
			}
		}
	}
}

// The forms are those of memberlist: a packet of ours is of the newer, and its keys open it.
func FuzzVetted(f *testing.F) {
	f.Add([]byte("\xf4\x04test\x0a\x00\x00\x00\x40\x01xxxx"), 3)
	f.Add([]byte("\x0a\x00\x00\x00\x40\x00"), 1)
	f.Fuzz(func(t *testing.T, said []byte, size int) {
		v := &vetted{Conn: still{Reader: bytes.NewReader(said)}}
		buf := make([]byte, 1+max(size, 0)%64)
		var got []byte
		for {
			n, err := v.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				break
			}
		}
		if len(got) > 0 && !bytes.Equal(got, said) {
			t.Errorf("got %q of %q", got, said)
		}
		rest, _, err := memberlist.RemoveLabelHeaderFromPacket(said)
		if err == nil && len(rest) > 0 && rest[0] == oldForm && !deadlyPacket(said) {
			t.Errorf("%q gets through", said)
		}
	})
}

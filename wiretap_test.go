package stint_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stint-go/stint/cluster"
)

// wiretap is what was overheard of a network: by one who sees every packet and stream.
type wiretap struct {
	mu      sync.Mutex
	streams []*overheard
	packets []overheardPacket
}

type overheardPacket struct {
	to   string
	data []byte
}

// overheard is one stream, from the side that dialled.
type overheard struct {
	net.Conn
	to string

	mu          sync.Mutex
	said, heard bytes.Buffer
}

// tapped is a Transport that is listened in on.
type tapped struct {
	cluster.Transport
	tap *wiretap
}

func (t tapped) Dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := t.Transport.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	o := &overheard{Conn: conn, to: addr}
	t.tap.mu.Lock()
	t.tap.streams = append(t.tap.streams, o)
	t.tap.mu.Unlock()
	return o, nil
}

func (t tapped) ListenPacket(addr string) (net.PacketConn, error) {
	pc, err := t.Transport.ListenPacket(addr)
	return tappedPackets{pc, t.tap}, err
}

type tappedPackets struct {
	net.PacketConn
	tap *wiretap
}

func (p tappedPackets) WriteTo(b []byte, addr net.Addr) (int, error) {
	p.tap.mu.Lock()
	p.tap.packets = append(p.tap.packets, overheardPacket{addr.String(), bytes.Clone(b)})
	p.tap.mu.Unlock()
	return p.PacketConn.WriteTo(b, addr)
}

func (o *overheard) Write(b []byte) (int, error) {
	o.mu.Lock()
	o.said.Write(b)
	o.mu.Unlock()
	return o.Conn.Write(b)
}

func (o *overheard) Read(b []byte) (int, error) {
	n, err := o.Conn.Read(b)
	o.mu.Lock()
	o.heard.Write(b[:n])
	o.mu.Unlock()
	return n, err
}

// recording is a stream that was overheard.
type recording struct {
	to          string
	said, heard []byte
}

// recordings are all streams and packets up to now.
func (w *wiretap) recordings() (streams []recording, packets []overheardPacket) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.streams {
		o.mu.Lock()
		if o.said.Len() > 0 {
			streams = append(streams, recording{o.to, bytes.Clone(o.said.Bytes()), bytes.Clone(o.heard.Bytes())})
		}
		o.mu.Unlock()
	}
	return streams, slices.Clone(w.packets)
}

// kind is what a stream is, by its first byte.
func kind(said []byte) string {
	switch said[0] {
	case 0xD1, 0xD2:
		return "link"
	}
	return "membership"
}

// parts cuts what was said on a stream into what an attacker would deal with: its first
// byte or preamble, then records of TLS, or frames of a link.
func parts(said []byte) (all [][]byte) {
	head, size := 1, func(b []byte) int { return 5 + int(binary.BigEndian.Uint16(b[3:])) }
	switch said[0] {
	case 0xD1:
		head = 4 + int(binary.BigEndian.Uint16(said[2:]))
		size = func(b []byte) int { return 4 + int(binary.BigEndian.Uint32(b)) }
	case 0xD2, 0xD3:
	default:
		return [][]byte{said}
	}
	all, said = append(all, said[:head]), said[head:]
	for len(said) >= 5 {
		n := min(size(said), len(said))
		all, said = append(all, said[:n]), said[n:]
	}
	if len(said) > 0 {
		all = append(all, said)
	}
	return all
}

// sayTo says something on a stream of its own, or in a packet, and returns how many bytes
// were answered until the other side hung up.
func (r *rig) sayTo(from cluster.Transport, to string, what ...[]byte) (answered int) {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := from.Dial(ctx, to)
	if err != nil {
		r.Fatal(err)
	}
	defer conn.Close()
	for _, b := range what {
		conn.Write(b) // an error is a node that has heard enough
	}
	conn.(interface{ CloseWrite() error }).CloseWrite()
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		answered += n
		if err != nil {
			if strings.Contains(err.Error(), "timeout") {
				r.Errorf("%s does not hang up on a stream that has ended", to)
			}
			return answered
		}
	}
}

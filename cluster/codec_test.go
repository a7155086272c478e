package cluster

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestMeta(t *testing.T) {
	for _, m := range []meta{
		{1, 0, "a"},
		{1<<64 - 1, 1<<64 - 1, strings.Repeat("ü", maxName/2)},
	} {
		b := m.encode()
		got, err := decodeMeta(append(b, "later"...))
		if err != nil || got != m {
			t.Errorf("got %v, %v, want %v", got, err, m)
		}
		for n := range b {
			if _, err := decodeMeta(b[:n]); err == nil {
				t.Errorf("%d bytes of %d were enough", n, len(b))
			}
		}
	}
	for _, bad := range []meta{{0, 1, "a"}, {1, 1, ""}, {1, 1, strings.Repeat("x", maxName+1)}} {
		if _, err := decodeMeta(bad.encode()); err == nil {
			t.Errorf("%v was decoded", bad)
		}
	}
}

func FuzzMeta(f *testing.F) {
	f.Add(meta{1, 2, "a"}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMeta(b)
		if err != nil {
			return
		}
		if again, err := decodeMeta(m.encode()); err != nil || again != m {
			t.Errorf("got %v, %v, want %v", again, err, m)
		}
	})
}

func FuzzPreamble(f *testing.F) {
	f.Add(preamble{1, 2, "label", "name"}.encode()[1:])
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := readPreamble(bytes.NewReader(b))
		if err != nil {
			return
		}
		if again, err := readPreamble(bytes.NewReader(p.encode()[1:])); err != nil || again != p {
			t.Errorf("got %v, %v, want %v", again, err, p)
		}
	})
}

// still is a stream of these bytes.
type still struct {
	net.Conn
	io.Reader
}

func (s still) Read(b []byte) (int, error)      { return s.Reader.Read(b) }
func (s still) SetReadDeadline(time.Time) error { return nil }

func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x03abc\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x10\x00\x01abc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newFrameReader(still{Reader: bytes.NewReader(b)})
		read := 0
		for {
			frame, err := r.next()
			if err != nil {
				return
			}
			at := read + frameHead
			if !bytes.Equal(frame, b[at:at+len(frame)]) {
				t.Fatalf("frame at %d is not what was written", read)
			}
			read = at + len(frame)
		}
	})
}

// A length alone makes nobody allocate.
func TestFrameMemoryGrowsWithBytes(t *testing.T) {
	pieces := 0
	r := newFrameReader(still{Reader: readerFunc(func(b []byte) (int, error) {
		pieces++
		if pieces == 1 {
			return copy(b, "\x00\x10\x00\x00"), nil
		}
		if len(b) > 2*firstGrowth {
			t.Errorf("asked for %d bytes before any came", len(b))
		}
		return 0, io.EOF
	})})
	if _, err := r.next(); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

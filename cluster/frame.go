package cluster

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// A frame on a stream is its length, a big-endian uint32 from 1 to MaxFrame,
// and its bytes. Two other lengths end a stream. Zero is the goodbye: the sender
// leaves the cluster and sends nothing more. The greatest is the handover: once
// the peer has answered that it has taken all, the sender goes on with another
// stream.

// frame is the bytes of one, in parts.
type frame [][]byte

func (f frame) size() (n int) {
	for _, part := range f {
		n += len(part)
	}
	return n
}

const (
	goodbye  = 0
	handover = 1<<32 - 1

	frameHead   = 4
	firstGrowth = 16 << 10 // a frame's buffer before its bytes have come
	readBuffer  = 16 << 10
	bodyTimeout = 30 * time.Second // from a frame's length to its last byte
)

var (
	errGoodbye  = errors.New("the peer left")
	errHandover = errors.New("the peer goes on with another stream")
)

// errFrameSize is the error of a length above MaxFrame.
type errFrameSize uint32

func (e errFrameSize) Error() string {
	return fmt.Sprintf("frame of %d bytes, at most %d are allowed", uint32(e), MaxFrame)
}

// frameReader reads the frames of one stream. The zero value is not usable.
type frameReader struct {
	conn net.Conn
	r    *bufio.Reader
}

func newFrameReader(conn net.Conn) *frameReader {
	return &frameReader{conn: conn, r: bufio.NewReaderSize(conn, readBuffer)}
}

// next returns the next frame in memory of its own, errGoodbye or errHandover.
// Whatever the length says, it allocates 16 KiB and then at most twice what has arrived.
func (f *frameReader) next() ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	switch {
	case n == goodbye:
		return nil, errGoodbye
	case n == handover:
		return nil, errHandover
	case n > MaxFrame:
		return nil, errFrameSize(n)
	}
	if int(n) <= f.r.Buffered() {
		return f.body(int(n))
	}
	if err := f.conn.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
		return nil, err
	}
	b, err := f.body(int(n))
	if err != nil {
		return nil, err
	}
	return b, f.conn.SetReadDeadline(time.Time{})
}

func (f *frameReader) body(n int) ([]byte, error) {
	b := make([]byte, 0, min(n, firstGrowth))
	for len(b) < n {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(2*cap(b), n)), b...)
		}
		have := len(b)
		b = b[:cap(b)]
		if _, err := io.ReadFull(f.r, b[have:]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// frameWriter gathers frames into single writes, or into whole records of a
// sealed stream. It is for one goroutine.
type frameWriter struct {
	conn    net.Conn
	sealed  *sealed       // conn, if it is
	records *bufio.Writer // to it
	timeout time.Duration
	heads   []byte
	bufs    net.Buffers
}

func newFrameWriter(conn net.Conn, timeout time.Duration) *frameWriter {
	w := &frameWriter{conn: conn, timeout: timeout}
	if s, ok := conn.(*sealed); ok {
		w.sealed, w.records = s, bufio.NewWriterSize(conn, recordSize)
		s.hold()
	}
	return w
}

// write sends all frames, and the lengths in last after them, within the
// time-out.
func (w *frameWriter) write(frames []frame, last ...uint32) error {
	need := frameHead * (len(frames) + len(last))
	if cap(w.heads) < need {
		w.heads = make([]byte, 0, 2*need)
	}
	heads, bufs := w.heads[:0], w.bufs[:0]
	for _, f := range frames {
		at := len(heads)
		heads = binary.BigEndian.AppendUint32(heads, uint32(f.size()))
		bufs = append(bufs, heads[at:])
		for _, part := range f {
			if len(part) > 0 {
				bufs = append(bufs, part)
			}
		}
	}
	for _, n := range last {
		at := len(heads)
		heads = binary.BigEndian.AppendUint32(heads, n)
		bufs = append(bufs, heads[at:])
	}
	w.bufs = bufs // WriteTo eats what it is called on: keep the array
	if err := w.conn.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
		return err
	}
	defer clear(w.bufs)
	if w.sealed == nil {
		_, err := bufs.WriteTo(w.conn)
		return err
	}
	for _, b := range bufs {
		w.records.Write(b) // an error stays until Flush
	}
	if err := w.records.Flush(); err != nil {
		return err
	}
	return w.sealed.flush()
}

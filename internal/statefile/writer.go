package statefile

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
)

const (
	// magic has a byte that is no text and both line ends, which finds files that were
	// sent as text.
	magic  = "\x89stint\r\n"
	format = 2
	oldest = 1

	chunkSize = 64 << 10            // a chunk this long is written
	maxItem   = 128 << 10           // one limit, row, register or part
	maxChunk  = chunkSize + maxItem // less than a full chunk, and one more item
)

var (
	errNoLimit = errors.New("row of a limit that was not written before it")
	errTooLong = errors.New("too long for a state file")
)

// Writer takes what a file shall hold. It keeps its first error, after which its methods
// do nothing, so that callers need not look at each. It is for one goroutine, until the
// function that it was given to returns.
type Writer struct {
	to  io.Writer
	sum hash.Hash
	err error

	buf    []byte // chunk so far; len(buf) < chunkSize between calls
	limits []written
	place  map[uint64]int // of an ID's last definition in limits
	row    int            // place of the last row's limit
}

// written is a limit and the At of its last row.
type written struct {
	Limit
	at int64
}

// newWriter writes the header.
func newWriter(to io.Writer, h Header) *Writer {
	w := &Writer{to: to, sum: sha256.New(), place: map[uint64]int{}, buf: make([]byte, 0, chunkSize+chunkSize/8)}
	w.buf = append(w.buf, magic...)
	w.buf = append(w.buf, format)
	w.buf = binary.LittleEndian.AppendUint64(w.buf, h.Seed)
	w.buf = binary.LittleEndian.AppendUint64(w.buf, uint64(h.Wall))
	w.emit(w.buf)
	w.reset()
	return w
}

// Err is the first error so far: a reason to stop early.
func (w *Writer) Err() error { return w.err }

// Limit adds a definition. One equal to the last of this ID changes nothing.
func (w *Writer) Limit(l Limit) {
	if i, ok := w.place[l.ID]; w.err != nil || ok && w.limits[i].Limit == l {
		return
	}
	w.place[l.ID] = len(w.limits)
	w.limits = append(w.limits, written{Limit: l})
	start := len(w.buf)
	w.buf = appendLimit(w.buf, l)
	w.added(start, "limit")
}

// Row adds the state of one key, whose Limit was added before it.
func (w *Writer) Row(r *Row) {
	if w.err != nil {
		return
	}
	i, ok := w.place[r.Limit]
	if !ok {
		w.err = fmt.Errorf("%w: %#x", errNoLimit, r.Limit)
		return
	}
	start := len(w.buf)
	w.buf = appendRow(w.buf, r, i, w.row, w.limits[i].at)
	w.row, w.limits[i].at = i, r.At
	w.added(start, "row")
}

// Register adds a hold or a ban.
func (w *Writer) Register(r *Register) {
	if w.err != nil {
		return
	}
	start := len(w.buf)
	w.buf = appendRegister(w.buf, r)
	w.added(start, "register")
}

// MaxVector is the most numbers that a Part has room for.
const MaxVector = 4096

// Part says that what is added from now on is of these ranges.
func (w *Writer) Part(p *Part) {
	if w.err != nil {
		return
	}
	start := len(w.buf)
	w.buf = appendPart(w.buf, p)
	w.added(start, "part")
}

// finish writes what is left and the sum.
func (w *Writer) finish() error {
	w.flush(0)
	w.emit(make([]byte, 4))
	w.emit(w.sum.Sum(nil))
	return w.err
}

// added sees to it that chunks stay short enough for a reader.
func (w *Writer) added(start int, what string) {
	if size := len(w.buf) - start; size > maxItem {
		w.err = fmt.Errorf("%s of %d bytes: %w", what, size, errTooLong)
		return
	}
	w.flush(chunkSize)
}

// flush writes the chunk if it has items and at least so many bytes.
func (w *Writer) flush(least int) {
	if len(w.buf) < least || len(w.buf) == 0 {
		return
	}
	w.emit(binary.LittleEndian.AppendUint32(nil, uint32(len(w.buf))))
	w.emit(w.buf)
	w.reset()
}

// reset begins a chunk.
func (w *Writer) reset() { w.buf = w.buf[:0] }

func (w *Writer) emit(data []byte) {
	if w.err != nil {
		return
	}
	w.sum.Write(data)
	_, w.err = w.to.Write(data)
}

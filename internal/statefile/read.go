package statefile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Read hands what the file at path holds to v, after a first pass over all of it. A file
// that cannot be used gives [ErrForeign], [ErrTorn], [ErrVersion] or [ErrSeed], an absent
// one fs.ErrNotExist, all to be found by errors.Is, and v is not called. Later errors are
// v's own and those of a disk that fails, or a file that is changed, during the second pass.
func Read(path string, seed uint64, v Visitor) error {
	f, size, err := open(path)
	if err == nil {
		err = read(f, size, seed, v)
		f.Close()
	}
	if err != nil {
		return fmt.Errorf("read state file %s: %w", path, err)
	}
	return nil
}

func read(r io.ReaderAt, size int64, seed uint64, v Visitor) error {
	if err := ours(r); err != nil {
		return err
	}
	body := size - sha256.Size
	if body < int64(len(magic)) {
		return ErrTorn
	}
	h, err := verify(r, body)
	if err != nil {
		return err
	}
	if h.Seed != seed {
		return ErrSeed
	}
	return parse(io.NewSectionReader(r, 0, body), v)
}

// verify compares the sum, and parses all before it, so that nothing is handed out of
// a file that is malformed in spite of its sum. The sum is looked at first: damage is
// damage, also where it makes a file look like one of another format.
func verify(r io.ReaderAt, body int64) (Header, error) {
	var want [sha256.Size]byte
	if _, err := r.ReadAt(want[:], body); err != nil && err != io.EOF {
		return Header{}, err
	}
	sum := sha256.New()
	all := io.TeeReader(io.NewSectionReader(r, 0, body), sum)
	var seen glance
	fault := parse(all, &seen)
	if _, err := io.Copy(io.Discard, all); err != nil {
		return Header{}, err
	}
	if !bytes.Equal(sum.Sum(nil), want[:]) {
		return Header{}, ErrTorn
	}
	return seen.header, fault
}

// glance is a Visitor that keeps the header only.
type glance struct{ header Header }

func (g *glance) Header(h Header) error  { g.header = h; return nil }
func (*glance) Limit(Limit) error        { return nil }
func (*glance) Row(*Row) error           { return nil }
func (*glance) Part(*Part) error         { return nil }
func (*glance) Register(*Register) error { return nil }

// parse hands out the file without its sum.
func parse(r io.Reader, v Visitor) error {
	in := bufio.NewReaderSize(r, chunkSize)
	h, version, err := parseHeader(in)
	if err != nil {
		return cut(err)
	}
	if err := v.Header(h); err != nil {
		return err
	}
	d := decoder{visitor: v, format: version}
	for {
		chunk, err := nextChunk(in, d.data[:0])
		if err != nil {
			return cut(err)
		}
		if len(chunk) == 0 {
			break
		}
		if err := d.chunk(chunk); err != nil {
			return err
		}
	}
	switch _, err := in.ReadByte(); err {
	case io.EOF:
		return nil
	case nil:
		return malformed("bytes after the end")
	default:
		return err
	}
}

func parseHeader(in *bufio.Reader) (h Header, version byte, err error) {
	if _, err = in.Discard(len(magic)); err != nil {
		return h, 0, err
	}
	if version, err = in.ReadByte(); err != nil {
		return h, 0, err
	}
	if version < oldest || version > format {
		return h, 0, fmt.Errorf("%w (format %d, this one reads %d to %d)", ErrVersion, version, oldest, format)
	}
	var fixed [16]byte
	_, err = io.ReadFull(in, fixed[:])
	return Header{binary.LittleEndian.Uint64(fixed[:]), int64(binary.LittleEndian.Uint64(fixed[8:]))}, version, err
}

// nextChunk reads a chunk into buf, which grows as far as a Writer's chunks can be long;
// an empty one is the end.
func nextChunk(in *bufio.Reader, buf []byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(head[:]))
	if size > maxChunk {
		return nil, malformed("a chunk is too long")
	}
	if int64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	_, err := io.ReadFull(in, buf[:size])
	return buf[:size], err
}

// cut is ErrTorn for a file that ends early.
func cut(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTorn
	}
	return err
}

func malformed(what string) error { return fmt.Errorf("%w (%s)", ErrTorn, what) }

package gossip

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

var errMalformed = errors.New("gossip: malformed frame")

// frame is a decoded frame: the message of its kind is set, the others are nil.
type frame struct {
	header  header
	sent    int64 // sender's time, of frames of a log
	hello   *hello
	welcome *welcome
	start   *start
	batch   *batch
	body    []byte // of a batch, encoded; a part of the frame's bytes
	size    int    // of the whole frame
	ack     *ack
}

// decodeFrame never panics and never allocates more than a small multiple of the
// frame's size: every count is checked against the bytes that are left.
func decodeFrame(data []byte) (*frame, error) {
	d := newDecoder(data)
	n := d.array(1)
	f := &frame{size: len(data), header: header{kind: uint8(min(d.uint(), 255)), origin: d.uint(), peer: d.uint(), session: d.uint(), nonce: d.uint()}}
	own := n - headerFields
	if own < 0 {
		d.fail("fields")
	}
	switch {
	case d.err != nil:
	case f.header.kind == kindHello && own >= 4:
		f.hello = &hello{Version: d.small(), Oldest: d.small(), Seed: d.uint(), Sent: d.int()}
		f.sent = f.hello.Sent
	case f.header.kind == kindWelcome && own >= 3:
		f.welcome = &welcome{Joining: d.bool(), Numbers: d.numbers(), Echo: d.int()}
	case f.header.kind == kindStart && own >= 5:
		f.start = &start{Numbers: d.uints(), Part: d.small(), Parts: d.small(), Sent: d.int(), Defs: d.definitions()}
		f.sent = f.start.Sent
		if f.start.Part >= f.start.Parts {
			d.fail("range")
		}
	case f.header.kind == kindBatch && own >= 6:
		f.batch = &batch{From: d.uint(), To: d.uint(), Part: d.small(), Parts: d.small(), Sent: d.int()}
		f.body, f.sent = d.bin(), f.batch.Sent
		if f.batch.From >= f.batch.To || f.batch.Part >= f.batch.Parts {
			d.fail("range")
		}
	case f.header.kind == kindAck && own >= 4:
		f.ack = &ack{Number: d.uint(), Parts: d.small(), Gap: d.bool(), Echo: d.int()}
	case f.header.kind == kindPing && own >= 1:
		f.sent = d.int()
	case f.header.kind >= kindHello && f.header.kind <= kindPing:
		d.fail("fields")
	}
	return f, d.err
}

// decoder reads msgpack from memory. The first fault sticks; after it every value is
// zero.
type decoder struct {
	data []byte
	r    *bytes.Reader
	dec  *msgpack.Decoder
	err  error
}

func newDecoder(data []byte) *decoder {
	r := bytes.NewReader(data)
	return &decoder{data: data, r: r, dec: msgpack.NewDecoder(r)}
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s at byte %d of %d", errMalformed, what, len(d.data)-d.r.Len(), len(d.data))
	}
}

func (d *decoder) keep(what string, err error) {
	if err != nil {
		d.fail(what)
	}
}

// array is an array's length, which its elements of at least size bytes must allow.
func (d *decoder) array(size int) int {
	if d.err != nil {
		return 0
	}
	n, err := d.dec.DecodeArrayLen()
	d.keep("array", err)
	if n < 0 || n > d.r.Len()/size {
		d.fail("array length")
	}
	if d.err != nil {
		return 0
	}
	return n
}

func (d *decoder) uint() (v uint64) {
	if d.err == nil {
		var err error
		v, err = d.dec.DecodeUint64()
		d.keep("number", err)
	}
	return v
}

func (d *decoder) int() (v int64) {
	if d.err == nil {
		var err error
		v, err = d.dec.DecodeInt64()
		d.keep("number", err)
	}
	return v
}

// small is a count or index that no honest frame has large.
func (d *decoder) small() int {
	v := d.uint()
	if v > 1<<20 {
		d.fail("count")
		return 0
	}
	return int(v)
}

func (d *decoder) bool() (v bool) {
	if d.err == nil {
		var err error
		v, err = d.dec.DecodeBool()
		d.keep("flag", err)
	}
	return v
}

// bin is a part of the data, not a copy.
func (d *decoder) bin() []byte {
	if d.err != nil {
		return nil
	}
	n, err := d.dec.DecodeBytesLen()
	d.keep("bytes", err)
	if n < 0 || n > d.r.Len() {
		d.fail("bytes length")
	}
	if d.err != nil {
		return nil
	}
	at := len(d.data) - d.r.Len()
	_, err = d.r.Seek(int64(n), io.SeekCurrent)
	d.keep("bytes", err)
	return d.data[at : at+n : at+n]
}

func (d *decoder) string() string { return string(d.bin()) }

func (d *decoder) uints() []uint64 {
	vs := make([]uint64, d.array(1))
	for i := range vs {
		vs[i] = d.uint()
	}
	return vs
}

func (d *decoder) numbers() []number {
	ns := make([]number, d.array(3))
	for i := range ns {
		fields := d.array(1)
		ns[i] = number{Kind: uint8(min(d.uint(), 255)), N: d.uint()}
		d.skip(fields - 2)
	}
	return ns
}

func (d *decoder) definitions() []Definition {
	defs := make([]Definition, d.array(4))
	for i := range defs {
		fields := d.array(1)
		defs[i] = Definition{ID: d.uint(), Name: d.string(), Text: d.string()}
		d.skip(fields - 3)
	}
	return defs
}

// skip passes over fields that a later version may have added.
func (d *decoder) skip(n int) {
	if n < 0 {
		d.fail("fields")
	}
	for ; n > 0 && d.err == nil; n-- {
		d.skipValue(0)
	}
}

// skipValue passes over one value, without going deeper than any frame of ours does:
// msgpack's own Skip would follow a megabyte of nested arrays down.
func (d *decoder) skipValue(depth int) {
	c, err := d.dec.PeekCode()
	d.keep("field", err)
	switch {
	case d.err != nil:
	case depth > 8, msgpcode.IsExt(c), msgpcode.IsFixedExt(c):
		d.fail("field of a kind that no version uses")
	case msgpcode.IsFixedArray(c), c == msgpcode.Array16, c == msgpcode.Array32:
		for n := d.array(1); n > 0 && d.err == nil; n-- {
			d.skipValue(depth + 1)
		}
	case msgpcode.IsFixedMap(c), c == msgpcode.Map16, c == msgpcode.Map32:
		n, err := d.dec.DecodeMapLen()
		d.keep("map", err)
		for n *= 2; n > 0 && d.err == nil; n-- {
			d.skipValue(depth + 1)
		}
	case msgpcode.IsBin(c), msgpcode.IsString(c):
		d.bin()
	default:
		d.keep("field", d.dec.Skip())
	}
}

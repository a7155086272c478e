package gossip

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/vmihailenco/msgpack/v5"
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
	ping    *ping
	held    *held
	holding *holding
	want    *want
	chunk   *chunk
	refused *refused
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
	if d.err == nil {
		d.message(f, own)
	}
	return f, d.err
}

// message reads the fields of a frame's own, of which there are so many. Those that
// version 1 did not have may be missing.
func (d *decoder) message(f *frame, own int) {
	switch kind := f.header.kind; {
	case kind == kindHello && own >= 4:
		f.hello = &hello{Version: d.small(), Oldest: d.small(), Seed: d.uint(), Sent: d.int(), Wall: d.wall(own >= 5), Joining: own >= 6 && d.bool()}
		f.sent = f.hello.Sent
	case kind == kindWelcome && own >= 3:
		f.welcome = &welcome{Joining: d.bool(), Numbers: d.numbers(), Echo: d.int(), Wall: d.wall(own >= 4)}
		if own >= 5 {
			f.welcome.Written = d.int()
		}
	case kind == kindStart && own >= 5:
		f.start = &start{Numbers: d.uints(), Part: d.small(), Parts: d.small(), Sent: d.int(), Defs: d.definitions()}
		if f.sent = f.start.Sent; own >= 6 {
			f.start.Records = d.records(f.sent)
		}
		if f.start.Part >= f.start.Parts {
			d.fail("range")
		}
	case kind == kindBatch && own >= 6:
		f.batch = &batch{From: d.uint(), To: d.uint(), Part: d.small(), Parts: d.small(), Sent: d.int()}
		f.body, f.sent = d.bin(), f.batch.Sent
		if f.batch.From >= f.batch.To || f.batch.Part >= f.batch.Parts {
			d.fail("range")
		}
	case kind == kindAck && own >= 4:
		f.ack = &ack{Number: d.uint(), Parts: d.small(), Gap: d.bool(), Echo: d.int(), Wall: d.wall(own >= 5)}
	case kind == kindPing && own >= 1:
		f.ping = &ping{Sent: d.int(), Wall: d.wall(own >= 2)}
		f.sent = f.ping.Sent
	case kind == kindHeld && own >= 2:
		f.held = &held{Parts: d.small(), Echo: d.int()}
	case kind == kindHolding && own >= 2:
		f.holding = &holding{From: d.uint(), Sent: d.int()}
		f.sent = f.holding.Sent
	case kind == kindWant && own >= 5:
		f.want = &want{Ask: d.uint(), Chunk: d.small(), Have: d.small(), Again: d.bool(), Holders: d.uints()}
		if f.want.Chunk >= Chunks {
			d.fail("range")
		}
	case kind == kindChunk && own >= 10:
		f.chunk = &chunk{Ask: d.uint(), From: d.small(), To: d.small(), Part: d.small(), Parts: d.small(), Sent: d.int(), Cut: d.int(), Numbers: d.claims(), Wall: d.int()}
		f.body, f.sent = d.bin(), f.chunk.Sent
		if m := f.chunk; m.Part >= m.Parts || m.From >= m.To || m.To > Chunks {
			d.fail("range")
		}
	case kind == kindRefused && own >= 4:
		f.refused = &refused{Ask: d.uint(), Joining: d.bool(), Missing: d.uints(), Sent: d.int()}
		f.sent = f.refused.Sent
	case kind >= kindHello && kind <= kindRefused && kind != kindGoodbye:
		d.fail("fields")
	}
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

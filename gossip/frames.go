package gossip

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// A frame is a msgpack array: five numbers that every kind has, then the kind's own
// fields. A reader takes the fields it knows and skips what follows, and drops kinds
// it does not know, so that two neighbouring versions can share a cluster.
type header struct {
	kind    uint8
	origin  uint64 // incarnation whose log this is about
	peer    uint64 // incarnation that hears it
	session uint64
	nonce   uint64
}

const (
	kindHello   = 1  // origin → peer: may I tell you my log?
	kindWelcome = 2  // peer → origin: yes, and so much of it I have
	kindStart   = 3  // origin → peer: I begin from here; and all definitions and records
	kindBatch   = 4  // origin → peer: the drains (from, to]
	kindAck     = 5  // peer → origin: I have so much
	kindPing    = 6  // origin → peer: are you there?
	kindGoodbye = 7  // origin → peer: I leave; keep nothing for me
	kindHeld    = 8  // peer → origin: so many parts of your START are here
	kindHolding = 9  // origin → newcomer: I keep my log for you
	kindWant    = 10 // newcomer → donor: a chunk of your table, please
	kindChunk   = 11 // donor → newcomer: some chunks of my table
	kindRefused = 12 // donor → newcomer: not now
)

const headerFields = 5

type hello struct {
	Version, Oldest int
	Seed            uint64
	Sent            int64
	Wall            wall
	Joining         bool // the origin is
}

type welcome struct {
	Joining bool
	Numbers []number // one, or one for each chunk
	Echo    int64    // the hello's Sent
	Wall    wall
	Written int64 // when the peer's state file was, in cluster time; 0: none
}

type start struct {
	Numbers     []uint64 // one, or one for each chunk
	Part, Parts int
	Sent        int64
	Defs        []Definition
	Records     []*Record
}

type batch struct {
	From, To    uint64
	Part, Parts int
	Sent        int64
}

type ack struct {
	Number uint64
	Parts  int // of the batch that continues Number, so many parts are here
	Gap    bool
	Echo   int64
	Wall   wall
}

type ping struct {
	Sent int64
	Wall wall
}

type held struct {
	Parts int
	Echo  int64 // the start's Sent
}

// message is a kind's own fields.
type message interface{ encode(e *encoder) }

func (m *hello) encode(e *encoder) {
	e.fields(6)
	e.uint(uint64(m.Version), uint64(m.Oldest), m.Seed)
	e.int(m.Sent)
	e.wall(m.Wall)
	e.bool(m.Joining)
}

func (m *welcome) encode(e *encoder) {
	e.fields(5)
	e.bool(m.Joining)
	e.array(len(m.Numbers))
	for _, n := range m.Numbers {
		e.array(2)
		e.uint(uint64(n.Kind), n.N)
	}
	e.int(m.Echo)
	e.wall(m.Wall)
	e.int(m.Written)
}

func (m *start) encode(e *encoder) {
	e.fields(6)
	e.array(len(m.Numbers))
	e.uint(m.Numbers...)
	e.uint(uint64(m.Part), uint64(m.Parts))
	e.int(m.Sent)
	e.definitions(m.Defs)
	e.records(m.Sent, m.Records)
}

func (m *batch) encode(e *encoder) {
	e.fields(6)
	e.uint(m.From, m.To, uint64(m.Part), uint64(m.Parts))
	e.int(m.Sent)
}

func (m *ack) encode(e *encoder) {
	e.fields(5)
	e.uint(m.Number, uint64(m.Parts))
	e.bool(m.Gap)
	e.int(m.Echo)
	e.wall(m.Wall)
}

func (m *ping) encode(e *encoder) {
	e.fields(2)
	e.int(m.Sent)
	e.wall(m.Wall)
}

func (m *held) encode(e *encoder) {
	e.fields(2)
	e.uint(uint64(m.Parts))
	e.int(m.Echo)
}

// encoder writes to memory, where nothing can fail; what msgpack returns is kept for
// form's sake and checked once.
type encoder struct {
	buf    bytes.Buffer
	enc    *msgpack.Encoder
	header header
	err    error
}

func newEncoder(h header) *encoder {
	e := &encoder{header: h}
	e.enc = msgpack.NewEncoder(&e.buf)
	return e
}

func (e *encoder) keep(err error) { e.err = errors.Join(e.err, err) }

// fields opens the frame: the header's fields and n more.
func (e *encoder) fields(n int) {
	e.array(headerFields + n)
	e.uint(uint64(e.header.kind), e.header.origin, e.header.peer, e.header.session, e.header.nonce)
}

func (e *encoder) array(n int) { e.keep(e.enc.EncodeArrayLen(n)) }

func (e *encoder) uint(vs ...uint64) {
	for _, v := range vs {
		e.keep(e.enc.EncodeUint(v))
	}
}

func (e *encoder) int(v int64)     { e.keep(e.enc.EncodeInt(v)) }
func (e *encoder) bool(v bool)     { e.keep(e.enc.EncodeBool(v)) }
func (e *encoder) bin(b []byte)    { e.keep(e.enc.EncodeBytes(b)) }
func (e *encoder) string(s string) { e.keep(e.enc.EncodeString(s)) }
func (e *encoder) definitions(defs []Definition) {
	e.array(len(defs))
	for _, d := range defs {
		e.array(3)
		e.uint(d.ID)
		e.string(d.Name)
		e.string(d.Text)
	}
}

func (e *encoder) bytes() []byte {
	if e.err != nil {
		panic(fmt.Sprintf("gossip: encoding into memory failed: %v", e.err))
	}
	return e.buf.Bytes()
}

// encodeFrame is a whole frame; m is nil for a kind without fields of its own.
func encodeFrame(h header, m message) []byte {
	e := newEncoder(h)
	if m == nil {
		e.fields(0)
	} else {
		m.encode(e)
	}
	return e.bytes()
}

// encodeCarrier is what comes before the body in a frame that carries one.
func encodeCarrier(h header, m message, body []byte) []byte {
	e := newEncoder(h)
	m.encode(e)
	e.keep(e.enc.EncodeBytesLen(len(body)))
	return e.bytes()
}

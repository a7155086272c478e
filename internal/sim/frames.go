package sim

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Kinds of frames, as in docs/protocol.md.
const (
	hello   = 1
	welcome = 2
	start   = 3
	batch   = 4
	ack     = 5
	ping    = 6
	goodbye = 7
	held    = 8
	keeps   = 9
	wants   = 10
	gives   = 11
	refuses = 12
)

var kindNames = [...]string{"?", "HELLO", "WELCOME", "START", "BATCH", "ACK", "PING", "GOODBYE", "HELD", "HOLDING", "WANT", "CHUNK", "REFUSED"}

// maxNumbers is as many as the simulator reads of a frame.
const maxNumbers = 12

// frame is what the simulator understands of a frame on the wire, read by a decoder of
// its own: numbers and flags in their order, up to the first text or bytes. Arrays are
// flat, a flag is 0 or 1.
type frame struct {
	kind, origin, peer, session, nonce uint64

	own   [maxNumbers - 5]uint64 // the kind's own numbers, count of them
	count int
	rest  []byte // what follows them, still encoded
}

// readFrame reads msgpack. What no node sends it gives up on: kind 0.
func readFrame(data []byte) frame {
	var numbers [maxNumbers]uint64
	count := 0
	for ; len(data) > 0 && count < maxNumbers; data = data[1:] {
		size := 0
		switch c := data[0]; {
		case c < 0x80, c >= 0xe0: // small numbers, of either sign
			numbers[count] = uint64(int64(int8(c)))
			count++
			continue
		case c == 0xc2, c == 0xc3: // flags
			numbers[count] = uint64(c - 0xc2)
			count++
			continue
		case c >= 0x90 && c < 0xa0: // arrays: only what is in them counts
			continue
		case c >= 0xcc && c <= 0xcf:
			size = 1 << (c - 0xcc)
		case c >= 0xd0 && c <= 0xd3:
			size = 1 << (c - 0xd0)
		default:
			return frameOf(numbers, count, data)
		}
		if len(data) <= size {
			return frame{}
		}
		for _, b := range data[1 : 1+size] {
			numbers[count] = numbers[count]<<8 | uint64(b)
		}
		count++
		data = data[size:]
	}
	return frameOf(numbers, count, data)
}

func frameOf(numbers [maxNumbers]uint64, count int, rest []byte) frame {
	if count < 5 || numbers[0] >= uint64(len(kindNames)) {
		return frame{}
	}
	f := frame{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], [maxNumbers - 5]uint64{}, count - 5, rest}
	copy(f.own[:], numbers[5:])
	return f
}

// forge writes a frame with so many fields: the five of the header, the numbers, and
// what else is in rest.
func forge(f frame, fields int) []byte {
	data := []byte{0x90 | byte(fields)}
	for _, v := range append([]uint64{f.kind, f.origin, f.peer, f.session, f.nonce}, f.own[:f.count]...) {
		data = binary.BigEndian.AppendUint64(append(data, 0xcf), v)
	}
	return append(data, f.rest...)
}

// A batch covers the drains (from, to]; an acknowledgement states a number, the parts
// of the batch after it, and whether a gap was seen.
func (f frame) from() uint64   { return f.own[0] }
func (f frame) to() uint64     { return f.own[1] }
func (f frame) number() uint64 { return f.own[0] }
func (f frame) gap() bool      { return f.kind == ack && f.own[2] == 1 }

// String is a line of the trace.
func (f frame) String() string {
	s := fmt.Sprintf("%-7s s%d", kindNames[f.kind], f.session)
	switch f.kind {
	case hello:
		s += fmt.Sprintf(" of version %d", f.own[0])
	case welcome:
		return s + [...]string{"", " joining"}[min(f.own[0], 1)] + [...]string{" none", fmt.Sprintf(" %d", f.own[2])}[min(f.own[1], 1)]
	case keeps:
		s += fmt.Sprintf(" from %d", f.own[0])
	case wants:
		s += fmt.Sprintf(" ask %d: chunk %d, has %d parts", f.own[0], f.own[1], f.own[2])
	case gives:
		s += fmt.Sprintf(" ask %d: chunks %d to %d, part %d of %d", f.own[0], f.own[1], f.own[2], f.own[3], f.own[4])
	case refuses:
		s += fmt.Sprintf(" ask %d", f.own[0])
	case start:
		return s + fmt.Sprintf(" at %d part %d of %d", f.own[0], f.own[1], f.own[2])
	case batch:
		s += fmt.Sprintf(" (%d, %d]", f.from(), f.to())
		if f.own[3] > 1 {
			s += fmt.Sprintf(" part %d of %d", f.own[2], f.own[3])
		}
	case ack:
		s += fmt.Sprintf(" %d", f.number())
		if f.gap() {
			s += " gap"
		}
	}
	return strings.TrimRight(s, " ")
}

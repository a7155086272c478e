package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The first byte of a stream says what it is. memberlist opens its own in clear
// with 0 to 13, or with 244 if there is a label. After the two sealed ones comes
// a TLS handshake, and inside it what would come in clear.
const (
	linkByte             = 0xD1
	sealedLinkByte       = 0xD2
	sealedMembershipByte = 0xD3
	labelByte            = 244
)

// preamble is what the dialling side of a link says first, after the first byte.
//
//	byte     protocol
//	uint16   length of the rest, at most maxPreamble
//	uint64   incarnation of the sender
//	uint64   incarnation of the member it wants
//	byte, …  length and bytes of the label
//	byte, …  length and bytes of the sender's name
//
// All big-endian; what follows in the rest belongs to a later protocol and is
// ignored. The answer is one byte, an answer below; after answerWelcome frames
// follow, and nothing goes the other way but for answerTaken at the end.
type preamble struct {
	from, to uint64
	label    string
	name     string
}

const maxPreamble = 1024

type answer byte

const (
	answerWelcome answer = iota + 1
	answerLabel
	answerVersion
	answerStranger
	answerMalformed
	answerBusy
	answerSealed // in clear, to a link in clear
)

// answerTaken is what a peer says, long after its welcome, once it has read all
// up to a handover.
const answerTaken answer = 0x80

func (a answer) String() string {
	switch a {
	case answerWelcome:
		return "welcome"
	case answerLabel:
		return "its cluster has another label"
	case answerVersion:
		return "it does not speak this protocol version"
	case answerStranger:
		return "another incarnation lives at this address"
	case answerMalformed:
		return "it did not understand the preamble"
	case answerBusy:
		return "it is closing or has too many links"
	case answerSealed:
		return "it wants links sealed"
	case answerTaken:
		return "it has taken all"
	}
	return fmt.Sprintf("answer %d", byte(a))
}

// refused is the error of a preamble that the other side, or this side of a
// preamble read, does not accept.
type refused struct{ answer answer }

func (r refused) Error() string { return "link refused: " + r.answer.String() }

func (p preamble) encode() []byte {
	rest := 8 + 8 + 1 + len(p.label) + 1 + len(p.name)
	b := make([]byte, 0, 4+rest)
	b = append(b, linkByte, protocol)
	b = binary.BigEndian.AppendUint16(b, uint16(rest))
	b = binary.BigEndian.AppendUint64(b, p.from)
	b = binary.BigEndian.AppendUint64(b, p.to)
	b = append(b, byte(len(p.label)))
	b = append(b, p.label...)
	b = append(b, byte(len(p.name)))
	return append(b, p.name...)
}

// readPreamble reads what follows linkByte. Its error is a refused if the
// bytes are at fault, or that of the reader.
func readPreamble(r io.Reader) (preamble, error) {
	var head [3]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return preamble{}, err
	}
	if head[0] < protocol {
		return preamble{}, refused{answerVersion}
	}
	n := int(binary.BigEndian.Uint16(head[1:]))
	if n < 18 || n > maxPreamble {
		return preamble{}, refused{answerMalformed}
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return preamble{}, err
	}
	return decodePreamble(b)
}

func decodePreamble(b []byte) (preamble, error) {
	p := preamble{from: binary.BigEndian.Uint64(b), to: binary.BigEndian.Uint64(b[8:])}
	label, b, ok1 := cutString(b[16:])
	name, _, ok2 := cutString(b)
	if !ok1 || !ok2 || name == "" || len(name) > maxName || p.from == 0 {
		return preamble{}, refused{answerMalformed}
	}
	p.label, p.name = label, name
	return p, nil
}

func cutString(b []byte) (s string, rest []byte, ok bool) {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return "", nil, false
	}
	n := 1 + int(b[0])
	return string(b[1:n]), b[n:], true
}

// check answers a preamble that reached the node with this label and incarnation.
func (p preamble) check(label string, self uint64) answer {
	switch {
	case p.label != label:
		return answerLabel
	case p.to != self || p.from == self:
		return answerStranger
	}
	return answerWelcome
}

func readAnswer(r io.Reader) error {
	var b [1]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("waiting for the answer to the preamble: %w", err)
	}
	if a := answer(b[0]); a != answerWelcome {
		return refused{a}
	}
	return nil
}

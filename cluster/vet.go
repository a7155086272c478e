package cluster

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// memberlist seals in two forms, told apart by a byte that no seal covers, and takes the
// padding of the older one on trust: a sealed packet of the newer form whose byte was
// changed, which needs no key, ends the process. So does a stream that seals nothing. No
// node of ours sends either, and what looks like one does not get to memberlist.
const (
	oldForm      = 0
	newForm      = 1
	encryptedMsg = 10
	sealBytes    = 1 + 12 + 16 // form, nonce and tag
)

var errOldForm = errors.New("cluster: a membership stream is not sealed as ours are")

// deadlyPacket tells whether a packet is of the older form.
func deadlyPacket(b []byte) bool {
	if len(b) > 1 && b[0] == labelByte {
		b = b[min(2+int(b[1]), len(b)):]
	}
	return len(b) > 0 && b[0] == oldForm
}

// vetted is a stream on its way to memberlist. It fails before memberlist reads more than
// the head of a message that it must not see.
type vetted struct {
	net.Conn
	head []byte // read, and not handed on yet
	seen bool
}

func (v *vetted) Read(b []byte) (int, error) {
	if !v.seen {
		head, err := readSealedHead(v.Conn)
		if err != nil {
			return 0, err
		}
		v.head, v.seen = head, true
	}
	if len(v.head) > 0 {
		n := copy(b, v.head)
		v.head = v.head[n:]
		return n, nil
	}
	return v.Conn.Read(b)
}

// readSealedHead reads what comes before the nonce: the label if there is one, the type of
// the message, its length and form.
func readSealedHead(r io.Reader) (head []byte, err error) {
	more := func(n int) []byte {
		at := len(head)
		head = append(head, make([]byte, n)...)
		if err == nil {
			_, err = io.ReadFull(r, head[at:])
		}
		return head[at:]
	}
	kind := more(1)[0]
	if kind == labelByte {
		more(int(more(1)[0]))
		kind = more(1)[0]
	}
	if err != nil || kind != encryptedMsg {
		return head, err // what is not sealed memberlist refuses
	}
	size, form := binary.BigEndian.Uint32(more(4)), more(1)[0]
	if err == nil && (form != newForm || size <= sealBytes) {
		err = errOldForm
	}
	return head, err
}

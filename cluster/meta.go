package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// protocol is the version of this package's wire forms: of meta and of the
// preamble. A node with a higher one still sends what a lower one can read.
const protocol = 1

// meta is what memberlist spreads about a node besides its address.
//
//	byte     protocol
//	uint64   incarnation
//	uint64   start, Unix milliseconds of the node's own clock
//	byte, …  length and bytes of the logical name
//
// All big-endian. Bytes that follow belong to a later protocol and are ignored.
type meta struct {
	incarnation uint64
	start       uint64
	name        string
}

const metaFixed = 1 + 8 + 8 + 1

var errMeta = errors.New("metadata is not that of this kind of cluster")

// encode gives at most 146 bytes; memberlist allows 512.
func (m meta) encode() []byte {
	b := make([]byte, 0, metaFixed+len(m.name))
	b = append(b, protocol)
	b = binary.BigEndian.AppendUint64(b, m.incarnation)
	b = binary.BigEndian.AppendUint64(b, m.start)
	b = append(b, byte(len(m.name)))
	return append(b, m.name...)
}

func decodeMeta(b []byte) (meta, error) {
	if len(b) < metaFixed || b[0] == 0 {
		return meta{}, errMeta
	}
	m := meta{
		incarnation: binary.BigEndian.Uint64(b[1:]),
		start:       binary.BigEndian.Uint64(b[9:]),
	}
	n, rest := int(b[metaFixed-1]), b[metaFixed:]
	if n == 0 || n > maxName || n > len(rest) || m.incarnation == 0 {
		return meta{}, errMeta
	}
	m.name = string(rest[:n])
	return m, nil
}

// id is the name memberlist knows the node by. It is new with every
// incarnation, so that the death of the old one is never in the way of the new.
func (m meta) id() string { return fmt.Sprintf("%s/%016x", m.name, m.incarnation) }

func startOf(t time.Time) uint64 { return uint64(max(t.UnixMilli(), 0)) }

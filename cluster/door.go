package cluster

import (
	"io"
	"net"
	"time"
)

const maxUnread = 64 << 10 // read and dropped of a stream that is refused

// route finds out what an accepted stream is, and hands it on or refuses it. It
// runs in a goroutine of the wire for each, and a stranger can hold it up for
// firstTimeout.
func (w *wire) route(c *wireConn) {
	var first [1]byte
	c.SetDeadline(time.Now().Add(firstTimeout))
	if _, err := c.Conn.Read(first[:]); err != nil {
		c.Close()
		return
	}
	conn, err := w.open(c, first[0])
	if err != nil {
		w.refuse(c, first[0], err)
		c.Close()
		return
	}
	w.known(c)
	if isLink(first[0]) {
		w.onLink(conn)
		conn.Close()
		return
	}
	conn.SetDeadline(time.Time{})
	if w.members != nil {
		conn = &vetted{Conn: conn}
	}
	select {
	case w.streams <- conn:
	case <-w.ctx.Done():
		conn.Close()
	}
}

func isLink(first byte) bool { return first == linkByte || first == sealedLinkByte }

// open returns the stream to be read, behind the handshake if there is one. Its
// error is a sealFault, or that of the network.
func (w *wire) open(c *wireConn, first byte) (net.Conn, error) {
	s := w.members
	if isLink(first) {
		s = w.links
	}
	switch sealedToo := first == sealedLinkByte || first == sealedMembershipByte; {
	case s != nil && sealedToo:
		return s.seal(c, false)
	case s != nil:
		return nil, errInClear
	case sealedToo:
		return nil, errSealed
	case first != linkByte:
		c.first = []byte{first}
	}
	return c, nil
}

// notInClear is memberlist's message of an error, of type 13, to a node that
// would join in clear; noHandshake an alert of TLS.
const (
	noHandshake = "\x15\x03\x03\x00\x02\x02\x28"

	keyNeeded  = "a cluster key is needed here"
	notInClear = "\x0d\x81\xa5Error\xda\x00\x1c" + keyNeeded
)

// refuse says why: to the log, and to the other side where it can understand it,
// unless TLS has. What that side has said must be read, or its network drops
// the answer.
func (w *wire) refuse(c *wireConn, first byte, err error) {
	fault := sealFault(err)
	if fault == nil {
		return // it was cut, or took too long
	}
	w.faults.log(hostOf(c), "closed a stream: "+fault.Error(), "err", err)
	switch {
	case fault == errSealed:
		c.Write([]byte(noHandshake))
	case fault != errInClear:
	case first == linkByte:
		c.Write([]byte{byte(answerSealed)})
	case first <= 13 || first == labelByte:
		c.Write([]byte(notInClear))
	}
	io.CopyN(io.Discard, c.Conn, maxUnread)
}

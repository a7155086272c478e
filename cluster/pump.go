package cluster

import (
	"errors"
	"net"
)

var errSpoke = errors.New("the peer wrote on a stream that is not its own")

// pump writes queued frames until the stream breaks (that error), the link
// stops, or all is said (errDrained). A second goroutine, gone when pump
// returns, waits for the end of the stream.
func (l *link) pump(conn net.Conn) error {
	ended := make(chan error, 1)
	go func() { ended <- awaitEnd(conn) }()
	err, over := l.pumpUntil(conn, ended)
	conn.Close()
	if !over {
		<-ended
	}
	return err
}

func awaitEnd(conn net.Conn) error {
	var b [1]byte
	n, err := conn.Read(b[:])
	if n > 0 {
		return errSpoke
	}
	return err
}

// pumpUntil also tells whether it has read from ended.
func (l *link) pumpUntil(conn net.Conn, ended <-chan error) (err error, over bool) {
	w := frameWriter{conn: conn, timeout: writeTimeout}
	for {
		frames, goodbye := l.take()
		if len(frames) > 0 || goodbye {
			if err := w.write(frames, goodbye); err != nil {
				return err, false
			}
			l.tally(frames)
		}
		if goodbye {
			// The peer closes when it has read all.
			select {
			case <-ended:
				return errDrained, true
			case <-l.ctx.Done():
				return errDrained, false
			}
		}
		if len(frames) > 0 {
			continue
		}
		select {
		case <-l.wake:
		case err := <-ended:
			return err, true
		case <-l.ctx.Done():
			return l.ctx.Err(), false
		}
	}
}

// take removes from the queue what one write should carry, and tells whether
// the goodbye comes right after it.
func (l *link) take() (frames [][]byte, goodbye bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, bytes := 0, 0
	for n < len(l.queue) && n < gatherFrames {
		if bytes += len(l.queue[n]); n > 0 && bytes > gatherBytes {
			break
		}
		l.size -= len(l.queue[n])
		n++
	}
	if n == len(l.queue) {
		frames, l.queue = l.queue, nil
	} else {
		frames, l.queue = l.queue[:n:n], l.queue[n:]
	}
	return frames, l.leaving && len(l.queue) == 0
}

func (l *link) tally(frames [][]byte) {
	bytes := 0
	for _, f := range frames {
		bytes += frameHead + len(f)
	}
	l.count.framesOut.Add(int64(len(frames)))
	l.count.bytesOut.Add(int64(bytes))
}

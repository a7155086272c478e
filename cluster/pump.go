package cluster

import (
	"errors"
	"net"
	"os"
	"time"
)

var (
	errSpoke = errors.New("the peer wrote on a stream that is not its own")
	errTaken = errors.New("the peer has taken all")
)

// pump writes queued frames until the stream breaks (that error), the link
// stops, all is said (errDrained), or another stream is to go on with the queue
// (errHandedOver). A second goroutine, gone when pump returns, waits for the end
// of the stream.
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
	switch {
	case n > 0 && answer(b[0]) == answerTaken:
		return errTaken
	case n > 0:
		return errSpoke
	}
	return err
}

// pumpUntil also tells whether it has read from ended.
func (l *link) pumpUntil(conn net.Conn, ended <-chan error) (err error, over bool) {
	w := newFrameWriter(conn, writeTimeout)
	for {
		frames, last := l.take()
		if len(frames) > 0 || len(last) > 0 {
			if err := w.write(frames, last...); err != nil {
				return err, false
			}
			l.tally(frames)
		}
		if len(last) > 0 {
			return l.part(last[0], ended)
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

// part waits until the peer has read all. After a goodbye it then closes; a
// handover it confirms, and is not waited for longer than for a write.
func (l *link) part(last uint32, ended <-chan error) (err error, over bool) {
	var late <-chan time.Time
	if last == handover {
		t := time.NewTimer(writeTimeout)
		defer t.Stop()
		late = t.C
	}
	select {
	case err = <-ended:
		over = true
	case <-l.ctx.Done():
		err = l.ctx.Err()
	case <-late:
		err = os.ErrDeadlineExceeded
	}
	switch {
	case last == goodbye:
		err = errDrained
	case errors.Is(err, errTaken):
		err = errHandedOver
	}
	return err, over
}

// take removes from the queue what one write should carry, and tells the length
// that comes after it if the stream ends with that. What is queued when a stream
// is handed over is for the next.
func (l *link) take() (frames []frame, last []uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.renew && !l.leaving {
		return nil, []uint32{handover}
	}
	n, bytes := 0, 0
	for n < len(l.queue) && n < gatherFrames {
		size := l.queue[n].size()
		if bytes += size; n > 0 && bytes > gatherBytes {
			break
		}
		l.size -= size
		n++
	}
	if n == len(l.queue) {
		frames, l.queue = l.queue, nil
	} else {
		frames, l.queue = l.queue[:n:n], l.queue[n:]
	}
	if l.leaving && len(l.queue) == 0 {
		last = []uint32{goodbye}
	}
	return frames, last
}

func (l *link) tally(frames []frame) {
	bytes := 0
	for _, f := range frames {
		bytes += frameHead + f.size()
	}
	l.count.framesOut.Add(int64(len(frames)))
	l.count.bytesOut.Add(int64(bytes))
}

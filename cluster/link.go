package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

const (
	maxQueueFrames = 1024    // that wait on one link
	maxQueueBytes  = 4 << 20 // that wait on one link
	gatherBytes    = 256 << 10
	gatherFrames   = 256

	dialTimeout  = 3 * time.Second // the answer to the preamble included
	writeTimeout = 5 * time.Second // for what is gathered in one write
	steadyAfter  = 5 * time.Second // a stream that lived so long was a good one
	firstBackoff = 50 * time.Millisecond
	maxBackoff   = 2 * time.Second
)

var (
	errDrained    = errors.New("all was sent, and the goodbye")
	errHandedOver = errors.New("all was taken, another stream goes on")
	errReopened   = errors.New("broken on purpose")
)

// link is the outgoing side of a pair: it keeps one stream to the peer open,
// dialling again for ever, until its context ends. run is its goroutine.
type link struct {
	peer      Member
	preamble  []byte
	transport Transport
	sealer    *sealer // nil: in clear
	count     *counters
	changed   func(up bool)   // a stream opened or broke
	failed    func(err error) // a stream could not be opened, or broke
	ctx       context.Context
	cancel    context.CancelFunc
	done      chan struct{} // closed when run returns
	wake      chan struct{} // there is something to send
	announced bool          // LinkUp was told; belongs to the control goroutine

	mu      sync.Mutex
	conn    net.Conn // in use by run; nil between two
	open    bool     // frames may be queued
	leaving bool     // no more of them; say goodbye
	redial  bool     // the stream was broken on purpose
	renew   bool     // go on with another stream, as soon as this one has taken what it can
	queue   []frame  // len ≤ maxQueueFrames
	size    int      // bytes in queue, ≤ maxQueueBytes
}

// send queues a frame, or not if there is no stream or no room.
func (l *link) send(f frame) bool {
	n := f.size()
	l.mu.Lock()
	ok := l.open && !l.leaving && len(l.queue) < maxQueueFrames && l.size+n <= maxQueueBytes
	if ok {
		l.queue = append(l.queue, f)
		l.size += n
	}
	l.mu.Unlock()
	if ok {
		l.rouse()
	}
	return ok
}

// reopen breaks the stream, if there is one, so that run opens another.
func (l *link) reopen() {
	l.mu.Lock()
	var conn net.Conn
	if l.open {
		l.redial, conn = true, l.conn
	}
	l.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
}

// refresh has run go on with another stream if this one was sealed with a key
// that should not be used any more. The others do not notice.
func (l *link) refresh() {
	if l.sealer == nil || l.sealer.own != nil {
		return
	}
	l.mu.Lock()
	l.renew = l.open && l.conn != nil && stale(l.conn, l.sealer.ring.Load())
	l.mu.Unlock()
	l.rouse()
}

// leave sends what is queued and a goodbye, after which run returns. Without
// an open stream it returns at once.
func (l *link) leave() {
	l.mu.Lock()
	open := l.open
	l.leaving = true
	l.mu.Unlock()
	if !open {
		l.stop()
		return
	}
	l.rouse()
}

// stop makes run return soon, whatever it does.
func (l *link) stop() {
	l.cancel()
	l.mu.Lock()
	conn := l.conn
	l.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
}

func (l *link) queued() (frames, bytes int, open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue), l.size, l.open
}

func (l *link) run() {
	defer close(l.done)
	for tries := 0; ; tries++ {
		opened := time.Now()
		err := l.stream()
		if l.ctx.Err() != nil || errors.Is(err, errDrained) {
			return
		}
		l.failed(err)
		l.mu.Lock()
		if l.redial || time.Since(opened) >= dialTimeout+steadyAfter {
			tries = 0
		}
		l.redial = false
		leaving := l.leaving
		l.mu.Unlock()
		if leaving || !l.rest(backoff(tries)) {
			return
		}
	}
}

// stream opens one and sends on it, and on those that take over from it, until
// one breaks.
func (l *link) stream() error {
	conn, err := l.dial()
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.open = true
	l.mu.Unlock()
	l.changed(true)
	for {
		l.count.opened.Add(1)
		l.refresh() // the ring may have changed in the meantime
		err = l.pump(conn)
		l.release(conn)
		if !errors.Is(err, errHandedOver) {
			break
		}
		if conn, err = l.dial(); err != nil {
			break
		}
	}
	l.mu.Lock()
	l.open, l.queue, l.size = false, nil, 0
	l.mu.Unlock()
	l.changed(false)
	return err
}

func (l *link) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, dialTimeout)
	defer cancel()
	conn, err := l.transport.Dial(ctx, l.peer.Addr)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.conn, l.renew = conn, false
	broken := l.redial
	l.mu.Unlock()
	// stop and reopen may have come before conn was there to close.
	if err = l.ctx.Err(); err == nil && broken {
		err = errReopened
	}
	if err != nil {
		l.release(conn)
		return nil, err
	}
	greeted, err := l.greet(conn)
	if err != nil {
		l.release(conn)
		return nil, err
	}
	l.mu.Lock()
	l.conn = greeted
	l.mu.Unlock()
	return greeted, nil
}

// greet returns the stream that frames go on, sealed if they should be.
func (l *link) greet(conn net.Conn) (net.Conn, error) {
	if err := conn.SetDeadline(time.Now().Add(dialTimeout)); err != nil {
		return nil, err
	}
	hello := l.preamble
	if l.sealer != nil {
		s, err := l.sealer.dial(conn, sealedLinkByte)
		if err != nil {
			return nil, err
		}
		conn, hello = s, hello[1:]
	}
	_, err := conn.Write(hello)
	if err == nil {
		err = readAnswer(conn)
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	return conn, explain(err) // the peer's verdict on our certificate comes late
}

func (l *link) release(conn net.Conn) {
	l.mu.Lock()
	l.conn = nil
	l.mu.Unlock()
	conn.Close()
}

func (l *link) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *link) rest(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-l.ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// backoff is the pause before another try: doubling, and from half to whole of
// that by chance, so that peers of a node that returns do not all dial at once.
func backoff(tries int) time.Duration {
	d := maxBackoff
	if tries < 6 {
		d = min(firstBackoff<<tries, maxBackoff)
	}
	return d/2 + rand.N(d/2)
}

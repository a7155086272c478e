package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mostWaiting is how many takes may wait for the answer of one server.
	mostWaiting = 4096

	dialWait   = time.Second            // for a connection
	redialWait = 250 * time.Millisecond // between attempts
	answerWait = 10 * time.Second       // for the next answer, before the connection is given up
)

// DecidedAt is the header in which a decider stamps its answers: two wall-clock times in
// Unix nanoseconds, read just before and just after it decided. It is of use where the
// generator and all deciders share a clock, that is on one machine.
const DecidedAt = "Stint-Decided-At"

// client sends takes to one server over one connection, pipelined: requests follow one
// another without waiting for answers, which come in the same order. That costs
// the generator half the processor time that net/http's client does, which on one
// machine is time taken from the servers under test, and lets a take go out on time
// whatever became of those before it.
//
// add and flush belong to the driving goroutine, run and read are goroutines of their own.
// A take's record is written by whoever holds its index.
type client struct {
	addr  string
	takes []Take
	tally *tally

	waiting atomic.Int64 // added, and not yet settled
	body    []byte       // being added to
	ids     []int32
	lots    chan lot // never full: each holds a take that waits
}

// lot is some requests to be written at once.
type lot struct {
	body []byte
	ids  []int32
}

// add puts a take in the next lot.
func (c *client) add(id int32, body []byte) {
	c.tally.asked.Add(1)
	if c.waiting.Add(1) > mostWaiting {
		c.settle(id, Unsent)
		return
	}
	c.body = append(c.body, "POST /v1/take HTTP/1.1\r\nHost: "...)
	c.body = append(c.body, c.addr...)
	c.body = append(c.body, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	c.body = strconv.AppendInt(c.body, int64(len(body)), 10)
	c.body = append(c.body, "\r\n\r\n"...)
	c.body = append(c.body, body...)
	c.ids = append(c.ids, id)
}

// flush sends the lot on its way.
func (c *client) flush() {
	if len(c.ids) > 0 {
		c.lots <- lot{c.body, c.ids}
		c.body, c.ids = nil, nil
	}
}

// settle records what became of a take.
func (c *client) settle(id int32, o Outcome) {
	c.takes[id].Outcome = o
	c.waiting.Add(-1)
	c.tally.by[o].Add(1)
}

// run writes the lots until there are no more of them, and then waits for the answers. A
// lot that finds no connection is not kept for later: an open loop does not catch up.
func (c *client) run(ctx context.Context) {
	l, dialled := c.dial(ctx), time.Now()
	for lot := range c.lots {
		if l.broken() && time.Since(dialled) > redialWait {
			l.close()
			l, dialled = c.dial(ctx), time.Now()
		}
		if l.broken() {
			for _, id := range lot.ids {
				c.settle(id, Unsent)
			}
			continue
		}
		now := time.Now().UnixNano()
		for _, id := range lot.ids {
			c.takes[id].From = now
		}
		l.sent <- lot.ids
		l.conn.SetWriteDeadline(time.Now().Add(answerWait))
		if _, err := l.conn.Write(lot.body); err != nil {
			l.conn.Close()
		}
	}
	l.close()
}

// line is one connection and the goroutine that reads from it.
type line struct {
	conn net.Conn
	sent chan []int32 // takes whose answers are to come; never full, as lots
	down atomic.Bool
	read sync.WaitGroup
}

func (l *line) broken() bool { return l == nil || l.down.Load() }

// close waits until every take sent has been settled.
func (l *line) close() {
	if l == nil {
		return
	}
	close(l.sent)
	l.read.Wait()
	l.conn.Close()
}

func (c *client) dial(ctx context.Context) *line {
	d := net.Dialer{Timeout: dialWait}
	conn, err := d.DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return nil
	}
	l := &line{conn: conn, sent: make(chan []int32, mostWaiting)}
	l.read.Go(func() { c.read(l) })
	return l
}

// read settles the takes sent on a line, in order, from the answers. After a fault, which
// closes the connection, all others that went out on it have failed.
func (c *client) read(l *line) {
	in := bufio.NewReader(l.conn)
	for ids := range l.sent {
		for _, id := range ids {
			if l.down.Load() {
				c.settle(id, Failed)
				continue
			}
			l.conn.SetReadDeadline(time.Now().Add(answerWait))
			o, err := answer(in, &c.takes[id])
			if err != nil {
				l.down.Store(true)
				l.conn.Close()
			}
			c.settle(id, o)
		}
	}
}

// answer reads one answer into its take. An error means that no other will follow it.
func answer(in *bufio.Reader, t *Take) (Outcome, error) {
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return Failed, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if err == nil && resp.Close {
		err = fmt.Errorf("the server ends the connection")
	}
	t.Done = time.Now().UnixNano()
	t.To = t.Done
	if from, to, ok := stamps(resp.Header.Get(DecidedAt)); ok {
		t.From, t.To = from, to
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return Admitted, err
	case http.StatusTooManyRequests:
		return Refused, err
	}
	return Failed, err
}

func stamps(header string) (from, to int64, ok bool) {
	a, b, _ := strings.Cut(header, " ")
	from, err1 := strconv.ParseInt(a, 10, 64)
	to, err2 := strconv.ParseInt(b, 10, 64)
	return from, to, err1 == nil && err2 == nil && from <= to
}

// tally counts while a run goes on.
type tally struct {
	asked atomic.Int64
	by    [Admitted + 1]atomic.Int64
}

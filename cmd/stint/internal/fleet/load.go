//go:build unix

package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// answerLimit is how long clients wait for an answer: longer than anybody here pauses a node,
// so that what a take came to is known.
const answerLimit = 90 * time.Second

// DecidedAt is the header in which a daemon stamps its answers.
const DecidedAt = "Stint-Decided-At"

// A Load has clients at nodes, each of which takes one event of a key by chance, waits for
// the answer, enters it in the book, and goes on when the time has come. Some of them may
// give an event back instead, or hold two and settle for one.
type Load struct {
	Book    *Book
	Keys    []int   // indices in the book's
	Rate    float64 // takes a second and node, answers permitting
	Clients int     // at each node; 0: 1
	Back    float64 // share of requests that give back; there must be something to be had
	Hold    float64 // share that hold and settle
	Seed    uint64

	mu sync.Mutex
	at map[*Node]*crowd
}

// crowd is the clients of one node.
type crowd struct {
	stop chan struct{}
	done sync.WaitGroup
}

// Attach starts clients at nodes, but for those that have them.
func (l *Load) Attach(nodes ...*Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = make(map[*Node]*crowd)
	}
	for _, n := range nodes {
		if l.at[n] != nil {
			continue
		}
		c := &crowd{stop: make(chan struct{})}
		l.at[n] = c
		clients := max(l.Clients, 1)
		for i := range clients {
			chance := rand.New(rand.NewPCG(l.Seed, uint64(n.ID)<<32|uint64(i)))
			gap := time.Duration(float64(clients) / l.Rate * float64(time.Second))
			c.done.Go(func() { l.client(n, c.stop, chance, gap) })
		}
	}
}

// Detach ends the clients of nodes, once they have their answers.
func (l *Load) Detach(nodes ...*Node) {
	var crowds []*crowd
	l.mu.Lock()
	for _, n := range nodes {
		if c := l.at[n]; c != nil {
			crowds = append(crowds, c)
			delete(l.at, n)
			close(c.stop)
		}
	}
	l.mu.Unlock()
	for _, c := range crowds {
		c.done.Wait()
	}
}

// Stop ends all clients, once they have their answers.
func (l *Load) Stop() {
	l.mu.Lock()
	var nodes []*Node
	for n := range l.at {
		nodes = append(nodes, n)
	}
	l.mu.Unlock()
	l.Detach(nodes...)
}

func (l *Load) client(n *Node, stop <-chan struct{}, chance *rand.Rand, gap time.Duration) {
	tick := time.NewTicker(gap)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		key, share := l.Keys[chance.IntN(len(l.Keys))], chance.Float64()
		var got Outcome
		switch {
		case share < l.Back:
			got = l.GiveBack(n, key)
		case share < l.Back+l.Hold:
			got = l.HoldAndSettle(n, key)
		default:
			got = l.Take(n, key, 1)
		}
		if got == Unsent && !n.Running() {
			return
		}
	}
}

// Take takes events of a key at a node and enters that.
func (l *Load) Take(n *Node, key int, events int64) Outcome {
	s := l.spend(n, key, events)
	var into struct{}
	l.ask(n, "/v1/take", map[string]any{"n": events}, &s, &into)
	l.Book.Enter(s)
	return s.Outcome
}

// GiveBack gives one event back and enters it.
func (l *Load) GiveBack(n *Node, key int) Outcome {
	s := l.spend(n, key, -1)
	var into struct{ Returned int64 }
	l.ask(n, "/v1/return", map[string]any{"n": 1}, &s, &into)
	if s.Outcome == Admitted {
		s.N = -into.Returned
	}
	l.Book.Enter(s)
	return s.Outcome
}

// HoldTTL is how long a hold stands whose settlement was lost.
const HoldTTL = 10 * time.Second

// HoldAndSettle holds two events, settles for one and enters that.
func (l *Load) HoldAndSettle(n *Node, key int) Outcome {
	s := l.spend(n, key, 1)
	var into struct{ Hold string }
	l.ask(n, "/v1/hold", map[string]any{"n": 2, "ttl": HoldTTL.Seconds()}, &s, &into)
	switch s.Outcome {
	case Admitted:
		l.settle(n, into.Hold, &s)
	case Unknown:
		s.N = 0 // it may be there, and then expires
	}
	l.Book.Enter(s)
	return s.Outcome
}

func (l *Load) settle(n *Node, hold string, s *Spend) {
	var into struct{}
	body, _ := json.Marshal(map[string]any{"hold": hold, "n": 1}) // always encodes
	l.post(n, "/v1/settle", body, s, &into)
}

func (l *Load) spend(n *Node, key int, events int64) Spend {
	return Spend{Node: n.ID, Key: int32(key), N: events, Asked: time.Now().UnixNano()}
}

// ask makes a request about a key.
func (l *Load) ask(n *Node, path string, body map[string]any, s *Spend, into any) {
	k := l.Book.Keys[s.Key]
	body["limit"], body["key"] = k.Limit, k.Key
	text, _ := json.Marshal(body) // always encodes
	l.post(n, path, text, s, into)
}

// post makes a request, and notes what it came to.
func (l *Load) post(n *Node, path string, body []byte, s *Spend, into any) {
	resp, err := n.client.Post("http://"+n.HTTP+path, "application/json", bytes.NewReader(body))
	if err == nil {
		err = json.NewDecoder(resp.Body).Decode(into)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	s.Answered = time.Now().UnixNano()
	s.From, s.To = s.Asked, s.Answered
	dialled := (*net.OpError)(nil)
	switch {
	case errors.As(err, &dialled) && dialled.Op == "dial":
		s.Outcome = Unsent
	case err != nil:
		s.Outcome = Unknown
	case resp.StatusCode == http.StatusOK:
		s.Outcome = Admitted
	case resp.StatusCode == http.StatusTooManyRequests:
		s.Outcome = Refused
	default:
		s.Outcome, err = Unknown, fmt.Errorf("%s: status %s", path, resp.Status)
	}
	if s.Fault = err; err == nil {
		s.stamp(resp.Header.Get(DecidedAt))
	}
}

// stamp narrows down when it was decided.
func (s *Spend) stamp(header string) {
	a, b, _ := strings.Cut(header, " ")
	from, err1 := strconv.ParseInt(a, 10, 64)
	to, err2 := strconv.ParseInt(b, 10, 64)
	if err1 == nil && err2 == nil {
		s.From, s.To = from, to
	}
}

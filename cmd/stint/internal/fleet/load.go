//go:build unix

package fleet

import (
	"bytes"
	"context"
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
// the answer, enters it in the book, and goes on when the time has come.
type Load struct {
	Book    *Book
	Keys    []int   // indices in the book's
	Rate    float64 // takes a second and node, answers permitting
	Clients int     // at each node; 0: 1
	Seed    uint64

	mu sync.Mutex
	at map[*Node]*crowd
}

// crowd is the clients of one node.
type crowd struct {
	stop chan struct{}
	done sync.WaitGroup
}

// Attach starts clients at a node.
func (l *Load) Attach(nodes ...*Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = make(map[*Node]*crowd)
	}
	for _, n := range nodes {
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
		if l.Take(n, l.Keys[chance.IntN(len(l.Keys))], 1) == Unsent && !n.Running() {
			return
		}
	}
}

// Take takes events of a key at a node and enters that.
func (l *Load) Take(n *Node, key int, events int64) Outcome {
	k := l.Book.Keys[key]
	body, _ := json.Marshal(map[string]any{"limit": k.Limit, "key": k.Key, "n": events}) // always encodes
	s := Spend{Node: n.ID, Key: int32(key), N: events, Asked: time.Now().UnixNano()}
	resp, err := n.client.Post("http://"+n.HTTP+"/v1/take", "application/json", bytes.NewReader(body))
	s.Answered = time.Now().UnixNano()
	s.From, s.To = s.Asked, s.Answered
	if err != nil {
		s.Outcome = Unknown
		if refused := (*net.OpError)(nil); errors.As(err, &refused) && refused.Op == "dial" {
			s.Outcome = Unsent
		}
		l.Book.Enter(s)
		return s.Outcome
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	a, b, _ := strings.Cut(resp.Header.Get(DecidedAt), " ")
	from, err1 := strconv.ParseInt(a, 10, 64)
	to, err2 := strconv.ParseInt(b, 10, 64)
	if err1 == nil && err2 == nil {
		s.From, s.To = from, to
	}
	switch resp.StatusCode {
	case http.StatusOK:
		s.Outcome = Admitted
	case http.StatusTooManyRequests:
		s.Outcome = Refused
	default:
		s.Outcome = Unknown
	}
	l.Book.Enter(s)
	return s.Outcome
}

// Agree waits until the counts of all keys at all nodes are right, and returns how long that
// took. used turns what is left of a key into its count.
func (b *Book) Agree(ctx context.Context, nodes []*Node, within time.Duration, used func(k Key, remaining int64) int64) (time.Duration, error) {
	want := b.Want()
	var wrong error
	took, err := Await(within, func() bool {
		wrong = b.disagree(nodes, want, used)
		return wrong == nil || ctx.Err() != nil
	})
	if err != nil || wrong != nil {
		return took, fmt.Errorf("%w: %w", errors.Join(err, ctx.Err()), wrong)
	}
	return took, nil
}

// disagree says of which keys the counts are wrong.
func (b *Book) disagree(nodes []*Node, want []Want, used func(Key, int64) int64) error {
	var errs []error
	for i, k := range b.Keys {
		counts := make([]int64, len(nodes))
		for j, n := range nodes {
			left, err := n.Remaining(k.Limit, k.Key)
			if err != nil {
				return err
			}
			counts[j] = used(k, left)
		}
		if err := want[i].Check(counts); err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", k, err))
		}
	}
	return errors.Join(errs...)
}

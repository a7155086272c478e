package stint

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/internal/table"
)

// A Take is one of the takes of TakeAll: N events of a key under a limit.
type Take struct {
	Limit   Limit
	Limiter *Limiter // instead of Limit, and quicker
	Key     string
	N       int64 // 0 means 1
}

// A Taker decides on takes. A Node is one; middleware accepts any.
type Taker interface {
	Take(ctx context.Context, key string, l Limit, n int64) (Decision, error)
}

var _ Taker = (*Node)(nil)

// Allow takes one event of a key under a limit. Where the limit is always the same, a
// Limiter is quicker.
func (n *Node) Allow(key string, l Limit) (d Decision) {
	n.limits.limiter(l).take(key, 1, &d)
	return d
}

// AllowN takes events of a key under a limit: see Limiter.AllowN.
func (n *Node) AllowN(key string, l Limit, events int64) (d Decision) {
	n.limits.limiter(l).take(key, events, &d)
	return d
}

// Take takes events of a key under a limit: see Limiter.Take. A limit that is not in
// force yet comes in force with the first take.
func (n *Node) Take(ctx context.Context, key string, l Limit, events int64) (Decision, error) {
	return n.limits.limiter(l).Take(ctx, key, events)
}

// Peek says what Allow would, and changes nothing but that it puts the limit in force.
func (n *Node) Peek(key string, l Limit) Decision { return n.limits.limiter(l).Peek(key) }

// PeekN says what AllowN would: see Peek.
func (n *Node) PeekN(key string, l Limit, events int64) Decision {
	return n.limits.limiter(l).PeekN(key, events)
}

// few is how many takes TakeAll serves without allocating.
const few = 8

// TakeAll makes all of the takes or none, in one step: if one is refused, no key has
// changed, on any node. It reports which, and puts the decision of each into into, which
// must be as long as takes. Of refused takes RetryAfter says when that one would pass
// together with those before it; wait for the longest. Takes of one key under one limit
// add up. An error means that nothing was decided.
func (n *Node) TakeAll(_ context.Context, takes []Take, into []Decision) (ok bool, err error) {
	if len(into) < len(takes) {
		return false, fmt.Errorf("room for %d decisions on %d takes: make into as long as takes", len(into), len(takes))
	}
	var asksFew [few]table.Ask
	var resultsFew [few]table.Result
	var limitersFew [few]*Limiter
	asks, results, limiters := asksFew[:0], resultsFew[:], limitersFew[:0]
	if len(takes) > few {
		results = make([]table.Result, len(takes))
	}
	for i := range takes {
		t := &takes[i]
		l := t.Limiter
		if l == nil {
			l = n.limits.limiter(t.Limit)
		}
		if err := n.fits(l, t.N); err != nil {
			return false, fmt.Errorf("take %d: %w", i, err)
		}
		handle := l.counted.table
		limiters = append(limiters, l)
		asks = append(asks, table.Ask{Limit: handle, Hash: handle.Hash(t.Key), N: orOne(t.N)})
	}
	ok = n.table.TakeAll(asks, n.now(), results[:len(asks)])
	for i, l := range limiters {
		into[i] = Decision{}
		l.decide(&into[i], asks[i].N, results[i])
	}
	return ok, nil
}

// fits says why a take cannot be decided on here.
func (n *Node) fits(l *Limiter, events int64) error {
	if l.err == nil && l.node != n {
		return fmt.Errorf("the limiter of %s belongs to another node", l.counted.name)
	}
	return l.fit(events)
}

func orOne(n int64) int64 {
	if n == 0 {
		return 1
	}
	return n
}

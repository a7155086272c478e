package stint

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint/internal/table"
)

// A Limiter is one limit of one node, bound once so that a take looks nothing up. It
// follows the limit's name: after SetLimit it decides by the new definition. Safe for
// concurrent use.
type Limiter struct {
	node    *Node
	counted *counted
	err     error // why there is no limit to decide by
	asked   Limit // the limit that could not be had
}

// Limiter binds a limit. A name that is in force with another definition takes this
// one. If the limit cannot be had (it is not valid, not supported, or one too many), the
// Limiter's Err says why, Take returns it, and Allow, which cannot, refuses.
func (n *Node) Limiter(l Limit) *Limiter {
	lim := n.limits.limiter(l)
	if lim.err == nil && *lim.counted.current.Load() != l.withDefaults() {
		if err := n.SetLimit(l); err != nil {
			return &Limiter{node: n, err: err, asked: l}
		}
	}
	if lim.err != nil {
		n.cfg.Logger.Error("limit refused: everything asked of it is refused too", "limit", l.called(), "err", lim.err)
	}
	return lim
}

// Allow takes one event of a key. It is Take for those who have no use for an error.
func (l *Limiter) Allow(key string) (d Decision) {
	l.take(key, 1, &d)
	return d
}

// AllowN takes n events of a key. A negative n is refused; 0 only looks.
func (l *Limiter) AllowN(key string, n int64) (d Decision) {
	l.take(key, n, &d)
	return d
}

// Take takes n events of a key. A refusal is no error. An error means that nothing was
// decided: the limit cannot be had, n is negative, or, in mode Strict only, the context
// ended; modes Local and Shared never wait.
func (l *Limiter) Take(_ context.Context, key string, n int64) (d Decision, err error) {
	if err := l.fit(n); err != nil {
		return d, err
	}
	l.take(key, n, &d)
	return d, nil
}

// Peek says what Allow would, and changes nothing.
func (l *Limiter) Peek(key string) Decision { return l.PeekN(key, 1) }

// PeekN says what AllowN would, and changes nothing.
func (l *Limiter) PeekN(key string, n int64) (d Decision) {
	if l.err != nil || n < 0 {
		l.refuse(&d)
		return d
	}
	handle := l.counted.table
	l.decide(&d, n, l.node.table.Peek(handle, handle.Hash(key), l.node.now(), n))
	return d
}

// Limit is the definition in force.
func (l *Limiter) Limit() Limit {
	if l.err != nil {
		return l.asked
	}
	return *l.counted.current.Load()
}

// Err says why the limit cannot be had, nil if it can.
func (l *Limiter) Err() error { return l.err }

// take is every take. It writes the decision field by field where the caller wants it: one
// made here and copied out costs a sixth of a take, since the processor cannot load in one
// piece what it has just stored in several.
func (l *Limiter) take(key string, n int64, d *Decision) {
	if l.err != nil || n < 0 {
		l.refuse(d)
		return
	}
	c := l.counted
	def := c.table.Def() // here, where it waits for nothing: a lock lies between
	r := l.node.table.Take(c.table, c.table.Hash(key), l.node.now(), n)
	d.fill(c, def, r)
	if def.Queue && r.OK {
		d.queue(def, n, r)
	}
}

// decide makes the table's result on n events the decision.
func (l *Limiter) decide(d *Decision, n int64, r table.Result) {
	def := l.counted.table.Def()
	d.fill(l.counted, def, r)
	if def.Queue && r.OK {
		d.queue(def, n, r)
	}
}

// fill is small enough to be inlined.
func (d *Decision) fill(c *counted, def *table.Def, r table.Result) {
	d.OK = r.OK
	d.Limit = c.name
	d.Remaining = r.Remaining
	d.RetryAfter = time.Duration(r.RetryAfter)
	d.ResetAfter = time.Duration(r.ResetAfter)
	d.Source = SourceLocal
	if def.Shared {
		d.Source = SourceShared
	}
}

// queue says how long an admitted take of a leaky bucket has to wait: until what was in
// the queue before it has drained.
//
//go:noinline
func (d *Decision) queue(def *table.Def, n int64, r table.Result) {
	d.Delay = time.Duration(max(r.ResetAfter-def.Bucket.Interval(n), 0))
}

// refuse answers where there is nothing to decide by.
func (l *Limiter) refuse(d *Decision) {
	d.Limit = l.asked.called()
	if l.counted != nil {
		d.Limit = l.counted.name
	}
	d.RetryAfter = Never
}

func errNegative(n int64) error {
	return fmt.Errorf("a take of %d events: ask for 1 or more, or 0 to look", n)
}

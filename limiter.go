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
func (l *Limiter) Allow(key string) Decision { return decision(l.take(key, 1)) }

// AllowN takes n events of a key. A negative n is refused; 0 only looks.
func (l *Limiter) AllowN(key string, n int64) Decision { return decision(l.take(key, n)) }

// Take takes n events of a key. A refusal is no error. An error means that nothing was
// decided: the limit cannot be had, n is negative, or, in mode Strict only, the context
// ended; modes Local and Shared never wait.
func (l *Limiter) Take(_ context.Context, key string, n int64) (Decision, error) {
	if l.err != nil {
		return Decision{}, l.err
	}
	if n < 0 {
		return Decision{}, errNegative(n)
	}
	return decision(l.take(key, n)), nil
}

// Peek says what Allow would, and changes nothing.
func (l *Limiter) Peek(key string) Decision {
	if l.err != nil {
		return decision(l.refusal())
	}
	c := l.counted
	return decision(c.name, l.source(), l.node.table.Peek(c.table, c.table.Hash(key), l.node.now(), 1))
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

// take is every take. It returns the parts of a Decision, in registers, for decision to put
// together where it is wanted: to make one here, and copy it out, costs a tenth of a take.
func (l *Limiter) take(key string, n int64) (string, Source, table.Result) {
	if l.err != nil || n < 0 {
		return l.refusal()
	}
	c := l.counted
	r := l.node.table.Take(c.table, c.table.Hash(key), l.node.now(), n)
	return c.name, l.source(), r
}

func (l *Limiter) source() Source {
	if l.counted.table.Def().Shared {
		return SourceShared
	}
	return SourceLocal
}

func decision(name string, source Source, r table.Result) Decision {
	return Decision{
		OK: r.OK, Limit: name, Remaining: r.Remaining, Source: source,
		RetryAfter: time.Duration(r.RetryAfter), ResetAfter: time.Duration(r.ResetAfter),
	}
}

// refusal answers where there is nothing to decide by.
func (l *Limiter) refusal() (string, Source, table.Result) {
	name := l.asked.called()
	if l.counted != nil {
		name = l.counted.name
	}
	return name, SourceLocal, table.Result{RetryAfter: int64(Never)}
}

func errNegative(n int64) error {
	return fmt.Errorf("a take of %d events: ask for 1 or more, or 0 to look", n)
}

package stint

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/table"
)

// A Reservation is a take that can be given back. Its Decision says whether the events
// were had (OK), and after which Delay they may happen.
type Reservation struct {
	Decision
	limiter *Limiter
	hash    uint64
	n       int64
	mark    table.Row
	done    atomic.Bool
}

// Reserve takes n events of a key so that they can be given back. In mode Local a bucket
// is taken from ahead of time, as long as n fits its burst: the reservation is OK, and its
// Delay says when the events may happen. In mode Shared it is OK only if Take would be,
// since what many nodes reserve ahead could not be told in time. It returns the errors of
// Take.
func (l *Limiter) Reserve(_ context.Context, key string, n int64) (*Reservation, error) {
	if err := l.fit(n); err != nil {
		return nil, err
	}
	handle, now := l.counted.table, l.node.now()
	r := &Reservation{limiter: l, hash: handle.Hash(key), n: n, mark: l.node.table.Mark(handle, now)}
	l.decide(&r.Decision, n, l.node.table.Take(handle, r.hash, now, n))
	if !r.OK && !handle.Def().Shared {
		if wait, ok := l.node.table.Borrow(handle, r.hash, now, n); ok {
			l.decide(&r.Decision, 0, l.node.table.Peek(handle, r.hash, now, 0))
			r.OK, r.RetryAfter, r.Delay = true, 0, time.Duration(wait)
		}
	}
	return r, nil
}

// Cancel gives back exactly what was taken, once, on every node; nothing if the
// reservation was refused. What was taken from a window comes back to that window, and is
// gone with it.
func (r *Reservation) Cancel() {
	if r.OK && !r.done.Swap(true) {
		r.limiter.refund(r.hash, r.n, r.mark)
	}
}

// refund gives events back where mark says, and returns how many.
func (l *Limiter) refund(hash uint64, n int64, mark table.Row) int64 {
	return l.node.table.Refund(l.counted.table, hash, l.node.now(), n, mark)
}

// Return gives n events of a key back that were taken and then not used, on every node. It
// returns how many of them were: never more than the key is seen to have used, so that
// nothing lifts a key above full, and of a window only what was taken from the present
// one. To give back a certain take, and not more than it took, use Reserve and Cancel.
func (l *Limiter) Return(_ context.Context, key string, n int64) (int64, error) {
	if err := l.fit(n); err != nil {
		return 0, err
	}
	handle := l.counted.table
	return l.refund(handle.Hash(key), n, l.node.table.Mark(handle, l.node.now())), nil
}

// Reset gives back all that a key is seen to have used, on every node, and returns how
// much that was. What this node has not heard of yet stays charged.
func (l *Limiter) Reset(_ context.Context, key string) (int64, error) {
	if l.err != nil {
		return 0, l.err
	}
	handle := l.counted.table
	return l.node.table.Reset(handle, handle.Hash(key), l.node.now()), nil
}

// fit says why n events cannot be decided on.
func (l *Limiter) fit(n int64) error {
	if l.err != nil {
		return l.err
	}
	if n < 0 {
		return errNegative(n)
	}
	return nil
}

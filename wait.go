package stint

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/stint-go/stint/internal/table"
)

var (
	// ErrNever is returned by Wait for more events than the limit ever holds at once.
	ErrNever = errors.New("no wait can help: ask for fewer events, or raise the limit")
	// ErrQueueFull is returned by Wait when 1,000 wait for the key on this node.
	ErrQueueFull = errors.New("too many wait for this key: try again later")
)

// A WaitError is a wait that cannot end in time. It is context.DeadlineExceeded.
type WaitError struct {
	Wait time.Duration // how long it would be, as far as can be seen
}

// Error says how long the wait would be.
func (e *WaitError) Error() string {
	return fmt.Sprintf("the wait would be %v: %v", e.Wait, context.DeadlineExceeded)
}

// Unwrap is context.DeadlineExceeded.
func (e *WaitError) Unwrap() error { return context.DeadlineExceeded }

// Wait waits until n events of a key are had. Those who wait for one key on one node are
// served in the order of their calls. Only the first of them takes, and not before it can
// be admitted: nothing is charged ahead, so that queues on many nodes do not add up to more
// than the limit. After a leaky bucket's admission it waits out the Delay, too.
//
// If the wait cannot end before the context's deadline, as far as can be seen, Wait fails
// at once with a WaitError. Whatever the error, nothing stays charged. Others are ErrNever,
// ErrQueueFull, the context's, and those of Take.
func (l *Limiter) Wait(ctx context.Context, key string, n int64) error {
	if err := l.fit(n); err != nil || n == 0 {
		return err
	}
	hash := l.counted.table.Hash(key)
	mark, delay, err := l.lineUp(ctx, hash, n)
	if err != nil || delay == 0 {
		return err
	}
	if err := sleep(ctx, delay); err != nil {
		l.refund(hash, n, mark)
		return err
	}
	return nil
}

// lineUp waits for its turn and then until the take is admitted. mark is where it landed.
func (l *Limiter) lineUp(ctx context.Context, hash uint64, n int64) (mark table.Row, delay time.Duration, err error) {
	if err := ctx.Err(); err != nil {
		return mark, 0, err
	}
	handle, q := l.counted.table, &l.node.queues
	key := queueKey{handle, hash}
	w, ahead, err := q.join(key, n)
	if err != nil {
		return mark, 0, err
	}
	defer q.leave(key, w)
	if err := l.inTime(ctx, hash, ahead, n); err != nil {
		return mark, 0, err
	}
	select {
	case <-w.first:
	case <-ctx.Done():
		return mark, 0, ctx.Err()
	}
	for {
		now := l.node.now()
		look := l.node.table.Peek(handle, hash, now, n)
		if look.OK {
			var d Decision
			mark = l.node.table.Mark(handle, now)
			if l.decide(&d, n, l.node.table.Take(handle, hash, now, n)); d.OK {
				return mark, d.Delay, nil
			}
			continue // somebody else was quicker
		}
		if err := l.inTime(ctx, hash, 0, n); err != nil {
			return mark, 0, err
		}
		if err := sleep(ctx, time.Duration(look.RetryAfter)); err != nil {
			return mark, 0, err
		}
	}
}

// inTime says why n events cannot be had in time behind so many others.
func (l *Limiter) inTime(ctx context.Context, hash uint64, ahead, n int64) error {
	wait := l.foresee(hash, ahead, n)
	if wait == Never {
		return fmt.Errorf("%d events of a limit of %s: %w", n, l.Limit(), ErrNever)
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return &WaitError{wait}
	}
	return nil
}

// foresee is how long it takes at least until n events can be had behind so many others.
func (l *Limiter) foresee(hash uint64, ahead, n int64) time.Duration {
	limit, handle := l.Limit(), l.counted.table
	most, all := limit.Burst, addSat(ahead, n)
	look := l.node.table.Peek(handle, hash, l.node.now(), max(n, min(all, most)))
	wait := look.RetryAfter
	switch {
	case wait == int64(Never) || limit.Events == 0 || most == 0:
	case limit.Algorithm == LeakyBucket: // the place in the queue has to be waited out
		wait = max(wait, addSat(look.ResetAfter, periods(ahead, limit)))
	case all > most && limit.Algorithm.hasBurst():
		wait = addSat(wait, periods(all-most, limit))
	case all > most: // as many more windows, the first of which may end just now
		wait = addSat(wait, times(max((all-1)/most-1, 0), int64(limit.Per)))
	}
	return time.Duration(wait)
}

// periods is how long n events take at a limit's rate.
func periods(n int64, l Limit) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(l.Per))
	if hi >= uint64(l.Events) {
		return int64(Never) - 1
	}
	d, _ := bits.Div64(hi, lo, uint64(l.Events))
	return int64(min(d, uint64(Never)-1))
}

// times is a·b for numbers of no sign, less than Never.
func times(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 {
		return int64(Never) - 1
	}
	return int64(min(lo, uint64(Never)-1))
}

// sleep waits, no longer than the context.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

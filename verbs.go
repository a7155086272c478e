package stint

import (
	"context"
	"time"
)

// The verbs of a Limiter, with the limit at each call. A limit that is not in force yet
// comes in force.

// Wait waits for n events of a key: see Limiter.Wait.
func (n *Node) Wait(ctx context.Context, key string, l Limit, events int64) error {
	return n.limits.limiter(l).Wait(ctx, key, events)
}

// Reserve takes events of a key so that they can be given back: see Limiter.Reserve.
func (n *Node) Reserve(ctx context.Context, key string, l Limit, events int64) (*Reservation, error) {
	return n.limits.limiter(l).Reserve(ctx, key, events)
}

// Hold takes events of a key until their number is known: see Limiter.Hold.
func (n *Node) Hold(ctx context.Context, key string, l Limit, events int64, ttl time.Duration) (*Hold, error) {
	return n.limits.limiter(l).Hold(ctx, key, events, ttl)
}

// Return gives events of a key back: see Limiter.Return.
func (n *Node) Return(ctx context.Context, key string, l Limit, events int64) (int64, error) {
	return n.limits.limiter(l).Return(ctx, key, events)
}

// Reset gives back all that a key has used: see Limiter.Reset.
func (n *Node) Reset(ctx context.Context, key string, l Limit) (int64, error) {
	return n.limits.limiter(l).Reset(ctx, key)
}

// Ban refuses everything asked of a key: see Limiter.Ban.
func (n *Node) Ban(ctx context.Context, key string, l Limit, d time.Duration) error {
	return n.limits.limiter(l).Ban(ctx, key, d)
}

// Unban lifts a ban: see Limiter.Unban.
func (n *Node) Unban(ctx context.Context, key string, l Limit) error {
	return n.limits.limiter(l).Unban(ctx, key)
}

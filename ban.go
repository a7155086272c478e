package stint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// ErrTooManyBans is returned when a ban would be one more than a quarter of
// Config.MaxKeys.
var ErrTooManyBans = table.ErrTooManyBans

// A Ban is a key under a limit to which everything is refused.
type Ban struct {
	Limit string        // its name; empty if this node does not know it
	Key   string        // its first 128 bytes
	For   time.Duration // still
}

// Ban refuses everything asked of a key under this limit for so long, on every node.
// Nothing but this call ever bans a key. Another Ban replaces the first, whether it is
// longer or shorter. It returns ErrTooManyBans, and an error for a limit that keeps no
// keys, unlimited or blocked.
func (l *Limiter) Ban(_ context.Context, key string, d time.Duration) error {
	if d <= 0 || d > maxHold {
		return fmt.Errorf("a ban for %v: use a positive duration of at most %v", d, maxHold)
	}
	return l.ban(key, d)
}

// Unban lifts a ban, on every node. There need not be one.
func (l *Limiter) Unban(_ context.Context, key string) error { return l.ban(key, 0) }

func (l *Limiter) ban(key string, d time.Duration) (err error) {
	if l.err != nil {
		return l.err
	}
	handle := l.counted.table
	l.node.act(func(now int64) {
		err = l.node.engine.Ban(now, handle, handle.Hash(key), label(key), now+int64(d))
	})
	return err
}

// label is as much of a key as a ban carries for people to read.
func label(key string) string { return key[:min(len(key), gossip.MaxLabel)] }

// Bans is the bans in force, sorted by limit and key.
func (n *Node) Bans() []Ban {
	n.mu.Lock()
	now := n.now()
	records := n.engine.Bans(now)
	n.mu.Unlock()
	names := make(map[uint64]string)
	for _, c := range n.limits.all() {
		names[c.table.ID()] = c.name
	}
	bans := make([]Ban, len(records))
	for i, r := range records {
		bans[i] = Ban{Limit: names[r.Limit], Key: r.Label, For: time.Duration(r.Until - now)}
	}
	slices.SortFunc(bans, func(a, b Ban) int { return cmp.Or(cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.Key, b.Key)) })
	return bans
}

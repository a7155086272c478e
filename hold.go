package stint

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/stint-go/stint/internal/engine"
)

// Errors of holds.
var (
	// ErrNoHold is returned for a hold that was settled or released before, or that no
	// node has remembered.
	ErrNoHold = engine.ErrNoHold
	// ErrTooManyHolds is returned when no more holds and bans can be kept: 100,000.
	ErrTooManyHolds = engine.ErrTooManyHolds
)

// A Hold is an estimate of what something will cost, taken until the truth is known. Its
// Decision says whether it was had. It ends with Settle or Release, or by itself.
type Hold struct {
	Decision
	id   HoldID
	node *Node
}

// A HoldID names a hold on every node of the cluster. The zero HoldID names none.
type HoldID struct{ maker, number uint64 }

// Hold takes n events of a key for something whose cost is known only afterwards, such as
// the tokens of a language model: settle the truth, and the rest comes back on every node.
// A hold that is neither settled nor released, because its process died, comes back by
// itself after ttl. A hold that is not OK is a refusal and took nothing. Errors are those
// of Take, a ttl that is not positive, and ErrTooManyHolds.
func (l *Limiter) Hold(_ context.Context, key string, n int64, ttl time.Duration) (*Hold, error) {
	if err := l.fit(n); err != nil {
		return nil, err
	}
	if ttl <= 0 || ttl > maxHold {
		return nil, fmt.Errorf("a hold for %v: use a positive duration of at most %v", ttl, maxHold)
	}
	node, handle := l.node, l.counted.table
	h, now := &Hold{node: node}, node.now()
	hash, mark := handle.Hash(key), node.table.Mark(handle, now)
	var err error
	node.act(func(int64) { // in one step: whoever copies the key counts the hold as its record says
		l.decide(&h.Decision, n, node.table.Hold(handle, hash, now, n))
		if h.OK && n > 0 {
			h.id.maker, h.id.number, err = node.engine.Hold(now, handle, hash, n, mark, now+int64(ttl))
		}
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// maxHold bounds the life of holds and bans.
const maxHold = maxPer

// ID names the hold, so that another process can settle it; zero if it was refused.
func (h *Hold) ID() HoldID { return h.id }

// Settle ends the hold: actual events were spent, and the rest of them comes back. More
// than was held is charged too, and may put the key into debt. A hold that has expired can
// still be settled for some minutes: what was spent, was. It returns ErrNoHold the second
// time.
func (h *Hold) Settle(ctx context.Context, actual int64) error {
	return h.node.Settle(ctx, h.id, actual)
}

// Release ends the hold: nothing was spent.
func (h *Hold) Release(ctx context.Context) error { return h.node.Settle(ctx, h.id, 0) }

// Settle ends a hold of any node of the cluster, by its name: see Hold.Settle. A node
// knows a hold of another as soon as it has heard of it.
func (n *Node) Settle(_ context.Context, id HoldID, actual int64) (err error) {
	if actual < 0 {
		return fmt.Errorf("a hold settled with %d events: use 0 or more", actual)
	}
	n.act(func(now int64) { err = n.engine.Settle(now, id.maker, id.number, actual) })
	return err
}

// Release ends a hold by its name: nothing was spent.
func (n *Node) Release(ctx context.Context, id HoldID) error { return n.Settle(ctx, id, 0) }

// String is the text form of id, 32 hexadecimal digits.
func (id HoldID) String() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], id.maker)
	binary.BigEndian.PutUint64(b[8:], id.number)
	return hex.EncodeToString(b[:])
}

// ParseHoldID is the inverse of HoldID.String.
func ParseHoldID(text string) (id HoldID, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 16 {
		return id, fmt.Errorf("hold %q: use the 32 hexadecimal digits that the hold was answered with", text)
	}
	return HoldID{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}, nil
}

// MarshalText is String.
func (id HoldID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText is ParseHoldID.
func (id *HoldID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseHoldID(string(text))
	return err
}

package table

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// maxGeneration is the last generation of a definition that an entry can name.
const maxGeneration = 1<<16 - 1

var (
	// ErrTooManyLimits means that Config.MaxLimits is reached.
	ErrTooManyLimits = errors.New("too many limits: raise MaxLimits, or use keys rather than limits of their own")
	// ErrTooManyChanges means that a limit's definition has changed 65,535 times.
	ErrTooManyChanges = errors.New("definition changed too often: restart the node, or give the limit another name")
	// ErrNameTaken means that a name has the same ID as another one's.
	ErrNameTaken = errors.New("name collides with another limit's: give it another name")

	errNoKind = errors.New("definition without a kind")
)

// registry is the limits of a table. They are never removed.
type registry struct {
	maxLimits int
	seed      [16]byte

	limits atomic.Pointer[[]*Limit] // by index − 1; written with mu held

	mu   sync.RWMutex
	byID map[uint64]*Limit
}

func (r *registry) init(maxLimits int, seed [16]byte) {
	r.maxLimits, r.seed, r.byID = maxLimits, seed, map[uint64]*Limit{}
	r.limits.Store(new([]*Limit))
}

// ID is the number that stands for a limit's name among nodes: 64 bits of its
// SHA-256, never 0. It does not depend on the seed.
func ID(name string) uint64 {
	sum := sha256.Sum256([]byte(name))
	return max(binary.BigEndian.Uint64(sum[:]), 1)
}

// Define gives the limit of this name its definition, which takes effect with the next
// take: what is used of a key stays used. It returns the limit's handle, always the
// same for a name. A definition equal to the last one changes nothing.
func (t *Table) Define(name string, d Def) (*Limit, error) {
	if d.Kind == Unknown {
		return nil, fmt.Errorf("limit %q: %w", name, errNoKind)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l, err := t.addLocked(ID(name), d)
	if err != nil {
		return nil, fmt.Errorf("limit %q: %w", name, err)
	}
	if l.defined.Load() && l.name != name {
		return nil, fmt.Errorf("limit %q: %w", name, ErrNameTaken)
	}
	if err := l.setLocked(d); err != nil {
		return nil, fmt.Errorf("limit %q: %w", name, err)
	}
	l.name = name
	l.defined.Store(true)
	return l, nil
}

// Learn takes over a definition from a peer, for a limit that has not been defined
// here: Define's word goes first, before and after. A Def of kind Unknown makes room
// for amounts of a limit that nobody has explained yet, and never replaces another.
func (t *Table) Learn(id uint64, d Def) (*Limit, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l, err := t.addLocked(id, d)
	if err != nil {
		return nil, fmt.Errorf("limit %#x of a peer: %w", id, err)
	}
	if l.defined.Load() || d.Kind == Unknown {
		return l, nil
	}
	if err := l.setLocked(d); err != nil {
		return nil, fmt.Errorf("limit %#x of a peer: %w", id, err)
	}
	return l, nil
}

// Lookup returns the limit with this ID, nil if there is none.
func (t *Table) Lookup(id uint64) *Limit {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[id]
}

// addLocked returns the limit with this ID and makes it, as d, if need be.
func (t *Table) addLocked(id uint64, d Def) (*Limit, error) {
	if l := t.byID[id]; l != nil {
		return l, nil
	}
	limits := *t.limits.Load()
	if len(limits) >= t.maxLimits {
		return nil, ErrTooManyLimits
	}
	l := &Limit{table: t, id: id, index: uint32(len(limits) + 1)}
	l.key, l.overflow = derive(t.seed, id)
	if err := l.setLocked(d); err != nil {
		return nil, err
	}
	limits = append(limits, l) // readers of the old slice do not look past its end
	t.limits.Store(&limits)
	t.byID[id] = l
	return l, nil
}

func (r *registry) limit(index uint32) *Limit { return (*r.limits.Load())[index-1] }

//go:build unix

package fleet

import (
	"fmt"
	"sync"
	"time"
)

// Key is a key under a limit.
type Key struct{ Limit, Key string }

// String is limit/key.
func (k Key) String() string { return k.Limit + "/" + k.Key }

// An Outcome is what a client knows of a take.
type Outcome uint8

const (
	Unsent   Outcome = iota // no node got it
	Unknown                 // a node may have got it, and done it; nothing came back
	Refused                 // told no
	Admitted                // told yes, or that so many have come back
)

// A Spend is one take of a client, of N events; with N below 0 they were given back. Times are Unix nanoseconds of this machine.
type Spend struct {
	Node     int32 // Node.ID
	Key      int32 // index in Book.Keys
	N        int64
	Outcome  Outcome
	From, To int64 // the decision fell in here, as the node says, or between asking and answer
	Asked    int64
	Answered int64
	Fault    error // why it is Unknown or Unsent
}

// A Book has what clients were told. Its methods may be called at any time.
type Book struct {
	Keys []Key

	mu      sync.Mutex
	spends  []Spend
	crashed map[int32]int64 // by Node.ID: when all that it had admitted was known to all for certain
}

// NewBook makes an empty one for those keys.
func NewBook(keys ...Key) *Book { return &Book{Keys: keys, crashed: make(map[int32]int64)} }

// Enter notes a take.
func (b *Book) Enter(s Spend) {
	b.mu.Lock()
	b.spends = append(b.spends, s)
	b.mu.Unlock()
}

// Crashed notes that a node ended without a goodbye that all have heard. What it admitted
// and told clients after the safe moment some of the others may know, or all, or none.
func (b *Book) Crashed(n *Node, safe time.Time) {
	b.mu.Lock()
	b.crashed[n.ID] = safe.UnixNano()
	b.mu.Unlock()
}

// Spends are all takes so far, in the order in which they were answered.
func (b *Book) Spends() []Spend {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spends[:len(b.spends):len(b.spends)]
}

// A Want is what a key's count must be: Least ≤ count ≤ Most, and the same at every node if
// nothing is Crashed.
type Want struct {
	Told        int64 // events that clients were told they have, less those that they gave back
	Least, Most int64
	Unknown     int64 // events of requests without an answer, either way
	Crashed     int64 // of what was told: what crashed nodes may have had to themselves, either way
}

// Exact says whether there is only one count that is right.
func (w Want) Exact() bool { return w.Unknown == 0 && w.Crashed == 0 }

// Check says what is wrong with the counts of a key, one of each node, or nothing.
func (w Want) Check(counts []int64) error {
	for _, n := range counts {
		if n < w.Least || n > w.Most {
			return fmt.Errorf("counts %d, want %d to %d of %d told (%d unknown, %d crashed)", counts, w.Least, w.Most, w.Told, w.Unknown, w.Crashed)
		}
		if n != counts[0] && w.Crashed == 0 {
			return fmt.Errorf("counts %d differ, of %d told (%d unknown)", counts, w.Told, w.Unknown)
		}
	}
	return nil
}

// enter reckons a spend in.
func (w *Want) enter(s *Spend, crashed bool) {
	switch s.Outcome {
	case Unknown: // it may stand, or not
		w.Unknown += max(s.N, -s.N)
		w.Least, w.Most = w.Least+min(s.N, 0), w.Most+max(s.N, 0)
	case Admitted:
		w.Told, w.Least, w.Most = w.Told+s.N, w.Least+s.N, w.Most+s.N
		if crashed { // it may have gone
			w.Crashed += max(s.N, -s.N)
			w.Least, w.Most = w.Least-max(s.N, 0), w.Most-min(s.N, 0)
		}
	}
}

// Want reckons up, by index in Keys.
func (b *Book) Want() []Want {
	spends := b.Spends()
	b.mu.Lock()
	defer b.mu.Unlock()
	want := make([]Want, len(b.Keys))
	for i := range spends {
		s := &spends[i]
		safe, crashed := b.crashed[s.Node]
		want[s.Key].enter(s, crashed && s.Answered > safe)
	}
	return want
}

// Fault is that of the first take without an answer, or nil.
func (b *Book) Fault() error {
	for _, s := range b.Spends() {
		if s.Fault != nil {
			return fmt.Errorf("node %d, %v: %w", s.Node, b.Keys[s.Key], s.Fault)
		}
	}
	return nil
}

// Totals are takes by outcome.
func (b *Book) Totals() (by [Admitted + 1]int) {
	for _, s := range b.Spends() {
		by[s.Outcome]++
	}
	return by
}

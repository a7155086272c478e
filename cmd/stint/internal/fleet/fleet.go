//go:build unix

package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Config says what the nodes of a Fleet are.
type Config struct {
	Command []string          // what runs stint
	Flags   []string          // of serve, but for addresses and the name
	Net     *Net              // nil: all on loopback
	Alone   bool              // nodes stand alone, on loopback
	Log     func(line string) // what nodes log, called by a goroutine of each; nil: nothing
}

// A Fleet is a cluster of processes. Its methods may be called at any time.
type Fleet struct {
	cfg Config

	mu    sync.Mutex
	nodes []*Node // that have not been ended by us, by slot
	next  int32   // ID
}

// New makes a Fleet without nodes.
func New(cfg Config) *Fleet {
	if cfg.Log == nil {
		cfg.Log = func(string) {}
	}
	return &Fleet{cfg: cfg}
}

// Nodes are those that were started and not ended, by slot.
func (f *Fleet) Nodes() []*Node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.nodes)
}

// Start runs a node in a slot, the only one there, to join the nodes there are.
func (f *Fleet) Start(slot int, flags ...string) (*Node, error) {
	f.mu.Lock()
	n := &Node{Name: fmt.Sprintf("n%d", slot), Slot: slot, ID: f.next}
	f.next++
	args := append(f.command(slot), "--name", n.Name, "--log", "json")
	for _, other := range f.nodes {
		if other.Gossip != "" {
			args = append(args, "--join", other.Gossip)
		}
	}
	f.mu.Unlock()
	args = append(append(args, f.cfg.Flags...), flags...)
	if err := n.start(args, f.cfg.Log); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes = append(f.nodes, n)
	slices.SortFunc(f.nodes, func(a, b *Node) int { return cmp.Compare(a.Slot, b.Slot) })
	return n, nil
}

// command runs serve in its place.
func (f *Fleet) command(slot int) []string {
	net := f.cfg.Net
	switch {
	case f.cfg.Alone:
		return append(slices.Clone(f.cfg.Command), "serve", "--http", "127.0.0.1:0")
	case net == nil:
		return append(slices.Clone(f.cfg.Command), "serve", "--http", "127.0.0.1:0", "--gossip", "127.0.0.1:0")
	}
	args := append([]string{"ip", "netns", "exec", net.space(slot)}, f.cfg.Command...)
	return append(args, "serve", "--http", net.outer(slot)+":0", "--gossip", net.Inner(slot)+":7946")
}

// gone takes a node off the list. Who ends one calls it first, so that nobody is told to
// join it.
func (f *Fleet) gone(n *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes = slices.DeleteFunc(f.nodes, func(m *Node) bool { return m == n })
}

// Kill ends a node without a chance to say goodbye.
func (f *Fleet) Kill(n *Node) {
	f.gone(n)
	n.Kill()
}

// Terminate ends a node in order, and returns how it went.
func (f *Fleet) Terminate(n *Node) error {
	f.gone(n)
	return n.Terminate()
}

// Close kills all nodes and waits for their end. The Net stays.
func (f *Fleet) Close() {
	for _, n := range f.Nodes() {
		f.Kill(n)
	}
}

// ErrLate means that something did not come about in time.
var ErrLate = errors.New("too late")

// Await polls until ok, and returns how long that took, or ErrLate.
func Await(within time.Duration, ok func() bool) (time.Duration, error) {
	tick, began := time.NewTicker(20*time.Millisecond), time.Now()
	defer tick.Stop()
	for !ok() {
		if time.Since(began) > within {
			return within, fmt.Errorf("%w: not within %v", ErrLate, within)
		}
		<-tick.C
	}
	return time.Since(began), nil
}

// Settled says whether all nodes are ready, in touch with all, and have told each other all.
func (f *Fleet) Settled() bool {
	nodes := f.Nodes()
	for _, n := range nodes {
		if !n.Ready() {
			return false
		}
		if s, err := n.Stats(); err != nil || !s.Settled(len(nodes)-1) {
			return false
		}
	}
	return true
}

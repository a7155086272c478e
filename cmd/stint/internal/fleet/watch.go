//go:build unix

package fleet

import (
	"sync"
	"time"
)

const (
	watchEvery = 200 * time.Millisecond
	// undrained is how long a take may stay with its node before it is in the log, on a
	// machine with little time for it. It is 100 ms at most if the node is let run.
	undrained = time.Second
)

// A Watch asks the nodes of a Fleet how they are, over and over, until Stop.
type Watch struct {
	fleet *Fleet
	stop  chan struct{}
	done  chan struct{}

	mu   sync.Mutex
	seen map[int32]*Seen
}

// Seen is what a Watch saw of a node.
type Seen struct {
	Safe      time.Time          // all that the node admitted before this, all others have acknowledged
	MaxMemory int64              // bytes
	MaxBound  map[string]float64 // of Stats.Limits
	MaxLag    time.Duration      // of any peer
	MaxGap    time.Duration
	MinNodes  int
	Last      Stats
	resumed   time.Time // when it last was known to be paused
}

// Watch starts one.
func (f *Fleet) Watch() *Watch {
	w := &Watch{fleet: f, stop: make(chan struct{}), done: make(chan struct{}), seen: make(map[int32]*Seen)}
	go w.run()
	return w
}

// Stop ends it.
func (w *Watch) Stop() {
	close(w.stop)
	<-w.done
}

func (w *Watch) run() {
	defer close(w.done)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var asking sync.WaitGroup
	busy := make(chan *Node, 1<<10) // nodes that have answered
	out := make(map[*Node]bool)     // that have not yet
	for {
		select {
		case n := <-busy:
			delete(out, n)
			continue
		case <-tick.C:
		case <-w.stop:
			asking.Wait()
			return
		}
		nodes := w.fleet.Nodes()
		for _, n := range nodes {
			if !out[n] {
				out[n] = true
				asking.Go(func() { w.ask(n, len(nodes)-1); busy <- n })
			}
		}
	}
}

// ask looks at a node, which may take as long as that is paused.
func (w *Watch) ask(n *Node, others int) {
	asked := time.Now()
	ready := n.Ready() // before that it knows little of the others
	s, err := n.Stats()
	memory, _ := n.Memory()
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.of(n)
	if late := time.Since(asked); late > undrained/2 || err != nil {
		seen.resumed = time.Now()
	}
	seen.MaxMemory = max(seen.MaxMemory, memory)
	if err != nil || !ready {
		return
	}
	seen.enter(&s)
	// What was taken just before a pause is drained only after it.
	if safe := asked.Add(-undrained); s.Settled(others) && safe.After(seen.resumed) {
		seen.Safe = safe
	}
}

func (s *Seen) enter(now *Stats) {
	s.Last = *now
	if s.MinNodes == 0 || now.Nodes < s.MinNodes {
		s.MinNodes = now.Nodes
	}
	s.MaxGap = max(s.MaxGap, millis(now.Gap))
	for _, l := range now.Limits {
		s.MaxBound[l.Name] = max(s.MaxBound[l.Name], l.Bound)
	}
	for _, p := range now.Peers {
		if p.State == "alive" {
			s.MaxLag = max(s.MaxLag, millis(p.LagMax))
		}
	}
}

func millis(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }

func (w *Watch) of(n *Node) *Seen {
	seen := w.seen[n.ID]
	if seen == nil {
		seen = &Seen{MaxBound: make(map[string]float64)}
		w.seen[n.ID] = seen
	}
	return seen
}

// Seen returns what was seen of a node.
func (w *Watch) Seen(n *Node) Seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.of(n)
}

// Worst is the worst of all nodes: ages, bounds, memory; Safe is of no use in it.
func (w *Watch) Worst() Seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := Seen{MaxBound: make(map[string]float64)}
	for _, s := range w.seen {
		all.MaxMemory, all.MaxLag, all.MaxGap = max(all.MaxMemory, s.MaxMemory), max(all.MaxLag, s.MaxLag), max(all.MaxGap, s.MaxGap)
		for name, b := range s.MaxBound {
			all.MaxBound[name] = max(all.MaxBound[name], b)
		}
		if all.MinNodes == 0 || s.MinNodes > 0 && s.MinNodes < all.MinNodes {
			all.MinNodes = s.MinNodes
		}
	}
	return all
}

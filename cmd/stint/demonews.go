package main

import (
	"context"
	"sync"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// demoNews keeps the worst of what nodes say of how well informed they are.
type demoNews struct {
	mu    sync.Mutex
	lag   time.Duration
	gap   time.Duration
	nodes int // fewest seen
}

// watch samples until the context ends, and once more then.
func (w *demoNews) watch(ctx context.Context, nodes []*demoNode) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, n := range nodes {
			w.sample(n)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			for _, n := range nodes {
				w.sample(n)
			}
			return
		}
	}
}

func (w *demoNews) sample(n *demoNode) {
	s := n.node.Stats()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range s.Peers {
		if !m.Self {
			w.lag = max(w.lag, m.LagMax)
		}
	}
	w.gap = max(w.gap, s.Gap)
	if w.nodes == 0 || s.Nodes < w.nodes {
		w.nodes = s.Nodes
	}
}

func (w *demoNews) worst() load.News {
	w.mu.Lock()
	defer w.mu.Unlock()
	return load.News{Age: w.lag + w.gap, Nodes: w.nodes}
}

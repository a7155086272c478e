//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/fleet"
	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// summary is what a soak amounts to.
type summary struct {
	began    time.Time
	faults   map[trouble]int
	checks   int   // times that all counts were compared
	missing  int64 // in the last: events told that some node does not count
	apart    int   // in the last: keys that nodes count differently
	restarts atomic.Int64

	calms         int
	excess, bound float64 // of the calm with the largest excess
	admitted      int64   // in calms
	refused       int64

	mu         sync.Mutex
	longSettle time.Duration
	longReady  time.Duration
}

func (s *summary) settled(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.longSettle = max(s.longSettle, took)
}

// compared notes how counts that are right stand to what was told.
func (s *summary) compared(counts [][]int64, want []fleet.Want) {
	s.checks++
	s.missing, s.apart = 0, 0
	for i, c := range counts {
		s.missing += max(0, want[i].Told-slices.Min(c))
		if slices.Min(c) != slices.Max(c) {
			s.apart++
		}
	}
}

func (s *summary) ready(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.longReady = max(s.longReady, took)
}

func (s *summary) calm(r *load.Result) {
	if s.calms++; s.calms == 1 || r.Excess > s.excess {
		s.excess, s.bound = r.Excess, 0
		if r.Bound != nil {
			s.bound = *r.Bound
		}
	}
	s.admitted, s.refused = s.admitted+r.Admitted, s.refused+r.Refused
}

// summary writes it for people.
func (s *soak) summary(seed uint64) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("seed", "%d", seed)
	row("lasted", "%v, %d nodes, %d keys of %d limits", time.Since(s.sum.began).Round(time.Second), soakNodes, len(s.book.Keys), len(s.book.Keys)/soakKeys)
	total := 0
	for _, kind := range troubles {
		row("  "+string(kind), "%d", s.sum.faults[kind])
		total += s.sum.faults[kind]
	}
	row("faults", "%d; %d restarts, ready after %v at most", total, s.sum.restarts.Load(), s.sum.longReady)
	by := s.book.Totals()
	row("takes", "%d: %d admitted, %d refused, %d unknown, %d not sent", by[0]+by[1]+by[2]+by[3],
		by[fleet.Admitted], by[fleet.Refused], by[fleet.Unknown], by[fleet.Unsent])
	exact, all := 0, fleet.Want{}
	for _, want := range s.book.Want() {
		if want.Exact() {
			exact++
		}
		all.Told, all.Unknown, all.Crashed = all.Told+want.Told, all.Unknown+want.Unknown, all.Crashed+want.Crashed
	}
	row("counts", "compared %d times, settled after %v at most: %d keys to the event, %d within what is unknown", s.sum.checks, s.sum.longSettle, exact, len(s.book.Keys)-exact)
	row("events", "%d told; %d unknown, %d that crashed nodes may have had to themselves", all.Told, all.Unknown, all.Crashed)
	row("missing", "%d events at some node; %d keys differ between nodes", s.sum.missing, s.sum.apart)
	row("flood", "%d times %s: %d admitted, %d refused, largest excess %.1f where the bound was %.1f", s.sum.calms, floodLimit,
		s.sum.admitted, s.sum.refused, s.sum.excess, s.sum.bound)
	lost := int64(0)
	for _, n := range s.Nodes() {
		if stats, err := n.Stats(); err == nil {
			lost += stats.Lost
		}
	}
	row("memory", "%d MB at most; %d drains lost at the nodes that live", s.watch.Worst().MaxMemory>>20, lost)
	w.Flush()
	return out.String()
}

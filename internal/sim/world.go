package sim

import (
	"fmt"
	"math/rand/v2"
)

// World is a cluster of engines, the network between them, and an oracle that watches
// both. Everything that happens is an event at one instant of virtual time; chance comes
// from one seed. A World is used by one goroutine.
type World struct {
	Stats Stats

	opts  Options
	now   int64
	rand  *rand.Rand
	queue queue

	nodes []*Node          // by place; a place's present incarnation, alive or not
	byID  map[uint64]*Node // every incarnation there ever was
	dead  []*Node          // incarnations that crashed, in that order
	cuts  map[[2]int]*cut  // by places: from, to
	calm  bool             // no more faults

	keys   []*key
	first  []int // of each limit, its first key
	hash   map[handle]int
	takes  []take
	since  int64   // what happened before was known to all: see comparable
	counts []int64 // spare
	err    error   // the first promise that was broken
}

// handle is how tables know a key.
type handle struct{ limit, hash uint64 }

// Stats counts what a run has seen, so that a sweep can show that it saw everything.
type Stats struct {
	Frames     int // delivered
	Takes      int // admitted
	Refused    int
	Redials    int // asked for by an engine
	Duplicates int // batches delivered that were applied already
	Gaps       int // acknowledgements that asked for what is missing
	Coalesced  int // batches sent from where an earlier one began, to another end
	Parts      int // batches in more than one frame
	Stale      int // frames of an old session delivered
	Crossed    int // frames delivered from or to an incarnation that is no more
	Full       int // times a log gave something up
	Lost       int // drains that a receiver counted as lost
	Restarts   int
	Handovers  int // nodes that left when all had heard them
	Forgiven   int64
	Compared   int     // balances found equal on all nodes
	Excess     float64 // the largest, in events
	Bound      int64   // the largest, where promise 3 is checked
	Nearest    float64 // the largest excess ÷ bound, where promise 3 is checked
}

// Add adds what another run has seen.
func (s *Stats) Add(o *Stats) {
	for sum, n := range map[*int]int{
		&s.Frames: o.Frames, &s.Takes: o.Takes, &s.Refused: o.Refused, &s.Redials: o.Redials,
		&s.Duplicates: o.Duplicates, &s.Gaps: o.Gaps, &s.Coalesced: o.Coalesced, &s.Parts: o.Parts,
		&s.Stale: o.Stale, &s.Crossed: o.Crossed, &s.Full: o.Full, &s.Lost: o.Lost,
		&s.Restarts: o.Restarts, &s.Handovers: o.Handovers, &s.Compared: o.Compared,
	} {
		*sum += n
	}
	s.Forgiven += o.Forgiven
	s.Bound = max(s.Bound, o.Bound)
	s.Excess, s.Nearest = max(s.Excess, o.Excess), max(s.Nearest, o.Nearest)
}

// New makes a world whose nodes do not know each other yet.
func New(o Options) *World {
	o = o.withDefaults()
	w := &World{opts: o, rand: rand.New(rand.NewPCG(o.Seed, 0x57494e54)), byID: make(map[uint64]*Node),
		cuts: make(map[[2]int]*cut), hash: make(map[handle]int)}
	for i, l := range o.Limits {
		w.first = append(w.first, len(w.keys))
		for k := range l.Keys {
			w.keys = append(w.keys, &key{index: len(w.keys), limit: i, name: fmt.Sprintf("k%d", k), Limit: l, def: l.def()})
		}
	}
	for place := range o.Nodes {
		w.nodes = append(w.nodes, nil)
		w.nodes[place] = w.birth(place, w.rand.Int64N(1<<40))
	}
	return w
}

// At has run happen at a time that is not past.
func (w *World) At(at int64, run func()) { w.queue.push(max(at, w.now), run) }

// After has run happen in so much time.
func (w *World) After(d int64, run func()) { w.At(w.now+d, run) }

// Run lets so much time pass, or less if a promise is broken. It returns which.
func (w *World) Run(d int64) error {
	for end := w.now + d; w.err == nil; {
		if len(w.queue.heap) == 0 || w.queue.heap[0].at > end {
			w.now = end
			return nil
		}
		e := w.queue.pop()
		w.now = e.at
		e.run()
	}
	return w.err
}

// Quiet ends all faults, brings everyone back in touch, and lets time pass until all
// that was spent is known everywhere. Then it checks what must hold of a quiet cluster.
func (w *World) Quiet(atMost int64) error {
	w.heal()
	const step = 50 * Millisecond
	for spent := int64(0); ; spent += step {
		if err := w.Run(step); err != nil {
			return err
		}
		if w.settled() {
			return w.checkQuiet()
		}
		if spent > atMost {
			return w.failf("not quiet after %d ms: %s", spent/Millisecond, w.restless())
		}
	}
}

// chance is true for a share of the times it is asked.
func (w *World) chance(share float64) bool { return share > 0 && w.rand.Float64() < share }

// between is a length of time from low to high.
func (w *World) between(low, high int64) int64 { return low + w.rand.Int64N(high-low+1) }

// failf notes the first broken promise.
func (w *World) failf(format string, args ...any) error {
	if w.err == nil {
		w.err = fmt.Errorf("seed %d at %.6f s: %w", w.opts.Seed, float64(w.now)/Second, fmt.Errorf(format, args...))
		w.tracef("BROKEN %v", w.err)
	}
	return w.err
}

func (w *World) tracing() bool { return w.opts.Trace != nil }

// tracef writes one line of the trace.
func (w *World) tracef(format string, args ...any) {
	if w.tracing() {
		fmt.Fprintf(w.opts.Trace, "%12.6f  %s\n", float64(w.now)/Second, fmt.Sprintf(format, args...))
	}
}

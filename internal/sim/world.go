package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stint-go/stint/gossip"
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

	present []Limit // as a node that is born now has them
	keys    []*key
	first   []int // of each limit, its first key
	hash    map[handle]int
	takes   []take
	grants  []grant
	since   int64 // what happened before was known to all: see comparable
	err     error // the first promise that was broken

	skews   []int64 // of wall clocks, by place
	spots   []spot
	spotAt  map[spot]int
	total   sums         // by spot: all that counts there, of whoever lived
	foreign map[int]bool // spots of which somebody counts something elsewhere, or the reverse
	counts  sums         // spare

	before, after []number // spare, by key
	applied       []int    // spare

	holds  map[gossip.RecordKey]*holding
	made   []*holding // the same, in order
	bans   map[gossip.RecordKey]*banning
	banned []*banning
}

// handle is how tables know a key.
type handle struct{ limit, hash uint64 }

// New makes a world whose nodes do not know each other yet.
func New(o Options) *World {
	o = o.withDefaults()
	w := &World{opts: o, rand: rand.New(rand.NewPCG(o.Seed, 0x57494e54)), byID: make(map[uint64]*Node),
		cuts: make(map[[2]int]*cut), hash: make(map[handle]int),
		skews: make([]int64, o.Nodes), spotAt: make(map[spot]int), foreign: make(map[int]bool),
		holds: make(map[gossip.RecordKey]*holding), bans: make(map[gossip.RecordKey]*banning)}
	copy(w.skews, o.Skews)
	w.present = slices.Clone(o.Limits)
	for i, l := range o.Limits {
		w.first = append(w.first, len(w.keys))
		for k := range l.Keys {
			w.keys = append(w.keys, &key{index: len(w.keys), limit: i, name: fmt.Sprintf("k%d", k), Limit: l, def: l.def(), trues: make(map[int64]*trueWindow)})
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

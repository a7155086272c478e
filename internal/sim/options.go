package sim

import (
	"cmp"
	"io"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/engine"
)

// Options describes a world. All lengths of time are nanoseconds of virtual time.
type Options struct {
	Seed     uint64
	Nodes    int // default 5
	Limits   []Limit
	Net      Net
	Sync     int64         // of the engines; default theirs
	Ledger   gossip.Config // times and bounds; the rest is filled in
	PPM      int64         // clocks are up to so much fast or slow
	Epoch    int64         // what a right wall clock shows at virtual time 0; default some day in 2023
	Skews    []int64       // by place, how far wall clocks are ahead; none: all are right
	CutKeys  int           // of the engines; default theirs
	Joins    bool          // who is born takes over the counts of those who are there
	Alone    bool          // the first to be born was told of nobody: it is ready at once
	Lossy    bool          // drains may be lost, if they are counted
	InTouch  bool          // promise 3 holds: constant delay, nothing lost, clocks of one speed
	RateOnly bool          // promise 3 is not judged, so that promise 4 can be seen to fail
	Trace    io.Writer     // gets a line for all that happens; nil: none
	Mutant   Mutant
}

// Net is how frames travel while nothing is cut or broken.
type Net struct {
	Delay   int64   // one way; default 1 ms
	Jitter  int64   // up to so much more, each frame anew
	Loss    float64 // share of frames that vanish
	Double  float64 // share that arrives twice
	Reorder float64 // share that does not wait for those sent before it
}

// Mutant breaks rules of the protocol from outside, to show that the oracle notices.
// The zero Mutant breaks none.
type Mutant struct {
	Table   func(*Node, engine.Table) engine.Table      // put between each engine and its table
	Compose func(a, b gossip.Entry) gossip.Entry        // instead of the engine's
	Send    func(w *World, from, to *Node, data []byte) // sees each frame as it is sent
	Deliver func(w *World, from, to *Node, data []byte) []byte
	Told    bool // what a hold takes is told as an amount as well
}

func (o Options) withDefaults() Options {
	o.Nodes = cmp.Or(o.Nodes, 5)
	o.Net.Delay = cmp.Or(o.Net.Delay, Millisecond)
	o.Epoch = cmp.Or(o.Epoch, 1_700_000_000*Second+100*Millisecond)
	return o
}

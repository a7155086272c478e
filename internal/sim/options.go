package sim

import (
	"cmp"
	"fmt"
	"io"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/engine"
	"github.com/stint-go/stint/internal/table"
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

// Limit is a limit and its keys. Every node has it, but for the last so many.
type Limit struct {
	Name   string
	Events int64
	Per    int64 // ns
	Burst  int64
	Keys   int

	Without int  // nodes that do not define it until World.Define
	Opaque  bool // its text means nothing to peers
}

func (l Limit) text() string {
	if l.Opaque {
		return "in words of a later version"
	}
	return fmt.Sprintf("%d/%d/%d", l.Events, l.Per, l.Burst)
}

func (l Limit) def() table.Def {
	return table.Def{Kind: table.Bucket, Bucket: bucket.New(l.Events, l.Per, l.Burst), Shared: true}
}

// interval is T, in nanoseconds.
func (l Limit) interval() float64 { return float64(l.Per) / float64(l.Events) }

// rate is events in so many nanoseconds.
func (l Limit) rate(d int64) float64 { return float64(d) / l.interval() }

func parse(text string) table.Def {
	var l Limit
	if _, err := fmt.Sscanf(text, "%d/%d/%d", &l.Events, &l.Per, &l.Burst); err != nil {
		return table.Def{}
	}
	return l.def()
}

// Mutant breaks rules of the protocol from outside, to show that the oracle notices.
// The zero Mutant breaks none.
type Mutant struct {
	Table   func(engine.Table) engine.Table             // put between each engine and its table
	Compose func(a, b gossip.Entry) gossip.Entry        // instead of the engine's
	Send    func(w *World, from, to *Node, data []byte) // sees each frame as it is sent
	Deliver func(w *World, from, to *Node, data []byte) []byte
}

func (o Options) withDefaults() Options {
	o.Nodes = cmp.Or(o.Nodes, 5)
	o.Net.Delay = cmp.Or(o.Net.Delay, Millisecond)
	return o
}

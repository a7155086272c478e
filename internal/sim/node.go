package sim

import (
	"fmt"
	"slices"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/engine"
	"github.com/stint-go/stint/internal/table"
)

// Node is one incarnation of a node: a real engine over a real table, as the root
// package has them, with the world in place of clock and cluster.
type Node struct {
	w       *World
	place   int
	name    string
	id      uint64 // incarnation
	clock   clock
	table   *table.Table
	engine  *engine.Engine
	limits  []*table.Limit
	defs    []Limit // as the node has them
	tallies []tally // by key

	offset, offsetAt int64 // of cluster time, when it was last told
	furthest         int64 // that cluster time has ever been

	gone     bool
	leaving  bool  // it drains and decides no more
	stepping bool  // what is charged now nobody told
	stalled  int64 // virtual; it decides, but hears and tells nothing before
	wakeAt   int64 // virtual; of the step that is due next
	knows    map[uint64]bool
	links    map[uint64]*link // outgoing

	book   book
	coming *arrival // while it takes in what a donor gives
	cut    bool     // its table was, by what is being taken in
}

// birth starts a node whose clock shows offset at virtual time 0.
func (w *World) birth(place int, offset int64) *Node {
	n := &Node{
		w: w, place: place, name: fmt.Sprintf("n%d", place), id: w.rand.Uint64() | 1, wakeAt: never,
		knows: make(map[uint64]bool), links: make(map[uint64]*link), book: newBook(len(w.keys)),
	}
	n.tallies = make([]tally, len(w.keys))
	n.clock.offset = offset + Second
	if w.opts.PPM > 0 {
		n.clock.ppb = 1000 * w.between(-w.opts.PPM, w.opts.PPM)
	}
	n.table = table.New(table.Config{MaxKeys: 1024, Seed: [16]byte{1}, Record: true, Poke: n.poke})
	n.engine = engine.New(n.now(), w.engineConfig(n))
	w.byID[n.id] = n
	w.tracef("%v is born as %x", n, n.id)
	n.limits = make([]*table.Limit, len(w.opts.Limits))
	n.defs = slices.Clone(w.present)
	for i, l := range w.opts.Limits {
		if place < w.opts.Nodes-l.Without {
			n.define(i)
		}
	}
	n.act(func(int64) {})
	return n
}

func (w *World) engineConfig(n *Node) engine.Config {
	cfg := engine.Config{Sync: w.opts.Sync, CutKeys: w.opts.CutKeys, Parse: parse, Wall: n.wall, Ledger: w.opts.Ledger, Send: func(f gossip.Frame) { n.send(f.To, f.Bytes()) }, Redial: n.redial, Note: n.note}
	cfg.Ledger.Incarnation, cfg.Ledger.Seed, cfg.Ledger.Rand = n.id, 1, w.rand.Uint64
	cfg.Ledger.Name, cfg.Ledger.Joins, cfg.Ledger.First = n.name, w.opts.Joins, w.opts.Alone && len(w.byID) == 0
	cfg.Ledger.Compose = w.opts.Mutant.Compose
	cfg.Table = &audited{n.table, n}
	if w.opts.Mutant.Table != nil {
		cfg.Table = w.opts.Mutant.Table(n, cfg.Table)
	}
	return cfg
}

// define puts a limit in force at the node and announces it.
func (n *Node) define(i int) {
	l := n.defs[i]
	handleOf, err := n.table.Define(l.Name, l.def())
	if err != nil {
		panic(err)
	}
	n.limits[i] = handleOf
	for k := range l.Keys {
		hash := handleOf.Hash(fmt.Sprintf("k%d", k))
		n.w.hash[handle{handleOf.ID(), hash}] = n.w.first[i] + k
		n.w.keys[n.w.first[i]+k].chunk = gossip.ChunkOf(hash)
	}
	n.engine.Define(n.now(), gossip.Definition{ID: handleOf.ID(), Name: l.Name, Text: l.text()})
	n.seal()
}

// Define has a node without a limit define it.
func (w *World) Define(place, limit int) {
	n := w.nodes[place]
	w.tracef("%v defines %s", n, w.opts.Limits[limit].Name)
	n.act(func(int64) { n.define(limit) })
}

// limit is the definition of a key's limit that the node has.
func (n *Node) limit(k *key) Limit { return n.defs[k.limit] }

func (n *Node) now() int64 { return n.clock.read(n.w.now) }

// String is the node's name; a later incarnation's has a mark.
func (n *Node) String() string {
	if n.gone {
		return n.name + "†"
	}
	return n.name
}

// act has the engine take something in and do what is due, as the root package does.
func (n *Node) act(f func(now int64)) {
	f(n.now())
	n.seal()
	n.step()
}

func (n *Node) step() {
	n.book.charged = n.book.charged[:0]
	n.stepping = true
	next := int64(0)
	if n.leaving {
		next = n.engine.Serve(n.now())
	} else {
		next = n.engine.Step(n.now())
	}
	n.stepping = false
	n.expires()
	n.seal()
	n.wake(min(max(n.clock.when(next), n.w.now+1), never))
}

// wake has the node step at a time, unless it will sooner.
func (n *Node) wake(at int64) {
	if n.wakeAt <= at && n.wakeAt > n.w.now {
		return
	}
	n.wakeAt = at
	n.w.At(at, func() {
		if n.wakeAt == n.w.now && !n.gone {
			n.wakeAt = never
			n.resume()
		}
	})
}

// resume is a step that a stall puts off.
func (n *Node) resume() {
	if n.stalled > n.w.now {
		n.wake(n.stalled)
		return
	}
	n.step()
}

// stall stops a node's gossip for a while, as a busy machine does.
func (n *Node) stall(d int64) {
	n.w.tracef("%v stalls", n)
	n.stalled = n.w.now + d
}

// poke is the table saying that an entry has become urgent; what it sets off happens at
// the same instant, after what is happening now.
func (n *Node) poke() {
	if n.engine.Poke() {
		n.wake(n.w.now)
	}
}

func (n *Node) note(m gossip.Note) {
	n.w.observeNote(m)
	n.w.tracef("%v notes: %s", n, m.Text)
}

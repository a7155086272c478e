// Package engine joins the table and the log: what a table's takes spend becomes
// drains and batches, and what peers' batches say is charged to the table. It starts
// no goroutine and reads no clock, so that a Node can wrap it in both and a simulator
// in neither.
//
// An Engine is not safe for concurrent use, but for [Engine.Poke]; the table under it
// is.
package engine

import (
	"math"
	"sync/atomic"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// Table is what an engine needs of a [table.Table]. It is an interface so that a
// simulator can see what is drained and charged.
type Table interface {
	Lookup(id uint64) *table.Limit
	Learn(id uint64, d table.Def) (*table.Limit, error)
	Drain(urgentOnly bool, emit func(l *table.Limit, hash uint64, n, start int64)) (since int64, any bool)
	Charge(l *table.Limit, hash uint64, now, n, start, debt int64)
	SetNodes(n int)
	Sweep(now int64, shards int)
}

// Config says what an engine works on. Send, Redial and Note are called from within
// the engine's methods and must not call back.
type Config struct {
	Table  Table
	Ledger gossip.Config // Compose is filled in here unless set
	Sync   int64         // everything spent is told after so many ns at the latest; default 100 ms

	// Parse turns the text form of a peer's limit into a definition; one that it does
	// not understand gives table.Unknown, whose amounts are kept until it does.
	Parse func(text string) table.Def

	Send   func(to uint64, frame []byte)
	Redial func(to uint64)
	Note   func(gossip.Note)
}

// Engine is one node's table and log at work.
type Engine struct {
	cfg    Config
	table  Table
	ledger *gossip.Ledger
	nodes  int // alive, this one included
	alive  map[uint64]bool
	most   int   // nodes whose fresh news may still come; most ≥ nodes
	fewer  int64 // when nodes last fell

	poked   atomic.Bool // an entry is urgent
	drained int64       // when the last drain was
	synced  int64       // when the last drain of everything was
	entries []gossip.Entry

	limit   *table.Limit // of the last charge: they come grouped
	heard   map[uint64]*hearing
	dropped int64 // events of limits past the table's bound
}

// sweepShards is how many shards of the table are swept in each sync interval.
const sweepShards = 4

// New makes the engine of a node that is alone.
func New(now int64, cfg Config) *Engine {
	if cfg.Sync <= 0 {
		cfg.Sync = 100_000_000
	}
	e := &Engine{cfg: cfg, table: cfg.Table, nodes: 1, alive: make(map[uint64]bool), heard: make(map[uint64]*hearing)}
	cfg.Ledger.Born = now
	if cfg.Ledger.Compose == nil {
		cfg.Ledger.Compose = e.compose
	}
	e.ledger = gossip.New(cfg.Ledger)
	e.drained, e.synced = now, now
	return e
}

// Poke says that an entry of the table has become urgent: the next Step drains what
// is. It reports whether nobody had said so since the last urgent drain. Safe for
// concurrent use.
func (e *Engine) Poke() bool { return !e.poked.Swap(true) }

// Define announces a limit of this node to its peers.
func (e *Engine) Define(now int64, d gossip.Definition) {
	e.ledger.Define(now, d)
	e.settle(now)
}

// Up says that a member is alive.
func (e *Engine) Up(now int64, peer uint64, name string) {
	e.alive[peer] = true
	e.ledger.Up(now, peer, name)
	e.count(now)
}

// Down says that a member was declared dead, or has left.
func (e *Engine) Down(now int64, peer uint64) {
	delete(e.alive, peer)
	delete(e.heard, peer)
	e.ledger.Down(now, peer)
	e.count(now)
}

// Open says that a fresh stream to a member is there.
func (e *Engine) Open(now int64, peer uint64) { e.ledger.Open(now, peer); e.settle(now) }

// Closed says that the stream to a member broke.
func (e *Engine) Closed(peer uint64) { e.ledger.Closed(peer) }

func (e *Engine) count(now int64) {
	nodes := len(e.alive) + 1
	if nodes < e.nodes {
		e.fewer = now
	}
	e.nodes, e.most = nodes, max(e.most, nodes)
	e.table.SetNodes(e.nodes)
	e.settle(now)
}

// Receive takes in a frame that came from a peer. The error says why a malformed one
// was dropped.
func (e *Engine) Receive(now int64, from uint64, frame []byte) error {
	err := e.ledger.Receive(now, from, frame)
	e.settle(now)
	return err
}

// Step does what is due: everything unsent is drained once in a sync interval, urgent
// entries as soon as the gap between two batches allows, and the links are served. It
// returns the time by which it must be called again, earlier only if poked.
func (e *Engine) Step(now int64) (next int64) {
	switch due := e.drained + e.ledger.Gap(); {
	case now-e.synced >= e.cfg.Sync:
		e.Drain(now)
		e.table.Sweep(now, sweepShards)
		e.age(now)
	case e.poked.Load() && now >= due:
		e.drain(now, true)
	}
	next = min(e.ledger.Tick(now), e.synced+e.cfg.Sync)
	if e.poked.Load() {
		next = min(next, e.drained+e.ledger.Gap())
	}
	e.settle(now)
	return next
}

// Serve is Step without draining: what is unsent stays so.
func (e *Engine) Serve(now int64) (next int64) {
	next = e.ledger.Tick(now)
	e.settle(now)
	return next
}

// Drain puts everything unsent into the log now.
func (e *Engine) Drain(now int64) {
	e.drain(now, false)
	e.synced = now
}

func (e *Engine) drain(now int64, urgentOnly bool) {
	e.poked.Store(false)
	e.drained = now
	e.entries = e.entries[:0]
	since, _ := e.table.Drain(urgentOnly, func(l *table.Limit, hash uint64, n, start int64) {
		e.entries = append(e.entries, gossip.Entry{Limit: l.ID(), Hash: hash, N: n, Start: min(start, now)})
	})
	if len(e.entries) > 0 {
		e.ledger.Append(now, since, e.entries)
	}
	if cap(e.entries) > 1<<16 {
		e.entries = nil
	}
}

// settle applies what peers have said, then hands out what the ledger wants sent: an
// acknowledgement leaves after its charges are in the table.
func (e *Engine) settle(now int64) {
	out := e.ledger.Output()
	for _, d := range out.Definitions {
		e.learn(d)
	}
	for i := range out.Charges {
		e.charge(now, &out.Charges[i])
	}
	for _, f := range out.Frames {
		e.cfg.Send(f.To, f.Data)
	}
	for _, peer := range out.Redial {
		e.cfg.Redial(peer)
	}
	for _, n := range out.Notes {
		e.cfg.Note(n)
	}
}

// learn takes a peer's definition for limits that this node has none of its own for.
func (e *Engine) learn(d gossip.Definition) {
	if d.ID != table.ID(d.Name) {
		return
	}
	if _, err := e.table.Learn(d.ID, e.cfg.Parse(d.Text)); err != nil {
		e.cfg.Note(gossip.Note{Text: "limit " + d.Name + " of a peer: " + err.Error()})
	}
	e.limit = nil
}

// charge applies one entry of a peer. News older than bucket.FreshFor pushes a key no
// further than one burst into debt; fresher news counts in full.
func (e *Engine) charge(now int64, c *gossip.Charge) {
	if e.limit == nil || e.limit.ID() != c.Limit {
		l := e.table.Lookup(c.Limit)
		if l == nil {
			var err error
			if l, err = e.table.Learn(c.Limit, table.Def{}); err != nil {
				e.dropped += max(c.N, 0)
				return
			}
		}
		e.limit = l
	}
	def := e.limit.Def()
	if e.limit.Defined() && !def.Shared {
		return // here each node has the whole limit
	}
	debt := def.Bucket.DebtStale()
	if now-c.Start < bucket.FreshFor {
		debt = def.Bucket.Debt(e.tellers(now))
	}
	e.note(now, c)
	e.table.Charge(e.limit, c.Hash, now, c.N, c.Start, debt)
}

// tellers is how many nodes, this one included, fresh news may be of: those who were
// alive when it was fresh, and in any case the one that tells it. A node may be declared
// dead, wrongly or not, with its news under way.
func (e *Engine) tellers(now int64) int {
	if now-e.fewer >= bucket.FreshFor {
		e.most = e.nodes
	}
	return max(e.most, 2)
}

// compose is what a and then b spent on one key of one limit.
func (e *Engine) compose(a, b gossip.Entry) gossip.Entry {
	if l := e.table.Lookup(a.Limit); l != nil && l.Def().Kind == table.Bucket {
		rate := &l.Def().Bucket
		run := rate.Compose(rate.RunFrom(a.N, a.Start), rate.RunFrom(b.N, b.Start))
		a.N, a.Start = run.N, rate.Start(run)
		return a
	}
	n := a.N + b.N
	if (n > a.N) != (b.N > 0) && b.N != 0 {
		n = math.MaxInt64
	}
	a.N, a.Start = n, max(a.Start, b.Start)
	return a
}

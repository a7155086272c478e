// Package engine joins the table and the log: what a table's takes spend becomes
// drains and batches, and what peers' batches say is charged to the table. It starts
// no goroutine and reads no clock, so that a Node can wrap it in both and a simulator
// in neither.
//
// An Engine is not safe for concurrent use, but for [Engine.Poke]; the table under it
// is.
package engine

import (
	"cmp"
	"errors"
	"math"
	"sync/atomic"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
	"github.com/stint-go/stint/window"
)

// Table is what an engine needs of a [table.Table]. It is an interface so that a
// simulator can see what is drained and charged.
type Table interface {
	Lookup(id uint64) *table.Limit
	Learn(id uint64, d table.Def) (*table.Limit, error)
	Drain(urgentOnly bool, emit func(l *table.Limit, hash uint64, r table.Row)) (since int64, any bool)
	Charge(l *table.Limit, hash uint64, now int64, r table.Row, debt int64)
	Ban(l *table.Limit, hash uint64, now, until int64) error
	SetNodes(n int)
	SetWall(offset int64)
	Wall(now int64) int64
	Sweep(now int64, shards int)
	Cut(now int64, first, last uint64, told func(l *table.Limit, hash uint64, r table.Row), emit func(l *table.Limit, s *table.Saved))
	Merge(l *table.Limit, now int64, o table.Other)
	Nothing(l *table.Limit, hash uint64, now int64) table.Other
	Keys(first, last uint64, emit func(l *table.Limit, hash uint64))
	Stats() table.Stats
}

// Config says what an engine works on. Send, Redial and Note are called from within
// the engine's methods and must not call back.
type Config struct {
	Table  Table
	Ledger gossip.Config // Compose is filled in here unless set
	Sync   int64         // everything spent is told after so many ns at the latest; default 100 ms

	// CutKeys is about how many keys a newcomer is given at a time: what that takes holds
	// up this node's gossip, though none of its takes. Default 16,384.
	CutKeys int

	// Wall is what the node's wall clock shows, in ns since the Unix epoch, less the now of
	// that moment. Windows are cut by what the cluster's clocks agree on; nil is 0.
	Wall func() int64

	// Parse turns the text form of a peer's limit into a definition; one that it does
	// not understand gives table.Unknown, whose amounts are kept until it does.
	Parse func(text string) table.Def

	Send   func(gossip.Frame)
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

	clock *window.Clock
	at    int64   // when the clock was last told
	walls []int64 // of the peers against ours; scratch

	longest int64 // memory of any limit

	adopted int64 // when it took over the donor's cluster time, while it joins

	holds map[hold]*held
	ends  ends
	keep  int64                              // ns for which holds are remembered after their end
	bans  map[gossip.RecordKey]gossip.Record // of limits that are not shared
	texts map[uint64]gossip.Definition       // all known, this node's own before those of peers

	limit   *table.Limit // of the last charge: they come grouped
	heard   map[uint64]*hearing
	excess  map[uint64]*peak // by limit
	dropped int64            // events of limits past the table's bound
	told    map[string]bool  // faults of peers' limits and bans that were noted, by their cause
}

// sweepShards is how many shards of the table are swept in each sync interval.
const sweepShards = 4

// New makes the engine of a node that is alone.
func New(now int64, cfg Config) *Engine {
	if cfg.Sync <= 0 {
		cfg.Sync = 100_000_000
	}
	if cfg.CutKeys <= 0 {
		cfg.CutKeys = 16_384
	}
	if cfg.Wall == nil {
		cfg.Wall = func() int64 { return 0 }
	}
	e := &Engine{
		cfg: cfg, table: cfg.Table, nodes: 1, alive: make(map[uint64]bool), heard: make(map[uint64]*hearing),
		clock: window.NewClock(cfg.Wall()), holds: make(map[hold]*held), bans: make(map[gossip.RecordKey]gossip.Record),
		texts: make(map[uint64]gossip.Definition), excess: make(map[uint64]*peak), adopted: never, told: make(map[string]bool),
	}
	cfg.Ledger.Born = now
	if cfg.Ledger.Compose == nil {
		cfg.Ledger.Compose = e.compose
	}
	cfg.Ledger.Expired, cfg.Ledger.Stale = e.over, e.stale
	cfg.Ledger.Memory = func() int64 { return e.longest }
	e.ledger = gossip.New(cfg.Ledger)
	e.keep = 2 * cmp.Or(cfg.Ledger.PartitionMemory, 600*second)
	e.drained, e.synced = now, now
	e.tell(now)
	return e
}

// Poke says that an entry of the table has become urgent: the next Step drains what
// is. It reports whether nobody had said so since the last urgent drain. Safe for
// concurrent use.
func (e *Engine) Poke() bool { return !e.poked.Swap(true) }

// Define announces a limit of this node to its peers.
func (e *Engine) Define(now int64, d gossip.Definition) {
	e.ledger.Define(now, d)
	e.texts[d.ID] = d
	e.remembers(d.ID)
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
		e.tell(now)
		e.expire(now)
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
	since, _ := e.table.Drain(urgentOnly, func(l *table.Limit, hash uint64, r table.Row) {
		e.entries = append(e.entries, entryOf(now, l, hash, r))
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
	for i := range out.Chunks {
		e.merge(now, &out.Chunks[i])
	}
	for i := range out.Charges {
		e.charge(now, &out.Charges[i])
	}
	for i := range out.Records {
		e.heed(now, out.Records[i].New)
	}
	for _, f := range out.Frames {
		e.cfg.Send(f)
	}
	for _, peer := range out.Redial {
		e.cfg.Redial(peer)
	}
	for _, n := range out.Notes {
		e.cfg.Note(n)
	}
	if len(out.Wants) > 0 {
		for _, w := range out.Wants {
			e.serve(now, w)
		}
		e.settle(now)
	}
}

// maxText is more bytes than the name or text of any limit has.
const maxText = 1024

var errLongText = errors.New("its name or text is longer than any can be")

// complain notes what is wrong with something of a peer, the first time for each cause:
// peers repeat themselves.
func (e *Engine) complain(peer uint64, what string, err error) {
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next
	}
	if !e.told[cause.Error()] {
		e.told[cause.Error()] = true
		e.cfg.Note(gossip.Note{Peer: peer, Text: what + ": " + err.Error()})
	}
}

// learn takes a peer's definition for limits that this node has none of its own for.
func (e *Engine) learn(d gossip.Definition) {
	if len(d.Name) > maxText || len(d.Text) > maxText {
		e.complain(0, "a limit of a peer", errLongText)
		return
	}
	if d.ID != table.ID(d.Name) {
		return
	}
	if _, err := e.table.Learn(d.ID, e.cfg.Parse(d.Text)); err != nil {
		e.complain(0, "limit "+d.Name+" of a peer", err)
	} else if l := e.table.Lookup(d.ID); !l.Defined() {
		e.texts[d.ID] = d
		e.remembers(d.ID)
	}
	e.limit = nil
}

// charge applies one entry of a peer.
func (e *Engine) charge(now int64, c *gossip.Charge) {
	l := e.limitOf(c.Limit)
	if l == nil {
		e.dropped += max(c.N, 0)
		return
	}
	def := l.Def()
	if l.Defined() && !def.Shared {
		return // here each node has the whole limit
	}
	e.note(now, c)
	e.table.Charge(l, c.Hash, now, table.Row{N: c.N, Start: c.Start, Per: c.Per}, e.debt(now, def, c.Start, c.Per))
	e.exceeded(now, l)
}

// debt is how far news may push a bucket below empty: if it is older than
// bucket.FreshFor, by one burst; fresher news counts in full.
func (e *Engine) debt(now int64, def *table.Def, start, per int64) int64 {
	switch {
	case def.Kind != table.Bucket:
		return 0
	case per != 0 || now-start < bucket.FreshFor:
		return def.Bucket.Debt(e.tellers(now))
	}
	return def.Bucket.DebtStale()
}

// limitOf is the limit of an amount, unknown so far if need be; nil if there is no room.
func (e *Engine) limitOf(id uint64) *table.Limit {
	if e.limit == nil || e.limit.ID() != id {
		l := e.table.Lookup(id)
		if l == nil {
			var err error
			if l, err = e.table.Learn(id, table.Def{}); err != nil {
				return nil
			}
		}
		e.limit = l
	}
	return e.limit
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

package engine

import (
	"math"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// hearing is what one peer has told us of.
type hearing struct {
	age    int64 // of its news at worst, with the gap between two batches; ns
	limits map[uint64]*spending
}

// spending is the most events that a peer told us of, under one limit, in any stretch
// as long as its news is old: what it may have spent unheard. Events are counted in
// stretches that start at least that far apart, so that two neighbours cover any other
// of that length.
type spending struct {
	since           int64
	current, before int64 // events of this stretch, and of its neighbour
	peak                  // of two neighbours
}

// peak is the most of the last 10 to 20 s: of these 10 s, and of the 10 s before.
type peak struct{ turnedAt, most, mostBefore int64 }

const (
	second   = 1_000_000_000
	patience = second / 2 // with a sign of life that is late
)

func (s *spending) add(now, n, length int64) {
	switch past := now - s.since; {
	case past >= 2*length:
		s.since, s.current, s.before = now, 0, 0
	case past >= length:
		s.since, s.current, s.before = now, 0, s.current
	}
	s.current += n
	s.see(now, s.before+s.current)
}

func (p *peak) see(now, n int64) {
	p.turn(now)
	p.most = max(p.most, n)
}

func (p *peak) turn(now int64) {
	switch past := now - p.turnedAt; {
	case past >= 20*second:
		p.turnedAt, p.most, p.mostBefore = now, 0, 0
	case past >= 10*second:
		p.turnedAt, p.most, p.mostBefore = now, 0, p.most
	}
}

// of is the most, of late.
func (p *peak) of(now int64) int64 {
	p.turn(now)
	return max(p.most, p.mostBefore)
}

func (e *Engine) note(now int64, c *gossip.Charge) {
	if !e.alive[c.Origin] {
		return // its last words; nothing would forget them
	}
	h := e.heard[c.Origin]
	if h == nil {
		h = &hearing{limits: make(map[uint64]*spending)}
		e.heard[c.Origin] = h
	}
	s := h.limits[c.Limit]
	if s == nil {
		s = &spending{since: now, peak: peak{turnedAt: now}}
		h.limits[c.Limit] = s
	}
	s.add(now, max(c.N, 0), max(h.age, e.ledger.Gap()))
}

// age brings up to date how old the peers' news is.
func (e *Engine) age(now int64) {
	for _, s := range e.ledger.Links(now) {
		if h := e.heard[s.Peer]; h != nil {
			h.age = s.LagMax + e.ledger.Gap()
		}
	}
}

// Bound is promise 3 with measured figures: by how many events any one key of a limit
// may now stand above burst + rate·t, because of what the peers in touch have spent
// and this node has not heard. For each peer that is what it may hold unsent, θ − 1,
// and what it spends while its news is under way: the most that it told of in any
// stretch as long as the worst age of its news, over the last 10 to 20 s, but never more
// than the limit lets one node spend in that time, which is what counts of one whose news
// is overdue. A burst that strikes all nodes at one instant is known, and counts, once
// they have told of it.
func (e *Engine) Bound(now int64, l *table.Limit) float64 {
	burst, rate := e.capacity(now, l.Def())
	if burst == 0 || !l.Def().Shared {
		return 0
	}
	theta := max(1, burst/float64(2*e.nodes))
	sum := 0.0
	for _, s := range e.ledger.Links(now) {
		if !s.Alive {
			continue
		}
		age := float64(s.LagMax+e.ledger.Gap()) / second
		spent, most := 0.0, burst+rate*age
		if h := e.heard[s.Peer]; h != nil && h.limits[l.ID()] != nil {
			spent = float64(h.limits[l.ID()].of(now))
		}
		if s.Overdue > patience {
			spent = most
		}
		sum += min(theta-1+spent, most)
	}
	return math.Ceil(sum)
}

// exceeded notes by how much charges have left keys of a limit beyond it.
func (e *Engine) exceeded(now int64, l *table.Limit) {
	n := l.Exceeded()
	if n == 0 {
		return
	}
	p := e.excess[l.ID()]
	if p == nil {
		p = &peak{turnedAt: now}
		e.excess[l.ID()] = p
	}
	p.see(now, n)
}

// Excess is by how many events the key of a limit that others and this node have together
// overspent most stood beyond it, in the last 10 to 20 s, as far as this node has heard.
func (e *Engine) Excess(now int64, l *table.Limit) int64 {
	if p := e.excess[l.ID()]; p != nil {
		return p.of(now)
	}
	return 0
}

// capacity is how much a key of a limit can have at once, and how much comes back in a
// second; nothing of a limit that does not count.
func (e *Engine) capacity(now int64, d *table.Def) (burst, rate float64) {
	switch d.Kind {
	case table.Bucket:
		return float64(d.Bucket.Burst()), d.Bucket.PerSecond()
	case table.Window:
		f := d.Window.Frame(e.table.Wall(now))
		return float64(d.Window.Events()), float64(d.Window.Events()) * second / float64(f.To-f.From)
	case table.Log:
		return float64(d.Log.Events()), float64(d.Log.Events()) * second / float64(d.Log.Per())
	}
	return 0, 0
}

// Links is what is known of each peer.
func (e *Engine) Links(now int64) []gossip.LinkStats { return e.ledger.Links(now) }

// Lost is how many drains of peers could no longer be had when they were due.
func (e *Engine) Lost() int64 { return int64(e.ledger.Lost()) }

// Forgiven is how many events of this node peers that were away too long are not told.
func (e *Engine) Forgiven() int64 { return e.ledger.Forgiven() }

// Dropped is how many events of peers fell to limits past the table's bound.
func (e *Engine) Dropped() int64 { return e.dropped }

// RecordsDropped is how many holds and bans of peers found no room.
func (e *Engine) RecordsDropped() int64 { return int64(e.ledger.RecordsDropped()) }

// LogSize is the entries that are kept for peers which have not acknowledged them, and
// about the bytes that takes.
func (e *Engine) LogSize() (entries, bytes int) { return e.ledger.Size() }

// Gap is the least time between two batches on a link, in nanoseconds.
func (e *Engine) Gap() int64 { return e.ledger.Gap() }

// Nodes is how many are alive, this one included.
func (e *Engine) Nodes() int { return e.nodes }

// Heard reports whether every living peer has begun to tell this node its log.
func (e *Engine) Heard() bool { return e.ledger.Heard() }

// Quiet reports whether every living peer has acknowledged all this node has spent.
func (e *Engine) Quiet() bool { return e.ledger.Quiet() }

// Ledger is the log itself, for tests.
func (e *Engine) Ledger() *gossip.Ledger { return e.ledger }

// Goodbye frees this node's cursors at its peers. Nothing more is received after it.
func (e *Engine) Goodbye(now int64) {
	e.ledger.Goodbye()
	e.settle(now)
}

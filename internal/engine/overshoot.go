package engine

import (
	"math"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// hearing is how many events one peer has told us of, by limit.
type hearing map[uint64]*spending

// spending counts events in the current second and keeps the count of the one before.
type spending struct {
	since           int64
	current, before int64
}

const second = 1_000_000_000

func (s *spending) turn(now int64) {
	if now-s.since < second {
		return
	}
	s.before = s.current
	if now-s.since >= 2*second {
		s.before = 0
	}
	s.since, s.current = now, 0
}

// rate is events a second, of the busier of the last two seconds.
func (s *spending) rate(now int64) float64 {
	s.turn(now)
	return float64(max(s.current, s.before))
}

func (e *Engine) note(now int64, c *gossip.Charge) {
	h := e.heard[c.Origin]
	if h == nil {
		h = make(hearing)
		e.heard[c.Origin] = h
	}
	s := h[c.Limit]
	if s == nil {
		s = &spending{since: now}
		h[c.Limit] = s
	}
	s.turn(now)
	s.current += max(c.N, 0)
}

// Bound is promise 3 with measured figures: by how many events any one key of a limit
// may now stand above burst + rate·t, because of what the peers in touch have spent
// and this node has not heard. For each peer that is what it may hold unsent, θ − 1,
// and what it spends while its news is under way: its rate over the last two seconds
// times the worst age of its news, but never more than the limit lets one node spend
// in that time.
func (e *Engine) Bound(now int64, l *table.Limit) float64 {
	def := l.Def()
	if def.Kind != table.Bucket || !def.Shared {
		return 0
	}
	burst := float64(def.Bucket.Burst())
	theta := max(1, burst/float64(2*e.nodes))
	sum := 0.0
	for _, s := range e.ledger.Links(now) {
		if !s.Alive {
			continue
		}
		age := float64(s.LagMax+e.ledger.Gap()) / second
		spent := 0.0
		if h := e.heard[s.Peer][l.ID()]; h != nil {
			spent = h.rate(now) * age
		}
		sum += min(theta-1+spent, burst+def.Bucket.PerSecond()*age)
	}
	return math.Ceil(sum)
}

// Links is what is known of each peer.
func (e *Engine) Links(now int64) []gossip.LinkStats { return e.ledger.Links(now) }

// Lost is how many drains of peers could no longer be had when they were due.
func (e *Engine) Lost() int64 { return int64(e.ledger.Lost()) }

// Dropped is how many events of peers fell to limits past the table's bound.
func (e *Engine) Dropped() int64 { return e.dropped }

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

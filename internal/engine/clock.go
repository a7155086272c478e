package engine

import (
	"math"

	"github.com/stint-go/stint/gossip"
)

const (
	adoptFor = 3_000_000_000 // ns for which a newcomer goes by its donor's cluster time until it knows all clocks
	never    = math.MinInt64 / 2
)

// tell brings cluster time up to date: this node's wall clock, drawn to the median of all
// clocks in the cluster. While it joins that is as it was, then as the donor has it.
func (e *Engine) tell(now int64) {
	raw := e.cfg.Wall()
	e.ledger.SetWall(raw)
	e.walls = e.walls[:0]
	for _, l := range e.ledger.Links(now) {
		if l.Alive && l.WallKnown {
			e.walls = append(e.walls, l.Wall)
		}
	}
	if !e.ledger.Joining() && (len(e.walls) == len(e.alive) || now-e.adopted > adoptFor) {
		e.clock.Step(now, raw, e.walls)
		e.adopted = never
	}
	e.table.SetWall(e.clock.Offset())
	e.at = now
}

// Skew is this node's own wall clock less cluster time, in nanoseconds.
func (e *Engine) Skew() int64 { return e.clock.Skew() }

// over reports whether an amount's window, and the one in which it still has weight, are
// over on every clock: nobody would charge it.
func (e *Engine) over(a gossip.Entry) bool {
	return a.Per != 0 && e.table.Wall(e.at)-a.Start > 3*a.Per
}

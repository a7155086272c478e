package table

import (
	"math"
	"sync/atomic"
)

// tally is a shard's count of decisions of the one limit it saw last: plain numbers
// under the shard's lock, so that a take writes to no line that all cores share. They
// go to the limit when another limit comes along or somebody asks.
type tally struct {
	last            atomic.Pointer[Limit] // written with the shard locked
	allowed, denied int64
}

// of makes l the limit that is counted, with the shard locked.
func (c *tally) of(l *Limit) *tally {
	if c.last.Load() != l {
		c.turnTo(l)
	}
	return c
}

func (c *tally) turnTo(l *Limit) {
	c.flushLocked()
	c.last.Store(l)
}

func (c *tally) admit(n int64)  { c.allowed = addSat(c.allowed, n) }
func (c *tally) refuse(n int64) { c.denied = addSat(c.denied, n) }

func (c *tally) flushLocked() {
	if l := c.last.Load(); l != nil {
		l.allowed.add(c.allowed)
		l.denied.add(c.denied)
		c.allowed, c.denied = 0, 0
	}
}

// count adds a decision that no shard was needed for.
func (l *Limit) count(n int64, ok bool) {
	if ok {
		l.allowed.add(n)
	} else {
		l.denied.add(n)
	}
}

// Counts returns the events that were admitted, and those that were asked for and
// refused, at this node. Both saturate.
func (l *Limit) Counts() (allowed, denied int64) {
	for i := range l.table.shards {
		s := &l.table.shards[i]
		if s.last.Load() == l {
			s.mu.Lock()
			s.flushLocked() // whoever is last by now
			s.mu.Unlock()
		}
	}
	return l.allowed.load(), l.denied.load()
}

// EachLimit calls visit for every limit with its counts, as Counts returns them. It is
// cheaper than asking one by one.
func (t *Table) EachLimit(visit func(l *Limit, allowed, denied int64)) {
	for i := range t.shards {
		s := &t.shards[i]
		if s.last.Load() != nil {
			s.mu.Lock()
			s.flushLocked()
			s.mu.Unlock()
		}
	}
	for _, l := range *t.limits.Load() {
		visit(l, l.allowed.load(), l.denied.load())
	}
}

// counter is a shared count that stops at the greatest number instead of wrapping.
type counter struct{ n atomic.Int64 }

func (c *counter) add(n int64) {
	for n != 0 {
		old := c.n.Load()
		if c.n.CompareAndSwap(old, addSat(old, n)) {
			return
		}
	}
}

func (c *counter) load() int64 { return c.n.Load() }

// addSat is a + b for b ≥ 0, at most the greatest number.
func addSat(a, b int64) int64 {
	if c := a + b; c >= a {
		return c
	}
	return math.MaxInt64
}

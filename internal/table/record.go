package table

import (
	"math/bits"

	"github.com/stint-go/stint/bucket"
)

// run is where a take of the entry is to be recorded: in scratch if nobody will ask.
func (e *entry) run(v *version, scratch *bucket.Run) *bucket.Run {
	if v.record {
		return &e.unsent
	}
	return scratch
}

// markSpentLocked marks slot i, which has so much unsent and left remain of its budget,
// unless it has the marks it needs. It reports whether to poke once the lock is free.
func (t *Table) markSpentLocked(s *shard, i int, unsent, left, now int64) bool {
	return t.unmarked(&s.groups[i/groupSlots], slotBit(i), unsent, left) && t.markLocked(s, i, unsent, left, now)
}

// unmarked reports whether a slot with so much unsent lacks a mark that it should have.
func (t *Table) unmarked(g *group, bit uint8, unsent, left int64) bool {
	return g.dirty&bit == 0 || g.urgent&bit == 0 && t.pressing(unsent, left)
}

// markLocked marks slot i as dirty, and as urgent if it is. It reports whether to poke.
func (t *Table) markLocked(s *shard, i int, unsent, left, now int64) bool {
	g, bit := &s.groups[i/groupSlots], slotBit(i)
	if g.dirty&bit == 0 {
		g.dirty |= bit
		if s.dirtyCount++; s.dirtyCount == 1 {
			t.dirty.set(s.index)
		}
	}
	if g.urgent&bit != 0 || !t.pressing(unsent, left) {
		return false
	}
	g.urgent |= bit
	if s.urgentCount++; s.urgentCount == 1 {
		s.urgentSince = now
		t.urgent.set(s.index)
	}
	return !t.poked.Load() && t.poked.CompareAndSwap(false, true)
}

// pressing is the rule of urgency: |unsent| ≥ max(1, left/2N).
func (t *Table) pressing(unsent, left int64) bool {
	if unsent == 0 {
		return false
	}
	hi, lo := bits.Mul64(abs(unsent)+1, uint64(t.twoN.Load()))
	return hi != 0 || lo > uint64(left)
}

func (t *Table) poke() {
	if t.pokeFunc != nil {
		t.pokeFunc()
	}
}

func abs(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

package table

import (
	"math/bits"

	"github.com/stint-go/stint/bucket"
)

// recordLocked makes run what is unsent of slot i; left remain of its budget. It
// reports whether to poke once the lock is free.
func (t *Table) recordLocked(s *shard, i int, run bucket.Run, left, now int64) bool {
	e := &s.entries[i]
	e.unsentN, e.unsentM = run.N, run.M
	return t.unmarked(&s.groups[i/groupSlots], slotBit(i), run.N, left) && t.markLocked(s, i, left, now)
}

// unmarked reports whether a slot with so much unsent lacks a mark that it should have.
func (t *Table) unmarked(g *group, bit uint8, unsent, left int64) bool {
	return g.dirty&bit == 0 || g.urgent&bit == 0 && t.pressing(unsent, left)
}

// markLocked marks slot i as dirty, and as urgent if it is. It reports whether to poke.
func (t *Table) markLocked(s *shard, i int, left, now int64) bool {
	g, bit := &s.groups[i/groupSlots], slotBit(i)
	if g.dirty&bit == 0 {
		g.dirty |= bit
		if s.dirtyCount++; s.dirtyCount == 1 {
			t.dirty.set(s.index)
		}
	}
	if g.urgent&bit != 0 || !t.pressing(s.entries[i].unsentN, left) {
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

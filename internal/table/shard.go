package table

import (
	"sync"
	"sync/atomic"
)

// spins is how often a taker looks again before it queues for a shard's lock. The lock
// is held for a fraction of what it costs to queue.
const spins = 32

// shard is one part of the table: a lock and a small hash table of its own, in two
// cache lines.
type shard struct {
	mu sync.Mutex
	slots
	tally
	urgentSince int64 // now of the take or charge that made the first urgent entry urgent
	dirtyCount  int32 // entries with something unsent
	urgentCount int32 // of these, the urgent
	index       int32 // the shard's number
	_           int32
	aside       *aside // nil until something does not fit an entry
}

func (s *shard) init(index int) {
	s.index = int32(index)
	s.slots = none
}

// wait is mu.Lock for a taker who found the lock taken.
func (s *shard) wait() {
	for range spins {
		if s.mu.TryLock() {
			return
		}
	}
	s.mu.Lock()
}

// bitmap has a bit a shard: which ones have something to drain. A bit may be set
// though nothing is there, never the other way round once the shard's lock is free.
type bitmap []atomic.Uint64

func newBitmap(shards int) bitmap { return make(bitmap, (shards+63)/64) }

func (b bitmap) set(shard int32) { b[shard>>6].Or(1 << (shard & 63)) }

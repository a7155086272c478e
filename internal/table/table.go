package table

import (
	"math/bits"
	"sync/atomic"
)

const (
	// DefaultMaxKeys is the bound of entries if the configuration names none.
	DefaultMaxKeys = 1_000_000
	// DefaultMaxLimits is the bound of limits if the configuration names none.
	DefaultMaxLimits = 10_000

	keysPerShard = 1024 // at most, on average, in a full table of up to maxShards
	maxShards    = 1 << 16
)

// Config is the configuration of a [Table]. The zero value is usable.
type Config struct {
	// MaxKeys is the most entries the table holds at a time; 0 means DefaultMaxKeys.
	// One overflow entry a limit comes on top.
	MaxKeys int

	// MaxLimits is the most limits the table knows, defined and learned; 0 means
	// DefaultMaxLimits.
	MaxLimits int

	// Seed is the secret behind the hash of keys, the same on all nodes. Who knows it
	// can choose two keys that share a budget.
	Seed [16]byte

	// Record says that what is taken from shared limits is kept for peers, to be
	// fetched by Drain. A node without peers leaves it off.
	Record bool

	// Poke is called when an entry becomes urgent and none has since the last Drain
	// began. It runs on the taker's goroutine without any lock held and must not
	// block. It may be nil.
	Poke func()
}

// Table is a bounded map from (limit, hash of key) to the state of the key.
// Make one with New.
type Table struct {
	shards []shard
	shift  uint // a key's shard is hash >> 1 >> shift
	dirty  bitmap
	urgent bitmap

	maxKeys  int64
	maxShard int // entries in one shard; only hashes that were not drawn evenly reach it
	record   bool
	pokeFunc func()

	wall  atomic.Int64 // cluster time − now
	twoN  atomic.Int64 // 2 × nodes, for the rule of urgency
	poked atomic.Bool  // an entry became urgent since the last drain began
	swept atomic.Uint32

	keys       atomic.Int64 // entries, without overflow entries; ≤ maxKeys but for moments
	evicted    atomic.Int64
	overflowed atomic.Int64
	forgiven   counter
	bans       atomic.Int64

	registry
}

// New makes an empty table.
func New(cfg Config) *Table {
	if cfg.MaxKeys <= 0 {
		cfg.MaxKeys = DefaultMaxKeys
	}
	if cfg.MaxLimits <= 0 {
		cfg.MaxLimits = DefaultMaxLimits
	}
	n := shardsFor(cfg.MaxKeys)
	t := &Table{
		shards:   make([]shard, n),
		shift:    uint(63 - bits.TrailingZeros(uint(n))),
		dirty:    newBitmap(n),
		urgent:   newBitmap(n),
		maxKeys:  int64(cfg.MaxKeys),
		maxShard: max(2*keysPerShard, 2*(cfg.MaxKeys/n)),
		record:   cfg.Record,
		pokeFunc: cfg.Poke,
	}
	t.registry.init(cfg.MaxLimits, cfg.Seed)
	for i := range t.shards {
		t.shards[i].init(i)
	}
	t.SetNodes(1)
	return t
}

// shardsFor is the least power of two of shards that keeps them at keysPerShard.
func shardsFor(maxKeys int) int {
	n := 1
	for n < maxShards && n*keysPerShard < maxKeys {
		n *= 2
	}
	return n
}

// SetNodes tells the table how many nodes, itself included, share its limits. The
// more there are, the less may stay unsent before it is urgent.
func (t *Table) SetNodes(n int) { t.twoN.Store(2 * int64(min(max(n, 1), 1<<20))) }

func (t *Table) place(hash uint64) uint64 { return hash >> 1 >> (t.shift & 63) }

func (t *Table) shard(hash uint64) *shard { return &t.shards[t.place(hash)] }

// Stats are counters and gauges of a table. The counters saturate.
type Stats struct {
	Keys    int // entries in use, overflow entries not counted
	MaxKeys int
	Limits  int // defined and learned
	Bans    int // of keys, those that are over but not swept yet included

	Evicted    int64 // entries dropped for a fresh key although they carried something
	Overflowed int64 // takes and charges put on a limit's overflow entry
	Forgiven   int64 // events of charges cut off by the bound on debt
}

// Stats returns the present figures.
func (t *Table) Stats() Stats {
	return Stats{
		Keys:       int(min(t.keys.Load(), t.maxKeys)),
		MaxKeys:    int(t.maxKeys),
		Limits:     len(*t.limits.Load()),
		Bans:       int(t.bans.Load()),
		Evicted:    t.evicted.Load(),
		Overflowed: t.overflowed.Load(),
		Forgiven:   t.forgiven.load(),
	}
}

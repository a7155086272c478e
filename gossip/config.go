package gossip

// Version is the protocol version this package speaks; Oldest the oldest that it
// still understands. Both stand in the handshake.
const (
	Version = 3 // a number for each chunk, and joining
	Oldest  = 3
)

// Config says who this node is. Zero durations take the default; all are nanoseconds.
type Config struct {
	Incarnation uint64 // of this process: random, not 0
	Born        int64  // the caller's time at New
	Name        string // of the node, as peers know it
	Seed        uint64 // fingerprint of what hashes keys; peers with another are refused
	// Rand makes nonces; it must not repeat itself between incarnations.
	Rand func() uint64
	// Compose is what a and then b spent on one key. Amounts of windows add without it.
	Compose func(a, b Entry) Entry
	// Expired reports whether an entry matters to nobody any more, as the amount of a
	// window that is over everywhere. What it names is dropped, now or later. Optional.
	Expired func(e Entry) bool
	// Memory is how long what is spent now may matter to a peer that does not hear of it,
	// in nanoseconds: the cursor of a dead peer is kept for that, where it is longer than
	// PartitionMemory, and MaxMemory at most. Stale reports whether a peer that has been
	// away since before the entry can do without it; what it names is dropped where all who
	// lack it have been dead for longer than PartitionMemory, and counted. Both optional.
	Memory func() int64
	Stale  func(e Entry) bool

	// Joins says that the node learns its peers' counts before it is ready. One that is
	// First, because it was told of no peer, is ready by itself, until it meets one that is.
	Joins, First bool
	JoinTimeout  int64 // ready with what there is, so long after the first peer was seen; default 10 s
	Settle       int64 // membership stands still so long before a node is ready for want of any that is; default 500 ms
	HoldTimeout  int64 // a donor waits so long until all hold their logs for the newcomer; default 3 s
	Grace        int64 // the log is kept from birth for so long; default 10 s

	Gap             int64 // least time between two batches on one link; default 2 ms, 0.5 ms a node if that is more
	Resend          int64 // unacknowledged for so long is sent again; default 300 ms
	Timeout         int64 // unacknowledged for so long, the link is dialled anew; default 1.5 s
	Keepalive       int64 // an idle link is heard of this often; default 1 s
	PartitionMemory int64 // how long a dead peer's cursor is kept whatever it lacks; default 10 min
	MaxMemory       int64 // how long it is kept at most, see Memory; default 32 days
	Window          int   // frames of batches in flight on a link, more where the round trip is long; default 16
	MaxBytes        int   // of the log; default 64 MiB
	MaxRecords      int   // most records known at a time, those remembered included; default 100,000
	MaxGathered     int   // most bytes of batches of peers that are here in part; default 256 MiB
	MaxFrame        int   // most bytes of a frame; default 512 KiB
}

func (c Config) withDefaults() Config {
	const ms = 1_000_000
	set := func(p *int64, d int64) {
		if *p <= 0 {
			*p = d
		}
	}
	set(&c.Gap, 2*ms)
	set(&c.Resend, 300*ms)
	set(&c.Timeout, 1500*ms)
	set(&c.Keepalive, 1000*ms)
	set(&c.PartitionMemory, 600_000*ms)
	set(&c.MaxMemory, 32*24*3600*1000*ms)
	if c.MaxMemory = max(c.MaxMemory, c.PartitionMemory); c.Memory == nil {
		c.MaxMemory = c.PartitionMemory
	}
	set(&c.JoinTimeout, 10_000*ms)
	set(&c.Settle, 500*ms)
	set(&c.HoldTimeout, 3_000*ms)
	set(&c.Grace, 10_000*ms)
	c.JoinTimeout = min(c.JoinTimeout, c.PartitionMemory) // a newcomer is never taken for one that has forgotten
	if c.Window <= 0 {
		c.Window = 16
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = 64 << 20
	}
	if c.MaxRecords <= 0 {
		c.MaxRecords = 100_000
	}
	if c.MaxGathered <= 0 {
		c.MaxGathered = 256 << 20
	}
	if c.MaxFrame <= 0 {
		c.MaxFrame = 512 << 10
	}
	return c
}

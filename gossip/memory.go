package gossip

// What is remembered of those who are gone. A dead peer's cursor is kept for
// PartitionMemory whatever it lacks, and for as long as what is spent may matter, of which
// the entries that still do are kept. The number of a silent origin is kept for twice the
// longest that any cursor is; numbers beyond maxSilent go sooner, but never before an
// origin counts as old, which is what makes a missing number safe (see startFor).
const (
	maxLong   = 64   // cursors kept for longer than PartitionMemory
	maxSilent = 4096 // numbers kept for longer than an origin takes to be old
)

// forget drops what is remembered no longer.
func (g *Ledger) forget(now int64) {
	g.forgetPeers(now)
	g.forgetOrigins(now)
	g.forgetRecords(now)
}

// forgetPeers drops cursors of peers long dead, and of what they lack all that is stale.
func (g *Ledger) forgetPeers(now int64) {
	most := g.cursorMemory()
	g.free(func(l *link) bool { return l.deadAt != 0 && now-l.deadAt > most })
	long, aged := 0, false
	var oldest *link
	for _, l := range g.links {
		if l.deadAt == 0 || now-l.deadAt <= g.cfg.PartitionMemory {
			continue
		}
		aged = aged || !l.long
		l.long = true
		if long++; oldest == nil || l.deadAt < oldest.deadAt {
			oldest = l
		}
	}
	if long > maxLong {
		g.free(func(l *link) bool { return l == oldest })
	}
	if aged {
		g.settle()
		g.log.pruneAged()
		g.settle()
	}
}

// cursorMemory is how long a dead peer's cursor is kept.
func (g *Ledger) cursorMemory() int64 {
	if g.cfg.Memory == nil {
		return g.cfg.PartitionMemory
	}
	return max(g.cfg.PartitionMemory, min(g.cfg.Memory(), g.cfg.MaxMemory))
}

// forgetsAt is when there is something to forget of a dead peer.
func (g *Ledger) forgetsAt(l *link) int64 {
	if l.long {
		return addSat(l.deadAt, g.cursorMemory()+1)
	}
	return l.deadAt + g.cfg.PartitionMemory + 1
}

// forgetOrigins drops the numbers of origins long silent. It looks at all of them, and so
// does not at every call.
func (g *Ledger) forgetOrigins(now int64) {
	if now-g.sweptAt < g.cfg.Keepalive {
		return
	}
	g.sweptAt = now
	silent := 0
	for inc, s := range g.sources {
		switch quiet := now - s.heardAt; {
		case quiet > g.memory(), s.left && quiet > g.old()+g.cfg.Timeout:
			delete(g.sources, inc)
			g.crowded = false
		case quiet > g.old()+g.cfg.Timeout:
			silent++
		}
	}
	for ; silent > maxSilent; silent-- {
		delete(g.sources, g.mostSilent())
	}
}

func (g *Ledger) mostSilent() (origin uint64) {
	at := int64(0)
	for inc, s := range g.sources {
		if origin == 0 || s.heardAt < at || s.heardAt == at && inc < origin {
			origin, at = inc, s.heardAt
		}
	}
	return origin
}

// old is the age from which on an origin takes a peer without its number for one that has
// forgotten it.
func (g *Ledger) old() int64 { return 2 * g.cfg.PartitionMemory }

// memory is F, how long the number of a silent origin is kept: a cursor is always
// forgotten before the number that it matches.
func (g *Ledger) memory() int64 { return 2*g.cfg.MaxMemory + g.cfg.Timeout }

// PartitionMemory is how long the cursor of a dead peer is kept at least, in nanoseconds.
func (g *Ledger) PartitionMemory() int64 { return g.cfg.PartitionMemory }

// pruneAged drops what is stale of all that only peers long dead lack.
func (lg *log) pruneAged() {
	for _, s := range lg.segments {
		if s.to > lg.aged {
			return
		}
		lg.bytes -= s.size()
		lg.pruneSegment(s)
		s.parts = nil // of a session that is over
		lg.bytes += s.size()
	}
}

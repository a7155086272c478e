package gossip

import (
	"fmt"
	"math"
	"slices"
)

// Ledger is one node's side of the protocol. See the package comment.
type Ledger struct {
	cfg     Config
	log     log
	links   []*link            // sorted by incarnation: who hears us
	sources map[uint64]*source // whom we hear
	session uint64             // the newest opened with anyone: a peer may outlive its link
	out     Output
	charges []Charge // spare, for Output
	frames  []Frame
	lost    uint64
	sweptAt int64 // when numbers were last looked at

	join  *join // nil: this node has the counts
	young bool  // its log is kept from the first drain on
	whole bool  // it can be: nothing of it was given up
	alone bool  // it turns newcomer if it meets somebody who is ready

	missing int    // chunks that it could not have
	filed   *filed // nil: it has read no state file
	crowded bool   // that there are maxSources was noted

	register register
	opening  *opening // the newest, while nothing has changed
	wall     wall     // ours
}

// New makes the ledger of a node that has spent nothing and knows nobody.
func New(cfg Config) *Ledger {
	g := &Ledger{cfg: cfg.withDefaults(), sources: make(map[uint64]*source)}
	g.register = register{known: make(map[RecordKey]*Record), tellers: make(map[RecordKey]uint64), memory: 2 * g.cfg.PartitionMemory}
	g.log.compose, g.log.expired, g.log.stale = cfg.Compose, cfg.Expired, cfg.Stale
	g.young, g.whole, g.alone = cfg.Joins, cfg.Joins, cfg.Joins
	if cfg.Joins && !cfg.First {
		g.join = newJoin(cfg.Born)
	}
	return g
}

// Append puts one drain into the log: what was spent since the last, at most one entry
// for each key, or each window of a key. since is the time at which the first of the
// entries became urgent, or now. The entries are copied.
func (g *Ledger) Append(now, since int64, entries []Entry) {
	for len(entries) > 0 { // a segment of one drain fits one frame
		n := min(len(entries), max(g.cfg.MaxFrame/maxEntryBytes, 1))
		g.log.append(now, &segment{first: min(since, now), entries: slices.Clone(entries[:n])})
		entries = entries[n:]
	}
	g.settle()
}

// Define announces a limit; a later one of the same ID replaces it.
func (g *Ledger) Define(now int64, d Definition) {
	if g.log.define(d) {
		g.log.append(now, &segment{first: math.MaxInt64, defs: []Definition{d}}) // no news of counts
		g.opening = nil
		g.settle()
	}
}

// Up says that a member is alive: its news matters to us and ours to it. The log is
// kept for it from now on.
func (g *Ledger) Up(now int64, peer uint64, name string) {
	if peer == g.cfg.Incarnation || peer == 0 {
		return
	}
	l := g.link(peer)
	if l == nil {
		l = newLink(peer, g.log.base())
		l.wordAt = now
		i, _ := slices.BinarySearchFunc(g.links, peer, byIncarnation)
		g.links = slices.Insert(g.links, i, l)
	}
	if l.long {
		g.log.pruneAged()
	}
	if l.deadAt != 0 || l.upAt == 0 {
		l.upAt = now
	}
	l.name, l.deadAt, l.long = name, 0, false
	if g.join != nil {
		g.join.seen(now)
	}
}

// Down says that a member was declared dead. Its cursor is kept for
// Config.PartitionMemory, and longer where what is spent matters longer: it may only have
// been out of reach.
func (g *Ledger) Down(now int64, peer uint64) {
	if l := g.link(peer); l != nil && l.deadAt == 0 {
		l.deadAt = max(now, 1)
		l.close()
		if l.hold || slices.ContainsFunc(g.links, l.precedes) {
			g.free(func(m *link) bool { return m == l })
		}
	}
	g.inherit(now, peer)
}

// Open says that a fresh stream to the member is there: a new session starts on it.
func (g *Ledger) Open(now int64, peer uint64) {
	if l := g.link(peer); l != nil && l.deadAt == 0 {
		g.session++
		l.session, l.asked = g.session, 0
		l.close()
		l.state = greeting
		g.greet(now, l)
	}
}

// Closed says that the stream to the member broke.
func (g *Ledger) Closed(peer uint64) {
	if l := g.link(peer); l != nil {
		l.close()
	}
}

// Goodbye tells every peer that this node leaves, so that they need not keep its
// cursor. Call it after Quiet has said that all is acknowledged.
func (g *Ledger) Goodbye() {
	for _, l := range g.links {
		if l.deadAt == 0 {
			g.send(l.peer, encodeFrame(header{kind: kindGoodbye, origin: g.cfg.Incarnation, peer: l.peer}, nil))
		}
	}
}

// Tick does what time has made due: batches, repeats, keepalives, forgetting. It
// returns the time by which it wants to be called again, at the latest.
func (g *Ledger) Tick(now int64) (next int64) {
	g.forget(now)
	g.age(now)
	next = g.tickJoin(now)
	for _, l := range g.links {
		next = min(next, g.tickLink(now, l))
	}
	return next
}

// free drops cursors, and what the log kept for them alone.
func (g *Ledger) free(whose func(*link) bool) {
	n := len(g.links)
	if g.links = slices.DeleteFunc(g.links, whose); len(g.links) != n {
		g.settle()
	}
}

// settle merges and drops what no cursor needs any more, then enforces the bound.
func (g *Ledger) settle() {
	g.log.compact(g.links, g.keeps())
	if g.log.bytes > g.cfg.MaxBytes {
		g.log.prune()
	}
	for g.log.bytes > g.cfg.MaxBytes && g.giveUp() {
		g.log.compact(g.links, g.keeps())
	}
}

// keeps says what the log keeps though no cursor asks for it: everything, from birth and
// for longer than it takes until everyone is known; while nobody has been told anything;
// and while this node joins, for what a chunk lacks of our own is taken from it.
func (g *Ledger) keeps() keeping {
	switch {
	case !g.whole:
		return nothing
	case g.join != nil:
		return asItIs
	case g.young || g.log.told == 0:
		return allOfIt
	}
	return nothing
}

// age ends the node's youth.
func (g *Ledger) age(now int64) {
	if g.young && now-g.cfg.Born > g.cfg.Grace {
		g.young = false
		g.settle()
	}
}

// giveUp sacrifices to the log's bound what is kept for nobody yet, else one cursor: that
// of a newcomer, who joins anew; of the dead the oldest; the slowest of the living, which
// then starts again at the head. Its loss is counted by the peer that suffers it.
func (g *Ledger) giveUp() bool {
	if g.keeps() != nothing {
		g.whole, g.alone = false, false
		return true
	}
	var worst *link
	for _, l := range g.links {
		if l.cursor < g.log.head && (worst == nil || l.worseThan(worst)) {
			worst = l
		}
	}
	if worst == nil {
		return false
	}
	g.note(worst.peer, "log full: %d drains skipped for %q", g.log.head-worst.cursor, worst.name)
	if worst.deadAt != 0 {
		g.links = slices.DeleteFunc(g.links, func(l *link) bool { return l == worst })
		return true
	}
	worst.skipTo(g.log.head)
	g.redial(worst)
	return true
}

func (g *Ledger) link(peer uint64) *link {
	if i, ok := slices.BinarySearchFunc(g.links, peer, byIncarnation); ok {
		return g.links[i]
	}
	return nil
}

// gap is the least time between two batches on a link: it grows with the nodes alive, so
// that a node writes no more often for having more peers.
func (g *Ledger) gap() int64 {
	nodes := int64(1)
	for _, l := range g.links {
		if l.deadAt == 0 {
			nodes++
		}
	}
	return max(g.cfg.Gap, nodes*500_000)
}

func (g *Ledger) send(to uint64, frame []byte) {
	g.out.Frames = append(g.out.Frames, Frame{To: to, Data: frame})
}

func (g *Ledger) sendBody(to uint64, h header, m message, body []byte) {
	g.out.Frames = append(g.out.Frames, Frame{to, encodeCarrier(h, m, body), body})
}

func (g *Ledger) redial(l *link) {
	l.close()
	l.redials++
	g.out.Redial = append(g.out.Redial, l.peer)
}

func (g *Ledger) note(peer uint64, format string, args ...any) {
	g.out.Notes = append(g.out.Notes, Note{peer, fmt.Sprintf(format, args...)})
}

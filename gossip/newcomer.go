package gossip

import (
	"cmp"
	"math"
	"slices"
)

// A newcomer has every peer hold its log for it, then takes one ready peer's table, some
// chunks at a time, each with its own vector. It applies no batches before it has them
// all. Then it states to each origin the numbers of its chunks, and hears its log from
// there.

// join is how far a newcomer has come.
type join struct {
	since  int64 // when it began
	metAt  int64 // when the first peer was seen; 0: none yet
	seenAt int64 // when the last one was

	loaded [Chunks]bool
	claims [Chunks]map[uint64]claim // by origin: what the chunk has of its log
	missed map[uint64][]span        // by origin: drains that some keys miss, as far as that is known

	donor   uint64 // 0: none
	session uint64 // of the donor's log with us
	ask     uint64
	chunk   int   // that was asked for
	retryAt int64 // when it is asked for again
	movedAt int64 // when the donor last gave a sign of life
	waits   bool  // it does, for others to hold their logs
	given   given
}

// given is the parts of an answer that are here.
type given struct {
	chunk // of part 0
	parts
}

// claim is how much of a log a donor's chunk has in it.
type claim struct {
	origin uint64
	number
	silent int64 // ns since the donor heard of it
}

func newJoin(now int64) *join { return &join{since: now} }

// seen notes that a peer is there.
func (j *join) seen(now int64) {
	j.seenAt = now
	if j.metAt == 0 {
		j.metAt = max(now, 1)
	}
}

// deadline is when the node is ready with what it has.
func (j *join) deadline(timeout int64) int64 {
	if j.metAt != 0 {
		return j.metAt + timeout
	}
	return j.since + timeout
}

// next is the first chunk that is not here, -1 if all are.
func (j *join) next() int { return slices.Index(j.loaded[:], false) }

// leave gives up the donor, and what it has begun to give.
func (j *join) leave() { j.donor, j.given, j.waits = 0, given{}, false }

// Joining reports whether this node does not have the counts of its peers yet.
func (g *Ledger) Joining() bool { return g.join != nil }

// meet is what a ready node does that meets a ready peer: if nobody knows of anything that
// it has spent, and it has applied nothing of anybody since its state file was written, it
// turns newcomer. All incoming sessions end.
func (g *Ledger) meet(now int64) {
	if !g.alone || g.join != nil || g.log.told > 0 || !g.heardNothing() {
		return
	}
	for _, origin := range g.origins() {
		s := g.sources[origin]
		s.close()
		s.nonce = g.cfg.Rand()
	}
	g.alone = false
	g.join = newJoin(now)
	if g.filed != nil {
		g.join.claims = g.filed.claims
	}
	for _, origin := range g.origins() {
		if s := g.sources[origin]; s.session != 0 && !s.refused {
			g.welcome(origin, s, 0) // so that it begins anew at once
		}
	}
	for _, l := range g.links {
		if l.deadAt == 0 {
			g.join.seen(now)
		}
	}
	g.settle()
}

// heldBy is an origin keeping its log for us from a number on. Chunks that have less of it
// are taken over anew.
func (g *Ledger) heldBy(s *source, origin uint64, m *holding) {
	j := g.join
	if j == nil || s.holding && m.From <= s.heldAt {
		return
	}
	s.holding, s.heldAt = true, m.From
	for c := range j.loaded {
		if n := j.claims[c][origin]; j.loaded[c] && n.N < m.From {
			j.loaded[c] = false
		}
	}
}

// tickJoin does what is due of joining and says when it wants to be called again.
func (g *Ledger) tickJoin(now int64) (next int64) {
	j := g.join
	if j == nil {
		return math.MaxInt64
	}
	deadline := j.deadline(g.cfg.JoinTimeout)
	if now >= deadline {
		g.joined(now)
		return math.MaxInt64
	}
	if j.donor != 0 {
		g.watchDonor(now)
	}
	if j.donor == 0 && !g.chooseDonor(now) {
		at := g.firstAt()
		if now >= at {
			g.joined(now)
			return math.MaxInt64
		}
		return min(deadline, at)
	}
	if now >= j.retryAt {
		g.want(now, true)
	}
	return min(deadline, j.retryAt, j.movedAt+g.cfg.Timeout)
}

// watchDonor leaves one that is gone, silent, or has begun another session; and one that
// waits for somebody to hold his log, for whom others may not wait.
func (g *Ledger) watchDonor(now int64) {
	j := g.join
	l, s := g.link(j.donor), g.sources[j.donor]
	switch {
	case l == nil || l.deadAt != 0 || s == nil || s.session != j.session || !l.ready:
		j.leave()
	case now-j.movedAt >= g.cfg.Timeout, j.waits && now >= j.retryAt:
		g.giveUpDonor(now)
	}
}

// giveUpDonor leaves a donor that has failed us: others go before it from now on.
func (g *Ledger) giveUpDonor(now int64) {
	if l := g.link(g.join.donor); l != nil { // else it has said goodbye meanwhile
		l.failedAt = now
	}
	g.join.leave()
}

// chooseDonor asks the ready peer that failed us longest ago; of several each newcomer
// has another.
func (g *Ledger) chooseDonor(now int64) bool {
	var best *link
	for _, l := range g.links {
		s := g.sources[l.peer]
		if l.deadAt == 0 && l.ready && s != nil && s.holding && (best == nil || g.prefers(l, best)) {
			best = l
		}
	}
	if best == nil {
		return false
	}
	j := g.join
	j.donor, j.session, j.movedAt = best.peer, g.sources[best.peer].session, now
	g.askNext(now)
	return true
}

func (g *Ledger) prefers(a, b *link) bool {
	if a.failedAt != b.failedAt {
		return a.failedAt < b.failedAt
	}
	return a.peer^g.cfg.Incarnation < b.peer^g.cfg.Incarnation
}

// firstAt is when this node is ready because no member is: they all join, and it has the
// newest state file, or the lowest name of those that have.
func (g *Ledger) firstAt() int64 {
	alive := 0
	for _, l := range g.links {
		if l.deadAt != 0 {
			continue
		}
		alive++
		if l.state != waiting || cmp.Or(cmp.Compare(g.written(), l.written), cmp.Compare(l.name, g.cfg.Name), order(l.peer, g.cfg.Incarnation)) < 0 {
			return math.MaxInt64
		}
	}
	if alive == 0 {
		return math.MaxInt64
	}
	return g.join.seenAt + g.cfg.Settle
}

// askNext asks for the next chunk, or is done.
func (g *Ledger) askNext(now int64) {
	j := g.join
	j.given = given{}
	if j.chunk = j.next(); j.chunk < 0 {
		g.joined(now)
		return
	}
	j.ask++
	g.want(now, false)
}

// want asks for what is missing of the chunk; again says that it may have been sent.
func (g *Ledger) want(now int64, again bool) {
	j := g.join
	s := g.sources[j.donor]
	j.retryAt = now + g.cfg.Resend
	m := &want{Ask: j.ask, Chunk: j.chunk, Have: len(j.given.bodies), Again: again}
	for origin, s := range g.sources {
		if s.holding {
			m.Holders = append(m.Holders, origin)
		}
	}
	slices.Sort(m.Holders)
	g.reply(header{kind: kindWant, origin: j.donor, peer: g.cfg.Incarnation, session: s.session, nonce: s.nonce}, m)
}

// joined has this node ready with what it has, and states its numbers to every origin.
func (g *Ledger) joined(now int64) {
	j := g.join
	g.join = nil
	missing := 0
	for c := range j.loaded {
		if !j.loaded[c] {
			missing++
		}
		if j.claims[c] == nil {
			continue // it has what it had, which was nothing
		}
		for _, s := range g.sources {
			s.numbers.set(c, number{}) // of whom a donor knows nothing, it may have forgotten
		}
		for origin, n := range j.claims[c] {
			if origin == g.cfg.Incarnation {
				continue
			}
			g.alone = g.alone && !j.loaded[c]
			g.sourceOf(now, n).numbers.set(c, n.number)
		}
	}
	if missing > 0 && j.metAt != 0 && now >= j.deadline(g.cfg.JoinTimeout) {
		g.missing = missing
		g.note(0, "joined with what there is: the counts of %d in %d parts of the keys were not to be had in time", missing, Chunks)
	}
	if lost := j.lost(); lost > 0 {
		g.lost += lost
		g.note(0, "%d drains lost while joining", lost)
	}
	for _, origin := range g.origins() {
		if s := g.sources[origin]; s.session != 0 && !s.refused {
			s.numbers.pack()
			s.close()
			g.welcome(origin, s, 0)
		} else {
			s.numbers.pack()
		}
	}
	g.settle()
}

// origins is whose logs we know of, in order.
func (g *Ledger) origins() (origins []uint64) {
	for origin := range g.sources {
		origins = append(origins, origin)
	}
	slices.Sort(origins)
	return origins
}

// Loaded is how many of the Chunks a node has that is joining.
func (g *Ledger) Loaded() (n int) {
	if g.join != nil {
		for _, here := range g.join.loaded {
			if here {
				n++
			}
		}
	}
	return n
}

// Missing is how many chunks this node was ready without, because they were not to be had
// in time.
func (g *Ledger) Missing() int { return g.missing }

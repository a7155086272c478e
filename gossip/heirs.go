package gossip

// inherit has this node tell, as news of its own, the records that it has from a peer
// that is no more: the peer may have told some of us and not others. Who had one from
// somebody who lives leaves that to him; so however many die, each record that one of
// the living knows is told by one of them.
func (g *Ledger) inherit(now int64, peer uint64) {
	s := &segment{first: now}
	for _, r := range g.register.sorted(func(r *Record) bool { return g.register.tellers[r.Key()] == peer }) {
		delete(g.register.tellers, r.Key())
		if subSat(now, r.life) <= g.cfg.PartitionMemory {
			s.records = append(s.records, r.Key())
		}
	}
	if len(s.records) > 0 {
		g.log.append(now, s)
		g.settle()
	}
}

// gone reports whether a peer that has told us something is not there to tell others.
func (g *Ledger) gone(peer uint64) bool {
	if l := g.link(peer); l != nil {
		return l.deadAt != 0
	}
	return g.sources[peer] != nil
}

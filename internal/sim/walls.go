package sim

// wall is what the node's wall clock shows, less its monotonic clock.
func (n *Node) wall() int64 { return n.w.truth() + n.w.skews[n.place] - n.now() }

// truth is what a right wall clock shows.
func (w *World) truth() int64 { return w.opts.Epoch + w.now }

// SetWall has a place's wall clock jump by so much.
func (w *World) SetWall(place int, by int64) {
	w.tracef("n%d's wall clock is set by %d ms", place, by/Millisecond)
	w.skews[place] += by
}

// cluster is the cluster time as a node knows it.
func (n *Node) cluster() int64 { return n.table.Wall(n.now()) }

// jumped is how far a change of a node's cluster time is more than a slew of it, in
// nanoseconds of either sign: as when it meets its first peer.
func (n *Node) jumped(offset int64) int64 {
	by, past := offset-n.offset, n.now()-n.offsetAt
	n.furthest = max(n.furthest, n.now()+n.offset, n.now()+offset)
	n.offset, n.offsetAt = offset, n.now()
	if most := past/20 + Microsecond; by <= most && by >= -most {
		return 0
	}
	return by
}

// SetWall is the table's. Where it makes cluster time jump, it is seen to mint nothing.
func (t *audited) SetWall(offset int64) {
	n := t.n
	by := n.jumped(offset)
	if by == 0 || n.limits == nil {
		t.Table.SetWall(offset)
		return
	}
	n.w.tracef("%v's cluster time jumps by %d ms", n, by/Millisecond)
	before := make([]int64, len(n.w.keys))
	for i, k := range n.w.keys {
		before[i] = n.peek(k).Remaining
	}
	was := n.cluster()
	t.Table.SetWall(offset)
	for i, k := range n.w.keys {
		if n.limits[k.limit] == nil || !n.limit(k).windows() {
			continue
		}
		r, per := n.glance(k), n.limit(k).Per
		if by < -2*per && r.Remaining > before[i] {
			n.w.failf("%v has %d left of key %d after its clock went back, and had %d: minted", n, r.Remaining, i, before[i])
		}
		if l := n.limit(k); l.cut(was) != l.cut(n.cluster()) {
			n.tallies[i].blur(n, k)
		}
	}
}

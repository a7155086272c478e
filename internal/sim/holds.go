package sim

import "github.com/stint-go/stint/gossip"

// holding is a hold as it stands in truth: by the newest word of anyone.
type holding struct {
	gossip.Record
	key   *key
	spot  int
	made  int64 // virtual
	ends  int64 // virtual, about
	over  bool
	total int64 // what it has been counted as
}

// stake is a hold as one node has heard of it.
type stake struct {
	gossip.Record
	counts int64 // events of it that the node has charged
}

// due is what a hold that one has heard of counts as at the node now.
func (n *Node) due(r *gossip.Record) int64 {
	if r.Open && n.now() >= r.Until {
		return 0
	}
	return r.N
}

// begin books a hold that a node has made.
func (w *World) begin(n *Node, k *key, r gossip.Record, until int64) *holding {
	h := &holding{Record: r, key: k, spot: w.spotOf(k.index, r.Start, r.Per), made: w.now, ends: until, total: r.N}
	w.holds[r.Key()] = h
	w.made = append(w.made, h)
	n.book.holds[r.Key()] = &stake{r, r.N}
	n.book.held[k.index] += r.N
	n.book.known.add(h.spot, r.N)
	w.total.add(h.spot, r.N)
	k.total += r.N
	w.At(until, func() { h.over = true; w.weigh(h) })
	return h
}

// newer takes in what somebody says of a hold, if it is the last word.
func (w *World) newer(h *holding, r gossip.Record) {
	if r.Version > h.Version || r.Version == h.Version && r.Writer > h.Writer {
		h.Record = r
		w.weigh(h)
	}
}

// weigh has the judge of the whole cluster count a hold as what it is due.
func (w *World) weigh(h *holding) {
	due := h.N
	if h.Open && h.over {
		due = 0
	}
	delta := due - h.total
	h.total = due
	w.total.add(h.spot, delta)
	h.key.total += delta
	switch k := h.key; {
	case delta < 0:
		w.unspend(k, -delta, h.Start)
	case delta > 0:
		k.central.charge(h.made, delta, k.interval())
		if k.windows() {
			k.window(h.Start).count += delta
		} else if k.log() {
			k.moments.count(h.made, delta)
		}
	}
}

// heeds finds among what was just charged what records came to that are news to the
// node. by is the kind of frame that brought them.
func (n *Node) heeds(by uint64) {
	if by != batch && by != start && by != gives {
		return
	}
	w, b := n.w, &n.book
	for _, h := range w.made {
		r, ok := n.engine.Ledger().Record(h.Key())
		if !ok {
			continue
		}
		s := b.holds[h.Key()]
		switch {
		case s == nil:
			s = &stake{}
			b.holds[h.Key()] = s
		case s.Version == r.Version && s.Writer == r.Writer:
			continue
		case s.Open && s.counts == 0:
			w.Stats.LateSettles++
		}
		n.observeRecord(by, &r)
		s.Record = r
		n.attribute(h.key, s, n.due(&r))
	}
	for _, x := range w.banned {
		r, ok := n.engine.Ledger().Record(x.Key())
		old, known := b.bans[x.Key()]
		if !ok || known && old.Version == r.Version && old.Writer == r.Writer {
			continue
		}
		if known && old.Open && r.Open {
			w.Stats.BansReplaced++
		}
		n.observeRecord(by, &r)
		b.bans[r.Key()] = r
	}
}

// attribute takes out of what was charged what a hold has come to.
func (n *Node) attribute(k *key, s *stake, due int64) {
	if delta := due - s.counts; delta != 0 {
		n.book.held[k.index] += delta
		n.book.charged = append(n.book.charged, amount{n.w.spotOf(k.index, s.Start, s.Per), -delta})
		s.counts = due
	}
}

// expires finds in what was just charged the holds that are over.
func (n *Node) expires() {
	if len(n.book.charged) == 0 {
		return
	}
	for _, h := range n.w.made {
		if s := n.book.holds[h.Key()]; s != nil && s.Open && s.Until <= n.now() {
			n.attribute(h.key, s, 0)
		}
	}
	n.balanced("holds that are over")
}

// balanced checks that what was just charged is all accounted for.
func (n *Node) balanced(by string) {
	left := n.w.scratch()
	for _, c := range n.book.charged {
		left[c.spot] += c.n
	}
	for i, v := range left {
		if v != 0 {
			n.w.failf("%v charged %d events of %v by %s", n, v, n.w.spots[i], by)
		}
	}
	n.book.charged = n.book.charged[:0]
}

// banned is how long a node should refuse a key, by the newest word that it has heeded.
func (n *Node) banned(k *key) int64 {
	if !k.verbs {
		return 0
	}
	l := n.limits[k.limit]
	r, ok := n.book.bans[gossip.RecordKey{Kind: gossip.RecordBan, Limit: l.ID(), Hash: l.Hash(k.name)}]
	if !ok || !r.Open {
		return 0
	}
	return r.Until - n.now()
}

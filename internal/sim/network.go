package sim

// link is a node's outgoing stream to one peer. Frames of one stream arrive in order
// unless Net.Reorder says otherwise; what is under way when it breaks is lost or, half
// the time, arrives all the same.
type link struct {
	peer  *Node
	up    bool
	epoch int   // grows as it breaks
	last  int64 // when the last frame in order arrives
}

// cut is a one-way partition. What is sent meanwhile is lost, or held and delivered
// when it heals.
type cut struct {
	hold bool
	held []func()
}

// send is an engine's: it takes a frame if the stream is open, and promises nothing.
func (n *Node) send(to uint64, data []byte) {
	w, l := n.w, n.links[to]
	if l == nil || !l.up || n.gone {
		return
	}
	w.observeSend(n, l.peer, data)
	if w.opts.Mutant.Send != nil {
		w.opts.Mutant.Send(w, n, l.peer, data)
	}
	w.carry(n, l, data)
	if !w.calm && w.chance(w.opts.Net.Double) {
		w.carry(n, l, data)
	}
}

func (w *World) carry(n *Node, l *link, data []byte) {
	if !w.calm && w.chance(w.opts.Net.Loss) {
		w.tracef("%v→%v lost: %v", n, l.peer, lazyFrame(data))
		return
	}
	delay := w.opts.Net.Delay
	if w.opts.Net.Jitter > 0 {
		delay += w.rand.Int64N(w.opts.Net.Jitter + 1)
	}
	at := w.now + delay
	if w.calm || !w.chance(w.opts.Net.Reorder) {
		at = max(at, l.last)
		l.last = at
	}
	peer, epoch := l.peer, l.epoch
	arrive := func() {
		if epoch != l.epoch && w.chance(0.5) {
			return // its stream broke
		}
		w.deliver(n, peer, data)
	}
	if c := w.cuts[[2]int{n.place, peer.place}]; c != nil {
		if c.hold {
			c.held = append(c.held, arrive)
		}
		return
	}
	w.At(at, arrive)
}

// deliver hands a frame to a node, if it still lives.
func (w *World) deliver(from, to *Node, data []byte) {
	if to.stalled > w.now {
		w.At(to.stalled, func() { w.deliver(from, to, data) })
		return
	}
	if w.opts.Mutant.Deliver != nil {
		data = w.opts.Mutant.Deliver(w, from, to, data)
	}
	w.observeDelivery(from, to, data)
	if to.gone {
		return
	}
	w.tracef("%v→%v %v", from, to, lazyFrame(data))
	to.receive(from, data)
}

// dial opens the stream to a peer as soon as both ways are free.
func (n *Node) dial(l *link, in int64) {
	w := n.w
	w.After(in, func() {
		there, back := w.cuts[[2]int{n.place, l.peer.place}], w.cuts[[2]int{l.peer.place, n.place}]
		switch {
		case n.gone || l.up || n.links[l.peer.id] != l:
		case l.peer.gone || there != nil || back != nil:
			n.dial(l, w.between(20*Millisecond, 300*Millisecond))
		default:
			l.up = true
			w.tracef("%v→%v open", n, l.peer)
			n.act(func(now int64) { n.engine.Open(now, l.peer.id) })
		}
	})
}

// snap breaks the stream; it is dialled again after a while.
func (n *Node) snap(l *link, redialIn int64) {
	if n.gone || !l.up || n.links[l.peer.id] != l {
		return
	}
	l.up = false
	l.epoch++
	n.w.tracef("%v→%v broken", n, l.peer)
	n.act(func(int64) { n.engine.Closed(l.peer.id) })
	n.dial(l, redialIn)
}

// redial is an engine asking for a fresh stream.
func (n *Node) redial(to uint64) {
	n.w.Stats.Redials++
	if l := n.links[to]; l != nil {
		n.w.tracef("%v→%v to be redialled", n, l.peer)
		n.w.After(0, func() { n.snap(l, n.w.between(Millisecond, 20*Millisecond)) })
	}
}

// partition cuts one way between two places.
func (w *World) partition(from, to int, hold bool) {
	if w.cuts[[2]int{from, to}] == nil {
		w.tracef("n%d→n%d cut", from, to)
		w.cuts[[2]int{from, to}] = &cut{hold: hold}
	}
}

func (w *World) mend(from, to int) {
	c := w.cuts[[2]int{from, to}]
	if c == nil {
		return
	}
	w.tracef("n%d→n%d mended, %d frames held", from, to, len(c.held))
	delete(w.cuts, [2]int{from, to})
	for _, arrive := range c.held {
		w.After(w.opts.Net.Delay, arrive)
	}
}

// lazyFrame is read only if somebody wants to see it.
type lazyFrame []byte

// String describes the frame.
func (d lazyFrame) String() string { return readFrame(d).String() }

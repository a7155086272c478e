package sim

import (
	"slices"

	"github.com/stint-go/stint/gossip"
)

// Meet has all nodes that live learn of each other, each at its own time within spread.
func (w *World) Meet(spread int64) {
	for _, a := range w.nodes {
		for _, b := range w.nodes {
			if a != b {
				w.After(w.between(0, spread), func() { a.up(b, Millisecond) })
			}
		}
	}
}

// up is membership saying that a peer is there: its stream is dialled.
func (n *Node) up(peer *Node, dialIn int64) {
	if n.gone || n.knows[peer.id] {
		return
	}
	n.w.tracef("%v sees %v up", n, peer)
	n.knows[peer.id] = true
	n.act(func(now int64) { n.engine.Up(now, peer.id, peer.name) })
	l := &link{peer: peer}
	n.links[peer.id] = l
	n.dial(l, dialIn)
}

// down is membership saying that a peer died, rightly or not.
func (n *Node) down(peer *Node) {
	if n.gone || !n.knows[peer.id] {
		return
	}
	n.w.tracef("%v sees %v down", n, peer)
	if !peer.gone && n.holdsFor(peer) {
		n.w.waive()
	}
	delete(n.knows, peer.id)
	if l := n.links[peer.id]; l.up {
		l.epoch++
		n.act(func(int64) { n.engine.Closed(peer.id) })
	}
	delete(n.links, peer.id)
	n.act(func(now int64) { n.engine.Down(now, peer.id) })
}

// holdsFor reports whether the node keeps its log for a newcomer.
func (n *Node) holdsFor(peer *Node) bool {
	return slices.ContainsFunc(n.engine.Ledger().Links(n.now()), func(l gossip.LinkStats) bool { return l.Peer == peer.id && l.Joining })
}

// crash ends an incarnation. The others find out in their own time.
func (w *World) crash(place int) {
	n := w.nodes[place]
	if n.gone {
		return
	}
	w.tracef("%v crashes", n)
	n.gone = true
	w.dead = append(w.dead, n)
	for _, m := range w.nodes {
		if m == n || m.gone {
			continue
		}
		if l := m.links[n.id]; l != nil {
			w.After(w.between(0, 50*Millisecond), func() { m.snap(l, 50*Millisecond) })
		}
		w.After(w.between(50*Millisecond, 2*Second), func() { m.down(n) })
	}
}

// leave has a node go politely: it drains, waits for a while until all living peers
// have everything, says goodbye and is no more.
func (w *World) leave(place int, patience int64) {
	n := w.nodes[place]
	if n.gone || n.leaving {
		return
	}
	w.tracef("%v leaves", n)
	n.act(func(now int64) { n.engine.Drain(now) })
	n.leaving = true
	deadline := w.now + patience
	var look func()
	look = func() {
		switch {
		case n.gone:
		case n.engine.Quiet():
			w.checkHandover(n)
			n.depart()
		case w.now >= deadline:
			n.depart()
		default:
			w.After(10*Millisecond, look)
		}
	}
	w.After(0, look)
}

func (n *Node) depart() {
	n.w.tracef("%v says goodbye", n)
	n.engine.Goodbye(n.now())
	n.gone = true
	n.w.dead = append(n.w.dead, n)
	for _, m := range n.w.nodes {
		if m != n {
			n.w.After(n.w.between(0, 500*Millisecond), func() { m.down(n) })
		}
	}
}

// restart starts the next incarnation at a place, with an empty table and a clock that
// has just begun.
func (w *World) restart(place int) {
	if !w.nodes[place].gone {
		return
	}
	w.Stats.Restarts++
	n := w.birth(place, w.between(0, Second)-w.now)
	w.nodes[place] = n
	for _, m := range w.nodes {
		if m != n {
			w.After(w.between(0, 500*Millisecond), func() { m.meet(n) })
			w.After(w.between(0, 500*Millisecond), func() { n.meet(m) })
		}
	}
}

// meet is up for a peer that may have died meanwhile.
func (n *Node) meet(peer *Node) {
	if !peer.gone {
		n.up(peer, n.w.between(Millisecond, 50*Millisecond))
	}
}

// heal ends all faults: whoever lives sees whoever lives, and nobody else.
func (w *World) heal() {
	w.tracef("all is well from here on")
	w.calm = true
	for from := range w.nodes {
		for to := range w.nodes {
			w.mend(from, to)
		}
		if n := w.nodes[from]; n.leaving && !n.gone {
			n.depart()
		}
		w.restart(from)
	}
	for _, n := range w.nodes {
		for _, d := range w.dead {
			w.After(w.between(0, 50*Millisecond), func() { n.down(d) })
		}
		for _, m := range w.nodes {
			if m != n {
				w.After(w.between(0, 50*Millisecond), func() { n.meet(m) })
			}
		}
	}
}

// settled reports whether everybody alive has told everybody alive everything.
func (w *World) settled() bool { return w.restless() == "" }

func (w *World) restless() string {
	for _, n := range w.nodes {
		switch {
		case n.engine.Joining():
			return n.name + " is joining"
		case len(n.knows) != len(w.nodes)-1:
			return n.name + " does not see everyone"
		case n.book.unsentEvents() > 0:
			return n.name + " has something unsent"
		case !n.engine.Quiet() || !n.engine.Heard():
			return n.name + " has news under way"
		}
	}
	if w.ending() {
		return "a hold or a ban ends"
	}
	return ""
}

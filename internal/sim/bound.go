package sim

import (
	"math"

	"github.com/stint-go/stint/bucket"
)

// past is a key at one node from one moment on.
type past struct {
	at    int64 // virtual
	full  int64 // when its bucket is full again, by the node's clock
	spent int64 // events admitted there so far
}

// remember notes a key's state after it has changed.
func (n *Node) remember(k int) {
	if !n.w.opts.InTouch {
		return
	}
	full := n.now() + n.glance(n.w.keys[k]).ResetAfter
	n.book.history[k] = append(n.book.history[k], past{n.w.now, full, n.book.admitted[k]})
}

// just before a moment: the key as it was then.
func (n *Node) before(k *key, at int64) past {
	h := n.book.history[k.index]
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].at < at {
			return h[i]
		}
	}
	return past{full: math.MinInt64}
}

// theta is θ, from which on a node tells at once what it has spent, as it was at a
// moment; at that moment less than that was unsent, or it was on its way. Of windows and
// logs it is taken for what it is at most: some may just have come back.
func (n *Node) theta(k *key, p past, at int64) int64 {
	if !k.bucket() {
		return max(1, k.most()/int64(2*len(n.w.nodes)))
	}
	left := k.rated().Remaining(bucket.State{At: p.full}, n.clock.read(at))
	return max(1, left/int64(2*len(n.w.nodes)))
}

// checkBound is promise 3 as it stands, with everybody in touch and a constant delay τ:
// nobody has not heard more than, of each other node j, θⱼ at t−τ−g, less 1, and what j
// spent since.
func (w *World) checkBound(n *Node, k *key, excess float64, unheard int64) {
	bound := int64(0)
	for _, j := range w.nodes {
		if j != n {
			at := w.now - w.opts.Net.Delay - j.engine.Gap()
			p := j.before(k, at)
			bound += j.theta(k, p, at) - 1 + j.book.admitted[k.index] - p.spent
		}
	}
	if unheard > bound || excess > float64(bound)+w.slack(k) {
		w.overspent("%v overspends key %d by %.3f events, having not heard of %d: the bound is %d", n, k.index, excess, unheard, bound)
	}
	w.Stats.Bound = max(w.Stats.Bound, bound)
	if bound > 0 {
		w.Stats.Nearest = math.Max(w.Stats.Nearest, excess/float64(bound))
	}
}

package gossip

import "testing"

// lone is a node that was told of nobody, and has spent something long ago.
func lone(w *world, name string, amounts ...int64) *node {
	n := w.born(name, joins(true))
	for _, v := range amounts {
		n.spend(v)
		w.skip(10 * ms)
	}
	return n
}

// old is two nodes that have known each other for so long that their logs are empty.
func old(w *world) (a, b *node) {
	a, b = w.born("a", joins(true)), w.born("b", joins(false))
	meeting(a, b)
	w.pass(2000 * ms)
	a.spend(10)
	b.spend(20)
	w.pass(2000 * ms)
	return a, b
}

// agree checks that all are ready, have all of key 0, and have lost nothing.
func (w *world) agree(want int64, nodes ...*node) {
	w.t.Helper()
	for _, n := range nodes {
		if got := n.count(); got != want || n.Joining() || n.Lost() > 0 || !n.Quiet() || !n.Heard() {
			w.t.Errorf("%s has %d of %d, joining %v, lost %d, quiet %v, hears all %v", n.name, got, want, n.Joining(), n.Lost(), n.Quiet(), n.Heard())
		}
	}
}

// Rule 13. A lone node that has told nobody anything joins the cluster that it meets, and
// what it has spent is known there; at once: it does not wait until streams time out.
func TestLoneNodeJoins(t *testing.T) {
	w := newWorld(t)
	w.auto = true
	l := lone(w, "l", 1, 2)
	a, b := old(w)
	meeting(l, a, b)
	w.pass(100 * ms)
	if l.Joining() || l.missing > 0 {
		t.Errorf("after 100 ms: joining %v, %d chunks missing", l.Joining(), l.missing)
	}
	w.pass(3000 * ms)
	w.agree(33, l, a, b)
	for _, n := range []*node{a, b} {
		if len(n.chunks) > 0 && n == a {
			t.Errorf("%s has turned newcomer", n.name)
		}
	}
}

// Its peers begin anew with it at once. Broken once: they noticed that it had turned
// newcomer only when their streams timed out.
func TestNewcomerIsHeldForAtOnce(t *testing.T) {
	w := newWorld(t)
	w.auto = true
	l := lone(w, "l", 1, 2)
	a, n := w.born("a", joins(true)), w.born("n", joins(false))
	a.most = 1
	a.spend(10)
	meeting(a, n)
	w.pass(20 * ms)
	n.up(l)
	l.up(n)
	n.open(l)
	l.open(n)
	for range 500 {
		if w.pass(ms); !n.Joining() {
			break
		}
	}
	w.crash(a)
	n.down(a)
	w.pass(300 * ms)
	w.agree(13, l, n)
	if len(l.chunks) == 0 {
		t.Error("the lone node has not joined")
	}
}

// Rule 13. One that has told somebody, or has applied something of him, does not: clusters
// formed apart exchange what their logs hold, and nothing is doubled.
func TestLoneNodeThatToldSomebody(t *testing.T) {
	w := newWorld(t)
	w.auto = true
	l := lone(w, "l", 1, 2)
	m := w.born("m", joins(false))
	meeting(l, m)
	w.pass(3000 * ms)
	w.agree(3, l, m)
	a, b := old(w)
	chunks := len(m.chunks)
	meeting(l, m, a, b)
	l.spend(100)
	b.spend(200)
	w.pass(5000 * ms)
	for _, n := range w.nodes() {
		if got := n.count(); got < 300 || got > 333 || n.Joining() || !n.Quiet() {
			t.Errorf("%s has %d, joining %v, quiet %v", n.name, got, n.Joining(), n.Quiet())
		}
	}
	if len(l.chunks) > 0 || len(m.chunks) != chunks {
		t.Error("nodes of a cluster have joined anew")
	}
}

// Rule 13. Two lone nodes meet, both ready: they do not chase each other for ever. Each is
// a newcomer to the other, and the one with the lower name is ready first.
func TestTwoLoneNodesMeet(t *testing.T) {
	for delay := range int64(30) {
		w := newWorld(t)
		w.auto = true
		a, b := lone(w, "a", 1), lone(w, "b", 10)
		a.up(b)
		a.open(b)
		w.pass(delay * ms / 2)
		b.up(a)
		b.open(a)
		w.pass(4000 * ms)
		w.agree(11, a, b)
	}
}

// A newcomer meets a lone node first, and a cluster. The lone node gives it nothing while
// the newcomer knows somebody whom it does not: it may have to join itself, and would not
// any more. Broken once: it served, and then knew nothing of what the cluster had spent.
func TestLoneNodeMetThroughANewcomer(t *testing.T) {
	for late := range int64(40) {
		w := newWorld(t)
		w.auto = true
		l := lone(w, "l", 1, 2)
		a, b := old(w)
		n := w.born("n", joins(false))
		meeting(n, a, b)
		n.up(l)
		l.up(n)
		n.open(l)
		l.open(n)
		w.pass(late * 20 * ms)
		meeting(l, n, a, b)
		w.pass(6000 * ms)
		w.agree(33, l, a, b, n)
	}
}

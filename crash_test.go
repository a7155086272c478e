package stint_test

import (
	"testing"
	"time"

	"github.com/stint-go/stint"
)

func TestCrashAndReturnUnderTheSameName(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		for i, n := range nodes {
			n.AllowN("ann", slow(1000), 10*int64(i+1))
		}
		r.sync()
		r.kill(2, nodes[2])
		nodes[0].AllowN("ann", slow(1000), 5)
		time.Sleep(50 * time.Millisecond)
		r.checkRemaining(935, "ann", slow(1000), nodes[0])

		back := r.open(r.config(2))
		r.met(nodes[0], nodes[1], back)
		r.checkRemaining(935, "ann", slow(1000), nodes[:2]...)
		if got := back.Peek("ann", slow(1000)).Remaining; got > 1000 || got < 935 {
			t.Errorf("%d remain for the one that came back, want nothing twice", got)
		}
		before := back.Peek("ann", slow(1000)).Remaining
		back.AllowN("ann", slow(1000), 100)
		nodes[1].AllowN("ann", slow(1000), 200)
		r.sync()
		r.checkRemaining(635, "ann", slow(1000), nodes[:2]...)
		r.checkRemaining(before-300, "ann", slow(1000), back)
		for _, n := range []*stint.Node{nodes[0], nodes[1], back} {
			if s := n.Stats(); s.Nodes != 3 || s.Lost != 0 {
				t.Errorf("%s: got %d nodes, %d lost", s.Name, s.Nodes, s.Lost)
			}
		}
	})
}

// The others notice, go on, and do not wait for the dead.
func TestCrashIsNoticed(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		r.kill(1, nodes[1])
		r.within(10*time.Second, "the crash is noticed", func() bool {
			return nodes[0].Stats().Nodes == 2 && nodes[2].Stats().Nodes == 2
		})
		nodes[0].AllowN("ann", slow(100), 7)
		r.sync()
		r.checkRemaining(93, "ann", slow(100), nodes[2])
		for _, m := range nodes[0].Members() {
			if want := m.Name != "n1"; (m.State == "alive") != want {
				t.Errorf("got %s %s", m.Name, m.State)
			}
		}
	})
}

// Crash upon crash: each incarnation's takes count once, on all that lived.
func TestManyRestarts(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		left := int64(1000)
		last := nodes[2]
		for range 5 {
			last.AllowN("ann", slow(1000), 7)
			left -= 7
			r.sync()
			r.checkRemaining(left, "ann", slow(1000), nodes[:2]...)
			r.kill(2, last)
			last = r.open(r.config(2))
			r.met(nodes[0], nodes[1], last)
		}
		r.checkRemaining(left, "ann", slow(1000), nodes[:2]...)
	})
}

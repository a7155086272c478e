package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster/memnet"
)

// Whatever happens to the network and to processes: the events of each member
// keep their order, and once all is well every node has links to all others.
func TestChaos(t *testing.T) {
	const size, rounds = 5, 25
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				if seed%2 == 1 {
					r.keys = [][]byte{key(1), key(2)}
				}
				dice := rand.New(rand.NewPCG(seed, 0))
				r.net.SetFaults(memnet.Faults{Loss: 0.02, Duplicate: 0.05, Reorder: 0.05, Delay: time.Millisecond, Jitter: 5 * time.Millisecond})
				ip := func(i int) string { return fmt.Sprintf("10.0.0.%d", i+1) }
				nodes := make([]*node, size)
				start := func(i, life int) {
					nodes[i] = r.start(fmt.Sprint("n", i), ip(i), uint64(100*life+i+1), ip(0), ip(1))
				}
				for i := range nodes {
					start(i, 0)
				}
				for round := range rounds {
					i, j := dice.IntN(size), dice.IntN(size)
					switch dice.IntN(7) {
					case 0:
						r.net.Split(ip(i))
					case 1:
						r.net.Split(ip(i), ip(j))
					case 2:
						r.net.Cut(ip(i), ip(j))
					case 3:
						r.net.BreakStreams(ip(i), ip(j))
					case 4:
						r.net.Heal()
					case 5:
						nodes[i].kill()
						start(i, round+1)
					case 6:
						if seed%2 == 1 {
							nodes[i].SetKeys([][]byte{key(byte(1 + round%2)), key(byte(2 - round%2))})
						}
					}
					time.Sleep(time.Duration(dice.Int64N(int64(5 * time.Second))))
				}
				r.net.Heal()
				r.net.SetFaults(memnet.Faults{Delay: time.Millisecond})
				r.within(30*time.Second, "all are linked", func() bool {
					for _, n := range nodes {
						var others []uint64
						for _, o := range nodes {
							if o != n {
								others = append(others, o.Incarnation())
							}
						}
						if !n.linked(others...) {
							return false
						}
					}
					return true
				})
				for _, n := range nodes {
					n.checkOrder(r)
				}
			})
		})
	}
}

// checkOrder holds the events of each member against what Event promises.
func (n *node) checkOrder(r *rig) {
	n.mu.Lock()
	defer n.mu.Unlock()
	type condition struct{ up, link bool }
	members := map[uint64]*condition{}
	for i, e := range n.events {
		c := members[e.Member.Incarnation]
		if c == nil {
			c = &condition{}
			members[e.Member.Incarnation] = c
		}
		ok := false
		switch e.Kind {
		case MemberUp:
			ok, c.up = !c.link, true // again, if it moved
		case MemberDown:
			ok, c.up = c.up && !c.link, false
		case LinkUp:
			ok, c.link = c.up && !c.link, true
		case LinkDown:
			ok, c.link = c.link, false
		}
		if !ok {
			r.Errorf("%s: event %d, %s %s, does not fit those before", n.cfg.Name, i, e.Kind, e.Member.Name)
		}
	}
}

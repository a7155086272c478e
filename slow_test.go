package stint_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// A peer whose streams stand still, break all the time, or come back and fall silent again,
// delays nobody else's news, and costs one entry a key beyond what was under way to it.
func TestBadPeersDelayNobody(t *testing.T) {
	const keys = 200
	for name, trouble := range map[string]func(r *rig, step int){
		"stalls": func(r *rig, step int) { // n3 still hears it, and says that it lives
			if step == 0 {
				r.net.Cut(ip(2), ip(0))
				r.net.Cut(ip(2), ip(1))
			}
		},
		"breaks": func(r *rig, _ int) {
			r.net.BreakStreams(ip(0), ip(2))
			r.net.BreakStreams(ip(1), ip(2))
		},
		"flaps": func(r *rig, step int) {
			if r.net.Heal(); step/7%2 == 0 {
				r.net.Split(ip(2))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				nodes, worst := r.cluster(4), 0
				api := stint.PerDay(1_000_000).WithName("api")
				api.Algorithm = stint.FixedWindow
				for step := range 100 {
					trouble(r, step)
					for i := range keys {
						nodes[0].Allow(fmt.Sprint("key", i), api)
					}
					time.Sleep(105 * time.Millisecond) // a sync interval, and the way
					want := int64(999_999 - step)
					r.checkRemaining(want, "key0", api, nodes[1], nodes[3])
					r.checkRemaining(want, fmt.Sprint("key", keys-1), api, nodes[1], nodes[3])
					worst = max(worst, nodes[0].Members()[2].Backlog)
					// A window of batches that it may have had, and all since.
					if s := nodes[0].Stats(); s.LogEntries > 18*keys {
						t.Fatalf("step %d: got %d entries in the log for %d keys", step, s.LogEntries, keys)
					}
				}
				if worst < keys {
					t.Errorf("got a backlog of at most %d for the bad peer, who was no trouble", worst)
				}
				r.net.Heal()
				r.met(nodes...)
				for i := range keys {
					r.checkRemaining(999_900, fmt.Sprint("key", i), api, nodes...)
				}
				for _, n := range nodes {
					if s := n.Stats(); s.Lost != 0 || s.LogEntries != 0 {
						t.Errorf("%s: lost %d, %d entries kept for nobody", s.Name, s.Lost, s.LogEntries)
					}
				}
			})
		})
	}
}

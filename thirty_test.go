package stint_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// unforgetting is a limit of each algorithm of which nothing comes back within an hour:
// what is missing is, to the event, what was taken.
func unforgetting(t *testing.T, events int64) (limits []stint.Limit) {
	for _, form := range []string{
		"1/h burst=%d", "1/h burst=%d algorithm=leaky-bucket", "%d/24h algorithm=fixed-window",
		"%d/24h algorithm=sliding-window", "%d/24h algorithm=sliding-log",
	} {
		l, err := stint.ParseLimit(fmt.Sprintf(form, events))
		if err != nil {
			t.Fatal(err)
		}
		limits = append(limits, l)
	}
	return limits
}

// Thirty nodes in one process are a stable cluster: while all spend on the same keys,
// nobody is taken for dead and no link is redialled, and once all is quiet each count is
// the same everywhere, to the event. STINT_SOAK makes it last longer, at most 50 minutes
// of the bubble's time.
func TestThirtyNodes(t *testing.T) {
	spend := time.Second
	if long, err := time.ParseDuration(os.Getenv("STINT_SOAK")); err == nil {
		spend = min(max(spend, long), 50*time.Minute)
	}
	inBubble(t, func(r *rig) {
		const size, events, keys = 30, 600_000, 4
		limits := unforgetting(t, events)
		nodes := r.cluster(size)
		type count struct {
			limit stint.Limit
			key   string
		}
		want := make(map[count]int64)
		for start, step := time.Now(), 0; time.Since(start) < spend; step++ {
			for i, n := range nodes {
				c := count{limits[(step+i)%len(limits)], fmt.Sprint("key ", (step+i/7)%keys)}
				if !n.Allow(c.key, c.limit).OK {
					t.Fatalf("%s refused %q under %s: most of it should be left", n.Name(), c.key, c.limit)
				}
				want[c]++
			}
			time.Sleep(20 * time.Millisecond)
		}
		r.met(nodes...)
		if len(want) != len(limits)*keys {
			t.Errorf("got %d keys in use, want %d", len(want), len(limits)*keys)
		}
		for c, n := range want {
			r.checkRemaining(events-n, c.key, c.limit, nodes...)
		}
		for _, n := range nodes {
			s := n.Stats()
			if s.Lost > 0 || s.Forgiven > 0 || s.Malformed > 0 {
				t.Errorf("%s: lost %d, forgiven %d, malformed %d; want none", s.Name, s.Lost, s.Forgiven, s.Malformed)
			}
			for _, m := range s.Peers {
				if m.Reconnects > 0 {
					t.Errorf("%s redialled %s %d times", s.Name, m.Name, m.Reconnects)
				}
			}
		}
	})
}

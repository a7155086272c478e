package stint_test

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// Promise 7, case 5 for all that is counted: when each of five nodes has been replaced, one
// by one and under load, every count of every algorithm is what it was, and what was held
// and banned by nodes that are gone is held and banned.
func TestRollingReplacement(t *testing.T) {
	inBubble(t, func(r *rig) {
		const all = 1000
		ctx := context.Background()
		nodes, limits := r.cluster(5), everyKind(all)
		start := time.Now()
		want := int64(all)
		spend := func() {
			for i, n := range nodes {
				for _, l := range limits {
					if d := n.AllowN("ann", l, int64(1+i)); !d.OK {
						t.Fatalf("%s: got %+v of %v", n.Name(), d, l)
					}
				}
				want -= int64(1 + i)
			}
		}
		spend()
		var open []*stint.Hold
		for i, l := range limits[:4] { // of a log nothing can be held
			h, err := nodes[i].Hold(ctx, "hal", l, 100, 2*time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, h)
			settled, err := nodes[i].Hold(ctx, "sue", l, 100, time.Minute)
			if err == nil {
				err = nodes[i].Settle(ctx, settled.ID(), 37)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := nodes[2].Ban(ctx, "bob", limits[0], 2*time.Hour); err != nil {
			t.Fatal(err)
		}
		for i := range nodes {
			n := r.open(r.config2(5+i, (i+1)%5, i, 5+(i+4)%5))
			for n.Ready(gone()) != nil {
				spend()
				time.Sleep(100 * time.Millisecond)
			}
			old := nodes[i]
			nodes[i] = n
			spend() // on the newcomer, too
			bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
			if err := old.Close(bounded); err != nil {
				t.Error(err)
			}
			cancel()
			r.met(nodes...)
			spend()
			r.sync()
		}
		r.sync()
		back := int64(time.Since(start).Hours()*all) + 1 // to buckets, at most
		for i, l := range limits {
			for _, n := range nodes {
				for key, least := range map[string]int64{"ann": want, "hal": all - 100, "sue": all - 37} {
					if key != "ann" && i == 4 {
						continue
					}
					most := least
					if i < 2 {
						most = min(least+back, all)
					}
					if got := n.Peek(key, l).Remaining; got < least || got > most {
						t.Errorf("%s, %v: %d remain of %s, want %d to %d", n.Name(), l, got, key, least, most)
					}
				}
			}
		}
		for i, n := range nodes {
			if n.Allow("bob", limits[0]).OK {
				t.Errorf("%s: bob is banned no more", n.Name())
			}
			if s := n.Stats(); s.Lost != 0 || s.Missing != 0 || s.Forgiven != 0 {
				t.Errorf("%s: lost %d, missing %d, forgiven %d", s.Name, s.Lost, s.Missing, s.Forgiven)
			}
			if i < len(open) {
				if err := n.Settle(ctx, open[i].ID(), 10); err != nil {
					t.Errorf("%s: %v", n.Name(), err)
				}
			}
		}
		r.sync()
		for _, l := range limits[2:4] {
			r.checkRemaining(all-10, "hal", l, nodes...)
		}
	})
}

// config2 is that of node i that joins some others.
func (r *rig) config2(i int, seeds ...int) stint.Config {
	cfg := r.config(i)
	cfg.Join = nil
	for _, s := range seeds {
		cfg.Join = append(cfg.Join, seed(s))
	}
	return cfg
}

// Case 6. Three nodes become ten during a flood: over any interval no more is admitted than
// burst, rate and what the nodes show as bound; and no less than the rate.
func TestThreeBecomeTenDuringAFlood(t *testing.T) {
	inBubble(t, (*rig).flood)
}

func (r *rig) flood() {
	const rate, burst, length = 200, 200, 10 * time.Second
	l := stint.PerSecond(rate)
	nodes := r.cluster(3)
	start := time.Now()
	var total int64
	floor, worst, bound := 0.0, 0.0, 0.0
	var after int64 // admitted when the cluster had grown
	var grown time.Duration
	for step := 0; time.Since(start) < length; step++ {
		if size := len(nodes); size < 10 && time.Since(start) > time.Duration(size-2)*500*time.Millisecond {
			nodes = append(nodes, r.open(r.config2(size, 0, 1)))
		}
		for _, n := range nodes {
			if n.Ready(gone()) == nil { // else it gets no requests
				total += admitted(n, "ann", l, 1)
			}
			if step%20 != 0 {
				continue
			}
			if shown := n.Stats().Limits; len(shown) > 0 {
				bound = max(bound, shown[0].Bound)
			}
		}
		due := rate * time.Since(start).Seconds()
		if excess := float64(total) - due - floor - burst; excess > worst {
			worst = excess
		}
		floor = min(floor, float64(total)-due)
		if grown == 0 && len(nodes) == 10 && nodes[9].Ready(gone()) == nil {
			grown, after = time.Since(start), total
		}
		time.Sleep(4 * time.Millisecond)
	}
	sum := total - after
	r.Logf("%d admitted, excess %.0f of a bound of %.0f; %d in the last %v", total, worst, bound, sum, length-grown)
	if grown == 0 || grown > 7*time.Second {
		r.Fatalf("ten are ready after %v", grown)
	}
	if worst > bound {
		r.Errorf("got an excess of %.0f events over some interval, want the %.0f of the bound at most", worst, bound)
	}
	if got := float64(sum) / (rate * (length - grown).Seconds()); got < 0.97 || got > 1.03 {
		r.Errorf("ten nodes admit %.3f of the rate", got)
	}
}

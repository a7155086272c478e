package stint_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// Everything at once from many goroutines, on three nodes: nothing is lost, nothing
// counted twice. The race detector has its say as well.
func TestTotalsUnderConcurrency(t *testing.T) {
	inBubble(t, func(r *rig) {
		const takers, rounds, keys, burst = 4, 200, 7, 20_000
		nodes := r.cluster(3)
		var taken [keys]atomic.Int64
		var refused atomic.Int64
		var all sync.WaitGroup
		for i, n := range nodes {
			lim := n.Limiter(slow(burst))
			for j := range takers {
				all.Go(func() {
					into := make([]stint.Decision, 2)
					for round := range rounds {
						k, events := (round+j)%keys, int64(round%5+1)
						key, next := fmt.Sprint("key-", k), fmt.Sprint("key-", (k+1)%keys)
						if !n.AllowN(key, slow(burst), events).OK || !lim.Allow(key).OK {
							t.Error("refused far from the limit")
						}
						ok, err := n.TakeAll(context.Background(), []stint.Take{{Limiter: lim, Key: next, N: events}, {Limit: slow(burst), Key: key}}, into)
						if !ok || err != nil {
							t.Errorf("got %v, %v", ok, err)
						}
						if ok, _ := n.TakeAll(context.Background(), []stint.Take{{Limiter: lim, Key: key}, {Limit: stint.Blocked()}}, into); ok {
							t.Error("got a blocked take admitted")
						}
						refused.Add(1)
						taken[k].Add(events + 2)
						taken[(k+1)%keys].Add(events)
						if round%20 == i {
							n.SetLimit(stint.PerSecond(int64(round + 1)).WithName("other"))
							n.Stats()
							n.Members()
							n.Peek(key, slow(burst))
							time.Sleep(time.Millisecond)
						}
					}
				})
			}
		}
		all.Wait()
		r.sync()
		total := int64(0)
		for k := range taken {
			total += taken[k].Load()
			r.checkRemaining(burst-taken[k].Load(), fmt.Sprint("key-", k), slow(burst), nodes...)
		}
		var allowed, denied int64
		for _, n := range nodes {
			for _, l := range n.Stats().Limits {
				allowed += l.Allowed
				denied += l.Denied
			}
		}
		if allowed != total || denied != refused.Load() {
			t.Errorf("got %d allowed and %d denied in the counters, want %d and %d", allowed, denied, total, refused.Load())
		}
	})
}

// One key at its limit, hammered from everywhere at one instant: no node gives more
// than the burst, whatever the interleaving.
func TestNoNodeExceedsTheBurst(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		hundred := stint.PerDay(100).WithName("hundred")
		for _, n := range nodes {
			var passed atomic.Int64
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() { passed.Add(admitted(n, "ann", hundred, 50)) })
			}
			all.Wait()
			r.sync()
			want := int64(100)
			if n == nodes[1] {
				want = 0
			}
			if got := passed.Load(); got != want {
				t.Errorf("%s: got %d of 400 admitted, want %d", n.Name(), got, want)
			}
		}
	})
}

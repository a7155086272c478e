package stint_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// BenchmarkNews is how long it takes from a take at one of five nodes until another has
// charged it, over real sockets on the loopback: of a key at its limit, of which less than
// 2·N events are left, so that each is told at once; and of a key far from it, which may
// wait for the sync interval. An operation is one take, at a moment and between two nodes
// chosen at random. The other is looked at every 50 µs or so, which is in the figures.
func BenchmarkNews(b *testing.B) {
	const size = 5
	nodes := benchCluster(b, size)
	for _, bc := range []struct {
		name  string
		limit stint.Limit
		fresh int64 // events of the burst that are taken first
		each  int   // takes of one key
		pause time.Duration
	}{
		{"near", stint.Limit{Name: "near", Events: 1, Per: 24 * time.Hour, Burst: 1000}, 990, 9, 20 * time.Millisecond},
		{"far", stint.Limit{Name: "far", Events: 1, Per: time.Hour, Burst: 500_000}, 0, 100, 100 * time.Millisecond},
	} {
		b.Run(bc.name, func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, 2))
			var took []time.Duration
			key, left := "", bc.limit.Burst
			for b.Loop() {
				if i := len(took); i%bc.each == 0 {
					key, left = fmt.Sprint("user:", i), bc.limit.Burst-bc.fresh
					nodes[0].AllowN(key, bc.limit, bc.fresh)
					await(b, 10*time.Second, "all know the key", func() bool {
						return !slices.ContainsFunc(nodes, func(n *stint.Node) bool { return n.Peek(key, bc.limit).Remaining != left })
					})
				}
				from := rnd.IntN(size)
				to := (from + 1 + rnd.IntN(size-1)) % size
				time.Sleep(time.Duration(rnd.Int64N(int64(bc.pause))))
				start := time.Now()
				if !nodes[from].Allow(key, bc.limit).OK {
					b.Fatal("refused, with events left")
				}
				for left--; nodes[to].Peek(key, bc.limit).Remaining != left; time.Sleep(50 * time.Microsecond) {
					if time.Since(start) > 10*time.Second {
						b.Fatal("not heard of within 10 s")
					}
				}
				took = append(took, time.Since(start))
			}
			reportTimes(b, took)
		})
	}
}

// reportTimes says how long things took: half of them, and 99 of a hundred, at most.
func reportTimes(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	at := func(share float64) float64 { return took[int(share*float64(len(took)-1))].Seconds() * 1e3 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(at(1), "max-ms")
}

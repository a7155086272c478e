package stint_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// benchCluster opens so many nodes on the loopback and waits until all have met.
func benchCluster(b *testing.B, size int, change ...func(*stint.Config)) (nodes []*stint.Node) {
	b.Helper()
	for i := range size {
		cfg := stint.Config{Name: fmt.Sprint("n", i), Bind: "127.0.0.1:0"}
		if i > 0 {
			cfg.Join = []string{nodes[0].Addr()}
		}
		for _, f := range change {
			f(&cfg)
		}
		n, err := stint.Open(cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { n.Close(gone()) })
		nodes = append(nodes, n)
	}
	await(b, 20*time.Second, "all have met", func() bool {
		for _, n := range nodes {
			if n.Stats().Nodes != size || n.Ready(gone()) != nil || !inStep(n) {
				return false
			}
		}
		return true
	})
	return nodes
}

// await polls until the condition holds.
func await(tb testing.TB, limit time.Duration, what string, cond func() bool) {
	tb.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.After(limit)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-late:
			tb.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// BenchmarkColdKeys is three nodes over real sockets, each of which takes once from each of
// 10,000 fresh keys a second, evenly, and tells the two others. The metrics are what one
// node sends, frames of all kinds and their lengths, and the same by entry told. What one
// take makes urgent (that leaves less than 12 of the burst) is told within 2 ms, in many
// small batches; the rest once in a sync interval. An operation is 1 ms.
func BenchmarkColdKeys(b *testing.B) {
	for _, text := range []string{"100/s", "10/min", "100/min algorithm=fixed-window", "10/min algorithm=sliding-log"} {
		b.Run(strings.ReplaceAll(text, " ", ","), func(b *testing.B) { coldKeys(b, text) })
	}
}

func coldKeys(b *testing.B, text string) {
	const size, rate = 3, 10_000
	limit, err := stint.ParseLimit(text)
	if err != nil {
		b.Fatal(err)
	}
	nodes := benchCluster(b, size)
	out := func() (bytes int64) {
		for _, n := range nodes {
			for _, m := range n.Members() {
				bytes += m.BytesOut
			}
		}
		return bytes
	}
	limiters := make([]*stint.Limiter, size)
	for i, n := range nodes {
		limiters[i] = n.Limiter(limit.WithName("cold"))
	}
	taken := 0
	take := func(due int) {
		for ; taken < due; taken++ {
			for i := range limiters {
				limiters[i].Allow(fmt.Sprint("user:", i, ":", taken))
			}
		}
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	start, before := time.Now(), out()
	for b.Loop() {
		<-tick.C
		take(int(time.Since(start).Seconds() * rate))
	}
	lasted := time.Since(start)
	for range 150 { // the sync interval, and a half
		<-tick.C
	}
	await(b, 10*time.Second, "all is told", func() bool { return inStep(nodes[0]) && inStep(nodes[1]) && inStep(nodes[2]) })
	bytes := float64(out() - before)
	b.ReportMetric(bytes/size/1e3/lasted.Seconds(), "kB/s/node")
	b.ReportMetric(bytes/float64(size*taken*(size-1)), "B/entry")
	b.ReportMetric(float64(taken)/lasted.Seconds(), "keys/s/node")
	b.ReportMetric(0, "ns/op")
}

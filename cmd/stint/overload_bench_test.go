package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// BenchmarkSteadyOverload drives one key at 2 and 5 times its limit of 1000/s, evenly and
// nine tenths of it at one node, against 3, 5 and 10 processes. An operation is a run of
// STINT_OVERLOAD (1 s), each on a key of its own; five runs of what the targets are about
// take -benchtime 5x and 30s. Metrics:
//
//	%off-central   admitted, less what a central counter admits of the same takes, at worst
//	ms-over        largest excess over any interval, less N−1 events, in ms of the rate: median of the runs
//	ms-over-worst  the same, at worst
//	bound          what that excess could honestly be, in events, at least
//	broken         runs in which it was more than that at some instant
//	news-ms        worst age of any news, with the gap between two batches
//
// Only buckets have an excess. The generator runs in the benchmark's own process, on the
// same cores.
func BenchmarkSteadyOverload(b *testing.B) {
	lasts := time.Second
	if s := os.Getenv("STINT_OVERLOAD"); s != "" {
		var err error
		if lasts, err = time.ParseDuration(s); err != nil {
			b.Fatalf("STINT_OVERLOAD: %v", err)
		}
	}
	limits := []string{
		"burst-100ms=1000/s burst=100", "burst-1s=1000/s",
		"fixed-window=1000/s algorithm=fixed-window", "sliding-window=1000/s algorithm=sliding-window",
	}
	for _, size := range []int{3, 5, 10} {
		b.Run(fmt.Sprintf("nodes=%d", size), func(b *testing.B) {
			addrs := startNodes(b, size, limits...)
			for _, text := range limits {
				limit, err := parseNamed(text)
				if err != nil {
					b.Fatal(err)
				}
				for _, demand := range []int{2, 5} {
					for _, p := range []load.Pattern{{}, {Skew: 0.9}} {
						b.Run(fmt.Sprintf("%s/%dx/%s", limit.Name, demand, p), func(b *testing.B) {
							overload(b, load.Config{
								Plan:  load.Plan{Rate: float64(demand) * 1000, For: lasts, Pattern: p},
								Addrs: addrs, Limit: limit.Name,
							})
						})
					}
				}
			}
		})
	}
}

var overloads = 0 // runs, each on a key of its own

func overload(b *testing.B, cfg load.Config) {
	var over []float64
	off, bound, news, broken := 0.0, math.Inf(1), 0.0, 0
	for b.Loop() {
		overloads++
		cfg.KeyName = fmt.Sprint("run ", overloads)
		r, err := load.Run(b.Context(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		if r.Failed+r.Unsent > r.Asked/100 {
			b.Errorf("%d of %d takes failed, %d were not sent: the machine does not keep up", r.Failed, r.Asked, r.Unsent)
		}
		off = max(off, 100*math.Abs(r.Ratio-1))
		news = max(news, r.Age)
		if r.Bound == nil {
			continue
		}
		over = append(over, (r.Excess-float64(len(cfg.Addrs)-1))/r.Rule.PerSecond()*1e3)
		if bound = min(bound, *r.Bound); r.Broken {
			broken++
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(off, "%off-central")
	b.ReportMetric(news, "news-ms")
	if len(over) > 0 {
		slices.Sort(over)
		b.ReportMetric(over[len(over)/2], "ms-over")
		b.ReportMetric(over[len(over)-1], "ms-over-worst")
		b.ReportMetric(bound, "bound")
		b.ReportMetric(float64(broken), "broken")
	}
}

// startNodes starts so many processes with these limits, waits until all have met, and
// returns where they answer.
func startNodes(b *testing.B, size int, limits ...string) (addrs []string) {
	b.Helper()
	flags := []string{"--gossip", "127.0.0.1:0"}
	for _, l := range limits {
		flags = append(flags, "--limit", l)
	}
	var all []*process
	for i := range size {
		p := serveProcess(b, fmt.Sprint("node-", i), flags...)
		if i == 0 {
			flags = append(flags, "--join", p.gossip)
		}
		all, addrs = append(all, p), append(addrs, p.http)
	}
	eventually(b, 20*time.Second, "all have met", func() bool {
		return !slices.ContainsFunc(all, func(p *process) bool { return len(p.alive()) != size || !p.hears() })
	})
	return addrs
}

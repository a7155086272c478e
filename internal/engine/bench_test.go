package engine

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkSync is the steady work of ten nodes of which one spends on 10,000 keys in
// every 50 ms, out of 100,000, and tells nine peers. An operation is one such interval.
// The metrics are the CPU time of the process, or the wall clock where that cannot be
// had, as a share of one core: of the sender, from the drain to nine encoded frames and
// the acknowledgements; and of one receiver, decoding and charging included. Sockets are
// not in it; the root package's BenchmarkFanOut has them.
func BenchmarkSync(b *testing.B) {
	const peers, entries, keys, interval = 9, 10_000, 100_000, 50 * ms
	c := &crowd{TB: b, now: second, sync: interval}
	c.meet(peers + 1)
	l := c.everywhere("api", 1000)
	hashes := make([]uint64, keys)
	for i := range hashes {
		hashes[i] = l[0].Hash(fmt.Sprint("user:", i))
	}
	c.run(interval)
	sender := c.nodes[0]
	var sending, receiving time.Duration
	bytes, intervals := 0, 0
	for b.Loop() {
		for i := range entries {
			sender.table.Take(l[0], hashes[(intervals*entries+i)%keys], c.now, 1)
		}
		intervals++
		c.now += interval
		start := cpuTime()
		sender.step(c.now)
		sending += cpuTime() - start
		news := c.wire
		c.wire = nil
		start = cpuTime()
		for _, p := range news {
			bytes += len(p.frame)
			p.to.Receive(c.now, p.from.id, p.frame)
			p.to.step(c.now)
		}
		receiving += cpuTime() - start
		acks := c.wire
		c.wire = nil
		start = cpuTime()
		for _, p := range acks {
			p.to.Receive(c.now, p.from.id, p.frame)
		}
		sending += cpuTime() - start
	}
	if got := sender.Quiet(); !got {
		b.Fatal("not all acknowledged")
	}
	percent := func(d time.Duration) float64 { return 100 * float64(d) / float64(int64(intervals)*interval) }
	b.ReportMetric(percent(sending), "%sender")
	b.ReportMetric(percent(receiving)/peers, "%receiver")
	b.ReportMetric(float64(bytes)/float64(peers*entries*intervals), "B/entry")
}

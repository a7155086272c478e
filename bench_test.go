package stint_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster/memnet"
)

// The benchmarks here set a take beside the bare Allow of one limiter of x/time/rate,
// the cheapest thing that a Go program could do instead. What counts is the ratio of
// stint to xtimerate within one run; make bench takes several. Where nothing else is
// said the node has a peer in the same process: takes are recorded, told, acknowledged.

// plenty is a limit that a benchmark does not reach.
var plenty = stint.Limit{Name: "plenty", Events: 1e9, Per: time.Second, Burst: 1e9}

// benchPair opens two nodes on a network in memory and waits until they have met.
func benchPair(b *testing.B) *stint.Node {
	b.Helper()
	net := memnet.New(1)
	open := func(i int, join ...string) *stint.Node {
		n, err := stint.Open(stint.Config{Name: fmt.Sprint("n", i), Bind: ":7946", Join: join, Transport: net.Host(ip(i))})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { n.Close(gone()) })
		return n
	}
	first := open(0)
	if err := open(1, seed(0)).Ready(context.Background()); err != nil {
		b.Fatal(err)
	}
	return first
}

// compare benchmarks two ways to take n events each, both at once on so many
// goroutines: each by itself, and in turns of some milliseconds, of which it reports the
// median ratio; that one is hardly touched by what else the machine does.
func compare(b *testing.B, goroutines int, stint, bare func(n int)) {
	run := func(take func(n int), n int) {
		var all sync.WaitGroup
		for range goroutines - 1 {
			all.Go(func() { take(n / goroutines) })
		}
		take(n / goroutines)
		all.Wait()
	}
	b.Run("xtimerate", func(b *testing.B) {
		b.ReportAllocs()
		run(bare, b.N)
	})
	b.Run("stint", func(b *testing.B) {
		b.ReportAllocs()
		run(stint, b.N)
	})
	b.Run("ratio", func(b *testing.B) {
		const turn = 20_000
		var ratios []float64
		for b.Loop() {
			start := time.Now()
			run(bare, turn)
			middle := time.Now()
			run(stint, turn)
			ratios = append(ratios, float64(time.Since(middle))/float64(middle.Sub(start)))
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[len(ratios)/2], "stint/xtimerate")
	})
}

// bareAllow is Allow of one x/time/rate limiter.
func bareAllow(r rate.Limit, burst int) func(n int) {
	l := rate.NewLimiter(r, burst)
	return func(n int) {
		for range n {
			l.Allow()
		}
	}
}

// always takes one event of the same key.
func always(l *stint.Limiter) func(n int) {
	return func(n int) {
		for range n {
			l.Allow("user:12345")
		}
	}
}

// One hot key, one goroutine.
func BenchmarkHotKey(b *testing.B) {
	compare(b, 1, always(benchPair(b).Limiter(plenty)), bareAllow(1e9, 1e9))
}

// The same with the limit at each call.
func BenchmarkHotKeyByLimit(b *testing.B) {
	n := benchPair(b)
	compare(b, 1, func(times int) {
		for range times {
			n.Allow("user:12345", plenty)
		}
	}, bareAllow(1e9, 1e9))
}

// One hot key, on all cores.
func BenchmarkHotKeyParallel(b *testing.B) {
	compare(b, runtime.GOMAXPROCS(0), always(benchPair(b).Limiter(plenty)), bareAllow(1e9, 1e9))
}

// One key at its limit, on all cores: an attack.
func BenchmarkRefusedParallel(b *testing.B) {
	l := benchPair(b).Limiter(stint.PerDay(1).WithName("one"))
	l.Allow("user:12345")
	compare(b, runtime.GOMAXPROCS(0), always(l), bareAllow(1e-9, 1))
}

// live is how many keys are in use in BenchmarkMillionKeys.
const live = 1_000_000

// A million live keys, chosen at random, one goroutine. Takes are recorded and drained
// into the log, for peers of which there is none at the moment.
func BenchmarkMillionKeys(b *testing.B) {
	n, err := stint.Open(stint.Config{Bind: ":7946", Transport: memnet.New(1).Host(ip(0))})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { n.Close(gone()) })
	compare(b, 1, millionKeys(b, n), bareAllow(1e9, 1e9))
}

// The same with a peer in the same process, on the same cores, that takes in all of it:
// some millions of entries a second.
func BenchmarkMillionKeysTold(b *testing.B) {
	compare(b, 1, millionKeys(b, benchPair(b)), bareAllow(1e9, 1e9))
}

// millionKeys takes one event of a key chosen at random, all of which are in use. The key
// is made on the spot: to fetch one of a million strings would cost as much as the take.
func millionKeys(b *testing.B, n *stint.Node) func(n int) {
	l := n.Limiter(stint.PerDay(1_000_000).WithName("user"))
	buf := []byte("user:....")
	take := func(i uint64, events int64) {
		binary.LittleEndian.PutUint32(buf[5:], uint32(i))
		l.AllowN(string(buf), events)
	}
	for i := range uint64(live) {
		take(i, 100_000)
	}
	b.Cleanup(func() {
		if got := n.Stats().Keys; got < live*99/100 {
			b.Errorf("%d keys live at the end, want a million", got)
		}
	})
	rnd := rand.New(rand.NewPCG(1, 2))
	return func(times int) {
		for range times {
			take(rnd.Uint64()%live, 1)
		}
	}
}

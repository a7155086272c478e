//go:build linux

package stint_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// newcomerOf says to a process of this test that it is to be the newcomer of
// BenchmarkNewcomer, to the node at that address.
const newcomerOf = "STINT_NEWCOMER_OF"

// BenchmarkNewcomer is a process that joins a node with a million live keys, over real
// sockets on the loopback, and how long takes at that node take meanwhile: 20,000 a second of
// keys chosen at random, each timed. Baseline is the two seconds before. An operation is one
// joining. It begins when the donor is no longer young, as BenchmarkFanOut does.
func BenchmarkNewcomer(b *testing.B) {
	born := time.Now()
	n, err := stint.Open(newcomerConfig("donor"))
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close(gone())
	l := n.Limiter(stint.PerDay(1_000_000).WithName("user"))
	key := []byte("user:....")
	take := func(i uint32, events int64) {
		binary.LittleEndian.PutUint32(key[5:], i)
		l.AllowN(string(key), events)
	}
	for i := range uint32(live) {
		take(i, 500_000)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	timed := func(until <-chan time.Time) (took []time.Duration) {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-until:
				slices.Sort(took)
				return took
			case <-tick.C:
			}
			for range 20 {
				i, start := rnd.Uint32N(live), time.Now()
				take(i, 1)
				took = append(took, time.Since(start))
			}
		}
	}
	time.Sleep(time.Until(born.Add(youth)))
	var ready, calm, busy, worst []float64
	for b.Loop() {
		before := timed(time.After(2 * time.Second))
		done := make(chan time.Time, 1)
		lasted := make(chan time.Duration, 1)
		go func() {
			defer func() { done <- time.Time{} }()
			lasted <- newcomer(b, n.Addr())
		}()
		meanwhile := timed(done)
		ready = append(ready, (<-lasted).Seconds())
		calm = append(calm, micros(before, 0.999))
		busy = append(busy, micros(meanwhile, 0.999))
		worst = append(worst, micros(meanwhile, 1))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(slices.Max(ready), "ready-s-worst")
	b.ReportMetric(median(calm), "p99.9-µs-before")
	b.ReportMetric(median(busy), "p99.9-µs-joining")
	b.ReportMetric(slices.Max(worst), "max-µs-joining")
}

func micros(sorted []time.Duration, share float64) float64 {
	return float64(sorted[int(share*float64(len(sorted)-1))]) / 1e3
}

func newcomerConfig(name string) stint.Config {
	return stint.Config{Name: name, Bind: "127.0.0.1:0", MaxKeys: 2 * live}
}

// newcomer runs a process that joins, and returns how long it took from its Open until it
// was ready, with all that there is.
func newcomer(b *testing.B, addr string) (took time.Duration) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), newcomerOf+"="+addr)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Error(err)
		return 0
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Error(err)
		return 0
	}
	keys, missing := 0, 0
	if _, err := fmt.Fscan(bufio.NewReader(out), &took, &keys, &missing); err != nil || keys < live*99/100 || missing > 0 {
		b.Errorf("the newcomer has %d keys and lacks %d parts of them, %v; want a million", keys, missing, err)
	}
	in.Close()
	cmd.Wait()
	return took
}

// beNewcomer is the process of the newcomer. It leaves when nobody listens any more.
func beNewcomer(addr string) {
	cfg := newcomerConfig("newcomer")
	cfg.Join = []string{addr}
	start := time.Now()
	n, err := stint.Open(cfg)
	if err == nil {
		err = n.Ready(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s, took := n.Stats(), time.Since(start)
	fmt.Println(int64(took), s.Keys, s.Missing)
	io.Copy(io.Discard, os.Stdin)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

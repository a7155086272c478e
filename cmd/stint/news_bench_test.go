package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/daemon"
	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// BenchmarkNews is how long it takes from a take at one of five processes until another
// has charged it, by the times with which the daemons stamp their decisions: of a key at
// its limit, of which less than 2·N events are left, and of one far from it, which may wait
// for the sync interval. The other is asked again as soon as it has answered, so that a
// round trip of HTTP is in the figures. "busy" is a key at its limit while another is driven
// at twice its limit of 1000/s.
func BenchmarkNews(b *testing.B) {
	all := startNodes(b, 5, "near=1/24h burst=1000", "far=1/h burst=500000", "driven=1000/s burst=100")
	for _, bc := range []struct {
		name, limit  string
		burst, first int64
		each         int
		pause        time.Duration
		driven       bool
	}{
		{"near", "near", 1000, 990, 9, 20 * time.Millisecond, false},
		{"busy", "near", 1000, 990, 9, 20 * time.Millisecond, true},
		{"far", "far", 500_000, 0, 100, 100 * time.Millisecond, false},
	} {
		b.Run(bc.name, func(b *testing.B) {
			if bc.driven {
				defer drive2x(b, all)()
			}
			var took []time.Duration
			rnd, left := rand.New(rand.NewPCG(1, 2)), int64(0)
			key := ""
			for b.Loop() {
				if i := len(took); i%bc.each == 0 {
					key, left = fmt.Sprint(bc.name, " ", i), bc.burst-bc.first
					take(b, all[0], bc.limit, key, bc.first)
					eventually(b, 10*time.Second, "all know the key", func() bool {
						return !slices.ContainsFunc(all, func(addr string) bool { return take(b, addr, bc.limit, key, 0).remaining != left })
					})
				}
				from := rnd.IntN(len(all))
				to := (from + 1 + rnd.IntN(len(all)-1)) % len(all)
				time.Sleep(time.Duration(rnd.Int64N(int64(bc.pause))))
				start := take(b, all[from], bc.limit, key, 1).at
				left--
				for {
					if seen := take(b, all[to], bc.limit, key, 0); seen.remaining == left {
						took = append(took, time.Duration(seen.at-start))
						break
					} else if time.Duration(seen.at-start) > 10*time.Second {
						b.Fatal("not heard of within 10 s")
					}
				}
			}
			slices.Sort(took)
			at := func(share float64) float64 { return took[int(share*float64(len(took)-1))].Seconds() * 1e3 }
			b.ReportMetric(at(0.5), "p50-ms")
			b.ReportMetric(at(0.99), "p99-ms")
			b.ReportMetric(at(1), "max-ms")
		})
	}
}

// drive2x drives a key at twice its limit until the function that it returns is called.
func drive2x(b *testing.B, addrs []string) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	var done sync.WaitGroup
	done.Go(func() {
		_, err := load.Run(ctx, load.Config{Plan: load.Plan{Rate: 2000, For: 10 * time.Minute}, Addrs: addrs, Limit: "driven", KeyName: "k"})
		if err != nil {
			b.Error(err)
		}
	})
	return func() { cancel(); done.Wait() }
}

// taken is what a daemon says of a key, and when it was so, in Unix nanoseconds.
type taken struct {
	remaining, at int64
}

// take takes n events of a key.
func take(b *testing.B, addr, limit, key string, n int64) taken {
	body, err := json.Marshal(map[string]any{"limit": limit, "key": key, "n": n})
	if err != nil {
		b.Fatal(err)
	}
	resp, err := http.Post("http://"+addr+"/v1/take", "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var d struct{ Remaining int64 }
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	stamp, _, _ := strings.Cut(resp.Header.Get(daemon.DecidedAt), " ")
	at, err2 := strconv.ParseInt(stamp, 10, 64)
	if err != nil || err2 != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s %s %v %v", addr, resp.Status, text, err, err2)
	}
	return taken{d.Remaining, at}
}

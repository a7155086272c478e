package table

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/stint-go/stint/bucket"
)

var epoch = time.Now()

func clock() int64 { return int64(time.Since(epoch)) }

func bucketDef(events, per, burst int64) Def {
	return Def{Kind: Bucket, Bucket: bucket.New(events, per, burst), Shared: true}
}

func BenchmarkHot(b *testing.B) {
	tab := New(Config{Record: true})
	tab.SetNodes(3)
	l, _ := tab.Define("x", bucketDef(1e9, 1e9, 1e6))
	b.Run("rate", func(b *testing.B) {
		l := rate.NewLimiter(1e9, 1e6)
		for b.Loop() {
			l.Allow()
		}
	})
	b.Run("stint", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tab.Take(l, l.Hash("user:12345"), clock(), 1)
		}
	})
}

func BenchmarkParallel(b *testing.B) {
	tab := New(Config{Record: true})
	tab.SetNodes(3)
	l, _ := tab.Define("x", bucketDef(1e9, 1e9, 1e6))
	b.Run("rate", func(b *testing.B) {
		l := rate.NewLimiter(1e9, 1e6)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				l.Allow()
			}
		})
	})
	b.Run("stint", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				tab.Take(l, l.Hash("user:12345"), clock(), 1)
			}
		})
	})
}

func BenchmarkRefused(b *testing.B) {
	tab := New(Config{Record: true})
	tab.SetNodes(3)
	l, _ := tab.Define("x", bucketDef(1, 3600e9, 1))
	b.Run("rate", func(b *testing.B) {
		l := rate.NewLimiter(1e-9, 1)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				l.Allow()
			}
		})
	})
	b.Run("stint", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				tab.Take(l, l.Hash("user:12345"), clock(), 1)
			}
		})
	})
}

func BenchmarkUniform(b *testing.B) {
	b.Run("rate", func(b *testing.B) {
		l := rate.NewLimiter(1e9, 1e6)
		for b.Loop() {
			l.Allow()
		}
	})
	b.Run("stint", func(b *testing.B) {
		tab := New(Config{Record: true})
		tab.SetNodes(3)
		l, _ := tab.Define("x", bucketDef(1000, 3600e9, 1000))
		keys := make([]string, 1e6)
		for i := range keys {
			keys[i] = fmt.Sprintf("user:%d", i)
			tab.Take(l, l.Hash(keys[i]), clock(), 1)
		}
		r := rand.New(rand.NewPCG(1, 2))
		i, last := 0, clock()
		for b.Loop() {
			now := clock()
			tab.Take(l, l.Hash(keys[r.IntN(len(keys))]), now, 1)
			if i++; now-last > 100e6 {
				last = now
				tab.Drain(false, func(*Limit, uint64, int64, int64) {})
			}
		}
	})
}

package table

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/stint-go/stint/window"
)

// The benchmarks time a take as a node makes it, with the hash of its key and one
// reading of the clock, against the bare Allow of one limiter of x/time/rate. Both run
// by turns, a few milliseconds each, and the figure that counts is the median of the
// ratios of neighbouring turns: ×rate.

// turn is how many operations are timed together.
const turn = 20_000

// versus times ours against theirs; each does n operations.
func versus(b *testing.B, ours, theirs func(n int)) {
	b.Helper()
	against(b, "×rate", ours, theirs)
}

func against(b *testing.B, unit string, ours, theirs func(n int)) {
	b.Helper()
	b.ReportAllocs()
	ratios := []float64{}
	sum, ops := time.Duration(0), 0
	for ops < b.N || len(ratios) < 3 {
		mine, other := timed(ours), timed(theirs)
		ratios = append(ratios, float64(mine)/float64(other))
		sum, ops = sum+mine, ops+turn
	}
	slices.Sort(ratios)
	b.ReportMetric(float64(sum)/float64(ops), "ns/op")
	b.ReportMetric(ratios[len(ratios)/2], unit)
}

func timed(f func(n int)) time.Duration {
	start := time.Now()
	f(turn)
	return time.Since(start)
}

// twice splits the operations between two goroutines.
func twice(f func(n int)) func(n int) {
	return func(n int) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { f(n / 2) })
		}
		wg.Wait()
	}
}

func allow(l *rate.Limiter) func(n int) {
	return func(n int) {
		for range n {
			l.Allow()
		}
	}
}

var (
	epoch   = time.Now()
	noNews  = func(*Limit, uint64, Row) {}
	plenty  = rate.NewLimiter(1e9, 1e6)
	nothing = rate.NewLimiter(1e-9, 1)
)

// hot makes takes of one key.
func hot(b *testing.B, d Def) func(n int) {
	tab := New(Config{Record: true})
	tab.SetNodes(3)
	l := define(b, tab, "api", d)
	key := "user:12345"
	return func(n int) {
		for range n {
			tab.Take(l, l.Hash(key), int64(time.Since(epoch)), 1)
		}
	}
}

func BenchmarkHotKey(b *testing.B) {
	versus(b, hot(b, def(1e9, second, 1e6)), allow(plenty))
}

func BenchmarkHotKeyParallel(b *testing.B) {
	versus(b, twice(hot(b, def(1e9, second, 1e6))), twice(allow(plenty)))
}

func BenchmarkRefused(b *testing.B) {
	nothing.Allow()
	versus(b, hot(b, def(1, 1000*hour, 1)), allow(nothing))
}

func BenchmarkRefusedParallel(b *testing.B) {
	nothing.Allow()
	versus(b, twice(hot(b, def(1, 1000*hour, 1))), twice(allow(nothing)))
}

// BenchmarkMillionKeys takes from a million live keys, chosen at random, and drains
// what is to be told as often as a node does.
func BenchmarkMillionKeys(b *testing.B) {
	versus(b, million(b, def(1000, hour, 1000)), allow(plenty))
}

// BenchmarkMillionKeysOf does that with other kinds of limits, against the token bucket.
func BenchmarkMillionKeysOf(b *testing.B) {
	for _, c := range []struct {
		name string
		def  Def
	}{
		{"fixed", fixed(1000, hour)},
		{"sliding", sliding(1000, hour)},
		{"daily", Def{Kind: Window, Window: window.NewCalendar(1000, window.Day, nil), Shared: true}},
		{"log", logging(20, hour)},
	} {
		b.Run(c.name, func(b *testing.B) {
			against(b, "×bucket", million(b, c.def), million(b, def(1000, hour, 1000)))
		})
	}
}

// million makes takes of a million keys, each of which was taken of before.
func million(b *testing.B, d Def) func(n int) {
	const keys = 1_000_000
	tab := New(Config{Record: true})
	tab.SetNodes(3)
	tab.SetWall(1_700_000_000 * second)
	l := define(b, tab, "api", d)
	buf := []byte("user:????????")
	hash := func(i uint64) uint64 {
		binary.LittleEndian.PutUint64(buf[5:], i)
		return l.Hash(string(buf))
	}
	for i := range uint64(keys) {
		tab.Take(l, hash(i), int64(time.Since(epoch)), 1)
	}
	tab.Drain(false, noNews)
	drained, rnd := int64(time.Since(epoch)), uint64(1)
	return func(n int) {
		for range n {
			rnd = rnd*6364136223846793005 + 1442695040888963407
			now := int64(time.Since(epoch))
			tab.Take(l, hash(rnd>>32*keys>>32), now, 1)
			if now-drained > second/10 {
				drained = now
				tab.Drain(false, noNews)
			}
		}
	}
}

// BenchmarkFlood has nothing but fresh keys come to a full table.
func BenchmarkFlood(b *testing.B) {
	tab := New(Config{Record: true})
	l := define(b, tab, "api", def(1000, hour, 1000))
	i, drained := uint64(0), int64(0)
	flood := func(n int) {
		for range n {
			i++
			now := int64(time.Since(epoch))
			tab.Take(l, i*0x9e3779b97f4a7c15, now, 1)
			if now-drained > second/10 {
				drained = now
				tab.Drain(false, noNews)
			}
		}
	}
	flood(DefaultMaxKeys)
	versus(b, flood, allow(plenty))
}

// BenchmarkTakeAll takes from two limits at once.
func BenchmarkTakeAll(b *testing.B) {
	tab := New(Config{Record: true})
	user, route := define(b, tab, "user", def(1e9, second, 1e6)), define(b, tab, "route", def(1e9, second, 1e6))
	into := make([]Result, 2)
	versus(b, func(n int) {
		for range n {
			asks := [...]Ask{{user, user.Hash("user:12345"), 1}, {route, route.Hash("GET /"), 1}}
			tab.TakeAll(asks[:], int64(time.Since(epoch)), into)
		}
	}, allow(plenty))
}

// BenchmarkTakeAllOfThree takes of one key under three limits at once, such as 20/s,
// 100/min and 1000/day, against single takes of the same limits by turns.
func BenchmarkTakeAllOfThree(b *testing.B) {
	day := Def{Kind: Window, Window: window.NewCalendar(1e12, window.Day, nil), Shared: true}
	for name, defs := range map[string][3]Def{
		"buckets": {def(1e9, second, 1e9), def(2e9, second, 1e9), def(3e9, second, 1e9)},
		"mixed":   {def(1e9, second, 1e9), sliding(1e12, minutes), day},
	} {
		b.Run(name, func(b *testing.B) {
			tab := New(Config{Record: true})
			tab.SetWall(1_700_000_000 * second)
			var l [3]*Limit
			for i, d := range defs {
				l[i] = define(b, tab, string(rune('a'+i)), d)
			}
			key, into := "user:12345", make([]Result, 3)
			against(b, "×take", func(n int) {
				for range n {
					asks := [...]Ask{{l[0], l[0].Hash(key), 1}, {l[1], l[1].Hash(key), 1}, {l[2], l[2].Hash(key), 1}}
					tab.TakeAll(asks[:], int64(time.Since(epoch)), into)
				}
			}, func(n int) {
				for i := range n {
					into[0] = tab.Take(l[i%3], l[i%3].Hash(key), int64(time.Since(epoch)), 1)
				}
			})
		})
	}
}

// BenchmarkCharge applies the news of a peer: ten thousand keys, over and over.
func BenchmarkCharge(b *testing.B) {
	tab := New(Config{Record: true})
	l := define(b, tab, "api", def(1000, second, 1000))
	debt := l.Def().Bucket.Debt(10)
	i := uint64(0)
	versus(b, func(n int) {
		now := int64(time.Since(epoch))
		for range n {
			i++
			charge(tab, l, i%10_000*0x9e3779b97f4a7c15, now, 3, now-second/1000, debt)
		}
	}, allow(plenty))
}

package stint

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// A write of the state file with a million keys, while one goroutine takes: how long the
// write lasts, and how long a take takes meanwhile, at worst and for 999 of a thousand.
func BenchmarkStateFile(b *testing.B) {
	n, err := Open(Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close(b.Context())
	n.cfg.StateFile = filepath.Join(b.TempDir(), "state")
	k := &keeper{node: n} // with none of its own that writes meanwhile
	l := n.Limiter(PerDay(1_000_000).WithName("user"))
	key := []byte("user:....")
	take := func(i uint32, events int64) {
		binary.LittleEndian.PutUint32(key[5:], i)
		l.AllowN(string(key), events)
	}
	for i := range uint32(1_000_000) {
		take(i, 500_000)
	}
	var took []time.Duration
	for b.Loop() {
		var writing atomic.Bool
		writing.Store(true)
		go func() {
			if err := k.save(); err != nil {
				b.Error(err)
			}
			writing.Store(false)
		}()
		for i := uint32(0); writing.Load(); i = (i + 7919) % 1_000_000 {
			start := time.Now()
			take(i, 1)
			took = append(took, time.Since(start))
		}
	}
	info, err := os.Stat(n.cfg.StateFile)
	if err != nil || info.Size() < 10_000_000 {
		b.Fatalf("the file is not that of a million keys: %v, %v", info, err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*999/1000].Microseconds()), "p99.9-µs")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "worst-µs")
}

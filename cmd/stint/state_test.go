package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// daily is a quota whose day does not end within the test.
func daily() string {
	zone := "UTC"
	if now := time.Now().UTC(); now.Day() != now.Add(time.Hour).Day() {
		zone = "Asia/Tokyo"
	}
	return "daily=100/day calendar=day zone=" + zone
}

// A process that stands alone has a daily quota, half used. It is so still after a stop, and
// after a kill that left no time to write.
func TestStateFile(t *testing.T) {
	t.Parallel() // it waits most of the time
	file := filepath.Join(t.TempDir(), "stint.state")
	limits := []string{daily(), "hourly=100/h"}
	start := func() *process {
		return serveProcess(t, "alone", "--state", file, "--limit", limits[0], "--limit", limits[1])
	}
	take := func(p *process, n int64) {
		t.Helper()
		for _, limit := range []string{"daily", "hourly"} {
			var d struct{ OK bool }
			p.post(t, "/v1/take", map[string]any{"limit": limit, "key": "u", "n": n}, &d)
		}
	}
	left := func(p *process, want int64) {
		t.Helper()
		agree(t, []*process{p}, "daily", "u", want, want, 0)
		agree(t, []*process{p}, "hourly", "u", want, want+1, 0)
		agree(t, []*process{p}, "daily", "another", 100, 100, 0)
	}

	p := start()
	take(p, 30)
	p.terminate(t)

	p = start()
	left(p, 70)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	take(p, 20)
	eventually(t, 20*time.Second, "the state file written again", func() bool {
		after, err := os.Stat(file)
		return err == nil && !os.SameFile(before, after)
	})
	p.kill()

	p = start()
	left(p, 50)
	p.terminate(t)
}

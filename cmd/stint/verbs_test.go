package main

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// algorithms have a limit of 100 each.
var algorithms = []struct {
	name string
	gain int64 // by how much what is left may rise in a minute
}{
	{"token-bucket", 1}, {"leaky-bucket", 1}, {"fixed-window", 0}, {"sliding-window", 0}, {"sliding-log", 0},
}

// period is one of whole hours of which no window ends in the next five minutes.
func period() time.Duration {
	const margin = 5 * time.Minute
	now := time.Now()
	for per := time.Hour; ; per += time.Hour {
		if now.UnixNano()/int64(per) == now.Add(margin).UnixNano()/int64(per) {
			return per
		}
	}
}

// Three processes hold a limit of each algorithm, and do on any of them what was begun on
// another.
func TestVerbs(t *testing.T) {
	t.Parallel()
	var flags []string
	for _, a := range algorithms {
		flags = append(flags, "--limit", fmt.Sprintf("%s=100/%v algorithm=%s", a.name, period(), a.name))
	}
	all := startCluster(t, flags...)

	t.Run("algorithms", func(t *testing.T) { holdEveryLimit(t, all) })
	for _, a := range algorithms {
		t.Run("settle/"+a.name, func(t *testing.T) { settleElsewhere(t, all, a.name, a.gain) })
	}
	t.Run("ban", func(t *testing.T) {
		key := map[string]any{"limit": "token-bucket", "key": "banned"}
		var done struct{ OK bool }
		all[0].post(t, "/v1/ban", map[string]any{"limit": "token-bucket", "key": "banned", "for": 3600}, &done)
		agree(t, all, "token-bucket", "banned", 0, 0, 0)
		all[1].post(t, "/v1/unban", key, &done)
		agree(t, all, "token-bucket", "banned", 100, 100, 0)
	})
	t.Run("kill", func(t *testing.T) { // case 11
		hold(t, all[2], "fixed-window", "orphan", 40, 2)
		hold(t, all[2], "token-bucket", "orphan", 40, 2)
		agree(t, all[:2], "fixed-window", "orphan", 60, 60, 0)
		all[2].kill()
		agree(t, all[:2], "fixed-window", "orphan", 100, 100, 0)
		agree(t, all[:2], "token-bucket", "orphan", 100, 100, 0)
	})
}

// holdEveryLimit asks for three times what each limit has, of all at the same time, and
// for a part of it.
func holdEveryLimit(t *testing.T, all []*process) {
	var addrs []string
	for _, p := range all {
		addrs = append(addrs, p.http)
	}
	ask := func(key string, lasts time.Duration) []*load.Report {
		t.Helper()
		reports, errs := make([]*load.Report, len(algorithms)), make([]error, len(algorithms))
		var runs sync.WaitGroup
		for i, a := range algorithms {
			runs.Go(func() {
				reports[i], errs[i] = load.Run(t.Context(), load.Config{
					Plan: load.Plan{Rate: 200, For: lasts}, Addrs: addrs, Limit: a.name, KeyName: key,
				})
			})
		}
		runs.Wait()
		for i, err := range errs {
			if err != nil {
				t.Fatalf("%s: %v", algorithms[i].name, err)
			}
		}
		return reports
	}
	for i, r := range ask("spent", 1500*time.Millisecond) {
		most := int64(103)
		for _, p := range all { // more only if a machine this busy made the news late
			most = max(most, 100+p.bound(t, algorithms[i].name))
		}
		if r.Asked != 300 || r.Admitted+r.Refused != 300 || r.Admitted < 100 || r.Admitted > most || r.Broken {
			t.Errorf("%s: of %d takes %d were admitted, want 100 to %d of 300: %+v", algorithms[i].name, r.Asked, r.Admitted, most, r.Result)
		}
	}
	for i, r := range ask("part", 300*time.Millisecond) {
		if r.Admitted != 60 {
			t.Errorf("%s: %d of 60 takes were admitted, with 100 to take", algorithms[i].name, r.Admitted)
		}
	}
	for _, a := range algorithms {
		agree(t, all, a.name, "spent", 0, 0, 0)
		agree(t, all, a.name, "part", 40, 40+a.gain, a.gain)
	}
}

// settleElsewhere holds on one process and settles there or on another; all see it.
func settleElsewhere(t *testing.T, all []*process, limit string, gain int64) {
	var done struct{ OK bool }
	id := hold(t, all[0], limit, "held", 100, 60)
	agree(t, all, limit, "held", 0, gain, gain)
	all[0].post(t, "/v1/settle", map[string]any{"hold": id, "n": 37}, &done)
	agree(t, all, limit, "held", 63, 63+gain, gain)

	id = hold(t, all[2], limit, "held", 50, 60)
	agree(t, all, limit, "held", 13, 13+gain, gain)
	all[1].post(t, "/v1/settle", map[string]any{"hold": id, "n": 0}, &done)
	agree(t, all, limit, "held", 63, 63+gain, gain)

	var back struct{ Returned int64 }
	all[1].post(t, "/v1/return", map[string]any{"limit": limit, "key": "held", "n": 7}, &back)
	agree(t, all, limit, "held", 70, 70+gain, gain)
	all[2].post(t, "/v1/reset", map[string]any{"limit": limit, "key": "held"}, &back)
	agree(t, all, limit, "held", 100, 100, 0)
}

// hold takes an estimate at a process, for seconds, and returns its name.
func hold(t *testing.T, p *process, limit, key string, n, ttl int64) string {
	t.Helper()
	var held struct{ Hold string }
	p.post(t, "/v1/hold", map[string]any{"limit": limit, "key": key, "n": n, "ttl": ttl}, &held)
	return held.Hold
}

// bound is by how many events a process reckons that a limit may be exceeded.
func (p *process) bound(t *testing.T, limit string) int64 {
	t.Helper()
	var stats struct {
		Limits []struct {
			Name  string
			Bound float64
		}
	}
	if err := p.get("/v1/stats", &stats); err != nil {
		t.Fatal(err)
	}
	for _, l := range stats.Limits {
		if l.Name == limit {
			return int64(l.Bound)
		}
	}
	t.Fatalf("%s has no limit %s", p.name, limit)
	return 0
}

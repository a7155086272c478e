package main

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// Three processes hold one limit, one of them dies and comes back, and all leave in order.
func TestCluster(t *testing.T) {
	top := t // processes outlive subtests
	limits := []string{"--limit", "hourly=100/h", "--limit", "fast=1000/s"}
	all := startCluster(t, limits...)
	addrs := []string{all[0].http, all[1].http, all[2].http}

	t.Run("one limit", func(t *testing.T) {
		r := drive(t, load.Config{
			Plan:  load.Plan{Rate: 200, For: 1500 * time.Millisecond},
			Addrs: addrs, Limit: "hourly", KeyName: "spent",
		})
		most := int64(103)
		if r.Bound != nil { // more only if a machine this busy made the news late
			most = max(most, 100+int64(*r.Bound))
		}
		if r.Asked != 300 || r.Admitted < 100 || r.Admitted > most || r.Broken {
			t.Errorf("of %d takes %d were admitted, want 100 to %d of 300: %+v", r.Asked, r.Admitted, most, r.Result)
		}
		agree(t, all, "hourly", "spent", 0, 0, 1)

		r = drive(t, load.Config{
			Plan:  load.Plan{Rate: 200, For: 300 * time.Millisecond},
			Addrs: addrs, Limit: "hourly", KeyName: "half spent",
		})
		if r.Admitted != 60 {
			t.Errorf("%d of 60 takes were admitted, with 100 to take", r.Admitted)
		}
		agree(t, all, "hourly", "half spent", 40, 41, 1)
	})

	t.Run("kill and restart", func(t *testing.T) {
		killUnderLoad(t, all, func() {
			all[2] = serveProcess(top, "three", append(limits, "--gossip", "127.0.0.1:0", "--join", all[0].gossip)...)
		})
		before := all[2].alive()
		eventually(t, 10*time.Second, "the new three a member everywhere", func() bool {
			for _, p := range all {
				if a := p.alive(); len(a) != 3 || a["three"] != before["three"] {
					return false
				}
			}
			return true
		})
		r := drive(t, load.Config{
			Plan:  load.Plan{Rate: 1000, For: 30 * time.Millisecond},
			Addrs: []string{all[2].http}, Limit: "hourly", KeyName: "after",
		})
		if r.Admitted != 30 {
			t.Errorf("the new three admitted %d of 30", r.Admitted)
		}
		agree(t, all, "hourly", "after", 70, 71, 1)
	})

	t.Run("leave", func(t *testing.T) {
		for _, p := range all {
			p.cmd.Process.Signal(syscall.SIGTERM)
		}
		for _, p := range all {
			p.left(t)
		}
	})
}

func drive(t *testing.T, cfg load.Config) *load.Report {
	t.Helper()
	r, err := load.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed+r.Unsent > 0 {
		t.Errorf("%d takes failed, %d were not sent", r.Failed, r.Unsent)
	}
	return r
}

// killUnderLoad kills the third process while all are driven, and starts it again. The
// other two answer every take.
func killUnderLoad(t *testing.T, all []*process, again func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	progress, second := newSeconds()
	type result struct {
		*load.Report
		error
	}
	done := make(chan result, 1)
	go func() {
		r, err := load.Run(ctx, load.Config{
			Plan:  load.Plan{Rate: 600, For: time.Minute},
			Addrs: []string{all[0].http, all[1].http, all[2].http}, Limit: "fast", KeyName: "k", Progress: progress,
		})
		done <- result{r, err}
	}()
	<-second
	all[2].kill()
	<-second
	again()
	<-second
	stop()

	r := <-done
	if r.error != nil {
		t.Fatal(r.error)
	}
	for _, s := range r.Servers[:2] {
		if s.Failed+s.Unsent > 0 || s.Admitted == 0 {
			t.Errorf("a server that lived: %+v", s)
		}
	}
	if dead := r.Servers[2]; dead.Failed+dead.Unsent == 0 {
		t.Errorf("the server that was killed answered everything: %+v", dead)
	}
	if r.InTouch || r.Bound != nil {
		t.Errorf("in touch %v, bound %v: a server was away", r.InTouch, r.Bound)
	}
}

// newSeconds returns a writer for load's progress, and a channel that gets one value for
// each line of it.
func newSeconds() (lineWriter, <-chan struct{}) {
	c := make(lineWriter, 100)
	return c, c
}

type lineWriter chan struct{}

func (w lineWriter) Write(p []byte) (int, error) {
	for range strings.Count(string(p), "\n") {
		select {
		case w <- struct{}{}:
		default:
		}
	}
	return len(p), nil
}

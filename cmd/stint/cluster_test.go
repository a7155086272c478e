package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// process is a stint serve of its own.
type process struct {
	name   string
	cmd    *exec.Cmd
	http   string
	gossip string
	exited chan error
}

// serveProcess starts one and waits until it has said where it listens.
func serveProcess(t *testing.T, name string, join ...string) *process {
	t.Helper()
	args := []string{"serve", "--http", "127.0.0.1:0", "--gossip", "127.0.0.1:0", "--name", name, "--log", "json",
		"--limit", "hourly=100/h", "--limit", "fast=1000/s"}
	for _, addr := range join {
		args = append(args, "--join", addr)
	}
	p := &process{name: name, cmd: exec.Command("stint", args...), exited: make(chan error, 1)}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); <-p.exited })

	serving := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			var line struct{ Msg, HTTP, Gossip string }
			json.Unmarshal(lines.Bytes(), &line) // what is no JSON is not the line we look for
			if line.Msg == "serving" {
				p.http, p.gossip = line.HTTP, line.Gossip
				close(serving)
			}
			t.Logf("%s: %s", name, lines.Text())
		}
		p.exited <- p.cmd.Wait()
		close(p.exited)
	}()
	select {
	case <-serving:
	case <-p.exited:
		t.Fatalf("%s ended before it served", name)
	}
	return p
}

// get reads an answer of the process.
func (p *process) get(path string, into any) error {
	resp, err := http.Get("http://" + p.http + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

// alive is the incarnation of each member that the process believes to be alive.
func (p *process) alive() map[string]string {
	var body struct {
		Members []struct{ Name, State, Incarnation string }
	}
	if err := p.get("/v1/members", &body); err != nil {
		return nil
	}
	alive := map[string]string{}
	for _, m := range body.Members {
		if m.State == "alive" {
			alive[m.Name] = m.Incarnation
		}
	}
	return alive
}

// hears says whether the process is in session with all others.
func (p *process) hears() bool {
	var body struct {
		Members []struct {
			Self      bool
			InSession bool `json:"in_session"`
		}
	}
	if err := p.get("/v1/members", &body); err != nil {
		return false
	}
	for _, m := range body.Members {
		if !m.Self && !m.InSession {
			return false
		}
	}
	return true
}

// remaining is what the process has left of a key.
func (p *process) remaining(limit, key string) (int64, error) {
	var body struct{ Remaining int64 }
	err := p.get("/v1/peek?"+url.Values{"limit": {limit}, "key": {key}}.Encode(), &body)
	return body.Remaining, err
}

// eventually waits until ok, for the time that the promise gives.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	tick, deadline := time.NewTicker(20*time.Millisecond), time.After(within)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

// agree waits until all see the same number left of a key, give or take one, and not more
// than most.
func agree(t *testing.T, all []*process, limit, key string, most int64) {
	t.Helper()
	var last []int64
	defer func() {
		if t.Failed() {
			t.Logf("remaining of %s: %v", key, last)
		}
	}()
	eventually(t, 5*time.Second, fmt.Sprintf("the same remaining of %s/%s everywhere, %d or less", limit, key, most), func() bool {
		last = last[:0]
		for _, p := range all {
			n, err := p.remaining(limit, key)
			if err != nil {
				t.Fatal(err)
			}
			last = append(last, n)
		}
		least, greatest := last[0], last[0]
		for _, n := range last {
			least, greatest = min(least, n), max(greatest, n)
		}
		return greatest-least <= 1 && greatest <= most
	})
}

// Three processes hold one limit, one of them dies and comes back, and all leave in order.
func TestCluster(t *testing.T) {
	top := t // processes outlive subtests
	all := []*process{serveProcess(t, "one")}
	for _, name := range []string{"two", "three"} {
		all = append(all, serveProcess(t, name, all[0].gossip))
	}
	eventually(t, 10*time.Second, "three members at each, in session", func() bool {
		for _, p := range all {
			if len(p.alive()) != 3 || !p.hears() {
				return false
			}
		}
		return true
	})
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
		agree(t, all, "hourly", "spent", 0)

		r = drive(t, load.Config{
			Plan:  load.Plan{Rate: 200, For: 300 * time.Millisecond},
			Addrs: addrs, Limit: "hourly", KeyName: "half spent",
		})
		if r.Admitted != 60 {
			t.Errorf("%d of 60 takes were admitted, with 100 to take", r.Admitted)
		}
		agree(t, all, "hourly", "half spent", 41)
	})

	t.Run("kill and restart", func(t *testing.T) {
		killUnderLoad(t, all, func() { all[2] = serveProcess(top, "three", all[0].gossip) })
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
		agree(t, all, "hourly", "after", 71)
	})

	t.Run("leave", func(t *testing.T) {
		for _, p := range all {
			p.cmd.Process.Signal(syscall.SIGTERM)
		}
		for _, p := range all {
			if err := <-p.exited; err != nil {
				t.Errorf("%s: %v, want exit code 0", p.name, err)
			}
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
	all[2].cmd.Process.Kill()
	<-all[2].exited
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

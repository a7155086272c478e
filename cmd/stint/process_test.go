package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a stint serve of its own.
type process struct {
	name   string
	cmd    *exec.Cmd
	http   string
	gossip string
	exited chan error

	mu  sync.Mutex
	log []string // lines so far
}

// said tells how many lines of the log have all the words.
func (p *process) said(words ...string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.log {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			n++
		}
	}
	return n
}

// serveProcess starts one and waits until it has said where it listens. What it logs is
// logged, but by a benchmark, whose output is for benchstat.
func serveProcess(t testing.TB, name string, flags ...string) *process {
	t.Helper()
	args := append([]string{"serve", "--http", "127.0.0.1:0", "--name", name, "--log", "json"}, flags...)
	p := &process{name: name, cmd: exec.Command("stint", args...), exited: make(chan error, 1)}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); <-p.exited })

	logf := t.Logf
	if _, ok := t.(*testing.B); ok {
		logf = func(string, ...any) {}
	}
	serving := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			var line struct{ Msg, HTTP, Gossip string }
			json.Unmarshal(lines.Bytes(), &line) // what is no JSON is not the line we look for
			if line.Msg == "serving" {
				p.http, p.gossip = line.HTTP, line.Gossip
				close(serving)
			}
			p.mu.Lock()
			p.log = append(p.log, lines.Text())
			p.mu.Unlock()
			logf("%s: %s", name, lines.Text())
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

// kill ends the process without a chance to say goodbye.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.exited
}

// terminate ends the process in order.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.left(t)
}

// left waits until the process has ended, in order.
func (p *process) left(t *testing.T) {
	t.Helper()
	if err := <-p.exited; err != nil {
		t.Errorf("%s: %v, want exit code 0", p.name, err)
	}
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

// post does something at the process, and fails the test unless the answer is 200.
func (p *process) post(t *testing.T, path string, body, into any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+p.http+path, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err = io.ReadAll(resp.Body); err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %s %v", p.name, path, resp.Status, text, err)
	}
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
func eventually(t testing.TB, within time.Duration, what string, ok func() bool) {
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

// startCluster starts three processes that know of each other.
func startCluster(t *testing.T, flags ...string) []*process {
	t.Helper()
	flags = append([]string{"--gossip", "127.0.0.1:0"}, flags...)
	all := []*process{serveProcess(t, "one", flags...)}
	flags = append(flags, "--join", all[0].gossip)
	all = append(all, serveProcess(t, "two", flags...), serveProcess(t, "three", flags...))
	eventually(t, 10*time.Second, "three members at each, in session", func() bool { return inSession(all, 3) })
	return all
}

// agree waits until all see the same number left of a key, give or take slack, and not less
// than least nor more than most.
func agree(t *testing.T, all []*process, limit, key string, least, most, slack int64) {
	t.Helper()
	var last []int64
	defer func() {
		if t.Failed() {
			t.Logf("remaining of %s: %v", key, last)
		}
	}()
	what := fmt.Sprintf("the same remaining of %s/%s everywhere, %d to %d", limit, key, least, most)
	eventually(t, 5*time.Second, what, func() bool {
		last = last[:0]
		for _, p := range all {
			n, err := p.remaining(limit, key)
			if err != nil {
				t.Fatal(err)
			}
			last = append(last, n)
		}
		low, high := slices.Min(last), slices.Max(last)
		return high-low <= slack && low >= least && high <= most
	})
}

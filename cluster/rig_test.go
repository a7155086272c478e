package cluster

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/cluster/memnet"
)

// rig is a network in a bubble with nodes on it; all end with the test.
type rig struct {
	*testing.T
	net   *memnet.Network
	keys  [][]byte // of the nodes that start opens
	nodes []*node
}

// node is a Cluster that writes down what it is told.
type node struct {
	*Cluster
	host *memnet.Host
	ip   string
	log  *lines

	mu     sync.Mutex
	events []Event
	frames []string // "incarnation:bytes"
	stall  chan struct{}
}

// inBubble runs a test on a network of its own, and closes its nodes.
func inBubble(t *testing.T, f func(r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, net: memnet.New(1)}
		defer func() {
			for _, n := range r.nodes {
				n.stop()
			}
		}()
		f(r)
	})
}

// start opens a node at ip, port 7946, that knows the seeds' IPs.
func (r *rig) start(name, ip string, incarnation uint64, seeds ...string) *node {
	r.Helper()
	n := &node{host: r.net.Host(ip), ip: ip, log: &lines{}}
	cfg := Config{
		Name: name, Incarnation: incarnation, Label: "test",
		Bind: ":7946", Transport: n.host, Logger: n.log.logger(), Keys: r.keys,
		Frame: n.frame, Change: n.change,
	}
	for _, s := range seeds {
		cfg.Join = append(cfg.Join, net.JoinHostPort(s, "7946"))
	}
	return r.open(n, cfg)
}

func (r *rig) open(n *node, cfg Config) *node {
	r.Helper()
	c, err := Open(cfg)
	if err != nil {
		r.Fatal(err)
	}
	n.Cluster = c
	r.nodes = append(r.nodes, n)
	return n
}

// key returns a cluster key, another for each number.
func key(n byte) []byte { return bytes.Repeat([]byte{n}, KeySize) }

// three starts nodes a, b, c with incarnations 1, 2, 3 and waits until each
// has links to both others.
func (r *rig) three() (a, b, c *node) {
	r.Helper()
	a = r.start("a", "10.0.0.1", 1)
	b = r.start("b", "10.0.0.2", 2, "10.0.0.1")
	c = r.start("c", "10.0.0.3", 3, "10.0.0.1")
	r.within(5*time.Second, "three nodes have met", func() bool {
		return a.linked(2, 3) && b.linked(1, 3) && c.linked(1, 2)
	})
	return a, b, c
}

// within waits, in bubble time, until the condition holds.
func (r *rig) within(limit time.Duration, what string, cond func() bool) {
	r.Helper()
	for start := time.Now(); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > limit {
			for _, n := range r.nodes {
				r.Logf("%s: %v\n%s", n.cfg.Name, n.told(), n.log)
			}
			r.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// kill ends a node as kill -9 does.
func (n *node) kill() {
	n.host.Crash()
	n.stop()
}

func (n *node) stop() {
	n.mu.Lock()
	if n.stall != nil {
		close(n.stall)
		n.stall = nil
	}
	n.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n.Close(ctx)
}

func (n *node) change(e Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, e)
}

func (n *node) frame(from uint64, frame []byte) {
	n.mu.Lock()
	stall := n.stall
	n.frames = append(n.frames, fmt.Sprintf("%d:%s", from, frame))
	n.mu.Unlock()
	if stall != nil {
		<-stall
	}
}

// told lists the events as in "member up b/2".
func (n *node) told() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for _, e := range n.events {
		out = append(out, fmt.Sprintf("%s %s/%d", e.Kind, e.Member.Name, e.Member.Incarnation))
	}
	return out
}

// hush forgets events and frames so far.
func (n *node) hush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events, n.frames = nil, nil
}

func (n *node) got() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.frames)
}

// linked tells whether LinkUp is the last word about each, and nobody else.
func (n *node) linked(to ...uint64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	up := map[uint64]bool{}
	for _, e := range n.events {
		switch e.Kind {
		case LinkUp:
			up[e.Member.Incarnation] = true
		case LinkDown:
			delete(up, e.Member.Incarnation)
		}
	}
	for _, id := range to {
		if !up[id] {
			return false
		}
	}
	return len(up) == len(to)
}

func (n *node) state(incarnation uint64) string {
	for _, m := range n.Members() {
		if m.Incarnation == incarnation {
			return m.State.String()
		}
	}
	return "unknown"
}

// lines is a log that can be read back.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// warnings tells how many lines of level warn contain the words, but for the one
// about having no key.
func (l *lines) warnings(words ...string) int {
	words = append(words, "level=WARN")
	return l.count(words...) - l.count(append(words, "no cluster key: ")...)
}

// count tells how many lines contain all the words.
func (l *lines) count(words ...string) int {
	n := 0
	for line := range strings.Lines(l.String()) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			n++
		}
	}
	return n
}

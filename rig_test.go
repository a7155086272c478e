package stint_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster/memnet"
)

// rig is a network in a bubble, with nodes on it that end with the test.
type rig struct {
	*testing.T
	net   *memnet.Network
	nodes []*stint.Node
}

// inBubble runs a test on a network with a delay of 1 ms. If anything of a node still
// runs after its Close, the bubble fails the test.
func inBubble(t *testing.T, f func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, net: memnet.New(7)}
		r.net.SetFaults(memnet.Faults{Delay: time.Millisecond})
		defer func() {
			for _, n := range r.nodes {
				n.Close(gone())
			}
		}()
		f(r)
	})
}

// gone is a context that has ended.
func gone() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// ip is the address of the host of node i, from 0 on.
func ip(i int) string { return fmt.Sprintf("10.0.0.%d", i+1) }

func seed(i int) string { return ip(i) + ":7946" }

// fewKeys keeps tables small, which makes opening and looking at many of them quick.
const fewKeys = 10_000

// config is that of node i: it is called n0, n1, …, and joins the first.
func (r *rig) config(i int) stint.Config {
	cfg := stint.Config{Name: fmt.Sprintf("n%d", i), Bind: ":7946", Transport: r.net.Host(ip(i)), MaxKeys: fewKeys}
	if i > 0 {
		cfg.Join = []string{seed(0)}
	}
	return cfg
}

func (r *rig) open(cfg stint.Config) *stint.Node {
	r.Helper()
	n, err := stint.Open(cfg)
	if err != nil {
		r.Fatal(err)
	}
	r.nodes = append(r.nodes, n)
	return n
}

// alone opens a node without a cluster.
func (r *rig) alone() *stint.Node {
	r.Helper()
	return r.open(stint.Config{MaxKeys: fewKeys})
}

// cluster opens so many nodes and waits until each is in session with all others.
func (r *rig) cluster(size int) []*stint.Node {
	r.Helper()
	var nodes []*stint.Node
	for i := range size {
		nodes = append(nodes, r.open(r.config(i)))
	}
	r.met(nodes...)
	return nodes
}

// met waits until every one of the nodes sees just these alive, hears them and is heard.
func (r *rig) met(nodes ...*stint.Node) {
	r.Helper()
	r.within(20*time.Second, "all have met", func() bool {
		for _, n := range nodes {
			if n.Stats().Nodes != len(nodes) || n.Ready(gone()) != nil || !inStep(n) {
				return false
			}
		}
		return true
	})
	r.sync()
}

// inStep reports whether n and every living peer hear each other, and all of n's news
// is acknowledged.
func inStep(n *stint.Node) bool {
	for _, m := range n.Members() {
		if !m.Self && m.State == "alive" && !(m.InSession && m.Backlog == 0 && m.Unacked == 0) {
			return false
		}
	}
	return true
}

// within waits, in the bubble's time, until the condition holds.
func (r *rig) within(limit time.Duration, what string, cond func() bool) {
	r.Helper()
	for start := time.Now(); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > limit {
			for _, n := range r.nodes {
				r.Log(summary(n))
			}
			r.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// summary is what a failed test says of a node.
func summary(n *stint.Node) string {
	text := fmt.Sprintf("%s: ready %v;", n.Name(), n.Ready(gone()))
	for _, m := range n.Members() {
		text += fmt.Sprintf(" %s %s in session %v backlog %d unacked %d;", m.Name, m.State, m.InSession, m.Backlog, m.Unacked)
	}
	return text
}

// sync lets two sync intervals pass: what was spent before has arrived by then.
func (r *rig) sync() { time.Sleep(200*time.Millisecond + 10*time.Millisecond) }

// kill ends a node as kill -9 does.
func (r *rig) kill(i int, n *stint.Node) {
	r.net.Host(ip(i)).Crash()
	n.Close(gone())
}

// admitted takes n events one by one and counts those that passed.
func admitted(node *stint.Node, key string, l stint.Limit, n int) (passed int64) {
	for range n {
		if node.Allow(key, l).OK {
			passed++
		}
	}
	return passed
}

// checkRemaining fails unless each node sees so much left of a key.
func (r *rig) checkRemaining(want int64, key string, l stint.Limit, nodes ...*stint.Node) {
	r.Helper()
	for _, n := range nodes {
		if got := n.Peek(key, l).Remaining; got != want {
			r.Errorf("%s: %d remain of %q, want %d", n.Name(), got, key, want)
		}
	}
}

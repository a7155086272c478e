package stint_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// closeAll closes nodes one after the other, each with time for a goodbye.
func (r *rig) closeAll(nodes ...*stint.Node) {
	r.Helper()
	for _, n := range nodes {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		start := time.Now()
		if err := n.Close(ctx); err != nil {
			r.Errorf("closing %s: %v", n.Name(), err)
		}
		cancel()
		if d := time.Since(start); d > 3*time.Second {
			r.Errorf("closing %s took %v", n.Name(), d)
		}
	}
}

// Two live nodes of one name count like any others, also after one was cut off for a while
// and given up; all are told of the name once, and both leave in good time.
func TestTwoNodesOfOneName(t *testing.T) {
	inBubble(t, func(r *rig) {
		var log events
		var nodes []*stint.Node
		for i, name := range []string{"a", "twin", "twin", "b"} {
			cfg := r.config(i)
			cfg.Name, cfg.Logger = name, slog.New(&log)
			nodes = append(nodes, r.open(cfg))
		}
		r.met(nodes...)
		l, left := slow(1000), int64(1000)
		spend := func() {
			for i, n := range nodes {
				if !n.AllowN("k", l, int64(i+1)).OK {
					r.Errorf("%s refuses", n.Name())
				}
				left -= int64(i + 1)
			}
		}
		spend()
		time.Sleep(10 * time.Second)
		r.checkRemaining(left, "k", l, nodes...)
		r.net.Split(ip(1))
		r.within(20*time.Second, "one is given up", func() bool { return nodes[0].Stats().Nodes == 3 && nodes[1].Stats().Nodes == 1 })
		spend()
		time.Sleep(time.Minute)
		r.net.Heal()
		r.met(nodes...)
		spend()
		r.sync()
		r.checkRemaining(left, "k", l, nodes...)
		if n := log.count(slog.LevelError, "one name", "name=twin"); n < 6 || n > 12 || n != log.count(slog.LevelError, "") {
			r.Errorf("got %d lines about the name, of %d", n, log.count(slog.LevelError, ""))
		}
		r.closeAll(nodes[1], nodes[2])
		r.sync()
		r.checkRemaining(left, "k", l, nodes[0], nodes[3])
		r.closeAll(nodes[0], nodes[3])
	})
}

// A node comes back under its name at another address: killed and noticed, killed and not
// noticed yet, or after a goodbye. It takes over all counts, and nobody takes it for two.
func TestSameNameAtAnotherAddress(t *testing.T) {
	for name, end := range map[string]func(r *rig, nodes []*stint.Node){
		"noticed": func(r *rig, nodes []*stint.Node) {
			r.kill(2, nodes[2])
			r.within(20*time.Second, "its end is noticed", func() bool { return nodes[0].Stats().Nodes == 2 && nodes[1].Stats().Nodes == 2 })
		},
		"not noticed": func(r *rig, nodes []*stint.Node) { r.kill(2, nodes[2]) },
		"left":        func(r *rig, nodes []*stint.Node) { r.closeAll(nodes[2]) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				var log events
				var nodes []*stint.Node
				open := func(i int, name string) *stint.Node {
					cfg := r.config(i)
					cfg.Name, cfg.Logger = name, slog.New(&log)
					return r.open(cfg)
				}
				for i := range 3 {
					nodes = append(nodes, open(i, fmt.Sprint("n", i)))
				}
				r.met(nodes...)
				l := slow(1000)
				for i, n := range nodes {
					n.AllowN("k", l, int64(i+1))
				}
				r.sync()
				end(r, nodes)
				nodes[2] = open(7, "n2")
				r.met(nodes...)
				nodes[2].AllowN("k", l, 10)
				time.Sleep(10 * time.Second)
				r.checkRemaining(1000-16, "k", l, nodes...)
				if n := log.count(slog.LevelError, ""); n > 0 {
					r.Errorf("got %d errors in the log", n)
				}
				for _, m := range nodes[0].Members() {
					if m.Name == "n2" && m.State == "alive" && m.Addr != seed(7) {
						r.Errorf("n2 is still seen at %s", m.Addr)
					}
				}
			})
		})
	}
}

// Clusters that meet by mistake, because a seed of one is a node of the other, stay two:
// with another label, another key, or one in clear. Each says why, once for each cause
// and address however long it goes on, and both count on.
func TestClustersThatMeetByMistake(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(cfg *stint.Config)
		words  []string // of the log, on either side
	}{
		{"another label", func(cfg *stint.Config) { cfg.Label = "other" }, []string{"another label", "its label"}},
		{"another key", func(cfg *stint.Config) { cfg.ClusterKeys = [][]byte{clusterKey(9)} }, []string{"none of ours", "does not accept our cluster key"}},
		{"no key", func(cfg *stint.Config) { cfg.ClusterKeys = nil }, []string{"it is in clear", "has a cluster key, and this node has none"}},
		{"another seed", func(cfg *stint.Config) { cfg.HashSeed = make([]byte, 16) }, []string{"seed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				var log events
				clusters := make([][]*stint.Node, 2)
				for i := range 4 {
					cfg := r.config(i)
					cfg.ClusterKeys, cfg.Logger = [][]byte{clusterKey(1)}, slog.New(&log)
					cfg.Join = []string{seed(i / 2 * 2), seed(3 - i)} // of its own, and a wrong one
					if i >= 2 {
						tt.change(&cfg)
					}
					clusters[i/2] = append(clusters[i/2], r.open(cfg))
				}
				time.Sleep(time.Minute)
				l := slow(1000)
				for i, c := range clusters {
					for _, n := range c {
						if !n.AllowN("k", l, int64(i+1)).OK {
							r.Errorf("%s refuses", n.Name())
						}
					}
				}
				r.sync()
				for i, c := range clusters {
					r.checkRemaining(1000-2*int64(i+1), "k", l, c...)
				}
				all := log.count(slog.LevelWarn, "") - log.count(slog.LevelWarn, "no cluster key: ")
				if all < 4 || all > 24 {
					r.Errorf("got %d warnings", all)
				}
				for _, w := range tt.words {
					if log.count(slog.LevelWarn, w) == 0 {
						r.Errorf("got no warning of %q among %q", w, log.lines)
					}
				}
				r.closeAll(clusters[0]...)
				r.closeAll(clusters[1]...)
			})
		})
	}
}

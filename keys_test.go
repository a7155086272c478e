package stint_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

func clusterKey(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

// A key keeps strangers out, and is changed in three steps with nothing lost.
func TestClusterKeys(t *testing.T) {
	inBubble(t, func(r *rig) {
		old, next := clusterKey(1), clusterKey(2)
		var nodes []*stint.Node
		for i := range 3 {
			cfg := r.config(i)
			cfg.ClusterKeys = [][]byte{old}
			nodes = append(nodes, r.open(cfg))
		}
		r.met(nodes...)
		for i, keys := range [][][]byte{nil, {clusterKey(3)}} {
			cfg := r.config(3 + i)
			cfg.ClusterKeys = keys
			r.open(cfg)
		}
		l := stint.PerHour(100).WithName("api")
		spent := int64(0)
		for _, keys := range [][][]byte{{old, next}, {next, old}, {next}} {
			for _, n := range nodes {
				if err := n.SetClusterKeys(keys); err != nil {
					r.Fatal(err)
				}
				n.AllowN("ann", l, 5)
				spent += 5
				time.Sleep(200 * time.Millisecond)
			}
		}
		time.Sleep(2 * time.Second)
		r.checkRemaining(100-spent, "ann", l, nodes...)
		for _, n := range nodes {
			if got := n.Stats().Nodes; got != 3 {
				r.Errorf("%s counts %d nodes, want no stranger among them", n.Name(), got)
			}
		}
	})
}

func TestClusterKeysRefused(t *testing.T) {
	for name, cfg := range map[string]stint.Config{
		"short": {Bind: "127.0.0.1:0", ClusterKeys: [][]byte{{1, 2, 3}}},
		"twice": {Bind: "127.0.0.1:0", ClusterKeys: [][]byte{clusterKey(1), clusterKey(1)}},
	} {
		if n, err := stint.Open(cfg); err == nil {
			n.Close(gone())
			t.Errorf("%s: the node opened", name)
		}
	}
	inBubble(t, func(r *rig) {
		if err := r.alone().SetClusterKeys([][]byte{clusterKey(1)}); err == nil {
			r.Error("a node that stands alone took a key")
		}
	})
}

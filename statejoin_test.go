package stint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// filed is nodes with state files, each of which can die at one moment and come back with
// its file as it was at another.
type filed struct {
	*rig
	stint.Limit // a thousand a day: nothing comes back within a test
	dir         string
}

// eachFiled runs a test for every algorithm.
func eachFiled(t *testing.T, f func(r *filed)) {
	t.Helper()
	for _, a := range metered {
		t.Run(a.String(), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				f(&filed{r, stint.PerDay(1000).WithAlgorithm(a).WithName("api"), t.TempDir()})
			})
		})
	}
}

func (r *filed) file(i int) string { return filepath.Join(r.dir, fmt.Sprint("n", i)) }

// config is that of node i with a file, which has the others for seeds.
func (r *filed) config(i int) stint.Config {
	cfg := r.rig.config(i)
	cfg.StateFile, cfg.Join = r.file(i), nil
	for j := range 3 {
		if j != i {
			cfg.Join = append(cfg.Join, seed(j))
		}
	}
	return cfg
}

// three are n0, n1 and n2 in session with each other.
func (r *filed) three() (nodes []*stint.Node) {
	r.Helper()
	for i := range 3 {
		nodes = append(nodes, r.open(r.config(i)))
	}
	r.met(nodes...)
	return nodes
}

// saved is the file of a node once it has been written again.
func (r *filed) saved(i int) []byte {
	r.Helper()
	before, _ := os.Stat(r.file(i))
	r.within(20*time.Second, "the file is written", func() bool {
		after, err := os.Stat(r.file(i))
		return err == nil && (before == nil || !os.SameFile(before, after))
	})
	data, err := os.ReadFile(r.file(i))
	if err != nil {
		r.Fatal(err)
	}
	return data
}

// crash ends a node as kill -9 does, its file being as it was.
func (r *filed) crash(i int, n *stint.Node, file []byte) {
	r.Helper()
	r.kill(i, n)
	if err := os.WriteFile(r.file(i), file, 0o600); err != nil {
		r.Fatal(err)
	}
}

// spend takes of the key ann, all of which must pass.
func (r *filed) spend(n *stint.Node, events int64) {
	r.Helper()
	if d := n.AllowN("ann", r.Limit, events); !d.OK {
		r.Fatalf("%s: %+v", n.Name(), d)
	}
}

func (r *filed) returns(n *stint.Node, events int64) {
	r.Helper()
	if got, err := n.Return(context.Background(), "ann", r.Limit, events); got != events || err != nil {
		r.Fatalf("%s: %d returned, %v", n.Name(), got, err)
	}
}

// used fails unless each node has so much used of ann.
func (r *filed) used(want int64, nodes ...*stint.Node) {
	r.Helper()
	r.checkRemaining(1000-want, "ann", r.Limit, nodes...)
}

func (r *filed) ready(n *stint.Node) {
	r.Helper()
	if err := n.Ready(context.Background()); err != nil {
		r.Fatal(err)
	}
}

// noneLost fails if a node says that it has lost something.
func (r *filed) noneLost(nodes ...*stint.Node) {
	r.Helper()
	for _, n := range nodes {
		if s := n.Stats(); s.Lost > 0 || s.Missing > 0 || s.Dropped > 0 {
			r.Errorf("%s: lost %d, missing %d, dropped %d", s.Name, s.Lost, s.Missing, s.Dropped)
		}
	}
}

// One of three dies and comes back with a file that is older than what its peers know. They
// have spent meanwhile, and given back: what the file has makes way.
func TestRestartWithAnOlderFile(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		for i, n := range nodes {
			r.spend(n, int64(10*(i+1)))
		}
		r.spend(nodes[0], 40)
		nodes[0].AllowN("bob", r.Limit, 30)
		r.sync()
		file := r.saved(1)
		r.spend(nodes[1], 5)
		r.sync()
		r.crash(1, nodes[1], file)
		r.spend(nodes[0], 7)
		r.returns(nodes[0], 40)
		if _, err := nodes[0].Reset(context.Background(), "bob", r.Limit); err != nil {
			r.Fatal(err)
		}
		n := r.open(r.config(1))
		r.used(100, n) // from the file: it has not heard of anybody
		r.spend(n, 3)
		r.ready(n)
		nodes[1] = n
		r.met(nodes...)
		r.used(75, nodes...)
		r.checkRemaining(1000, "bob", r.Limit, nodes...)
		r.noneLost(nodes...)
	})
}

// The seed itself comes back with an older file: it knows nobody to ask, is ready at once, and
// takes over what its peers have when they find it.
func TestSeedRestartsWithAnOlderFile(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		r.spend(nodes[0], 10)
		r.sync()
		file := r.saved(0)
		r.spend(nodes[0], 5)
		r.sync()
		r.crash(0, nodes[0], file)
		r.spend(nodes[1], 7)
		cfg := r.config(0)
		cfg.Join = nil
		n := r.open(cfg)
		r.ready(n)
		r.used(10, n)
		r.spend(n, 3)
		nodes[0] = n
		r.met(nodes...)
		r.used(25, nodes...)
		r.noneLost(nodes...)
	})
}

// What a node had told nobody when it died is in its file alone. It stays known there, and
// nothing is doubled; what the others have spent meanwhile is theirs, and what comes after
// is counted everywhere.
func TestRestartWithAFileThatKnowsMore(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		r.spend(nodes[1], 30)
		nodes[0].AllowN("bob", r.Limit, 8)
		r.sync()
		r.net.Split(ip(1))
		r.spend(nodes[1], 20)
		file := r.saved(1)
		r.crash(1, nodes[1], file)
		r.spend(nodes[0], 5)
		nodes[0].AllowN("bob", r.Limit, 4)
		h, err := nodes[2].Hold(bg, "ann", r.Limit, 15, time.Hour)
		if err != nil {
			r.Fatal(err)
		}
		cfg := r.config(1)
		cfg.Transport = r.net.Host(ip(11)) // where nothing is left that was under way
		n := r.open(cfg)
		r.ready(n)
		nodes[1] = n
		r.met(nodes...)
		r.used(35+15, nodes[0], nodes[2])
		r.used(50+15, n)
		if err := h.Release(bg); err != nil {
			r.Fatal(err)
		}
		r.sync()
		r.used(35, nodes[0], nodes[2])
		r.used(50, n)
		r.checkRemaining(1000-12, "bob", r.Limit, nodes...)
		if n.Stats().Lost == 0 {
			r.Error("a maximum of two was taken and nothing counted as lost")
		}
		r.spend(nodes[2], 6)
		r.spend(n, 1)
		r.sync()
		r.used(42, nodes[0], nodes[2])
		r.used(57, n)
	})
}

// Nobody is there any more: the file's counts are those of a new cluster.
func TestRestartWithNobodyLeft(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		for i, n := range nodes {
			r.spend(n, int64(10*(i+1)))
		}
		r.sync()
		file := r.saved(1)
		r.crash(1, nodes[1], file)
		r.kill(0, nodes[0])
		r.kill(2, nodes[2])
		cfg := r.config(1)
		cfg.JoinTimeout = 2 * time.Second
		n := r.open(cfg)
		r.spend(n, 1)
		r.ready(n)
		cfg = r.config(5)
		cfg.Join = []string{seed(1)}
		m := r.open(cfg)
		r.ready(m)
		r.spend(m, 2)
		r.met(n, m)
		r.used(63, n, m)
		r.noneLost(n, m)
	})
}

// The peers live and cannot be reached: a node is ready with its file alone, and when they
// meet takes over what they have.
func TestRestartCutOff(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		for i, n := range nodes {
			r.spend(n, int64(10*(i+1)))
		}
		r.sync()
		file := r.saved(1)
		r.spend(nodes[0], 4)
		r.sync()
		r.crash(1, nodes[1], file)
		r.net.Split(ip(1))
		cfg := r.config(1)
		cfg.JoinTimeout = 2 * time.Second
		n := r.open(cfg)
		r.ready(n)
		r.used(60, n)
		r.spend(n, 3)
		r.spend(nodes[2], 5)
		r.net.Heal()
		nodes[1] = n
		r.met(nodes...)
		r.used(72, nodes...)
		r.noneLost(nodes...)
	})
}

// The same, but a newcomer has taken over its counts meanwhile and left, so that it cannot take over
// those of others any more: its peers tell it what is not in its file, once.
func TestPeersContinueFromTheFile(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		for i, n := range nodes {
			r.spend(n, int64(10*(i+1)))
		}
		r.sync()
		file := r.saved(1)
		r.crash(1, nodes[1], file)
		r.net.Split(ip(1), ip(5))
		r.spend(nodes[0], 4) // of which its former self never heard
		cfg := r.config(1)
		cfg.JoinTimeout = 2 * time.Second
		n := r.open(cfg)
		r.ready(n)
		cfg = r.config(5)
		cfg.Join = []string{seed(1)}
		m := r.open(cfg)
		r.ready(m)
		r.used(60, n, m)
		if err := m.Close(context.Background()); err != nil {
			r.Error(err)
		}
		r.spend(n, 3)
		r.spend(nodes[2], 5)
		r.net.Heal()
		nodes[1] = n
		r.met(nodes...)
		r.used(72, nodes...)
		r.noneLost(nodes...)
	})
}

// All restart at once, with files of different ages: the newest file is ready first, and the
// others take over what it has. What they spend meanwhile is counted once.
func TestAllRestartFromFiles(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		files := make([][]byte, 3)
		want := int64(0)
		for _, i := range []int{1, 0, 2} { // n0, who has the lowest name, has not the newest
			for j, n := range nodes {
				r.spend(n, int64(i+j+1))
				want += int64(i + j + 1)
			}
			if i == 2 {
				r.returns(nodes[0], 5)
				want -= 5
			}
			r.sync()
			files[i] = r.saved(i)
		}
		for i, n := range nodes {
			r.crash(i, n, files[i])
		}
		for i := range nodes {
			nodes[i] = r.open(r.config(i))
			r.spend(nodes[i], 1)
			want++
		}
		r.met(nodes...)
		r.used(want, nodes...)
		r.noneLost(nodes...)
	})
}

// Nodes are replaced one by one, each in order and with its file, all the time under load.
func TestRollingRestartWithFiles(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		want := int64(0)
		for range 2 {
			for i := range nodes {
				for _, n := range nodes {
					r.spend(n, 2)
					want += 2
				}
				if err := nodes[i].Close(context.Background()); err != nil {
					r.Error(err)
				}
				r.spend(nodes[(i+1)%3], 3)
				want += 3
				nodes[i] = r.open(r.config(i))
				for nodes[i].Ready(gone()) != nil {
					r.spend(nodes[i], 1)
					want++
					time.Sleep(100 * time.Millisecond)
				}
			}
			r.met(nodes...)
			r.used(want, nodes...)
			r.noneLost(nodes...)
		}
	})
}

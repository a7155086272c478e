package gossip

import (
	"fmt"
	"hash/fnv"
	"testing"
)

// weather is what may happen in a random run.
type weather struct {
	name    string
	loss    int // of a hundred frames
	hostile bool
	config  func(*Config)
}

var weathers = []weather{
	{"fair", 0, false, func(*Config) {}},
	{"stormy", 20, false, func(*Config) {}},
	{"small frames", 10, false, func(c *Config) { c.MaxFrame, c.Window = 150, 4 }},
	{"forgetful", 10, true, func(c *Config) { c.PartitionMemory, c.Timeout = 2000*ms, 500*ms }},
	{"cramped", 10, true, func(c *Config) { c.MaxBytes, c.MaxFrame, c.PartitionMemory, c.MaxRecords = 6000, 150, 5000*ms, 12 }},
}

// Promise 2, case 19. Whatever the network does, loss, duplicates, reordering, frames
// from long ago, broken sessions, false deaths, crashes and new incarnations, every drain
// is applied once or counted as lost; and where nothing was forgotten nor fell off a log
// nothing is lost. The oracle in world checks each receipt; here the end is checked.
func TestRandomRuns(t *testing.T) {
	for _, kind := range weathers {
		t.Run(kind.name, func(t *testing.T) {
			lost := uint64(0)
			for seed := range uint64(120) {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					r := newRun(t, seed, kind)
					for range 150 {
						r.step()
					}
					r.calm()
					r.check()
					r.agree()
					for _, n := range r.nodes() {
						lost += n.Lost()
					}
				})
			}
			if !t.Failed() && kind.hostile != (lost > 0) {
				t.Errorf("got %d drains lost in all runs, hostile: %v", lost, kind.hostile)
			}
		})
	}
}

// A seed gives the same run, to the byte.
func TestRunsRepeat(t *testing.T) {
	for seed := range uint64(5) {
		var sums []uint64
		for range 2 {
			r := newRun(t, seed, weathers[int(seed)%len(weathers)])
			sum := fnv.New64a()
			for range 150 {
				r.step()
				for _, p := range r.wire {
					fmt.Fprintf(sum, "%x\n", p.data)
				}
			}
			sums = append(sums, sum.Sum64())
		}
		if sums[0] != sums[1] {
			t.Errorf("seed %d ran differently the second time", seed)
		}
	}
}

type run struct {
	*world
	weather
	old []packet // delivered, and perhaps once more
}

func newRun(t *testing.T, seed uint64, kind weather) *run {
	r := &run{world: newWorldOf(t, seed), weather: kind}
	r.auto = true
	r.over = func(k windowKey) bool { return r.now-k.start > 3*k.per }
	for i := range 2 + r.rand.IntN(3) {
		r.enter(fmt.Sprint("n", i))
	}
	r.meet()
	return r
}

// enter gives birth to a node with a clock of its own.
func (r *run) enter(name string) *node {
	n := r.born(name, r.config, func(c *Config) { c.Expired = func(e Entry) bool { return e.Per != 0 && r.over(keyOf(e)) } })
	n.clock = r.rand.Int64N(1e12)
	n.cfg.Born += n.clock
	return n
}

func (r *run) any() *node { ns := r.nodes(); return ns[r.rand.IntN(len(ns))] }

// two are two different nodes.
func (r *run) two() (a, b *node) {
	for a = r.any(); b == nil || b == a; {
		b = r.any()
	}
	return a, b
}

func (r *run) step() {
	switch chance := r.rand.IntN(100); {
	case chance < 30:
		r.spendSome()
	case chance < 80:
		for range 1 + r.rand.IntN(4) {
			r.network()
		}
	case chance < 90:
		r.now += r.rand.Int64N(40 * ms)
	case chance < 92:
		r.now += r.rand.Int64N(900 * ms)
	case chance < 94:
		a, b := r.two()
		a.closed(b)
	case chance < 96:
		a, b := r.two()
		a.open(b)
	case chance < 97:
		r.misfortune()
	case r.hostile:
		r.now += r.rand.Int64N(8000 * ms)
	}
	if r.rand.IntN(3) > 0 {
		r.any().tick()
	}
}

// network does something to one frame.
func (r *run) network() {
	if len(r.old) > 0 && r.rand.IntN(20) == 0 {
		r.hand(r.old[r.rand.IntN(len(r.old))])
	}
	if len(r.wire) == 0 {
		return
	}
	i := 0
	if r.rand.IntN(4) == 0 {
		i = r.rand.IntN(len(r.wire))
	}
	p := r.wire[i]
	if r.rand.IntN(10) > 0 {
		r.wire = append(r.wire[:i:i], r.wire[i+1:]...) // else it stays, and comes again
	}
	if len(r.old) < 40 {
		r.old = append(r.old, p)
	} else {
		r.old[r.rand.IntN(len(r.old))] = p
	}
	if r.rand.IntN(100) >= r.loss {
		r.hand(p)
	}
}

// misfortune is a false death, or a crash and a new process of that name.
func (r *run) misfortune() {
	a, b := r.two()
	if r.hostile && r.rand.IntN(2) == 0 {
		a.closed(b)
		a.down(b)
		return
	}
	r.crash(b)
	heir := r.enter(b.name)
	for _, n := range r.nodes() {
		if n != heir {
			n.closed(b)
			heir.up(n)
			if r.rand.IntN(2) == 0 {
				n.down(b)
				n.up(heir)
			} else {
				n.up(heir)
				n.down(b)
			}
			n.open(heir)
			heir.open(n)
		}
	}
}

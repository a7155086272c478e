package stint_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

// meddler sits between nodes and meddles with what they say on their streams.
type meddler struct {
	cluster.Transport
	*meddling
}

type meddling struct {
	mu     sync.Mutex
	dice   *rand.Rand
	off    bool
	counts map[string]int
}

func (m meddler) Dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := m.Transport.Dial(ctx, addr)
	return &meddled{Conn: conn, m: m.meddling}, err
}

// meddled is one stream of them.
type meddled struct {
	net.Conn
	m    *meddling
	held []byte // to come after the next
}

// Write passes most of it on, but now and then twice, late, in part, changed or not at all.
func (c *meddled) Write(b []byte) (int, error) {
	c.m.mu.Lock()
	act, at, off := c.m.dice.IntN(60), c.m.dice.IntN(len(b)), c.m.off
	c.m.mu.Unlock()
	if off {
		act = 59
	}
	out := bytes.Clone(b)
	done := ""
	switch act {
	case 0:
		done, out = "doubled", append(out, b...)
	case 1:
		done, out = "left out", nil
	case 2:
		done, c.held, out = "held back", out, nil
	case 3:
		done, out[at] = "a bit flipped", out[at]^1<<(at%8)
	case 4:
		done, out = "cut short", out[:at]
	case 5:
		done, out = "something put in", append(bytes.Repeat([]byte{0x17}, 1+at%40), out...)
	default:
		out, c.held = append(out, c.held...), nil
	}
	c.m.mu.Lock()
	c.m.counts[done]++
	c.m.mu.Unlock()
	if len(out) > 0 {
		if _, err := c.Conn.Write(out); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// One on the path of sealed streams doubles, drops, reorders, cuts and changes what is
// said, all the time. Streams break; no count is off by one event, and none is once he has
// gone.
func TestTamperedStreams(t *testing.T) {
	inBubble(t, func(r *rig) {
		m := &meddling{dice: rand.New(rand.NewPCG(7, 7)), counts: map[string]int{}}
		var nodes []*stint.Node
		for i := range 3 {
			cfg := r.config(i)
			cfg.ClusterKeys = [][]byte{clusterKey(1)}
			cfg.Transport = meddler{cfg.Transport, m}
			nodes = append(nodes, r.open(cfg))
		}
		const burst = 10_000
		l := slow(burst)
		taken := make(map[string]int64)
		for step := range 2000 {
			key := fmt.Sprint("key-", step%7)
			events := int64(1 + step%4)
			if !nodes[step%3].AllowN(key, l, events).OK {
				t.Fatalf("step %d: refused", step)
			}
			taken[key] += events
			time.Sleep(20 * time.Millisecond)
			for _, n := range nodes {
				if got := n.Peek(key, l).Remaining; got < burst-taken[key] {
					t.Fatalf("step %d: %s has %d left of %s, of which %d were taken", step, n.Name(), got, key, taken[key])
				}
			}
		}
		m.mu.Lock()
		m.off = true
		m.mu.Unlock()
		r.within(time.Minute, "all in touch", func() bool { return inStep(nodes[0]) && inStep(nodes[1]) && inStep(nodes[2]) })
		r.met(nodes...)
		for key, n := range taken {
			r.checkRemaining(burst-n, key, l, nodes...)
		}
		m.mu.Lock() // streams end late
		defer m.mu.Unlock()
		for _, what := range []string{"doubled", "left out", "held back", "a bit flipped", "cut short", "something put in"} {
			if m.counts[what] < 10 {
				t.Errorf("%s: only %d times", what, m.counts[what])
			}
		}
		t.Log(m.counts)
	})
}

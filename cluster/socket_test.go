package cluster

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"
)

// Over real sockets, in clear and sealed: three nodes meet, exchange frames,
// change their key if they have one, one leaves.
func TestSockets(t *testing.T) {
	t.Run("in clear", func(t *testing.T) { testSockets(t, nil) })
	t.Run("sealed", func(t *testing.T) { testSockets(t, [][]byte{key(1)}) })
}

func testSockets(t *testing.T, keys [][]byte) {
	const size = 300 << 10
	type told struct {
		node int
		Event
	}
	events := make(chan told, 100)
	frames := make(chan []byte, 100)
	var nodes []*Cluster
	var join []string
	for i, name := range []string{"a", "b", "c"} {
		c, err := Open(Config{
			Name: name, Incarnation: uint64(i + 1), Bind: "127.0.0.1:0", Join: join, Keys: keys,
			ProbeInterval: time.Second, // nobody shall be taken for dead on a busy machine
			Frame:         func(from uint64, f []byte) { frames <- f },
			Change:        func(e Event) { events <- told{i, e} },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(t.Context())
		nodes, join = append(nodes, c), []string{c.Addr()}
	}
	await := func(want int, match func(told) bool) {
		for want > 0 {
			if match(<-events) {
				want--
			}
		}
	}
	await(6, func(e told) bool { return e.Kind == LinkUp })

	frame := bytes.Repeat([]byte("stint"), size/5)
	exchange := func() {
		t.Helper()
		for i := range 10 {
			if !nodes[0].Send(uint64(2+i%2), frame) {
				t.Fatal("a frame was not taken")
			}
		}
		for range 10 {
			if got := <-frames; !bytes.Equal(got, frame) {
				t.Fatal("a frame is not what was sent")
			}
		}
	}
	exchange()
	steps := [][][]byte{{key(1), key(2)}, {key(2), key(1)}, {key(2)}}
	if keys == nil {
		steps = nil
	}
	for _, keys := range steps {
		for _, c := range nodes {
			if err := c.SetKeys(keys); err != nil {
				t.Fatal(err)
			}
		}
		exchange()
	}
	if err := nodes[2].Close(context.Background()); err != nil {
		t.Errorf("Close: %v", err)
	}
	await(2, func(e told) bool { return e.Kind == MemberDown && e.Member.State == Left && e.Member.Name == "c" })

	var wg sync.WaitGroup
	for _, c := range nodes {
		wg.Go(func() { c.Close(t.Context()) })
	}
	wg.Wait()
}

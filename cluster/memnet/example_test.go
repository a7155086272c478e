package memnet_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/memnet"
)

// A Host is what a cluster needs of a network.
var _ cluster.Transport = (*memnet.Host)(nil)

// A stream across a cut stalls, and goes on when the network heals.
func Example() {
	net := memnet.New(1)
	a, b := net.Host("10.0.0.1"), net.Host("10.0.0.2")

	l, err := b.Listen(":7946")
	if err != nil {
		panic(err)
	}
	near, err := a.Dial(context.Background(), "10.0.0.2:7946")
	if err != nil {
		panic(err)
	}
	far, err := l.Accept()
	if err != nil {
		panic(err)
	}

	net.Split("10.0.0.2")
	near.Write([]byte("as if nothing had happened"))
	near.Close()
	far.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err = io.ReadAll(far)
	fmt.Println("apart:", err)

	net.Heal()
	far.SetReadDeadline(time.Time{})
	got, err := io.ReadAll(far)
	fmt.Printf("healed: %s, %v\n", got, err)
	// Output:
	// apart: read tcp 10.0.0.2:7946->10.0.0.1:40000: i/o timeout
	// healed: as if nothing had happened, <nil>
}

// TestNodesFindEachOtherAgain shows nodes on a slow and lossy network inside a
// bubble, where ten minutes apart take a moment.
func TestNodesFindEachOtherAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memnet.New(1)
		net.SetFaults(memnet.Faults{Delay: 2 * time.Millisecond, Jitter: time.Millisecond, Loss: 0.01})

		var nodes []*cluster.Cluster
		for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
			c, err := cluster.Open(cluster.Config{
				Name:      ip,
				Join:      []string{"10.0.0.1:7946"},
				Transport: net.Host(ip),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close(context.Background())
			nodes = append(nodes, c)
		}
		want := func(state cluster.State) {
			t.Helper()
			time.Sleep(10 * time.Second)
			if m := nodes[0].Members(); len(m) != 2 || m[1].State != state {
				t.Errorf("got %v, want the second %v", m, state)
			}
		}
		want(cluster.Alive)
		net.Split("10.0.0.2")
		time.Sleep(10 * time.Minute)
		want(cluster.Dead)
		net.Heal()
		want(cluster.Alive)
	})
}

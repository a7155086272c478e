package cluster_test

import (
	"context"
	"fmt"

	"github.com/stint-go/stint/cluster"
)

// Two nodes on the loopback meet, and one sends the other a frame.
func ExampleOpen() {
	linked := make(chan cluster.Member)
	frames := make(chan string)

	a, err := cluster.Open(cluster.Config{
		Name: "a", Incarnation: 1, Bind: "127.0.0.1:0",
		Frame: func(from uint64, frame []byte) { frames <- fmt.Sprintf("from %d: %s", from, frame) },
	})
	if err != nil {
		panic(err)
	}
	defer a.Close(context.Background())

	b, err := cluster.Open(cluster.Config{
		Name: "b", Incarnation: 2, Bind: "127.0.0.1:0", Join: []string{a.Addr()},
		Change: func(e cluster.Event) {
			if e.Kind == cluster.LinkUp {
				go func() { linked <- e.Member }() // Change must not block
			}
		},
	})
	if err != nil {
		panic(err)
	}
	defer b.Close(context.Background())

	to := <-linked
	b.Send(to.Incarnation, []byte("hello"))
	fmt.Println(<-frames)
	for _, m := range b.Members() {
		fmt.Println(m.Name, m.State, m.Self)
	}
	// Output:
	// from 2: hello
	// a alive false
	// b alive true
}

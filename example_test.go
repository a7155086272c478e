package stint_test

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster/memnet"
)

// alone is the node of the examples that need no peers.
func alone() *stint.Node {
	node, err := stint.Open(stint.Config{Name: "n1"})
	if err != nil {
		panic(err)
	}
	return node
}

// The zero Config stands alone; Bind and Join make it one of several.
func ExampleOpen() {
	node, err := stint.Open(stint.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close(context.Background())

	login := stint.PerMinute(3).WithName("login")
	for range 4 {
		fmt.Print(node.Allow("ann", login).OK, " ")
	}
	fmt.Println(node.Allow("bob", login).OK)
	// Output: true true true false true
}

// All faults of a Config come at once.
func ExampleOpen_faults() {
	_, err := stint.Open(stint.Config{Bind: "7946", SyncInterval: time.Hour})
	fmt.Println(err)
	// Output:
	// config: Bind is "7946": use host:port, such as ":7946" or "10.0.0.1:0"
	// config: SyncInterval is 1h0m0s: use 10ms to 2s, or 0 for 100ms
}

func ExampleNode_Allow() {
	node := alone()
	defer node.Close(context.Background())

	hourly := stint.PerHour(1).WithName("report")
	fmt.Println(node.Allow("ann", hourly).OK)
	d := node.Allow("ann", hourly)
	fmt.Println(d.OK, d.Limit, d.Remaining, d.RetryAfter.Round(time.Minute))
	// Output:
	// true
	// false report 0 1h0m0s
}

func ExampleNode_AllowN() {
	node := alone()
	defer node.Close(context.Background())

	bytes := stint.PerDay(1000).WithName("bytes")
	fmt.Println(node.AllowN("ann", bytes, 800).Remaining)
	fmt.Println(node.AllowN("ann", bytes, 300).OK)
	fmt.Println(node.AllowN("ann", bytes, 2000).RetryAfter == stint.Never)
	// Output:
	// 200
	// false
	// true
}

// Take is for limits that are not known when the program is written: it has an error
// for those that cannot be had.
func ExampleNode_Take() {
	node := alone()
	defer node.Close(context.Background())

	ctx := context.Background()
	for _, text := range []string{"5/h", "5/h mode=strict"} {
		limit, err := stint.ParseLimit(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		d, err := node.Take(ctx, "ann", limit.WithName("api"), 1)
		fmt.Println(d.OK, d.Remaining, err)
	}
	// Output:
	// true 4 <nil>
	// false 0 limit "api": mode strict is not supported yet: use shared or local
}

// The first limit is not charged when the second refuses.
func ExampleNode_TakeAll() {
	node := alone()
	defer node.Close(context.Background())

	user := stint.PerHour(10).WithName("user")
	total := stint.PerHour(12).WithName("total")
	takes := []stint.Take{{Limit: user, Key: "ann", N: 7}, {Limit: total, N: 7}}
	into := make([]stint.Decision, len(takes))

	fmt.Println(node.TakeAll(context.Background(), takes, into))
	takes[0].Key = "bob"
	fmt.Println(node.TakeAll(context.Background(), takes, into))
	fmt.Println(into[0].OK, into[1].OK, node.Peek("bob", user).Remaining)
	// Output:
	// true <nil>
	// false <nil>
	// true false 10
}

func ExampleNode_Peek() {
	node := alone()
	defer node.Close(context.Background())

	api := stint.PerHour(100).WithName("api")
	node.AllowN("ann", api, 30)
	fmt.Println(node.Peek("ann", api).Remaining, node.Peek("ann", api).Remaining)
	// Output: 70 70
}

// A Limiter is the fast way: its limit is looked up once.
func ExampleNode_Limiter() {
	node := alone()
	defer node.Close(context.Background())

	api := node.Limiter(stint.PerHour(2).WithName("api"))
	for _, user := range []string{"ann", "ann", "ann", "bob"} {
		fmt.Print(api.Allow(user).OK, " ")
	}
	fmt.Println(api.AllowN("bob", 2).OK, api.Peek("bob").Remaining)
	// Output: true true false true false 1
}

// What is used stays used.
func ExampleNode_SetLimit() {
	node := alone()
	defer node.Close(context.Background())

	api := node.Limiter(stint.PerHour(100).WithName("api"))
	api.AllowN("ann", 70)
	for _, events := range []int64{50, 200} {
		if err := node.SetLimit(stint.PerHour(events).WithName("api")); err != nil {
			fmt.Println(err)
		}
		fmt.Println(api.Limit(), api.Peek("ann").Remaining)
	}
	// Output:
	// 50/h 0
	// 200/h 130
}

func ExampleNode_Limits() {
	node := alone()
	defer node.Close(context.Background())

	node.Limiter(stint.PerMinute(100).WithName("login"))
	node.Limiter(stint.PerSecond(20).WithBurst(50).WithName("api"))
	for _, l := range node.Limits() {
		fmt.Println(l.Name, l)
	}
	l, ok := node.Limit("login")
	fmt.Println(l.Events, ok)
	// Output:
	// api 20/s burst=50
	// login 100/min
	// 100 true
}

func ExampleNode_Stats() {
	node := alone()
	defer node.Close(context.Background())

	api := stint.PerHour(5).WithName("api")
	for range 8 {
		node.Allow("ann", api)
	}
	s := node.Stats()
	fmt.Println(s.Nodes, s.Keys, s.Limits[0].Name, s.Limits[0].Allowed, s.Limits[0].Denied)
	// Output: 1 1 api 5 3
}

// Two nodes on a network in memory: what one has taken the other knows.
func ExampleNode_Close() {
	network, ctx := memnet.New(1), context.Background()
	open := func(name, ip string, join ...string) *stint.Node {
		node, err := stint.Open(stint.Config{Name: name, Bind: ":7946", Join: join, Transport: network.Host(ip)})
		if err != nil {
			panic(err)
		}
		return node
	}
	a := open("a", "10.0.0.1")
	defer a.Close(ctx)
	b := open("b", "10.0.0.2", "10.0.0.1:7946")
	if err := b.Ready(ctx); err != nil {
		fmt.Println(err)
	}

	api := stint.PerDay(100).WithName("api")
	b.AllowN("ann", api, 40)
	fmt.Println(b.Close(ctx)) // hands over what it has not told yet
	fmt.Println(a.Peek("ann", api).Remaining)
	// Output:
	// <nil>
	// 60
}

func ExampleNode_Ready() {
	node := alone()
	fmt.Println(node.Ready(context.Background()))
	node.Close(context.Background())
	fmt.Println(node.Ready(context.Background()))
	// Output:
	// <nil>
	// the node is closed: open a new one
}

func ExampleNode_Members() {
	node := alone()
	defer node.Close(context.Background())

	for _, m := range node.Members() {
		fmt.Println(m.Name, m.State, m.Self)
	}
	// Output: n1 alive true
}

package stint_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/stint-go/stint"
)

func ExampleLimiter_Allow() {
	node := alone()
	defer node.Close(context.Background())

	login := node.Limiter(stint.PerHour(2).WithName("login"))
	for range 3 {
		fmt.Print(login.Allow("ann").Remaining, " ")
	}
	fmt.Println(login.Allow("ann").OK, login.Allow("bob").OK)
	// Output: 1 0 0 false true
}

func ExampleLimiter_AllowN() {
	node := alone()
	defer node.Close(context.Background())

	tokens := node.Limiter(stint.PerDay(10_000).WithName("tokens"))
	fmt.Println(tokens.AllowN("ann", 9_000).OK, tokens.AllowN("ann", 2_000).OK, tokens.AllowN("ann", 1_000).OK)
	// Output: true false true
}

// A negative number is an error; so is all that is asked of a limit that cannot be had.
func ExampleLimiter_Take() {
	node := alone()
	defer node.Close(context.Background())

	login := node.Limiter(stint.PerHour(2).WithName("login"))
	d, err := login.Take(context.Background(), "ann", 2)
	fmt.Println(d.OK, err)
	_, err = login.Take(context.Background(), "ann", -1)
	fmt.Println(err)
	// Output:
	// true <nil>
	// a take of -1 events: ask for 1 or more, or 0 to look
}

func ExampleLimiter_Peek() {
	node := alone()
	defer node.Close(context.Background())

	login := node.Limiter(stint.PerHour(2).WithName("login"))
	login.Allow("ann")
	fmt.Println(login.Peek("ann").Remaining, login.Peek("bob").Remaining)
	// Output: 1 2
}

// A Limiter follows the limit's name.
func ExampleLimiter_Limit() {
	node := alone()
	defer node.Close(context.Background())

	login := node.Limiter(stint.PerHour(2).WithName("login"))
	node.Limiter(stint.PerHour(3).WithName("login"))
	fmt.Println(login.Limit())
	// Output: 3/h
}

func ExampleLimiter_Err() {
	node := alone()
	defer node.Close(context.Background())

	strict := node.Limiter(stint.PerHour(2).WithMode(stint.Strict).WithName("login"))
	fmt.Println(strict.Err())
	fmt.Println(errors.Is(strict.Err(), stint.ErrNotSupported), strict.Allow("ann").OK)
	// Output:
	// limit "login": mode strict is not supported yet: use shared or local
	// true false
}

func ExampleNode_Limit() {
	node := alone()
	defer node.Close(context.Background())

	node.Allow("ann", stint.PerSecond(5).WithBurst(20).WithName("api"))
	for _, name := range []string{"api", "login"} {
		l, ok := node.Limit(name)
		fmt.Println(name, ok, l.Burst)
	}
	// Output:
	// api true 20
	// login false 0
}

func ExampleNode_Name() {
	node, err := stint.Open(stint.Config{Name: "billing-3"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close(context.Background())
	fmt.Printf("%s %q\n", node.Name(), node.Addr()) // alone it has no address
	// Output: billing-3 ""
}

package stint_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stint-go/stint"
)

func ExampleLimiter_Wait() {
	node := alone()
	defer node.Close(context.Background())
	calls := node.Limiter(stint.PerMinute(2).WithName("calls"))
	calls.AllowN("partner", 2)

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := calls.Wait(ctx, "partner", 1) // the next comes back in 30 s
	var late *stint.WaitError
	fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.As(err, &late) && late.Wait > 29*time.Second)
	// Output:
	// true true
}

func ExampleLimiter_Wait_leakyBucket() {
	node := alone()
	defer node.Close(context.Background())
	calls := node.Limiter(stint.PerSecond(100).WithAlgorithm(stint.LeakyBucket).WithName("calls"))

	start := time.Now()
	for range 3 { // the first goes at once, the others 10 ms after the one before
		if err := calls.Wait(context.Background(), "partner", 1); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(time.Since(start) >= 20*time.Millisecond)
	// Output:
	// true
}

func ExampleLimiter_Reserve() {
	node := alone()
	defer node.Close(context.Background())
	mails := node.Limiter(stint.PerDay(100).WithName("mails"))

	r, err := mails.Reserve(context.Background(), "ann", 30)
	fmt.Println(r.OK, r.Remaining, err)
	r.Cancel() // nothing was sent after all
	fmt.Println(mails.Peek("ann").Remaining)
	// Output:
	// true 70 <nil>
	// 100
}

func ExampleLimiter_Reserve_ahead() {
	node := alone()
	defer node.Close(context.Background())
	jobs := node.Limiter(stint.PerHour(60).WithMode(stint.Local).WithName("jobs"))
	jobs.AllowN("nightly", 60)

	r, _ := jobs.Reserve(context.Background(), "nightly", 10)
	fmt.Println(r.OK, r.Delay.Round(time.Minute))
	// Output:
	// true 10m0s
}

func ExampleLimiter_Hold() {
	node := alone()
	defer node.Close(context.Background())
	tokens := node.Limiter(stint.PerDay(10_000).WithName("tokens"))
	ctx := context.Background()

	hold, err := tokens.Hold(ctx, "ann", 4000, time.Minute) // what the answer may cost at most
	fmt.Println(hold.OK, hold.Remaining, err)
	err = hold.Settle(ctx, 1234) // what it did cost
	fmt.Println(tokens.Peek("ann").Remaining, err)
	// Output:
	// true 6000 <nil>
	// 8766 <nil>
}

func ExampleHold_Release() {
	node := alone()
	defer node.Close(context.Background())
	tokens := node.Limiter(stint.PerDay(10_000).WithName("tokens"))
	ctx := context.Background()

	hold, _ := tokens.Hold(ctx, "ann", 4000, time.Minute)
	fmt.Println(hold.Release(ctx), tokens.Peek("ann").Remaining)
	fmt.Println(errors.Is(hold.Release(ctx), stint.ErrNoHold))
	// Output:
	// <nil> 10000
	// true
}

func ExampleNode_Settle() {
	node := alone()
	defer node.Close(context.Background())
	tokens := node.Limiter(stint.PerDay(10_000).WithName("tokens"))
	ctx := context.Background()

	hold, _ := tokens.Hold(ctx, "ann", 4000, time.Minute)
	name := hold.ID().String() // handed to a worker, on whatever node

	id, _ := stint.ParseHoldID(name)
	fmt.Println(node.Settle(ctx, id, 1000), tokens.Peek("ann").Remaining)
	// Output:
	// <nil> 9000
}

func ExampleLimiter_Return() {
	node := alone()
	defer node.Close(context.Background())
	api := node.Limiter(stint.PerHour(100).WithName("api"))
	ctx := context.Background()

	api.AllowN("ann", 30)
	fmt.Println(api.Return(ctx, "ann", 10))
	fmt.Println(api.Return(ctx, "ann", 1000)) // no more than was used
	// Output:
	// 10 <nil>
	// 20 <nil>
}

func ExampleLimiter_Reset() {
	node := alone()
	defer node.Close(context.Background())
	login := node.Limiter(stint.PerHour(5).WithName("login"))

	login.AllowN("ann", 5)
	fmt.Println(login.Allow("ann").OK)
	fmt.Println(login.Reset(context.Background(), "ann"))
	fmt.Println(login.Allow("ann").OK)
	// Output:
	// false
	// 5 <nil>
	// true
}

func ExampleLimiter_Ban() {
	node := alone()
	defer node.Close(context.Background())
	api := node.Limiter(stint.PerHour(100).WithName("api"))
	ctx := context.Background()

	fmt.Println(api.Ban(ctx, "eve", time.Hour))
	d := api.Allow("eve")
	fmt.Println(d.OK, d.RetryAfter.Round(time.Minute), node.Bans()[0].Key)
	fmt.Println(api.Unban(ctx, "eve"), api.Allow("eve").OK)
	// Output:
	// <nil>
	// false 1h0m0s eve
	// <nil> true
}

func ExampleNode_TakeAll_three() {
	node := alone()
	defer node.Close(context.Background())
	limits := []stint.Limit{
		stint.PerSecond(20).WithName("burst"), stint.PerMinute(30).WithName("steady"),
		stint.PerDay(1000).WithName("quota"),
	}
	into := make([]stint.Decision, len(limits))
	for range 3 {
		var takes []stint.Take
		for _, l := range limits {
			takes = append(takes, stint.Take{Limit: l, Key: "ann", N: 15})
		}
		ok, _ := node.TakeAll(context.Background(), takes, into)
		for _, d := range into {
			if !d.OK {
				fmt.Println("refused by", d.Limit)
			}
		}
		fmt.Println(ok, node.Peek("ann", limits[2]).Remaining)
	}
	// Output:
	// true 985
	// refused by burst
	// false 985
	// refused by burst
	// false 985
}

func Example_stateFile() {
	dir, err := os.MkdirTemp("", "stint")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	cfg := stint.Config{StateFile: filepath.Join(dir, "counts")}
	quota := stint.PerDay(1000).WithName("quota")

	for range 2 { // the second process goes on where the first ended
		node, err := stint.Open(cfg)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(node.AllowN("ann", quota, 400).Remaining)
		node.Close(context.Background())
	}
	// Output:
	// 600
	// 200
}

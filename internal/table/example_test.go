package table_test

import (
	"fmt"
	"time"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/internal/table"
)

const (
	second = int64(time.Second)
	minute = int64(time.Minute)
)

// Example has a node admit two of three takes, and tell its peer.
func Example() {
	def := table.Def{Kind: table.Bucket, Bucket: bucket.New(2, minute, 2), Shared: true}
	here, there := table.New(table.Config{Record: true}), table.New(table.Config{})

	l, _ := here.Define("login", def)
	now := 10 * second
	for range 3 {
		r := here.Take(l, l.Hash("ann"), now, 1)
		fmt.Println(r.OK, r.Remaining, time.Duration(r.RetryAfter))
	}

	peer, _ := there.Learn(l.ID(), def)
	here.Drain(false, func(_ *table.Limit, hash uint64, n, start int64) {
		there.Charge(peer, hash, now, n, start, def.Bucket.Debt(2))
	})
	fmt.Println(there.Peek(peer, peer.Hash("ann"), now, 1).OK)
	// Output:
	// true 1 0s
	// true 0 0s
	// false 0 30s
	// false
}

func ExampleTable_Define() {
	t := table.New(table.Config{})
	l, _ := t.Define("api", table.Def{Kind: table.Bucket, Bucket: bucket.New(10, second, 10)})
	t.Take(l, l.Hash("ann"), 0, 4)

	// A change takes effect with the next take, and what is used stays used.
	same, _ := t.Define("api", table.Def{Kind: table.Bucket, Bucket: bucket.New(10, second, 20)})
	fmt.Println(same == l, t.Peek(l, l.Hash("ann"), 0, 1).Remaining)
	// Output: true 16
}

func ExampleTable_TakeAll() {
	t := table.New(table.Config{})
	user, _ := t.Define("user", table.Def{Kind: table.Bucket, Bucket: bucket.New(10, second, 10)})
	all, _ := t.Define("all", table.Def{Kind: table.Bucket, Bucket: bucket.New(1, second, 1)})

	asks := []table.Ask{{Limit: user, Hash: user.Hash("ann"), N: 1}, {Limit: all, Hash: all.Hash(""), N: 1}}
	results := make([]table.Result, len(asks))
	for range 2 {
		fmt.Println(t.TakeAll(asks, 0, results), results[0].Remaining, results[1].Remaining)
	}
	// Output:
	// true 9 0
	// false 9 0
}

func ExampleTable_Sweep() {
	t := table.New(table.Config{})
	l, _ := t.Define("api", table.Def{Kind: table.Bucket, Bucket: bucket.New(10, second, 10)})
	t.Take(l, l.Hash("ann"), 0, 5)
	fmt.Println(t.Stats().Keys)

	t.Sweep(minute, 1<<16) // the bucket has long been full again
	fmt.Println(t.Stats().Keys)
	// Output:
	// 1
	// 0
}

func ExampleLimit_Counts() {
	t := table.New(table.Config{})
	l, _ := t.Define("api", table.Def{Kind: table.Bucket, Bucket: bucket.New(1, second, 3)})
	for range 5 {
		t.Take(l, l.Hash("ann"), 0, 1)
	}
	fmt.Println(l.Counts())
	// Output: 3 2
}

package table_test

import (
	"fmt"
	"time"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/internal/table"
	"github.com/stint-go/stint/window"
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
	here.Drain(false, func(_ *table.Limit, hash uint64, r table.Row) {
		there.Charge(peer, hash, now, r, def.Bucket.Debt(2))
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

// ExampleTable_Refund gives back two of three events, in the window that they were
// taken in.
func ExampleTable_Refund() {
	t := table.New(table.Config{Record: true})
	t.SetWall(1_700_000_000 * second) // what the cluster's clocks show at 0
	l, _ := t.Define("api", table.Def{Kind: table.Window, Window: window.NewFixed(10, minute), Shared: true})
	mark := t.Mark(l, 0)
	t.Take(l, l.Hash("ann"), 0, 3)
	fmt.Println(t.Refund(l, l.Hash("ann"), second, 2, mark), t.Peek(l, l.Hash("ann"), second, 0).Remaining)
	t.Drain(false, func(_ *table.Limit, _ uint64, r table.Row) {
		fmt.Println(r.N, time.Unix(0, r.Start).UTC().Format(time.TimeOnly), time.Duration(r.Per))
	})
	// Output:
	// 2 9
	// 1 22:13:00 1m0s
}

func ExampleTable_Ban() {
	t := table.New(table.Config{})
	l, _ := t.Define("api", table.Def{Kind: table.Bucket, Bucket: bucket.New(10, second, 10)})
	_ = t.Ban(l, l.Hash("mallory"), 0, minute)
	r := t.Take(l, l.Hash("mallory"), 0, 1)
	fmt.Println(r.OK, time.Duration(r.RetryAfter))
	// Output: false 1m0s
}

// ExampleTable_Borrow takes more than is there, as a reservation does, and says when it
// would have been.
func ExampleTable_Borrow() {
	t := table.New(table.Config{})
	l, _ := t.Define("mail", table.Def{Kind: table.Bucket, Bucket: bucket.New(1, second, 1)})
	for range 3 {
		wait, _ := t.Borrow(l, l.Hash("ann"), 0, 1)
		fmt.Println(time.Duration(wait))
	}
	// Output:
	// 0s
	// 1s
	// 2s
}

// ExampleTable_Dump carries a key over to another table.
func ExampleTable_Dump() {
	def := table.Def{Kind: table.Log, Log: window.NewLog(5, minute)}
	old, fresh := table.New(table.Config{}), table.New(table.Config{})
	l, _ := old.Define("login", def)
	m, _ := fresh.Define("login", def)
	old.Take(l, l.Hash("ann"), 0, 4)
	old.Dump(0, func(_ *table.Limit, s *table.Saved) { fresh.Restore(m, 0, s) })
	fmt.Println(fresh.Peek(m, m.Hash("ann"), 0, 1).Remaining)
	// Output: 1
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

package bucket_test

import (
	"fmt"
	"time"

	"github.com/stint-go/stint/bucket"
)

// tenPerSecond is the limit of the examples: 10 per second, 5 at once.
func tenPerSecond() bucket.Limit { return bucket.New(10, int64(time.Second), 5) }

// ms is a time of the examples.
func ms(n int64) int64 { return n * int64(time.Millisecond) }

// A caller keeps one State a key and stores what Take returns, refused or not.
func Example() {
	l := tenPerSecond()
	keys := make(map[string]bucket.State)
	allow := func(key string, now int64) bool {
		s, ok := l.Take(keys[key], now, 1)
		keys[key] = s
		return ok
	}
	for range 6 {
		fmt.Print(allow("ann", ms(0)), " ")
	}
	fmt.Println(allow("bob", ms(0)), allow("ann", ms(100)))
	// Output: true true true true true false true true
}

func ExampleNew() {
	l := bucket.New(1, 3*int64(time.Second), 1) // one in three seconds
	s, ok := l.Take(bucket.State{}, 0, 1)
	fmt.Println(ok, time.Duration(l.RetryAfter(s, 0, 1)))
	// Output: true 3s
}

func ExampleLimit_Burst() {
	l := tenPerSecond()
	fmt.Println(l.Burst())
	// Output: 5
}

func ExampleLimit_Take() {
	l := tenPerSecond()
	s, ok := l.Take(bucket.State{}, ms(0), 4)
	fmt.Println(ok, l.Remaining(s, ms(0)))
	s, ok = l.Take(s, ms(50), 2) // one and a half are there
	fmt.Println(ok, l.Remaining(s, ms(50)))
	s, ok = l.Take(s, ms(100), 2)
	fmt.Println(ok, l.Remaining(s, ms(100)))
	// Output:
	// true 1
	// false 1
	// true 0
}

func ExampleLimit_Remaining() {
	l := tenPerSecond()
	s, _ := l.Take(bucket.State{}, ms(0), 5)
	fmt.Println(l.Remaining(s, ms(0)), l.Remaining(s, ms(250)), l.Remaining(s, ms(9000)))
	// Output: 0 2 5
}

func ExampleLimit_RetryAfter() {
	l := tenPerSecond()
	s, _ := l.Take(bucket.State{}, ms(0), 5)
	fmt.Println(time.Duration(l.RetryAfter(s, ms(30), 1)))
	fmt.Println(l.RetryAfter(s, ms(100), 1))
	fmt.Println(l.RetryAfter(s, ms(100), 6) == bucket.Never)
	// Output:
	// 70ms
	// 0
	// true
}

func ExampleLimit_ResetAfter() {
	l := tenPerSecond()
	s, _ := l.Take(bucket.State{}, ms(0), 2)
	fmt.Println(time.Duration(l.ResetAfter(s, ms(0))), time.Duration(l.ResetAfter(s, ms(150))))
	// Output: 200ms 50ms
}

// Two events are in use when the limit is doubled: they stay in use, and come back
// twice as fast.
func ExampleLimit_Convert() {
	old, now := tenPerSecond(), bucket.New(20, int64(time.Second), 10)
	s, _ := old.Take(bucket.State{}, ms(0), 2)
	s = old.Convert(s, ms(0), &now)
	fmt.Println(now.Remaining(s, ms(0)), time.Duration(now.ResetAfter(s, ms(0))))
	// Output: 8 100ms
}

// What one node admits it tells another as one run.
func ExampleLimit_Extend() {
	l := tenPerSecond()
	var r bucket.Run
	r = l.Extend(r, ms(0), 2)
	r = l.Extend(r, ms(100), 2)
	fmt.Println(r.N, time.Duration(r.M))
	r = l.Extend(r, ms(100), -1) // one is given back
	fmt.Println(r.N, time.Duration(r.M))
	// Output:
	// 4 400ms
	// 3 300ms
}

func ExampleLimit_Compose() {
	l := tenPerSecond()
	morning := l.Extend(bucket.Run{}, ms(0), 3)
	evening := l.Extend(bucket.Run{}, ms(900), 2)
	r := l.Compose(morning, evening)
	fmt.Println(r.N, time.Duration(r.M))
	// Output: 5 1.1s
}

// Start is what travels beside N; RunFrom makes the run again.
func ExampleLimit_Start() {
	l := tenPerSecond()
	r := l.Extend(bucket.Run{}, ms(700), 3)
	start := l.Start(r)
	fmt.Println(time.Duration(start), l.RunFrom(r.N, start) == r)
	// Output: 700ms true
}

func ExampleLimit_RunFrom() {
	l := tenPerSecond()
	r := l.RunFrom(3, ms(700))
	fmt.Println(r.N, time.Duration(r.M))
	// Output: 3 1s
}

// Two nodes each admitted four of a burst of five. The second to hear of the other
// is three events in debt.
func ExampleLimit_Charge() {
	l := tenPerSecond()
	s, _ := l.Take(bucket.State{}, ms(0), 4)
	s, forgiven := l.Charge(s, ms(20), l.RunFrom(4, ms(0)), l.Debt(2))
	fmt.Println(l.Remaining(s, ms(20)), time.Duration(l.RetryAfter(s, ms(20), 1)), forgiven)
	// Output: 0 380ms 0
}

func ExampleLimit_Debt() {
	l := tenPerSecond()
	fmt.Println(time.Duration(l.Debt(1)), time.Duration(l.Debt(3)))
	// Output: 0s 11s
}

// After a partition a key owes one burst at most; the rest is forgiven.
func ExampleLimit_DebtStale() {
	l := tenPerSecond()
	s, forgiven := l.Charge(bucket.State{}, ms(0), l.RunFrom(1000, ms(0)), l.DebtStale())
	fmt.Println(time.Duration(l.RetryAfter(s, ms(0), 1)), forgiven)
	// Output: 600ms 990
}

package window_test

import (
	"fmt"
	"time"

	"github.com/stint-go/stint/window"
)

// noon is a moment of the examples, in cluster time; a minute begins there.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC).UnixNano()

func s(n int64) int64 { return n * int64(time.Second) }

// A caller keeps one State a key.
func Example() {
	l := window.NewFixed(2, s(60))
	keys := make(map[string]*window.State)
	allow := func(key string, wall int64) bool {
		if keys[key] == nil {
			keys[key] = new(window.State)
		}
		_, _, retry := l.Take(keys[key], l.Frame(wall), wall, 1)
		return retry == 0
	}
	for range 3 {
		fmt.Print(allow("ann", noon), " ")
	}
	fmt.Println(allow("bob", noon), allow("ann", noon+s(60)))
	// Output: true true false true true
}

func ExampleNewFixed() {
	l := window.NewFixed(100, s(60))
	f := l.Frame(noon + s(125))
	fmt.Println(l.Events(), time.Duration(f.From-noon), time.Duration(f.To-noon))
	// Output: 100 2m0s 3m0s
}

// Of the window before counts what the last minute still covers.
func ExampleNewSliding() {
	l := window.NewSliding(100, s(60))
	var key window.State
	l.Take(&key, l.Frame(noon-s(1)), noon-s(1), 100)
	for _, after := range []int64{0, 15, 59} {
		wall := noon + s(after)
		fmt.Print(l.Remaining(key, l.Frame(wall), wall), " ")
	}
	fmt.Println()
	// Output: 0 25 98
}

func ExampleNewCalendar() {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		fmt.Println(err)
		return
	}
	l := window.NewCalendar(1000, window.Day, paris)
	f := l.Frame(time.Date(2026, 10, 25, 12, 0, 0, 0, paris).UnixNano()) // clocks go back
	fmt.Println(time.Unix(0, f.From).In(paris), time.Duration(f.To-f.From))
	// Output: 2026-10-25 00:00:00 +0200 CEST 25h0m0s
}

func ExampleLimit_SameCut() {
	a, b, c := window.NewFixed(100, s(60)), window.NewSliding(50, s(60)), window.NewFixed(100, s(3600))
	fmt.Println(a.SameCut(&b), a.SameCut(&c))
	// Output: true false
}

func ExampleFrame_Contains() {
	l := window.NewFixed(100, s(60))
	f := l.Frame(noon)
	fmt.Println(f.Contains(noon), f.Contains(noon+s(59)), f.Contains(noon+s(60)))
	// Output: true true false
}

// A window one ahead stays: the count of the current one is then the second.
func ExampleLimit_Roll() {
	l := window.NewFixed(100, s(60))
	key := window.State{From: noon + s(60), Counts: [3]int64{1, 20, 3}}
	fmt.Println(l.Roll(&key, l.Frame(noon)), key.Counts)
	fmt.Println(l.Roll(&key, l.Frame(noon+s(60))), key.Counts)
	fmt.Println(l.Roll(&key, l.Frame(noon+s(120))), key.Counts)
	// Output:
	// 1 [1 20 3]
	// 0 [1 20 3]
	// 0 [0 1 20]
}

func ExampleLimit_Take() {
	l := window.NewFixed(5, s(60))
	var key window.State
	wall := noon + s(50)
	charged, left, retry := l.Take(&key, l.Frame(wall), wall, 4)
	fmt.Println(charged, left, time.Duration(retry))
	charged, left, retry = l.Take(&key, l.Frame(wall), wall, 2)
	fmt.Println(charged, left, time.Duration(retry))
	// Output:
	// 4 1 0s
	// 0 1 10s
}

// Another node admitted 70 of the same minute, and, its clock a little ahead, 5 of the
// next.
func ExampleLimit_Charge() {
	l := window.NewFixed(100, s(60))
	var key window.State
	wall := noon + s(59)
	f := l.Frame(wall)
	l.Take(&key, f, wall, 60)
	l.Charge(&key, f, noon, s(60), 70)
	l.Charge(&key, f, noon+s(60), s(60), 5)
	fmt.Println(l.Used(key, f, wall), l.Remaining(key, f, wall))
	wall += s(1)
	fmt.Println(l.Remaining(key, l.Frame(wall), wall))
	// Output:
	// 130 0
	// 95
}

func ExampleLimit_Remaining() {
	l := window.NewSliding(10, s(60))
	key := window.State{From: noon, Counts: [3]int64{2, 10}}
	fmt.Println(l.Remaining(key, l.Frame(noon), noon), l.Remaining(key, l.Frame(noon), noon+s(30)))
	// Output: 0 3
}

func ExampleLimit_Used() {
	l := window.NewSliding(10, s(60))
	key := window.State{From: noon, Counts: [3]int64{2, 10}}
	fmt.Println(l.Used(key, l.Frame(noon), noon), l.Used(key, l.Frame(noon), noon+s(30)))
	// Output: 12 7
}

func ExampleLimit_RetryAfter() {
	l := window.NewSliding(10, s(60))
	key := window.State{From: noon, Counts: [3]int64{2, 10}}
	f := l.Frame(noon)
	fmt.Println(time.Duration(l.RetryAfter(key, f, noon, 1)), l.RetryAfter(key, f, noon, 11) == window.Never)
	// Output: 18s true
}

func ExampleLimit_ResetAfter() {
	fixed, sliding := window.NewFixed(10, s(60)), window.NewSliding(10, s(60))
	key := window.State{From: noon, Counts: [3]int64{2}}
	f, wall := fixed.Frame(noon), noon+s(20)
	fmt.Println(time.Duration(fixed.ResetAfter(key, f, wall)), time.Duration(sliding.ResetAfter(key, f, wall)))
	// Output: 40s 1m40s
}

func ExampleLimit_AtRest() {
	l := window.NewFixed(10, s(60))
	key := window.State{From: noon, Counts: [3]int64{2}}
	fmt.Println(l.AtRest(key, noon+s(59)), l.AtRest(key, noon+s(60)))
	// Output: false true
}

func ExampleLogLimit_Take() {
	l := window.NewLog(2, s(60))
	var key window.Log
	for _, now := range []int64{0, 50, 55, 60} {
		left, retry := l.Take(&key, s(now), 1)
		fmt.Println(left, time.Duration(retry))
	}
	// Output:
	// 1 0s
	// 0 0s
	// 0 5s
	// 0 0s
}

func ExampleLogLimit_Charge() {
	l := window.NewLog(10, s(60))
	var key window.Log
	l.Charge(&key, s(100), s(70), 8) // a peer's, half a minute ago
	fmt.Println(l.Remaining(key, s(100)), time.Duration(l.RetryAfter(key, s(100), 3)))
	l.Charge(&key, s(100), s(70), -5) // it gives some back
	fmt.Println(l.Used(key, s(100)), l.Remaining(key, s(100)))
	fmt.Println(time.Duration(l.ResetAfter(key, s(100))), l.AtRest(key, s(100)), l.AtRest(key, s(130)))
	// Output:
	// 2 30s
	// 3 7
	// 30s false true
}

// A node whose wall clock is 4 s ahead meets one that is right.
func ExampleClock() {
	now, right := int64(0), noon
	c := window.NewClock(right + s(4))
	c.Step(now, right+s(4), nil)
	fmt.Println(time.Duration(c.Offset()-right), time.Duration(c.Skew()))
	c.Step(now, right+s(4), []int64{-s(4)})
	fmt.Println(time.Duration(c.Offset()-right), time.Duration(c.Skew()))
	// Output:
	// 4s 0s
	// 2s 2s
}

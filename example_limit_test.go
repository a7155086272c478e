package stint_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stint-go/stint"
)

func ExampleParseLimit() {
	l, err := stint.ParseLimit("20/s burst=50 name=api")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Name, l.Events, l.Per, l.Burst)
	// Output: api 20 1s 50
}

// Every fault is reported at once, with what to change.
func ExampleParseLimit_faults() {
	_, err := stint.ParseLimit("0.5/s burts=3")
	fmt.Println(err)
	// Output:
	// limit "0.5/s burts=3": events "0.5" is no whole number: write 1/2s
	// limit "0.5/s burts=3": unknown option "burts": use one of burst, algorithm, calendar, zone, mode, name
}

func ExamplePerSecond() {
	fmt.Println(stint.PerSecond(20))
	fmt.Println(stint.PerSecond(20).WithBurst(50))
	// Output:
	// 20/s
	// 20/s burst=50
}

func ExamplePerMinute() {
	fmt.Println(stint.PerMinute(100))
	// Output: 100/min
}

func ExamplePerHour() {
	fmt.Println(stint.PerHour(100))
	// Output: 100/h
}

func ExamplePerDay() {
	fmt.Println(stint.PerDay(1000))
	// Output: 1000/day
}

func ExampleUnlimited() {
	fmt.Println(stint.Unlimited())
	// Output: unlimited
}

func ExampleBlocked() {
	fmt.Println(stint.Blocked(), stint.Blocked() == stint.PerSecond(0))
	// Output: blocked true
}

func ExampleLimit_Validate() {
	l := stint.Limit{Name: "api", Events: -1, Burst: -5}
	fmt.Println(l.Validate())
	// Output:
	// limit "api": Events is -1: use a positive number, or 0 to block
	// limit "api": Burst is -5: use a positive number, or 0 for as many as Events
}

func ExampleLimit_String() {
	l := stint.Limit{Name: "orders", Events: 5, Per: 10 * time.Minute, Algorithm: stint.SlidingWindow}
	fmt.Println(l)
	// Output: 5/10m algorithm=sliding-window
}

func ExampleLimit_WithName() {
	a, b := stint.PerSecond(1).WithName("a"), stint.PerSecond(1).WithName("b")
	fmt.Println(a == b, a == b.WithName("a"))
	// Output: false true
}

func ExampleLimit_WithBurst() {
	fmt.Println(stint.PerMinute(10).WithBurst(3))
	// Output: 10/min burst=3
}

func ExampleLimit_WithAlgorithm() {
	fmt.Println(stint.PerDay(1000).WithAlgorithm(stint.FixedWindow))
	// Output: 1000/day algorithm=fixed-window
}

// A quota that begins anew at each midnight in Paris.
func ExampleLimit_WithCalendar() {
	l := stint.PerDay(1000).WithCalendar(stint.CalendarDay, "Europe/Paris")
	fmt.Println(l)
	// Output: 1000/day algorithm=fixed-window calendar=day zone=Europe/Paris
}

func ExampleParseCalendar() {
	c, err := stint.ParseCalendar("month")
	fmt.Println(c == stint.CalendarMonth, err)
	// Output: true <nil>
}

func ExampleLimit_WithMode() {
	fmt.Println(stint.PerSecond(5).WithMode(stint.Local))
	// Output: 5/s mode=local
}

func ExampleLimit_MarshalText() {
	text, err := json.Marshal(map[string]stint.Limit{"login": stint.PerMinute(5).WithName("login")})
	fmt.Println(string(text), err)
	// Output: {"login":"5/min name=login"} <nil>
}

func ExampleLimit_UnmarshalText() {
	var config struct{ Login stint.Limit }
	err := json.Unmarshal([]byte(`{"login": "5/min burst=10"}`), &config)
	fmt.Println(config.Login.Events, config.Login.Per, config.Login.Burst, err)
	// Output: 5 1m0s 10 <nil>
}

func ExampleParseAlgorithm() {
	a, err := stint.ParseAlgorithm("sliding-log")
	fmt.Println(a == stint.SlidingLog, err)
	// Output: true <nil>
}

func ExampleParseMode() {
	m, err := stint.ParseMode("local")
	fmt.Println(m == stint.Local, err)
	// Output: true <nil>
}

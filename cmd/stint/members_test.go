package main

import (
	"math"
	"strings"
	"testing"
)

func TestPrintMembers(t *testing.T) {
	var out strings.Builder
	err := printMembers(&out, []member{
		{Name: "a", Addr: "10.0.0.1:7946", State: "alive", Self: true},
		{Name: "b", Addr: "10.0.0.2:7946", State: "alive", InSession: true, Lag: 1.25, Worst: 3, Backlog: 4, Unacked: 2, Out: 999, In: 1_250_000, Reconnects: 1},
		{Name: "c", Addr: "10.0.0.3:7946", State: "alive"},
		{Name: "d", Addr: "10.0.0.4:7946", State: "alive", Joining: true},
		{Name: "e", Addr: "10.0.0.5:7946", State: "dead"},
	})
	if err == nil {
		err = printOvershoot(&out, []overshoot{{"none", 0, 0}, {"api", 12, 3}, {"old", 0, 1}})
	}
	if err != nil {
		t.Fatal(err)
	}
	want := `
NAME ADDRESS STATE LAG WORST BACKLOG UNACKED OUT IN RECONNECTS
a 10.0.0.1:7946 alive (asked)
b 10.0.0.2:7946 alive 1.2 ms 3.0 ms 4 2 999 B 1.2 MB 1
c 10.0.0.3:7946 alive (not in step) 0.0 ms 0.0 ms 0 0 0 B 0 B 0
d 10.0.0.4:7946 alive (joining) 0.0 ms 0.0 ms 0 0 0 B 0 B 0
e 10.0.0.5:7946 dead 0.0 ms 0.0 ms 0 0 0 B 0 B 0

LIMIT BOUND EXCESS
api 12 3
old 0 1
`
	var got strings.Builder
	for line := range strings.Lines("\n" + out.String()) {
		got.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	if got.String() != want {
		t.Errorf("got %s, want %s", got.String(), want)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_900: "999.9 kB", 1_000_000: "1.0 MB", math.MaxInt64: "9.2 EB"} {
		if got := size(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

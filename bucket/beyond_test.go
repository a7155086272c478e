package bucket

import (
	"math"
	"testing"
)

func TestBeyond(t *testing.T) {
	const second = 1_000_000_000
	l := New(10, second, 100) // T = 100 ms
	for _, test := range []struct {
		at   State
		want int64
	}{
		{State{}, 0},
		{State{At: 100 * second}, 0},                              // long full
		{State{At: 110 * second}, 0},                              // just empty
		{State{At: 110*second + 1}, 1},                            // in part
		{State{At: 110*second + second/10}, 1},                    // one
		{State{At: 110*second + second/10 + 1}, 2},                // and a little
		{State{At: 150 * second}, 400},                            // four bursts
		{State{At: math.MaxInt64}, math.MaxInt64 / (second / 10)}, // never wraps
	} {
		got := l.Beyond(test.at, 100*second)
		if d := got - test.want; d > 2000 || d < -2000 || test.want < 1000 && d != 0 {
			t.Errorf("%+v: got %d events beyond the burst, want %d", test.at, got, test.want)
		}
		if rest := l.Remaining(test.at, 100*second); got > 0 && rest > 0 {
			t.Errorf("%+v: got %d beyond and %d remaining", test.at, got, rest)
		}
	}
}

package bucket

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestConvert: a limit of 100 an hour, some of it used, is changed. What is used
// stays used (cases 20 and 21).
func TestConvert(t *testing.T) {
	from := New(100, hour, 100)
	tests := []struct {
		name      string
		used      int64
		to        Limit
		remaining int64
		retry     int64 // of 1
		reset     int64
	}{
		{"unchanged", 70, from, 30, 0, 70 * 36 * second},
		{"lowered below what is used", 70, New(50, hour, 50), 0, 21 * 72 * second, 70 * 72 * second},
		{"lowered to what is used", 50, New(50, hour, 50), 0, 72 * second, hour},
		{"lowered to 1", 100, New(1, hour, 1), 0, 100 * hour, 100 * hour},
		{"raised", 70, New(200, hour, 200), 130, 0, 70 * 18 * second},
		{"raised from empty", 100, New(200, hour, 200), 100, 0, hour / 2},
		{"faster", 70, New(100, second, 100), 30, 0, 700 * ms},
		{"a smaller burst", 70, New(100, hour, 10), 0, 61 * 36 * second, 70 * 36 * second},
		{"a larger burst", 70, New(100, hour, 1000), 930, 0, 70 * 36 * second},
		{"faster than the clock", 70, New(7e9, second, 100), 30, 0, 10},
		{"full", 0, New(50, hour, 50), 50, 0, 0},
	}
	for _, test := range tests {
		now := 5 * hour
		s := mustPass(t, &from, State{}, now, test.used)
		s = from.Convert(s, now, &test.to)
		got := [3]int64{test.to.Remaining(s, now), test.to.RetryAfter(s, now, 1), test.to.ResetAfter(s, now)}
		if want := [3]int64{test.remaining, test.retry, test.reset}; got != want {
			t.Errorf("%s: remaining, retry, reset %v; want %v", test.name, got, want)
		}
		if back := test.to.Convert(s, now, &from); from.Remaining(back, now) != 100-test.used {
			t.Errorf("%s: and back: %d remain, want %d", test.name, from.Remaining(back, now), 100-test.used)
		}
	}
}

// TestConvertKeepsUse: exactly the events that could not be taken before cannot be
// taken after, whatever the two limits; a limit changed to itself is the same; and
// changes to and fro mint nothing, however many.
func TestConvertKeepsUse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := usual.Draw(t, "a"), usual.Draw(t, "b")
		now := rapid.Int64Range(0, far/4).Draw(t, "now")
		s := State{At: now + rapid.Int64Range(0, a.all.ns-min(a.all.ns, 1)).Draw(t, "used"),
			Rem: rapid.Uint64Max(a.den-1).Draw(t, "rem")}
		if a.used(s, now).after(a.all) {
			s.Rem = 0
		}
		c := a.Convert(s, now, b)
		checkState(t, b, c)
		used := a.burst - a.Remaining(s, now)
		if got, want := b.Remaining(c, now), max(0, b.burst-used); got != want {
			t.Fatalf("%d used: %d of %d remain, want %d", used, got, b.burst, want)
		}
		if c.At == math.MaxInt64 {
			return // more than 292 years of use are cut to so many
		}
		if same := a.Convert(s, now, a); at(a, same).Cmp(at(a, s)) != 0 {
			t.Fatalf("converted to itself %+v is %+v", s, same)
		}
		for range 10 {
			back := b.Convert(c, now, a)
			if at(a, back).Cmp(at(a, s)) < 0 {
				t.Fatalf("to and fro: %+v, was %+v", back, s)
			}
			c = a.Convert(back, now, b)
		}
	})
}

// TestConvertExtremes: any state, any two limits, and no read path under- or
// overflows.
func TestConvertExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyLimit.Draw(t, "a"), anyLimit.Draw(t, "b")
		now := number.Draw(t, "now")
		s := State{number.Draw(t, "at"), rapid.Uint64Max(a.den-1).Draw(t, "rem")}
		c := a.Convert(s, now, b)
		checkState(t, b, c)
		if got := b.Remaining(c, now); got < 0 || got > b.burst {
			t.Fatalf("Remaining = %d of %d", got, b.burst)
		}
		if b.RetryAfter(c, now, 1) < 0 || b.ResetAfter(c, now) < 0 {
			t.Fatalf("a wait is negative: %+v at %d", c, now)
		}
		if c.At < now {
			t.Fatalf("converted to %+v, before now %d", c, now)
		}
	})
}

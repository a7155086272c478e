package bucket

import (
	"math"
	"testing"
)

func TestUsed(t *testing.T) {
	for _, c := range []struct {
		at, now, want int64
	}{
		{0, 0, 0}, {math.MinInt64, 0, 0}, {1, 0, 1}, {3, 0, 1}, {4, 0, 2}, {30, 0, 10}, {300, 0, 100}, {30, 29, 1}, {30, 31, 0},
		{math.MaxInt64, 0, math.MaxInt64/3 + 1}, {math.MaxInt64, math.MinInt64, math.MaxInt64/3 + 1},
	} {
		l := New(1, 3, 10)
		if got := l.Used(State{At: c.at}, c.now); got != c.want {
			t.Errorf("Used of %d at %d = %d, want %d", c.at, c.now, got, c.want)
		}
	}
	l := New(3, 1, 10) // a third of a nanosecond each
	if got := l.Used(State{1, 1}, 0); got != 4 {
		t.Errorf("Used of 4/3 ns = %d, want 4", got)
	}
}

// TestUsedAndRemaining: what is used, in whole events, and what remains are the burst.
func TestUsedAndRemaining(t *testing.T) {
	l := New(7, 10, 50)
	s := State{}
	for now := int64(0); now < 300; now++ {
		s, _ = l.Take(s, now, now%3)
		if got := l.Used(s, now) + l.Remaining(s, now); got != 50 {
			t.Fatalf("at %d: used and remaining are %d, want 50", now, got)
		}
	}
}

func TestLater(t *testing.T) {
	l := New(3, 1, 10)
	for _, c := range []struct{ a, b, want State }{
		{State{5, 0}, State{4, 2}, State{5, 0}},
		{State{5, 0}, State{5, 2}, State{5, 2}},
		{State{math.MinInt64, 0}, State{-7, 1}, State{-7, 1}},
		{State{5, 2}, State{5, 3}, State{6, 0}}, // no such rest
		{State{math.MaxInt64, 9}, State{}, State{math.MaxInt64, 0}},
	} {
		for _, got := range []State{l.Later(c.a, c.b), l.Later(c.b, c.a)} {
			if got != c.want {
				t.Errorf("Later of %v and %v = %v, want %v", c.a, c.b, got, c.want)
			}
		}
	}
}

func TestBorrow(t *testing.T) {
	l := New(1, 10, 2)
	for _, c := range []struct {
		at, now, n int64
		want, wait int64
		ok         bool
	}{
		{0, 100, 1, 110, 0, true},
		{0, 100, 2, 120, 0, true},
		{115, 100, 1, 125, 5, true},
		{130, 100, 2, 150, 30, true},
		{130, 100, 0, 130, 0, false},
		{130, 100, -1, 130, 0, false},
		{130, 100, 3, 130, 0, false},
		{0, math.MaxInt64, 1, 0, 0, false},
		{100 + l.most - 10, 100, 1, 100 + l.most, l.most - 20, true},
		{100 + l.most - 9, 100, 1, 100 + l.most - 9, 0, false},
		{math.MaxInt64, 100, 1, 130, 10, true}, // the clock went back: empty
	} {
		s, wait, ok := l.Borrow(State{At: c.at}, c.now, c.n)
		if s.At != c.want || wait != c.wait || ok != c.ok {
			t.Errorf("Borrow(%d, %d, %d) = %d, %d, %v, want %d, %d, %v", c.at, c.now, c.n, s.At, wait, ok, c.want, c.wait, c.ok)
		}
		if ok {
			if _, now := l.Take(s, c.now, 1); now != (s.At+10 <= c.now+20) {
				t.Errorf("borrowed up to %d, a take at %d is admitted: %v", s.At, c.now, now)
			}
		}
	}
}

// TestBorrowIsTake where there is enough, and RetryAfter where there is not.
func TestBorrowIsTake(t *testing.T) {
	l := New(7, 10, 20)
	s := State{}
	for now := int64(0); now < 2000; now += 3 {
		n := now%5 + 1
		next, wait, ok := l.Borrow(s, now, n)
		if want := l.RetryAfter(s, now, n); !ok || wait != want {
			t.Fatalf("at %d: wait %d, %v, want %d", now, wait, ok, want)
		}
		if taken, had := l.Take(s, now, n); had && taken != next {
			t.Fatalf("at %d: borrowed to %v, taken to %v", now, next, taken)
		}
		s = next
	}
}

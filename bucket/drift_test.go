package bucket

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// TestNoDrift takes ten million times and then counts: admitted is exactly the burst
// and what came back, so that the long-run rate is the limit's, with no error at all
// (case 30).
func TestNoDrift(t *testing.T) {
	tests := []struct {
		name               string
		events, per, burst int64
		step               int64 // ns; the bucket never fills within one
	}{
		{"1 per 3 s", 1, 3 * second, 2, 1_000_000_007},
		{"0.0055/s", 55, 10_000 * second, 3, 77_777_777_777},
		{"700,000,000/s", 700_000_000, second, 100, 13},
		{"999,999,937/s", 999_999_937, second, 100, 7},
		{"1,000,000/s", 1_000_000, second, 100, 333},
		{"3,000,000,019/s", 3_000_000_019, second, 1000, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := New(test.events, test.per, test.burst)
			var s State
			var now, admitted int64
			for range 10_000_000 {
				var ok bool
				if s, ok = l.Take(s, now, 1); ok {
					admitted++
				} else {
					now += test.step
				}
			}
			for ok := true; ok; { // all that is there at now
				if s, ok = l.Take(s, now, 1); ok {
					admitted++
				}
			}
			hi, lo := bits.Mul64(uint64(now), uint64(test.events))
			back, _ := bits.Div64(hi, lo, uint64(test.per))
			if want := test.burst + int64(back); admitted != want {
				t.Errorf("admitted %d in %d ns, want %d", admitted, now, want)
			}
		})
	}
}

// TestNoDriftOfRuns: ten million takes told to a peer in runs of a hundred leave it
// what they left at home, within 1 ns a take of the last run.
func TestNoDriftOfRuns(t *testing.T) {
	l := New(700_000_000, second, 100)
	var home, peer State
	var r Run
	now := int64(0)
	for range 10_000_000 {
		var ok bool
		if home, ok = l.Take(home, now, 1); !ok {
			now += 13
			continue
		}
		if r = l.Extend(r, now, 1); r.N == 100 {
			peer, _ = l.Charge(peer, now, l.RunFrom(r.N, l.Start(r)), l.DebtStale())
			r = Run{}
		}
	}
	peer, _ = l.Charge(peer, now, r, l.DebtStale())
	checkAbove(t, &l, peer, at(&l, home), 101)
}

// TestOracle compares with x/time/rate at explicit times. It counts in floating
// point and forgives less than 1 ns, so that a take so close to the limit is not
// asked.
func TestOracle(t *testing.T) {
	tests := []struct{ events, per, burst int64 }{
		{1, second, 1}, {10, second, 5}, {100, second, 100}, {1, 3 * second, 4}, {7, 60 * second, 20},
		{55, 10_000 * second, 3}, {1_000_000, second, 1000}, {123_457, second, 17},
	}
	start := time.Unix(1e9, 0)
	for _, test := range tests {
		l := New(test.events, test.per, test.burst)
		oracle := rate.NewLimiter(rate.Limit(float64(test.events)/time.Duration(test.per).Seconds()), int(test.burst))
		blur := 1e-6 + 1.5*float64(test.events)/float64(test.per)
		rnd := rand.New(rand.NewPCG(uint64(test.events), uint64(test.burst)))
		var s State
		var now int64
		asked, admitted := 0, 0
		for range 20_000 {
			now += rnd.Int64N(2 * test.per / test.events)
			n := 1 + rnd.Int64N(min(3, test.burst))
			when := start.Add(time.Duration(now))
			tokens := oracle.TokensAt(when)
			if off := math.Abs(tokens - float64(n)); off < blur && tokens != float64(test.burst) {
				continue
			}
			asked++
			if got := float64(l.Remaining(s, now)); got > tokens+blur || got < tokens-1-blur {
				t.Fatalf("%+v at %d: Remaining = %v, want %v", test, now, got, tokens)
			}
			var ok bool
			if s, ok = l.Take(s, now, n); ok {
				admitted++
			}
			if want := oracle.AllowN(when, int(n)); ok != want {
				t.Fatalf("%+v: Take(%d, %d) = %v, want %v", test, now, n, ok, want)
			}
		}
		if refused := asked - admitted; asked < 19_000 || admitted < 5000 || refused < 5000 {
			t.Errorf("%+v: asked %d, admitted %d: too few of either to compare", test, asked, admitted)
		}
	}
}

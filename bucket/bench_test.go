package bucket

import "testing"

// benchLimits: T a whole number of nanoseconds, and one that is not.
var benchLimits = []struct {
	name  string
	limit Limit
}{
	{"1000/s", New(1000, second, 1000)},
	{"700000000/s", New(700_000_000, second, 1000)},
}

// sinks keep the compiler from leaving out what is measured.
var (
	sinkState State
	sinkRun   Run
	sinkInt   int64
)

func BenchmarkTake(b *testing.B) {
	for _, bench := range benchLimits {
		l := bench.limit
		b.Run("admitted/"+bench.name, func(b *testing.B) {
			b.ReportAllocs()
			var s State
			now := int64(0)
			for b.Loop() {
				s, _ = l.Take(s, now, 1)
				now += l.one.up()
			}
			sinkState = s
		})
		b.Run("refused/"+bench.name, func(b *testing.B) {
			b.ReportAllocs()
			s := State{At: l.all.ns + 1}
			for b.Loop() {
				s, _ = l.Take(s, 0, 1)
			}
			sinkState = s
		})
	}
}

func BenchmarkRemaining(b *testing.B) {
	for _, bench := range benchLimits {
		l := bench.limit
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			s := State{At: l.all.ns / 2}
			for b.Loop() {
				sinkInt = l.Remaining(s, 0)
			}
		})
	}
}

func BenchmarkExtend(b *testing.B) {
	for _, bench := range benchLimits {
		l := bench.limit
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			var r Run
			for b.Loop() {
				r = l.Extend(r, 0, 1)
			}
			sinkRun = r
		})
	}
}

func BenchmarkCharge(b *testing.B) {
	for _, bench := range benchLimits {
		l := bench.limit
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			var s State
			now, debt := int64(0), l.Debt(3)
			for b.Loop() {
				s, sinkInt = l.Charge(s, now, l.RunFrom(7, now-1000), debt)
				now += 7 * l.one.up()
			}
			sinkState = s
		})
	}
}

// TestNoAllocations: nothing here allocates, whatever the limit.
func TestNoAllocations(t *testing.T) {
	for _, bench := range benchLimits {
		l, other := bench.limit, benchLimits[0].limit
		var s State
		var r Run
		now := int64(0)
		got := testing.AllocsPerRun(1000, func() {
			now += 100
			s, _ = l.Take(s, now, 1)
			r = l.Extend(r, now, 1)
			r = l.Compose(r, l.RunFrom(r.N, l.Start(r)))
			s, sinkInt = l.Charge(s, now, r, l.Debt(3)+l.DebtStale())
			sinkInt = l.Remaining(s, now) + l.RetryAfter(s, now, 1) + l.ResetAfter(s, now)
			sinkState = l.Convert(s, now, &other)
		})
		if got != 0 {
			t.Errorf("%s: %v allocations, want 0", bench.name, got)
		}
	}
}

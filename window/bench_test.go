package window

import "testing"

// sinks keep the compiler from leaving out what is measured.
var (
	sinkInt   int64
	sinkFrame Frame
)

var benchLimits = []struct {
	name  string
	limit Limit
}{
	{"fixed", NewFixed(1000, minute)},
	{"sliding", NewSliding(1000, minute)},
	{"calendar", NewCalendar(1000, Day, zone("Europe/Paris"))},
}

func BenchmarkTake(b *testing.B) {
	for _, bench := range benchLimits {
		l := bench.limit
		for _, what := range []struct {
			name string
			used int64
		}{{"admitted", 0}, {"refused", 1000}} {
			b.Run(what.name+"/"+bench.name, func(b *testing.B) {
				b.ReportAllocs()
				wall := int64(20_000*day + 5*second)
				f := l.Frame(wall)
				s := State{f.From, [3]int64{what.used, 200}}
				for b.Loop() {
					if l.unit == None { // callers keep a calendar's
						f = l.Frame(wall)
					}
					_, _, sinkInt = l.Take(&s, f, wall, 1)
					if wall++; what.used == 0 {
						s.Counts[0] = 0
					}
				}
			})
		}
	}
	for _, records := range []int64{1, 16, MaxEvents} {
		name := map[int64]string{1: "1", 16: "16", MaxEvents: "256"}[records]
		b.Run("admitted/log/"+name, func(b *testing.B) {
			b.ReportAllocs()
			l := NewLog(records, minute)
			var log Log
			for now := int64(0); b.Loop(); now += minute/records + 1 {
				_, sinkInt = l.Take(&log, now, 1)
			}
		})
		b.Run("refused/log/"+name, func(b *testing.B) {
			b.ReportAllocs()
			l := NewLog(records, minute)
			var log Log
			for at := range records {
				l.Take(&log, at, 1)
			}
			for b.Loop() {
				_, sinkInt = l.Take(&log, second, 1)
			}
		})
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, bench := range benchLimits {
		l := bench.limit
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for wall := int64(20_000 * day); b.Loop(); wall += second {
				sinkFrame = l.Frame(wall)
			}
		})
	}
}

// TestNoAllocations: nothing here allocates, whatever the limit.
func TestNoAllocations(t *testing.T) {
	for _, bench := range benchLimits {
		l := bench.limit
		var s State
		wall := 20_000 * day
		got := testing.AllocsPerRun(1000, func() {
			wall += second
			f := l.Frame(wall)
			l.Take(&s, f, wall, 7)
			l.Charge(&s, f, f.To, f.After-f.To, 3)
			sinkInt = l.Remaining(s, f, wall) + l.RetryAfter(s, f, wall, 1000) + l.ResetAfter(s, f, wall)
			l.AtRest(s, wall)
		})
		if got != 0 {
			t.Errorf("%s: %v allocations, want 0", bench.name, got)
		}
	}
}

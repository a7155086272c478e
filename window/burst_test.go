package window

import "testing"

// asker is a key under a limit of any kind.
type asker func(at int64) (retry int64)

func windowAsker(l Limit) asker {
	var s State
	return func(at int64) int64 {
		_, _, retry := l.Take(&s, l.Frame(at), at, 1)
		return retry
	}
}

func logAsker(l LogLimit) asker {
	var log Log
	return func(at int64) int64 {
		_, retry := l.Take(&log, at, 1)
		return retry
	}
}

// admitted asks at each time in order and returns when it got what it asked for.
func (ask asker) admitted(times []int64) (got []int64) {
	for _, at := range times {
		if ask(at) == 0 {
			got = append(got, at)
		}
	}
	return got
}

// most is how many of the times lie within one span, its end left out.
func most(times []int64, span int64) (n int) {
	first := 0
	for i, at := range times {
		for times[first] <= at-span {
			first++
		}
		n = max(n, i-first+1)
	}
	return n
}

// every is n times from a start on.
func every(start, step int64, n int) (times []int64) {
	for range n {
		times = append(times, start)
		start += step
	}
	return times
}

// TestBoundaryBurst: 100 takes at the end of a minute and 100 at the start of the next.
func TestBoundaryBurst(t *testing.T) {
	noon := 20_000*day + 12*hour
	times := append(every(noon-100*ms, ms, 100), every(noon, ms, 100)...)
	tests := []struct {
		name string
		ask  asker
		want int // in any 60 s
	}{
		{"fixed", windowAsker(NewFixed(100, minute)), 200},
		{"sliding", windowAsker(NewSliding(100, minute)), 100},
		{"log", logAsker(NewLog(100, minute)), 100},
	}
	for _, test := range tests {
		if got := most(test.ask.admitted(times), minute); got != test.want {
			t.Errorf("%s: %d admitted in 60 s, want %d", test.name, got, test.want)
		}
	}
}

// TestWorst: traffic that knows where windows begin. Of fixed windows it gets 2·100 in 60
// s, of sliding ones 2·100 − 1 (half of it as a burst, the rest as it comes free), of
// the log never more than 100.
func TestWorst(t *testing.T) {
	noon := 20_000*day + 12*hour
	times := append(every(noon-100, 1, 100), every(noon, 10*ms, 6000)...)
	times = append(times, every(noon+minute-1000, 1, 800)...)
	tests := []struct {
		name string
		ask  asker
		want int
	}{
		{"fixed", windowAsker(NewFixed(100, minute)), 200},
		{"sliding", windowAsker(NewSliding(100, minute)), 199},
		{"log", logAsker(NewLog(100, minute)), 100},
	}
	for _, test := range tests {
		if got := most(test.ask.admitted(times), minute); got != test.want {
			t.Errorf("%s: %d admitted in 60 s, want %d", test.name, got, test.want)
		}
	}
}

// TestEven: even traffic of twice the limit for an hour gets the limit.
func TestEven(t *testing.T) {
	times := every(20_000*day, 300*ms, 60*200)
	for name, ask := range map[string]asker{
		"fixed":   windowAsker(NewFixed(100, minute)),
		"sliding": windowAsker(NewSliding(100, minute)),
		"log":     logAsker(NewLog(100, minute)),
	} {
		if got := len(ask.admitted(times)); got < 5900 || got > 6000 {
			t.Errorf("%s: %d admitted in an hour, want about 6000", name, got)
		}
	}
}

// TestHammering: a client that asks every 10 ms gets what one gets that asks when it may
// (case 9).
func TestHammering(t *testing.T) {
	start := 20_000 * day
	makers := map[string]func() asker{
		"fixed":   func() asker { return windowAsker(NewFixed(2, second)) },
		"sliding": func() asker { return windowAsker(NewSliding(2, second)) },
		"log":     func() asker { return logAsker(NewLog(2, second)) },
	}
	for name, maker := range makers {
		hammer := len(maker().admitted(every(start, 10*ms, 6000)))
		patient := 0
		for ask, at := maker(), start; at < start+minute; {
			if retry := ask(at); retry > 0 {
				at += (retry + 10*ms - 1) / (10 * ms) * (10 * ms) // on the other's beat
				continue
			}
			patient++
		}
		if hammer != patient || hammer < 60 {
			t.Errorf("%s: hammering got %d, patience %d", name, hammer, patient)
		}
	}
}

// TestNoDrift: a million takes of 1 per 3 s, 55 per 10,000 s and a million per second;
// windows are where they were (case 30).
func TestNoDrift(t *testing.T) {
	tests := []struct {
		name              string
		events, per, step int64
	}{
		{"1 per 3 s", 1, 3 * second, 1_000_000_007},
		{"0.0055/s", 55, 10_000 * second, 77_777_777_777},
		{"1,000,000/s", 1_000_000, second, 333},
	}
	for _, test := range tests {
		l := NewFixed(test.events, test.per)
		var s State
		wall := 20_000 * day / test.per * test.per
		start, asked, admitted := wall, int64(0), int64(0)
		for range operations() {
			if _, _, retry := l.Take(&s, l.Frame(wall), wall, 1); retry == 0 {
				admitted++
			}
			asked++
			wall += test.step
		}
		full := (wall - start) / test.per // windows
		each := min(test.events, test.per/test.step)
		if low, high := full*each, (full+1)*(each+1); admitted < low || admitted > high || admitted > (full+1)*test.events {
			t.Errorf("%s: %d of %d admitted in %d windows, want %d to %d", test.name, admitted, asked, full, low, high)
		}
	}
}

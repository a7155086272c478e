package main

import (
	"slices"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

// Times are nanoseconds from the start of a window.
const (
	second = int64(1_000_000_000)
	minute = 60 * second
)

// The limit is 20 a minute. What is asked of it is idle, and then five times a second from
// just before a window ends.
const (
	limit = 20
	first = 56 * second
	every = second / 5
	end   = 200 * second
)

// lane is one algorithm and when it lets the events of the picture pass.
type lane struct {
	name, note string
	passed     []int64 // sorted
}

// taker asks for one event. What is admitted may pass at a time not before now.
type taker func(now int64) (pass int64, ok bool)

func lanes() []lane {
	return []lane{
		{"token bucket", "burst of 20", run(tokenBucket())},
		{"leaky bucket", "queue of 20", run(leakyBucket())},
		{"fixed window", "from minute to minute", run(window20(window.NewFixed))},
		{"sliding window", "two counters", run(window20(window.NewSliding))},
		{"sliding log", "exact", run(slidingLog())},
	}
}

func run(take taker) (passed []int64) {
	for now := first; now < end; now += every {
		if pass, ok := take(now); ok && pass < end {
			passed = append(passed, pass)
		}
	}
	return passed
}

func tokenBucket() taker {
	l, s := bucket.New(limit, minute, limit), bucket.State{}
	return func(now int64) (_ int64, ok bool) {
		s, ok = l.Take(s, now, 1)
		return now, ok
	}
}

// leakyBucket is the same bucket as a queue: a take waits for those in front of it.
func leakyBucket() taker {
	l, s := bucket.New(limit, minute, limit), bucket.State{}
	return func(now int64) (_ int64, ok bool) {
		ahead := l.ResetAfter(s, now)
		s, ok = l.Take(s, now, 1)
		return now + ahead, ok
	}
}

func window20(of func(events, per int64) window.Limit) taker {
	l, s := of(limit, minute), window.State{}
	return func(now int64) (int64, bool) {
		_, _, retry := l.Take(&s, l.Frame(now), now, 1)
		return now, retry == 0
	}
}

func slidingLog() taker {
	l, log := window.NewLog(limit, minute), window.Log{}
	return func(now int64) (int64, bool) {
		_, retry := l.Take(&log, now, 1)
		return now, retry == 0
	}
}

// within is how many events passed in the span that ends with at.
func (l lane) within(span, at int64) int {
	from, _ := slices.BinarySearch(l.passed, at-span+1)
	to, _ := slices.BinarySearch(l.passed, at+1)
	return to - from
}

// most is the most events that passed in any such span.
func (l lane) most(span int64) (most int) {
	for _, at := range l.passed {
		most = max(most, l.within(span, at))
	}
	return most
}

package load

import (
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

// central counts what one counter in the middle would have admitted of the answered
// takes of one key, in the order in which they were decided. It starts full. Windows are
// cut by the deciders' wall clock.
func (r Rule) central(takes []Take) (admitted int64) {
	take := r.counter()
	for i := range takes {
		if take(takes[i].From) {
			admitted++
		}
	}
	return admitted
}

// counter returns a counter, full at first: each call asks it for one event.
func (r Rule) counter() (take func(at int64) bool) {
	switch {
	case r.bucket():
		return bucketTake(bucket.New(r.Events, int64(r.Per), r.Burst))
	case r.Algorithm == stint.SlidingLog:
		return logTake(window.NewLog(r.Events, int64(r.Per)))
	case r.Algorithm == stint.SlidingWindow:
		return windowTake(window.NewSliding(r.Events, int64(r.Per)))
	case r.Calendar != stint.NoCalendar:
		units := map[stint.Calendar]window.Calendar{
			stint.CalendarDay: window.Day, stint.CalendarWeek: window.Week, stint.CalendarMonth: window.Month,
		}
		return windowTake(window.NewCalendar(r.Events, units[r.Calendar], r.Zone))
	}
	return windowTake(window.NewFixed(r.Events, int64(r.Per)))
}

// bucketTake counts from the first call, since a bucket's zero State is full at 0 and that
// is a time like any other.
func bucketTake(l bucket.Limit) func(int64) bool {
	var s bucket.State
	start, started := int64(0), false
	return func(at int64) (ok bool) {
		if !started {
			start, started = at, true
		}
		s, ok = l.Take(s, at-start, 1)
		return ok
	}
}

func windowTake(l window.Limit) func(int64) bool {
	var s window.State
	return func(at int64) bool {
		_, _, retry := l.Take(&s, l.Frame(at), at, 1)
		return retry == 0
	}
}

func logTake(l window.LogLimit) func(int64) bool {
	var log window.Log
	return func(at int64) bool {
		_, retry := l.Take(&log, at, 1)
		return retry == 0
	}
}

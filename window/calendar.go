package window

import (
	"math"
	"time"
)

// dates is the Frame of a calendar. A day begins at the first moment at which clocks in
// the zone show its date or a later one: where clocks jump over midnight, when they jump;
// where they go through midnight twice, the first time. So days never overlap, and each
// has one beginning, whatever clocks show in between.
func (l *Limit) dates(wall int64) Frame {
	d := l.first(time.Unix(0, wall).In(l.zone))
	if next := nanos(d.next(1).start()); next <= wall && next < math.MaxInt64 {
		d = d.next(1) // clocks went back over midnight
	}
	from := nanos(d.start())
	before := d.next(-1)
	for range skips {
		if nanos(before.start()) < from {
			break
		}
		before = before.next(-1)
	}
	to, d := d.ahead(from)
	after, _ := d.ahead(to)
	return Frame{nanos(before.start()), from, to, after}
}

// skips is how many dates in a row a zone may leave out: one, where the date line moved.
const skips = 2

// date is the first day of a window, at no particular hour.
type date struct {
	year  int
	month time.Month
	day   int
	unit  Calendar
	zone  *time.Location
}

// first is the window that t's date belongs to.
func (l *Limit) first(t time.Time) date {
	year, month, day := t.Date()
	switch l.unit {
	case Week:
		day -= (int(t.Weekday()) + 6) % 7 // days since Monday
	case Month:
		day = 1
	}
	return date{year, month, day, l.unit, l.zone}
}

// next is the window n further on.
func (d date) next(n int) date {
	switch d.unit {
	case Week:
		d.day += 7 * n
	case Month:
		d.month += time.Month(n)
	default:
		d.day += n
	}
	return d
}

// ahead is the next window that begins after from.
func (d date) ahead(from int64) (int64, date) {
	for range skips {
		if d = d.next(1); nanos(d.start()) > from {
			break
		}
	}
	return nanos(d.start()), d
}

// start is when the date begins: see [Limit.dates].
func (d date) start() time.Time {
	t := time.Date(d.year, d.month, d.day, 0, 0, 0, 0, d.zone)
	midnight := time.Date(d.year, d.month, d.day, 0, 0, 0, 0, time.UTC).Unix() // what clocks would show
	from, to := t.ZoneBounds()
	// Of a midnight that is left out, time.Date may say one or the other.
	switch shown := t.Unix() + offset(t); {
	case shown < midnight: // clocks jump over it, later
		return to
	case shown > midnight: // and earlier
		return from
	case from.IsZero():
		return t
	}
	// In the period before, clocks may have shown it already.
	if earlier := time.Unix(midnight-offset(from.Add(-1)), 0); earlier.Before(from) {
		return earlier
	}
	return t
}

// offset is what a zone's clocks are ahead of UTC by, in seconds.
func offset(t time.Time) int64 {
	_, seconds := t.Zone()
	return int64(seconds)
}

// nanos is t in nanoseconds since the Unix epoch, cut to what an int64 holds: the years
// 1677 to 2262.
func nanos(t time.Time) int64 {
	const most = math.MaxInt64 / 1_000_000_000
	switch s := t.Unix(); {
	case s >= most:
		return math.MaxInt64
	case s <= -most:
		return math.MinInt64
	}
	return t.UnixNano()
}

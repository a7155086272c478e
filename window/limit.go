// Package window is the arithmetic of counting windows: fixed, sliding and calendar
// windows ([Limit]), the exact sliding log ([LogLimit]), and the clock that a cluster
// cuts its windows by ([Clock]). All are pure functions over int64 nanoseconds, without
// clock or lock.
//
// Windows are cut from cluster time: nanoseconds since the Unix epoch, as the cluster
// agrees on them. It is called wall here, in contrast to now, the monotonic time of one
// node. A window goes by its start, so that what is heard late lands in its own window
// or nowhere.
//
// What each admits at worst, of a limit of L events per P:
//
//	fixed     2·L in a span of P: L at the end of a window, L at the start of the next
//	sliding   2·L−1 in a span of P, to traffic that knows where windows begin; about L to any other
//	log       L in any span of P, at 16 bytes for each moment of a take ([MaxEvents])
//
// All sums saturate: no input of any int64 panics or wraps. Within 73 years of the
// epoch, on either side, answers are exact.
package window

import (
	"math"
	"time"
)

// Never is the wait, in nanoseconds, of a take that no wait can help.
const Never = math.MaxInt64

// maxPer bounds the length of a window: 2^61 ns, 73 years, so that three in a row are
// still an int64.
const maxPer = 1 << 61

// Calendar is a unit of windows that a calendar cuts. Their lengths differ.
type Calendar uint8

// Calendars.
const (
	None  Calendar = iota // windows of equal length
	Day                   // from midnight to midnight: 23 to 25 hours where clocks change
	Week                  // from Monday to Monday
	Month                 // from the first to the first
)

// Limit is so many events in each window. It is immutable, comparable, and safe for
// concurrent use; use it by pointer. Make one with [NewFixed], [NewSliding] or
// [NewCalendar]: the zero Limit is not usable.
type Limit struct {
	events  int64 // ≥ 1
	per     int64 // ns, 1 … maxPer; 0 if and only if a calendar cuts
	sliding bool  // never with a calendar
	unit    Calendar
	zone    *time.Location // of the calendar; else nil
}

// NewFixed is a limit of so many events in each window of so many nanoseconds, counted
// from the Unix epoch. Values below 1 count as 1, windows longer than 73 years are cut
// to that.
func NewFixed(events, per int64) Limit {
	return Limit{events: max(events, 1), per: min(max(per, 1), maxPer)}
}

// NewSliding is the same, but of the window before counts that part which the last per
// nanoseconds still cover, as if its events had come evenly.
func NewSliding(events, per int64) Limit {
	l := NewFixed(events, per)
	l.sliding = true
	return l
}

// NewCalendar is a limit of so many events each day, week or month of a zone; nil means
// UTC, and an unknown unit Day. Limits of one zone are equal if they got the same
// pointer.
func NewCalendar(events int64, unit Calendar, zone *time.Location) Limit {
	if zone == nil {
		zone = time.UTC
	}
	if unit != Week && unit != Month {
		unit = Day
	}
	return Limit{events: max(events, 1), unit: unit, zone: zone}
}

// Events is the most events that one take can get.
func (l *Limit) Events() int64 { return l.events }

// SameCut reports whether both limits begin their windows at the same times, so that
// counts of one are counts of the other.
func (l *Limit) SameCut(m *Limit) bool {
	return l.per == m.per && l.unit == m.unit && l.zone == m.zone
}

// Memory is how long, in nanoseconds, what is counted now may matter at most.
func (l *Limit) Memory() int64 {
	const hour = 3600 * 1_000_000_000
	switch l.unit {
	case Day:
		return 25 * hour
	case Week:
		return (7*24 + 1) * hour
	case Month:
		return (31*24 + 1) * hour
	}
	if l.sliding {
		return 2 * l.per
	}
	return l.per
}

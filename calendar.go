package stint

import "time"

// Calendar cuts the windows of a FixedWindow limit at midnights of the calendar,
// in the limit's Zone, instead of from equal periods. The zero value is
// NoCalendar. A day of 25 hours is one window, as is a month of 28 days.
type Calendar uint8

const (
	// NoCalendar cuts equal periods, counted from 1970-01-01 00:00 UTC.
	NoCalendar Calendar = iota
	// CalendarDay starts a window at each midnight.
	CalendarDay
	// CalendarWeek starts a window at each midnight before a Monday.
	CalendarWeek
	// CalendarMonth starts a window at the midnight before each first of the month.
	CalendarMonth
)

var calendarWords = []string{"none", "day", "week", "month"}

// ParseCalendar is the inverse of Calendar.String.
func ParseCalendar(text string) (Calendar, error) {
	return parseWord[Calendar]("calendar", calendarWords, text)
}

// String returns the word for c in a limit's text, such as month.
func (c Calendar) String() string { return wordOf("calendar", calendarWords, c) }

// MarshalText returns the word that String does; it fails on a value without one.
func (c Calendar) MarshalText() ([]byte, error) {
	return marshalWord("calendar", calendarWords, c)
}

// UnmarshalText accepts the words that String returns.
func (c *Calendar) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCalendar(string(text))
	return err
}

func (c Calendar) known() bool { return int(c) < len(calendarWords) }

// Periods longer than a Go duration has a unit for. A month is so long only by name.
const (
	day   = 24 * time.Hour
	week  = 7 * day
	month = 30 * day
)

// nominal is the Per of a limit by c: what its windows are called, and not how
// long each is.
func (c Calendar) nominal() time.Duration {
	switch c {
	case CalendarDay:
		return day
	case CalendarWeek:
		return week
	case CalendarMonth:
		return month
	}
	return time.Second
}

// checkCalendar leaves out what does not matter to a blocked limit.
func (l Limit) checkCalendar(f *faults) {
	switch {
	case !l.Calendar.known():
		f.add("Calendar is %d: use CalendarDay, CalendarWeek or CalendarMonth, or leave it out", l.Calendar)
	case l.Algorithm == Unmetered && l.Calendar != NoCalendar:
		f.add("Calendar is %s on an unlimited limit: use Unlimited(), or another Algorithm", l.Calendar)
	case l.Calendar != NoCalendar && l.Events > 0:
		l.checkWindows(f)
	}
	switch {
	case l.Calendar == NoCalendar && l.Zone != "" && l.Events > 0:
		f.add("Zone is %s without a Calendar: set one, or leave Zone out", quote(l.Zone))
	case l.Zone != "":
		if _, err := zone(l.Zone); err != nil {
			f.add("Zone %w", err)
		}
	}
}

// checkWindows finds what else in l does not go with its Calendar.
func (l Limit) checkWindows(f *faults) {
	if a := l.algorithm(); a != FixedWindow && a.known() {
		f.add("Calendar is %s, but %s has none: leave it out, or use %s", l.Calendar, a, FixedWindow)
	}
	if length := l.Calendar.nominal(); l.Per > 0 && l.Per != length {
		f.add("Per is %v, but Calendar is %s: use %v, in text %d/%s, or leave one of them out",
			l.Per, l.Calendar, length, l.Events, l.Calendar)
	}
}

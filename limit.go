package stint

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// A Limit says how many events a key may have. It is a value: copy it, compare
// it with ==, use it as the key of a map. Two limits with different names never
// share a budget, whatever else they have in common; a limit without a name
// goes by its text.
//
// Zero Events block everything, and then the other fields do not matter. The
// zero Limit is not a limit at all but one that somebody forgot to set, and
// Validate says so: use Blocked or Unlimited where you mean that.
//
// Its text form is that of ParseLimit and the same everywhere: in flags, in
// files, in JSON.
type Limit struct {
	// Name keeps the keys of one limit apart from those of another, and
	// labels its metrics. At most 128 bytes, without white space, quotes,
	// backslashes, '=' and unprintable characters; not itself a rate
	// like 10/s.
	Name string
	// Events is how many events each Per brings; 0 blocks.
	Events int64
	// Per is the period of Events: one second if zero, ten years at most; of
	// windows and logs one millisecond at least. With a Calendar it is what a
	// window is called: 24, 168 or 720 hours for a day, week or month, or zero.
	Per time.Duration
	// Burst is how many events may happen at once; Events if zero. Only
	// buckets have one.
	Burst int64
	// Algorithm is TokenBucket if zero, but FixedWindow with a Calendar.
	Algorithm Algorithm
	// Calendar, if not zero, is where the windows of a FixedWindow are cut: at
	// midnights in Zone.
	Calendar Calendar
	// Zone is the IANA name of a time zone, such as Europe/Paris: UTC if
	// empty. It goes with a Calendar and with nothing else.
	Zone string
	// Mode is Shared if zero.
	Mode Mode
}

// PerSecond returns a limit of n events per second, with a burst of n.
func PerSecond(n int64) Limit { return Limit{Events: n, Per: time.Second} }

// PerMinute returns a limit of n events per minute, with a burst of n.
func PerMinute(n int64) Limit { return Limit{Events: n, Per: time.Minute} }

// PerHour returns a limit of n events per hour, with a burst of n.
func PerHour(n int64) Limit { return Limit{Events: n, Per: time.Hour} }

// PerDay returns a limit of n events per 24 hours, with a burst of n.
func PerDay(n int64) Limit { return Limit{Events: n, Per: day} }

// Unlimited returns the limit that admits everything.
func Unlimited() Limit { return Limit{Algorithm: Unmetered} }

// Blocked returns the limit that admits nothing. It equals PerSecond(0).
func Blocked() Limit { return Limit{Per: time.Second} }

// WithName returns a copy of l with that Name.
func (l Limit) WithName(name string) Limit { l.Name = name; return l }

// WithBurst returns a copy of l with that Burst.
func (l Limit) WithBurst(n int64) Limit { l.Burst = n; return l }

// WithAlgorithm returns a copy of l with that Algorithm.
func (l Limit) WithAlgorithm(a Algorithm) Limit { l.Algorithm = a; return l }

// WithCalendar returns a copy of l with that Calendar and Zone.
func (l Limit) WithCalendar(c Calendar, zone string) Limit {
	l.Calendar, l.Zone = c, zone
	return l
}

// WithMode returns a copy of l with that Mode.
func (l Limit) WithMode(m Mode) Limit { l.Mode = m; return l }

// withDefaults returns a valid l with every field filled in, so that limits
// which mean the same are equal. What does not matter to an unlimited or a
// blocked limit is dropped.
func (l Limit) withDefaults() Limit {
	switch {
	case l.Algorithm == Unmetered:
		return Unlimited().WithName(l.Name)
	case l.Events == 0:
		return Blocked().WithName(l.Name)
	}
	l.Algorithm = l.algorithm()
	l.Per = cmp.Or(l.Per, l.Calendar.nominal())
	l.Burst = cmp.Or(l.Burst, l.Events)
	if l.Calendar != NoCalendar {
		l.Zone = cmp.Or(l.Zone, defaultZone)
	}
	return l
}

// algorithm is the one that l is counted by. There is no bucket by calendar, so a
// Calendar that stands alone says enough.
func (l Limit) algorithm() Algorithm {
	if l.Algorithm == TokenBucket && l.Calendar != NoCalendar {
		return FixedWindow
	}
	return l.Algorithm
}

// unset reports whether nothing was said about the rate.
func (l Limit) unset() bool {
	return l.Events == 0 && l.Per == 0 && l.Algorithm != Unmetered
}

// String returns the text of l in its one canonical form, without the name and
// with defaults left out: 100/min, 20/s burst=50, unlimited. ParseLimit reads
// it back if l is valid. The zero Limit reads unset.
func (l Limit) String() string {
	if l.unset() {
		return "unset"
	}
	l = l.withDefaults()
	switch {
	case l.Algorithm == Unmetered:
		return wordUnlimited
	case l.Events == 0:
		return wordBlocked
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%s", l.Events, l.periodText())
	if l.Burst != l.Events {
		fmt.Fprintf(&b, " burst=%d", l.Burst)
	}
	if l.Algorithm != TokenBucket {
		fmt.Fprintf(&b, " algorithm=%s", l.Algorithm)
	}
	if l.Calendar != NoCalendar {
		fmt.Fprintf(&b, " calendar=%s", l.Calendar)
		if l.Zone != defaultZone {
			fmt.Fprintf(&b, " zone=%s", l.Zone)
		}
	}
	if l.Mode != Shared {
		fmt.Fprintf(&b, " mode=%s", l.Mode)
	}
	return b.String()
}

func (l Limit) periodText() string {
	if l.Calendar == CalendarMonth {
		return wordMonth
	}
	return periodText(l.Per)
}

// periodText returns the shortest text of d that ParseLimit reads: 1h and not
// 1h0m0s, s and not 1s.
func periodText(d time.Duration) string {
	switch d {
	case time.Second:
		return "s"
	case time.Minute:
		return "min"
	case time.Hour:
		return "h"
	case day:
		return "day"
	case week:
		return "week"
	}
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// MarshalText returns the text of l, its name included, from which
// UnmarshalText makes an equal limit but for defaults spelled out. It fails if
// l is not valid.
func (l Limit) MarshalText() ([]byte, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	text := l.String()
	if l.Name != "" {
		text += " name=" + l.Name
	}
	return []byte(text), nil
}

// UnmarshalText sets l to what ParseLimit makes of text.
func (l *Limit) UnmarshalText(text []byte) error {
	parsed, err := ParseLimit(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

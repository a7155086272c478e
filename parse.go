package stint

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Words that stand in place of a rate.
const (
	wordUnlimited = "unlimited"
	wordBlocked   = "blocked"
)

// wordMonth is the one period that has no length of its own.
const wordMonth = "month"

// maxText is in bytes: room for every option at its longest, and none for a text
// whose faults alone would fill a log.
const maxText = 1024

const options = "burst, algorithm, calendar, zone, mode, name"

// ParseLimit reads a limit from its text:
//
//	RATE [name=value …]
//
// RATE is events/period, or unlimited, or blocked. Events is a whole number;
// 0 blocks. Period is a Go duration such as 10m or 1h30m, or one of s, sec,
// second, m, min, minute, h, hour, d, day, w, week; or month, which needs
// calendar=month. The options, each at most once and in any order:
//
//	burst=N          default: as many as events; buckets only
//	algorithm=A      token-bucket (default), leaky-bucket, fixed-window,
//	                 sliding-window or sliding-log
//	calendar=C       day, week (from Monday) or month: fixed windows that
//	                 start at midnight; default: none
//	zone=ZONE        an IANA name such as Europe/Paris, for the calendar;
//	                 default: UTC
//	mode=M           shared (default), local or strict
//	name=NAME        default: none
//
// So 100/min, 20/s burst=50, 5/10m algorithm=sliding-window, 1/3s, 10000/month
// calendar=month zone=Europe/Paris and 1000/day mode=strict name=reports are
// limits. All faults of a text are reported at once, each with what to change.
func ParseLimit(text string) (Limit, error) {
	if len(text) > maxText {
		return Limit{}, fmt.Errorf("limit %s: use at most %d bytes", quote(text), maxText)
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return Limit{}, errors.New("limit is empty: write a rate such as 100/min, or unlimited, or blocked")
	}
	l, f := parseRate(words[0])
	seen := map[string]bool{}
	for _, word := range words[1:] {
		l.parseOption(word, seen, &f)
	}
	l.checkTogether(words, &f)
	if len(f) == 0 {
		f = l.faults()
	}
	if err := f.err("limit " + quote(text)); err != nil {
		return Limit{}, err
	}
	return l.canonical(), nil
}

// checkTogether finds words of which each may be said, but not without the other, or
// not with it: in a Limit the Calendar would turn a TokenBucket, the zero value, into
// windows.
func (l Limit) checkTogether(words []string, f *faults) {
	if strings.HasSuffix(words[0], "/"+wordMonth) && l.Calendar != CalendarMonth {
		f.add("%s needs calendar=month: add it, or write 720h for any 30 days", quote(words[0]))
	}
	if l.Calendar != NoCalendar && slices.Contains(words, "algorithm="+TokenBucket.String()) {
		f.add("algorithm %s has no calendar: leave one of them out, or use %s", TokenBucket, FixedWindow)
	}
}

// canonical returns the one limit that stands for all which mean the same as
// the valid l: the one that a constructor would give.
func (l Limit) canonical() Limit {
	l = l.withDefaults()
	if l.Burst == l.Events {
		l.Burst = 0
	}
	if l.Zone == defaultZone {
		l.Zone = ""
	}
	return l
}

func parseRate(text string) (l Limit, f faults) {
	switch text {
	case wordUnlimited:
		return Unlimited(), nil
	case wordBlocked:
		return Blocked(), nil
	}
	number, period, ok := strings.Cut(text, "/")
	if !ok {
		f.add("%s is no rate: write events/period such as 100/min, or unlimited, or blocked", quote(text))
		return l, f
	}
	l.Per = parsePeriod(period, &f)
	advice := "use a positive number, or 0 to block"
	if whole := wholeRate(number, l.Per); whole != "" && period != wordMonth {
		advice = "write " + whole
	}
	l.Events = parseNumber("events", number, advice, &f)
	return l, f
}

func parsePeriod(text string, f *faults) time.Duration {
	switch text {
	case "s", "sec", "second":
		return time.Second
	case "m", "min", "minute":
		return time.Minute
	case "h", "hour":
		return time.Hour
	case "d", "day":
		return day
	case "w", "week":
		return week
	case wordMonth:
		return month
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		f.add("unknown period %s: use s, min, h, day, week or a duration such as 10m or 1h30m", quote(text))
	case d <= 0:
		f.add("period %s is not positive: use one such as s or 10m", quote(text))
	}
	return d
}

func parseNumber(what, text, advice string, f *faults) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		f.add("%s %s is out of range: use at most %d", what, quote(text), int64(math.MaxInt64))
	case err != nil:
		f.add("%s %s is no whole number: %s", what, quote(text), advice)
	case n < 0:
		f.add("%s %s is negative: %s", what, quote(text), advice)
	}
	return n
}

// wholeRate rewrites a short decimal number of events per period, such as
// 0.5/s, in whole numbers: 1/2s. It is empty if that cannot be done.
func wholeRate(number string, per time.Duration) string {
	if len(number) > 12 || strings.Trim(number, "0123456789.") != "" || strings.Count(number, ".") != 1 {
		return ""
	}
	ratio, ok := new(big.Rat).SetString(number)
	if !ok || ratio.Sign() == 0 || per <= 0 {
		return ""
	}
	periods := time.Duration(ratio.Denom().Int64()) // at most 10^11
	if periods > maxPer/per {
		return ""
	}
	return fmt.Sprintf("%s/%s", ratio.Num(), periodText(per*periods))
}

// parseOption sets what word, which is name=value, says. The rate is set
// already, and seen has the options before this one.
func (l *Limit) parseOption(word string, seen map[string]bool, f *faults) {
	name, value, ok := strings.Cut(word, "=")
	if !ok {
		f.add("%s is no option: write name=value, with one of %s", quote(word), options)
		return
	}
	var err error
	switch name {
	case "burst":
		sound := len(*f)
		l.Burst = parseNumber(name, value, "use a positive number", f)
		if l.Burst == 0 && len(*f) == sound {
			f.add("burst 0 would admit nothing: leave it out for as many as events, or write blocked")
		}
	case "algorithm":
		err = l.parseAlgorithm(value)
	case "calendar":
		l.Calendar, err = ParseCalendar(value)
	case "zone":
		if l.Zone = value; value == "" {
			f.add("zone is empty: give one, or leave the option out for UTC")
		}
	case "mode":
		l.Mode, err = ParseMode(value)
	case "name":
		if l.Name = value; value == "" {
			f.add("name is empty: give one, or leave the option out")
		}
	default:
		f.add("unknown option %s: use one of %s", quote(name), options)
		return
	}
	if err != nil {
		f.add("%w", err)
	}
	if seen[name] {
		f.add("option %s is given twice: keep one", name)
	}
	seen[name] = true
}

// parseAlgorithm keeps apart what only the rate can say, that a limit is
// unlimited, and what only the option can.
func (l *Limit) parseAlgorithm(text string) error {
	a, err := ParseAlgorithm(text)
	switch {
	case a == Unmetered:
		return errors.New("algorithm unlimited is not a choice: write unlimited in place of the rate")
	case l.Algorithm == Unmetered:
		return fmt.Errorf("algorithm %s says nothing on an unlimited limit: leave it out", quote(text))
	}
	l.Algorithm = a
	return err
}

package stint

import (
	"math"
	"math/bits"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// maxPer bounds Per, and maxRefill (73 years) how long a whole burst may
	// take to come back, so that no sum of a few of them leaves an int64.
	maxPer    = 3652 * day
	maxRefill = 1 << 61 * time.Nanosecond

	// minWindow bounds the Per of windows and logs, whose parts would come close to
	// the microseconds of the wire and to what a clock can tell.
	minWindow = time.Millisecond

	maxName = 128 // bytes
)

// Validate returns every fault of l at once, a line for each, naming the field
// and what to change, or nil. It accepts limits that this version cannot yet
// count by; a node answers those with ErrNotSupported.
func (l Limit) Validate() error { return l.faults().err(l.title()) }

// title names l in a message.
func (l Limit) title() string {
	if l.Name == "" {
		return "limit"
	}
	return "limit " + quote(l.Name)
}

func (l Limit) faults() faults {
	var f faults
	l.checkName(&f)
	l.checkRate(&f)
	l.checkBurst(&f)
	l.checkCalendar(&f)
	if !l.Algorithm.known() {
		f.add("Algorithm is %d: use one of %s", l.Algorithm, strings.Join(algorithmWords, ", "))
	}
	if !l.Mode.known() {
		f.add("Mode is %d: use one of %s", l.Mode, strings.Join(modeWords, ", "))
	}
	return f
}

func (l Limit) checkName(f *faults) {
	if len(l.Name) > maxName {
		f.add("Name has %d bytes: use at most %d", len(l.Name), maxName)
	}
	if !utf8.ValidString(l.Name) {
		f.add("Name is not valid UTF-8: use printable characters")
	}
	if strings.ContainsFunc(l.Name, unfitForName) {
		f.add(`Name has a space, a quote, '\', '=' or an unprintable character: leave those out`)
	}
	// A limit without a name goes by its text, so no name may look like one.
	if _, bad := parseRate(l.Name); len(bad) == 0 {
		f.add("Name reads as a rate, which is how a limit without a name is called: choose another")
	}
}

func unfitForName(r rune) bool {
	return !unicode.IsPrint(r) || strings.ContainsRune(" \"'`\\=", r)
}

func (l Limit) checkRate(f *faults) {
	switch {
	case l.unset():
		f.add("Events and Per are not set: set them, or use Blocked() or Unlimited()")
	case l.Events < 0:
		f.add("Events is %d: use a positive number, or 0 to block", l.Events)
	case l.Events > 0 && l.Algorithm == Unmetered:
		f.add("Events is %d on an unlimited limit: use Unlimited(), or another Algorithm", l.Events)
	}
	switch {
	case l.Per < 0:
		f.add("Per is %v: use a positive duration, or 0 for one second", l.Per)
	case l.Per > maxPer:
		f.add("Per is %v: use at most %v, which is ten years", l.Per, maxPer)
	case l.Per > 0 && l.Per < minWindow && l.Events > 0 && l.algorithm().hasWindow():
		f.add("Per is %v: use at least %v with %s, or %s", l.Per, minWindow, l.algorithm(), TokenBucket)
	}
}

func (l Limit) checkBurst(f *faults) {
	switch {
	case l.Burst < 0:
		f.add("Burst is %d: use a positive number, or 0 for as many as Events", l.Burst)
	case l.Algorithm == Unmetered && l.Burst > 0:
		f.add("Burst is %d on an unlimited limit: use Unlimited(), or another Algorithm", l.Burst)
	case l.Events <= 0 || l.Burst == 0 || l.Burst == l.Events:
	case l.Algorithm.known() && !l.algorithm().hasBurst():
		f.add("Burst is %d, but %s has none: leave it out, or use %s", l.Burst, l.algorithm(), TokenBucket)
	case l.Burst > l.maxBurst():
		f.add("Burst is %d, which takes over 70 years to refill: use at most %d, or more Events", l.Burst, l.maxBurst())
	}
}

// maxBurst returns the largest burst that refills within maxRefill, which is
// Events·maxRefill ÷ Per, for positive Events. A negative Per is a fault of its
// own and bounds nothing.
func (l Limit) maxBurst() int64 {
	per := uint64(l.withDefaults().Per)
	hi, lo := bits.Mul64(uint64(l.Events), uint64(maxRefill))
	if hi >= per {
		return math.MaxInt64
	}
	most, _ := bits.Div64(hi, lo, per)
	return int64(min(most, math.MaxInt64))
}

// supported returns nil if this version can count by the valid limit l, and
// else an error that is ErrNotSupported.
func supported(l Limit) error {
	l = l.withDefaults()
	var f faults
	if l.Mode == Strict {
		f.add("mode %s is %w: use %s or %s", l.Mode, ErrNotSupported, Shared, Local)
	}
	return f.err(l.title())
}

package load

import (
	"fmt"
	"slices"
	"time"

	"github.com/stint-go/stint"
)

// Rule is the limit that takes are judged by: Events in each Per, with a Burst. Only
// buckets are held to a bound; of windows and logs, a central one is all to judge by.
type Rule struct {
	Events    int64
	Per       time.Duration
	Burst     int64
	Algorithm stint.Algorithm
	Calendar  stint.Calendar // of a fixed window
	Zone      *time.Location // of the calendar
}

// bucket says whether Burst + rate·t is what the limit promises.
func (r Rule) bucket() bool {
	return r.Algorithm == stint.TokenBucket || r.Algorithm == stint.LeakyBucket
}

// PerSecond is the rate in events a second.
func (r Rule) PerSecond() float64 { return float64(r.Events) / r.Per.Seconds() }

// perNano is the rate in events a nanosecond.
func (r Rule) perNano() float64 { return float64(r.Events) / float64(r.Per) }

// byKey sorts the answered takes by key and time and returns them cut by key.
func byKey(takes []Take) [][]Take {
	answered := make([]Take, 0, len(takes))
	for _, t := range takes {
		if t.Answered() {
			answered = append(answered, t)
		}
	}
	slices.SortStableFunc(answered, func(a, b Take) int {
		switch {
		case a.Key != b.Key:
			return int(a.Key) - int(b.Key)
		case a.From != b.From:
			if a.From < b.From {
				return -1
			}
			return 1
		}
		return 0
	})
	var keys [][]Take
	for len(answered) > 0 {
		n := 1
		for n < len(answered) && answered[n].Key == answered[0].Key {
			n++
		}
		keys = append(keys, answered[:n:n])
		answered = answered[n:]
	}
	return keys
}

// RuleOf is the rule of a limit; one without a rate cannot be judged.
func RuleOf(l stint.Limit) (Rule, error) {
	if l.Algorithm == stint.Unmetered || l.Events < 1 {
		return Rule{}, fmt.Errorf("limit %s: only one with a rate can be judged", l)
	}
	r := Rule{Events: l.Events, Per: l.Per, Burst: l.Burst, Algorithm: l.Algorithm, Calendar: l.Calendar}
	if r.Per == 0 {
		r.Per = time.Second
	}
	if r.Burst == 0 {
		r.Burst = r.Events
	}
	if r.Calendar != stint.NoCalendar {
		zone, err := time.LoadLocation(l.Zone)
		if err != nil {
			return Rule{}, fmt.Errorf("limit %s: %w", l, err)
		}
		r.Algorithm, r.Zone = stint.FixedWindow, zone
	}
	return r, nil
}

package load

import (
	"fmt"
	"slices"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/bucket"
)

// Rule is the limit that takes are judged by: Events in each Per, with a Burst.
type Rule struct {
	Events int64
	Per    time.Duration
	Burst  int64
}

// perNano is the rate in events a nanosecond.
func (r Rule) perNano() float64 { return float64(r.Events) / float64(r.Per) }

// central counts what one bucket in the middle would have admitted of the answered
// takes of one key, in the order in which they were decided. It starts full.
func (r Rule) central(takes []Take) int64 {
	l := bucket.New(r.Events, int64(r.Per), r.Burst)
	var admitted int64
	var s bucket.State
	for i := range takes {
		var ok bool
		if s, ok = l.Take(s, takes[i].From-takes[0].From, 1); ok {
			admitted++
		}
	}
	return admitted
}

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

// RuleOf is the rule of a token bucket; other limits cannot be judged.
func RuleOf(l stint.Limit) (Rule, error) {
	if l.Algorithm != stint.TokenBucket || l.Events < 1 {
		return Rule{}, fmt.Errorf("limit %s: only a token bucket with a rate can be judged", l)
	}
	r := Rule{Events: l.Events, Per: l.Per, Burst: l.Burst}
	if r.Per == 0 {
		r.Per = time.Second
	}
	if r.Burst == 0 {
		r.Burst = r.Events
	}
	return r, nil
}

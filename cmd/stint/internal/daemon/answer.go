package daemon

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/stint-go/stint"
)

// decisionBody is a decision as clients see it.
type decisionBody struct {
	OK         bool         `json:"ok"`
	Limit      string       `json:"limit"`
	Remaining  int64        `json:"remaining"`
	RetryAfter float64      `json:"retry_after"` // seconds; 0 if ok, −1 if no wait can help
	ResetAfter float64      `json:"reset_after"`
	Delay      float64      `json:"delay,omitempty"` // of a leaky bucket: go after so long
	Source     stint.Source `json:"source"`
}

// okBody is the answer of a verb that has nothing else to say.
type okBody struct {
	OK bool `json:"ok"`
}

func decision(d *stint.Decision) decisionBody {
	return decisionBody{
		OK: d.OK, Limit: d.Limit, Remaining: d.Remaining, Source: d.Source,
		RetryAfter: seconds(d.RetryAfter), ResetAfter: seconds(d.ResetAfter), Delay: seconds(d.Delay),
	}
}

// seconds rounds up to a microsecond, so that who waits so long has waited long enough.
// Never is −1: a number, for clients that read into one, and none that can be waited for.
func seconds(d time.Duration) float64 {
	if d == stint.Never {
		return -1
	}
	return math.Ceil(float64(d)/1e3) / 1e6
}

// answer writes a decision: 200, or 429 with a Retry-After in whole seconds, at least 1.
func answer(w http.ResponseWriter, d *stint.Decision, body any) {
	if d.OK {
		reply(w, http.StatusOK, body)
		return
	}
	if d.RetryAfter != stint.Never {
		wait := int64(math.Ceil(d.RetryAfter.Seconds()))
		w.Header().Set("Retry-After", strconv.FormatInt(max(wait, 1), 10))
	}
	reply(w, http.StatusTooManyRequests, body)
}

package load

import (
	"math"
	"slices"
	"time"
)

// tolerance, in events, is for the rounding of floating-point sums only.
const tolerance = 1e-6

// Result is what a run amounts to. Its JSON form is for scripts: fields may be added,
// none renamed.
type Result struct {
	Asked    int64 `json:"asked"`    // takes that fell due
	Admitted int64 `json:"admitted"` //
	Refused  int64 `json:"refused"`  //
	Failed   int64 `json:"failed"`   // sent, but not properly answered
	Unsent   int64 `json:"unsent"`   // not sent: server away, or too many waiting for it

	// Central is what one counter in the middle would have admitted of the answered
	// takes, every key's starting full; Ratio is Admitted by Central.
	Central int64   `json:"central"`
	Ratio   float64 `json:"ratio"`

	// Excess is the largest admitted − (burst + rate·t) of any interval and any one key,
	// in events, at least 0; Percent is that of the burst. Only buckets have it; it is 0
	// of others.
	Excess  float64 `json:"excess"`
	Percent float64 `json:"excess_percent"`

	// Bound is the most that Excess could honestly be at the instant of the largest
	// excess; null if nothing is promised. Broken says whether any key was beyond
	// its bound at any instant, and Beyond by how much.
	Bound  *float64 `json:"bound"`
	Broken bool     `json:"bound_broken"`
	Beyond float64  `json:"beyond_bound"`

	Latency Latency  `json:"latency_ms"`
	Servers []Server `json:"servers"`

	worst float64 // Excess, before it is cut at 0
}

// Server counts the takes of one server.
type Server struct {
	Addr     string `json:"addr"`
	Asked    int64  `json:"asked"`
	Admitted int64  `json:"admitted"`
	Refused  int64  `json:"refused"`
	Failed   int64  `json:"failed"`
	Unsent   int64  `json:"unsent"`
}

// Latency is how long answers took, in milliseconds, counted from when the take was due:
// a take that goes out late because the generator is busy has waited, too.
type Latency struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Analyse judges the record of a run over the servers at these addresses. With nil news
// nothing is promised, and no bound is computed.
func Analyse(takes []Take, rule Rule, news *News, addrs []string) Result {
	r := Result{Servers: make([]Server, len(addrs)), Latency: latency(takes), worst: math.Inf(-1)}
	for j, addr := range addrs {
		r.Servers[j].Addr = addr
	}
	for i := range takes {
		r.count(&takes[i])
	}
	for _, key := range byKey(takes) {
		r.Central += rule.central(key)
		if rule.bucket() {
			r.judge(newLedger(rule, key), news)
		}
	}
	r.Ratio = 1
	if r.Central > 0 {
		r.Ratio = float64(r.Admitted) / float64(r.Central)
	}
	r.Excess = max(0, r.worst)
	r.Percent = 100 * r.Excess / float64(rule.Burst)
	return r
}

func (r *Result) count(t *Take) {
	s := &r.Servers[t.Server]
	r.Asked, s.Asked = r.Asked+1, s.Asked+1
	total, one := &r.Unsent, &s.Unsent
	switch t.Outcome {
	case Admitted:
		total, one = &r.Admitted, &s.Admitted
	case Refused:
		total, one = &r.Refused, &s.Refused
	case Failed:
		total, one = &r.Failed, &s.Failed
	}
	*total, *one = *total+1, *one+1
}

// judge enters the worst of one key.
func (r *Result) judge(g *ledger, news *News) {
	for i := range g.from {
		excess := g.excess(i)
		worst := excess > r.worst
		r.worst = max(r.worst, excess)
		if news == nil || (excess <= 0 && !worst) {
			continue
		}
		bound := g.bound(i, *news)
		if worst {
			r.Bound = &bound
		}
		if beyond := excess - bound; beyond > max(r.Beyond, tolerance) {
			r.Broken, r.Beyond = true, beyond
		}
	}
}

func latency(takes []Take) Latency {
	var waits []int64
	for _, t := range takes {
		if t.Answered() {
			waits = append(waits, t.Done-t.Due)
		}
	}
	slices.Sort(waits)
	at := func(share float64) float64 {
		if len(waits) == 0 {
			return 0
		}
		return float64(waits[int(share*float64(len(waits)-1))]) / float64(time.Millisecond)
	}
	return Latency{P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: at(1)}
}

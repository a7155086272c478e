package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stint-go/stint/bucket"
)

const ms = int64(time.Millisecond)

// takesAt makes n takes of one outcome at one time on one server.
func takesAt(at int64, server int32, n int, o Outcome) []Take {
	out := make([]Take, n)
	for i := range out {
		out[i] = Take{Due: at, From: at, To: at, Done: at, Server: server, Outcome: o}
	}
	return out
}

func join(lots ...[]Take) (all []Take) {
	for _, l := range lots {
		all = append(all, l...)
	}
	return all
}

func TestAnalyse(t *testing.T) {
	ten := Rule{Events: 10, Per: time.Second, Burst: 10}
	fresh := &News{Age: 10 * time.Millisecond, Nodes: 2}
	addrs := []string{"a", "b"}
	for _, tt := range []struct {
		name    string
		takes   []Take
		news    *News
		central int64
		excess  float64
		bound   float64 // −1: none
		broken  bool
	}{
		{
			name: "nothing", takes: nil, news: fresh,
			bound: -1,
		},
		{
			name:    "one node, its burst",
			takes:   takesAt(0, 0, 10, Admitted),
			news:    fresh,
			central: 10, excess: 0,
			bound: 0, // the other has spent nothing that could be unheard
		},
		{
			name:    "refusals count as asked and not as admitted",
			takes:   join(takesAt(0, 0, 10, Admitted), takesAt(0, 1, 5, Refused), takesAt(500*ms, 1, 5, Admitted), takesAt(500*ms, 0, 5, Refused)),
			news:    fresh,
			central: 15, excess: 0, bound: 0,
		},
		{
			name:    "failed and unsent takes never arrived anywhere",
			takes:   join(takesAt(0, 0, 9, Failed), takesAt(0, 0, 9, Unsent), takesAt(0, 1, 10, Admitted)),
			news:    fresh,
			central: 10, excess: 0, bound: 0,
		},
		{
			name:    "both at one instant: each may not have heard of any",
			takes:   join(takesAt(0, 0, 10, Admitted), takesAt(0, 1, 10, Admitted)),
			news:    fresh,
			central: 10, excess: 10,
			bound: 10, // what the other spent now
		},
		{
			name:    "two independent limiters",
			takes:   join(takesAt(0, 0, 10, Admitted), takesAt(500*ms, 1, 10, Admitted)),
			news:    fresh,
			central: 15, excess: 5,
			bound:  0.225, // nothing in the last 10 ms; before it 4.9 was left, ÷ 4 less 1
			broken: true,
		},
		{
			name:    "the same, but the news was half a second old",
			takes:   join(takesAt(0, 0, 10, Admitted), takesAt(500*ms, 1, 10, Admitted)),
			news:    &News{Age: 501 * time.Millisecond, Nodes: 2},
			central: 15, excess: 5, bound: 10,
		},
		{
			name:    "no news, no bound",
			takes:   join(takesAt(0, 0, 10, Admitted), takesAt(500*ms, 1, 10, Admitted)),
			central: 15, excess: 5, bound: -1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Analyse(tt.takes, ten, tt.news, addrs)
			if got.Central != tt.central {
				t.Errorf("central %d, want %d", got.Central, tt.central)
			}
			if !near(got.Excess, tt.excess, 1e-9) || !near(got.Percent, 10*tt.excess, 1e-9) {
				t.Errorf("excess %g (%g %%), want %g", got.Excess, got.Percent, tt.excess)
			}
			bound := -1.0
			if got.Bound != nil {
				bound = *got.Bound
			}
			if !near(bound, tt.bound, 0.02) {
				t.Errorf("bound %g, want %g", bound, tt.bound)
			}
			if got.Broken != tt.broken || (got.Beyond > 0) != tt.broken {
				t.Errorf("broken %v by %g, want %v", got.Broken, got.Beyond, tt.broken)
			}
			if sum := got.Admitted + got.Refused + got.Failed + got.Unsent; sum != got.Asked || int(sum) != len(tt.takes) {
				t.Errorf("outcomes add up to %d, asked %d, want %d", sum, got.Asked, len(tt.takes))
			}
		})
	}
}

func near(got, want, by float64) bool { return math.Abs(got-want) <= by }

// Keys have a bucket each: two that use theirs up exceed nothing, and one that exceeds
// its own is found among them.
func TestAnalyseByKey(t *testing.T) {
	ten := Rule{Events: 10, Per: time.Second, Burst: 10}
	takes := join(takesAt(0, 0, 10, Admitted), takesAt(0, 0, 10, Admitted), takesAt(0, 1, 13, Admitted))
	for i := range takes {
		takes[i].Key = int32(i / 10 % 3)
	}
	takes[30].Key, takes[31].Key, takes[32].Key = 1, 1, 1
	got := Analyse(takes, ten, nil, []string{"a", "b"})
	if got.Excess != 3 || got.Central != 30 {
		t.Errorf("excess %g, central %d, want 3 and 30", got.Excess, got.Central)
	}
}

// The independent limiters of N nodes, each right by itself, break the bound of any
// cluster whose news is younger than theirs is; one bucket behind N nodes never does.
func TestIndependentLimitersBreakTheBound(t *testing.T) {
	rule := Rule{Events: 100, Per: time.Second, Burst: 100}
	plan := Plan{Rate: 500, For: 5 * time.Second, Servers: 3, Keys: 1}
	l := bucket.New(rule.Events, int64(rule.Per), rule.Burst)
	run := func(buckets int) Result {
		states := make([]bucket.State, buckets)
		takes := make([]Take, plan.Len())
		for i := range takes {
			at, server := int64(plan.At(i)), plan.Server(i)
			var ok bool
			s := &states[server%buckets]
			*s, ok = l.Take(*s, at, 1)
			takes[i] = takesAt(at, int32(server), 1, Refused)[0]
			if ok {
				takes[i].Outcome = Admitted
			}
		}
		return Analyse(takes, rule, &News{Age: 5 * time.Millisecond, Nodes: 3}, []string{"a", "b", "c"})
	}
	if got := run(3); !got.Broken || got.Ratio < 2.5 {
		t.Errorf("three independent limiters: broken %v, ratio %.2f, want true and about 3", got.Broken, got.Ratio)
	}
	if got := run(1); got.Broken || got.Ratio != 1 || got.Excess != 0 {
		t.Errorf("one bucket: broken %v, ratio %.2f, excess %g, want none", got.Broken, got.Ratio, got.Excess)
	}
}

// The excess is what the definition says, interval by interval.
func TestExcessAgainstEveryInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rule := Rule{Events: 100, Per: time.Second, Burst: 5}
	for range 200 {
		var takes []Take
		at := int64(0)
		for range 60 {
			at += rng.Int64N(20 * ms)
			t := takesAt(at, rng.Int32N(3), 1, Outcome(2+rng.IntN(2)))[0]
			t.To += rng.Int64N(30 * ms) // overlapping
			takes = append(takes, t)
		}
		want := 0.0
		for s := range takes {
			n, end := 0.0, int64(0)
			for e := s; e < len(takes); e++ {
				if takes[e].Outcome != Admitted || takes[s].Outcome != Admitted {
					continue
				}
				n, end = n+1, max(end, takes[e].To)
				want = max(want, n-5-float64(end-takes[s].From)/1e7)
			}
		}
		if got := Analyse(takes, rule, nil, []string{"a", "b", "c"}).Excess; !near(got, want, 1e-6) {
			t.Fatalf("excess %g, want %g, of %+v", got, want, takes)
		}
	}
}

// What a node may hold unsent shrinks with what it can believe to be left.
func TestBoundLooksBack(t *testing.T) {
	rule := Rule{Events: 1, Per: time.Hour, Burst: 100}
	takes := join(takesAt(0, 0, 80, Admitted), takesAt(1000*ms, 1, 20, Admitted))
	g := newLedger(rule, takes)
	news := News{Age: 10 * time.Millisecond, Nodes: 2}
	// a second later all have heard of the 80. What is left is 20, and a little for what
	// each may hide: x = (20 + x − 1) ÷ 4 − 1 + …, which the four steps bring near 5.33 − 1.
	got := g.bound(len(g.from)-1, news)
	if want := 20.0/4 - 1; got < want || got > want+1.5 {
		t.Errorf("bound %g, want a little above %g", got, want)
	}
	// In the first instant nobody has heard of anything.
	if got, want := g.bound(0, news), 0.0; got < want {
		t.Errorf("bound %g, want at least %g", got, want)
	}
}

// Decisions that overlap in time may have fallen in either order, so that either node may
// have been the one that had not heard.
func TestBoundOfOverlappingDecisions(t *testing.T) {
	rule := Rule{Events: 1, Per: time.Hour, Burst: 1}
	takes := join(takesAt(0, 0, 1, Admitted), takesAt(1*ms, 1, 1, Admitted))
	news := &News{Age: 0, Nodes: 2}
	if got := Analyse(takes, rule, news, []string{"a", "b"}); !got.Broken {
		t.Error("with news of no age the second admission breaks the bound, but was let pass")
	}
	takes[0].To = 2 * ms
	if got := Analyse(takes, rule, news, []string{"a", "b"}); got.Broken {
		t.Errorf("the first admission may have been the later one, but the bound is called broken by %g", got.Beyond)
	}
}

func TestLatency(t *testing.T) {
	var takes []Take
	for i := int64(1); i <= 101; i++ {
		takes = append(takes, Take{Due: 5, Done: 5 + (i-1)*ms, Outcome: Refused})
	}
	takes = append(takes, Take{Due: 5, Done: 9999 * ms, Outcome: Failed})
	if got, want := latency(takes), (Latency{P50: 50, P90: 90, P99: 99, Max: 100}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := latency(nil); got != (Latency{}) {
		t.Errorf("latency of nothing is %+v", got)
	}
}

func TestStamps(t *testing.T) {
	for _, tt := range []struct {
		header   string
		from, to int64
		ok       bool
	}{
		{"12 15", 12, 15, true},
		{"", 0, 0, false},
		{"12", 0, 0, false},
		{"15 12", 0, 0, false},
		{"x y", 0, 0, false},
	} {
		from, to, ok := stamps(tt.header)
		if ok != tt.ok || ok && (from != tt.from || to != tt.to) {
			t.Errorf("stamps(%q) = %d, %d, %v", tt.header, from, to, ok)
		}
	}
}

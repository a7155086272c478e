package load

import (
	"math"
	"sort"
	"time"
)

// News is how well informed the nodes were: what the bound is made of. It is measured,
// not assumed.
type News struct {
	Age   time.Duration // worst age of any news when it was applied, plus the gap between two batches
	Nodes int           // fewest members that any node knew of during the run
}

// ledger is all admissions of one key, in the order of Take.From.
//
// used is what stands in a bucket that is charged with every admission and refuses
// none: it drains at the rate, never below zero, and each admission adds one. The most
// that any interval ending here holds beyond its refill is exactly what is used here,
// because a sum that loses R·t and is cut at zero has forgotten, at every moment, the
// start that would make the interval's total smaller (Lindley's recursion). So
//
//	max over intervals of admitted − (B + R·t)  =  max over admissions of used − B.
//
// Times are uncertain by To − From. An interval is taken as long as it can have been,
// from the From of its first to the To of its last admission: an excess found here
// has happened. The bound, for the same reason, counts all that may have been unheard.
type ledger struct {
	rule  Rule
	from  []int64
	to    []int64 // running maximum: admissions 0 … i had all been decided by to[i]
	used  []float64
	spent []spending // by server
}

type spending struct{ from, to []int64 } // to: running maximum

// newLedger enters the admissions among the answered takes of one key, sorted by From.
func newLedger(r Rule, takes []Take) *ledger {
	g := &ledger{rule: r}
	for _, t := range takes {
		if t.Outcome != Admitted {
			continue
		}
		used := 1.0
		if n := len(g.from); n > 0 {
			used += max(0, g.used[n-1]-r.perNano()*float64(t.From-g.from[n-1]))
		}
		g.used = append(g.used, used)
		g.from, g.to = append(g.from, t.From), appendMax(g.to, t.To)
		for int(t.Server) >= len(g.spent) {
			g.spent = append(g.spent, spending{})
		}
		s := &g.spent[t.Server]
		s.from, s.to = append(s.from, t.From), appendMax(s.to, t.To)
	}
	return g
}

func appendMax(s []int64, v int64) []int64 {
	if n := len(s); n > 0 {
		v = max(v, s[n-1])
	}
	return append(s, v)
}

// excess is the most by which any interval ending with admission i is over the limit;
// negative if none is.
func (g *ledger) excess(i int) float64 {
	return g.used[i] - g.rule.perNano()*float64(g.to[i]-g.from[i]) - float64(g.rule.Burst)
}

// slack is what is left of the burst at time at, all admissions charged: at most that,
// negative in debt.
func (g *ledger) slack(at int64) float64 {
	burst := float64(g.rule.Burst)
	n := countTo(g.to, at)
	if n == 0 {
		return burst
	}
	return burst - max(0, g.used[n-1]-g.rule.perNano()*float64(at-g.from[n-1]))
}

// countTo is how many of the sorted times lie at or before at.
func countTo(times []int64, at int64) int {
	return sort.Search(len(times), func(i int) bool { return times[i] > at })
}

// between is how many admissions may have been decided in (after, end].
func (s *spending) between(after, end int64) float64 {
	return float64(max(0, countTo(s.from, end)-countTo(s.to, after)))
}

// depth is how far back the bound looks for what nodes can have had unsent. Each step
// halves what its crude start adds.
const depth = 4

// bound is the most by which the key can honestly be over its limit at admission i: what
// the node that admitted it had not heard of the others.
func (g *ledger) bound(i int, news News) float64 {
	unheard := g.unheard(g.from[i], g.to[i], news, depth)
	sum, own := 0.0, math.Inf(1)
	for j, u := range unheard {
		sum += u
		if g.spent[j].mayBeAt(g.from[i]) {
			own = min(own, u)
		}
	}
	return sum - own
}

// mayBeAt says whether this server may have been the last to admit when the admission of
// that From had just been decided: the record does not tell decisions apart that overlap.
func (s *spending) mayBeAt(from int64) bool {
	n := countTo(s.from, from)
	return n > 0 && s.to[n-1] >= from
}

// unheard is, by server, what its peers may not have heard of it between at and end:
// all that it spent in the news age before, and what it could hold unsent as that
// began. A node sends once θ is unsent, so it holds θ − 1 at most, where
//
//	θ = max(1, slack ÷ 2N)
//
// and slack is what the node itself believes to be left: what is left in truth, and what
// it has not heard of the others, never more than the burst.
func (g *ledger) unheard(at, end int64, news News, depth int) []float64 {
	burst, before := float64(g.rule.Burst), at-int64(news.Age)
	most := make([]float64, len(g.spent)) // what each may believe to be left
	if depth > 0 {
		hidden := g.unheard(before, before, news, depth-1)
		all := g.slack(before)
		for _, h := range hidden {
			all += h
		}
		for j, h := range hidden {
			most[j] = min(burst, all-h)
		}
	} else {
		for j := range most {
			most[j] = burst
		}
	}
	out := make([]float64, len(g.spent))
	for j := range out {
		held := max(1, most[j]/float64(2*news.Nodes)) - 1
		held = min(held, float64(countTo(g.spent[j].from, before)))
		out[j] = held + g.spent[j].between(before, end)
	}
	return out
}

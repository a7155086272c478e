// Package bucket is the arithmetic of the token bucket, as GCRA: pure functions
// over int64 nanoseconds, without clock, lock or allocation.
//
// The generic cell rate algorithm (ITU-T I.371, "virtual scheduling") keeps one
// number a key: the time at which its bucket will be full again, the theoretical
// arrival time. A take of n events moves it n emission intervals T ahead and is
// admitted if it then lies no more than burst·T ahead of now. See [State].
//
// What happened at another node is a [Run]: it is applied without asking
// ([Limit.Charge]), in whatever order the news arrives, and runs compose, so that
// several can travel as one.
//
// Times are monotonic nanoseconds of one node. All sums saturate: no input of any
// int64 panics or wraps.
package bucket

import (
	"math"
	"math/bits"
)

// Never is the wait, in nanoseconds, of a take that no wait can help.
const Never = math.MaxInt64

// maxSpan bounds the time that a whole burst takes to come back: 2^61 ns, 73 years.
// Every used span and every admitted take then stay far from overflow.
const maxSpan = 1 << 61

// FreshFor is how long news counts as fresh, in nanoseconds: see [Limit.Debt].
const FreshFor = 5_000_000_000

// mostNodes bounds how far ahead of now a state can be by debt rather than by a
// clock that went back: see [Limit.Take].
const mostNodes = 1024

// Limit is a rate and a burst, prepared for arithmetic. It is immutable and safe
// for concurrent use; use it by pointer. Make one with [New]: the zero Limit is
// not usable.
//
// The emission interval T = per/events is kept as a fraction in lowest terms,
// num/den nanoseconds, and states carry the rest of the division ([State.Rem]), so
// that the long-run rate is exact for any rate: 1 per 3 s as well as 700,000,000
// per second.
type Limit struct {
	num, den uint64 // T = num/den ns
	one      span   // T
	all      span   // burst·T; all.ns ≤ maxSpan
	burst    int64  // ≥ 1
	most     int64  // ns; a state further ahead means that the clock went back
	quick    int64  // ns; up to here Spend counts in whole nanoseconds; -1: never
}

// State is what a bucket remembers of a key: the time At, in nanoseconds, plus
// Rem/den of a nanosecond, at which it is full again. A bucket whose At is not
// after now is full; the zero State is full at any time from 0 on.
type State struct {
	At  int64
	Rem uint64 // 0 ≤ Rem < den
}

// New prepares a limit of so many events per so many nanoseconds with a burst.
// Values below 1 count as 1. A burst that would take longer than 73 years to come
// back is cut to what comes back in that time, and so is a T longer than that.
func New(events, perNanos, burst int64) Limit {
	num, den := uint64(max(perNanos, 1)), uint64(max(events, 1))
	g := gcd(num, den)
	num, den = num/g, den/g
	if num/den >= maxSpan {
		num, den = maxSpan, 1
	}
	l := Limit{num: num, den: den, one: span{int64(num / den), num % den}}
	l.burst = min(max(burst, 1), l.events(span{maxSpan, 0}))
	l.all = l.span(l.burst)
	l.most = addSat(l.all.ns, l.Debt(mostNodes))
	if l.quick = min(l.most, maxSpan); l.den > 1 {
		l.quick = -1
	}
	return l
}

// Burst is the most events that one take can get.
func (l *Limit) Burst() int64 { return l.burst }

// Debt is how far below empty, in nanoseconds of refill, fresh news may push a key in
// a cluster of so many nodes: what all the others could have spent without knowing.
// Only a faulty peer exceeds it.
func (l *Limit) Debt(nodes int) int64 {
	each := addSat(l.all.up(), FreshFor)
	others := uint64(max(nodes-1, 0))
	hi, lo := bits.Mul64(uint64(each), others)
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// DebtStale is the same for news older than [FreshFor], as after a partition: one
// burst, so that no key is locked out for longer than (burst+n)·T.
func (l *Limit) DebtStale() int64 { return l.all.ns }

// PerSecond is the rate, in events a second.
func (l *Limit) PerSecond() float64 { return 1e9 * float64(l.den) / float64(l.num) }

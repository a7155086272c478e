package sim

import "github.com/stint-go/stint/gossip"

// rules are the limits that a seed draws from: of every algorithm, some that a run sees
// many windows of and some that nobody fills.
var rules = []Limit{
	{Name: "hourly", Events: 100, Per: 3600 * Second, Burst: 100, Keys: 4},
	{Name: "api", Events: 200, Per: Second, Burst: 200, Keys: 3},
	{Name: "single", Events: 1, Per: 30 * Second, Burst: 1, Keys: 3},
	{Name: "bytes", Events: 1_000_000, Per: Second, Burst: 3_000_000, Keys: 2},
	{Name: "many", Events: 3, Per: Second, Burst: 3, Keys: 24},
	{Name: "queue", Events: 20, Per: Second, Burst: 5, Keys: 2, Algorithm: LeakyBucket},
	{Name: "spare", Events: 60, Per: 3600 * Second, Burst: 60, Keys: 3, Verbs: true},
	{Name: "quota", Events: 100, Per: 3600 * Second, Keys: 3, Algorithm: FixedWindow},
	{Name: "blink", Events: 10, Per: Second, Keys: 3, Algorithm: FixedWindow},
	{Name: "tokens", Events: 80, Per: 3600 * Second, Keys: 2, Algorithm: FixedWindow, Verbs: true},
	{Name: "flicker", Events: 12, Per: 700 * Millisecond, Keys: 2, Algorithm: FixedWindow, Verbs: true},
	{Name: "slide", Events: 100, Per: 3600 * Second, Keys: 2, Algorithm: SlidingWindow},
	{Name: "glide", Events: 20, Per: Second, Keys: 3, Algorithm: SlidingWindow, Verbs: true},
	{Name: "diary", Events: 60, Per: 3600 * Second, Keys: 2, Algorithm: SlidingLog},
	{Name: "ticker", Events: 15, Per: Second, Keys: 3, Algorithm: SlidingLog, Verbs: true},
	{Name: "ledger", Events: 50, Per: 3600 * Second, Keys: 2, Algorithm: SlidingLog, Verbs: true},
}

// Chaos is the world of a seed: its limits, network, clocks and bounds are drawn from it.
// Most worlds lose nothing but time. In one of eight logs are so small, or the dead are
// forgotten so soon, that drains are lost, and counted.
func Chaos(seed uint64) Options {
	o := Options{Seed: seed, Nodes: 5}
	w := New(Options{Seed: seed, Nodes: 1}) // for its chance only
	for _, i := range w.rand.Perm(len(rules))[:6] {
		o.Limits = append(o.Limits, rules[i])
	}
	o.Net = Net{
		Delay: w.between(50*Microsecond, 20*Millisecond), Jitter: w.between(0, 30*Millisecond),
		Loss: 0.1 * w.rand.Float64(), Double: 0.1 * w.rand.Float64(), Reorder: 0.2 * w.rand.Float64(),
	}
	if w.chance(0.5) {
		o.PPM = 500
	}
	if w.chance(0.5) {
		o.Skews = w.someSkews(o.Nodes)
	}
	if o.Epoch = 1_700_000_000 * Second; w.chance(0.3) { // an hour begins meanwhile
		o.Epoch += 3600*Second - o.Epoch%(3600*Second) - w.between(0, 2*Second)
	}
	o.Ledger = gossip.Config{Resend: 100 * Millisecond, Timeout: 500 * Millisecond, Keepalive: 150 * Millisecond}
	o.Joins, o.Alone = seed%8 != 1, w.chance(0.5)
	o.Ledger.Settle, o.Ledger.Grace, o.Ledger.HoldTimeout, o.Ledger.JoinTimeout = 200*Millisecond, 1500*Millisecond, 2500*Millisecond, 5*Second
	if w.chance(0.6) {
		o.CutKeys = int(w.between(1, 20))
	}
	if w.chance(0.3) {
		o.Ledger.MaxFrame = 150 // five entries
	}
	if o.Lossy = seed%8 == 0; o.Lossy {
		small, forgetful := w.chance(0.6), w.chance(0.5)
		if small {
			o.Ledger.MaxBytes = int(w.between(1500, 6000))
		}
		if forgetful || !small {
			o.Ledger.PartitionMemory = w.between(20*Millisecond, 500*Millisecond)
		}
		o.Ledger.MaxMemory = w.between(o.Ledger.PartitionMemory, 2*Second) // limits' own may be longer
		if forgetful && w.chance(0.5) {
			o.Ledger.MaxMemory = o.Ledger.PartitionMemory
		}
	}
	return o
}

// someSkews is wall clocks that are a little off, or seconds, or hours.
func (w *World) someSkews(nodes int) (skews []int64) {
	for range nodes {
		most := int64(20 * Millisecond)
		switch x := w.rand.Float64(); {
		case x < 0.15:
			most = 5 * 3600 * Second
		case x < 0.4:
			most = 5 * Second
		}
		skews = append(skews, w.between(-most, most))
	}
	return skews
}

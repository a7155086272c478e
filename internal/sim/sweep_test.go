package sim

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
)

var (
	oneSeed   = flag.Uint64("sim.seed", 0, "TestSeeds runs this seed only")
	showTrace = flag.Bool("sim.trace", false, "with -sim.seed: print all that happens")
)

// runSeed is one seed of the sweep, from birth to quiet.
func runSeed(seed uint64, trace io.Writer, mutant Mutant) (*World, error) {
	o := Chaos(seed)
	o.Trace, o.Mutant = trace, mutant
	w := New(o)
	if err := w.Torment(2 * Second); err != nil {
		return w, err
	}
	return w, w.Quiet(10 * Second)
}

func complain(t *testing.T, seed uint64, err error) {
	t.Helper()
	t.Errorf("%v\nreplay it by: go test ./internal/sim -run TestSeeds -sim.seed=%d -sim.trace", err, seed)
}

// sweep runs so many seeds, each in a world of its own, and returns what they have seen.
// Of those that fail it reports the first few.
func sweep(t *testing.T, first, seeds uint64) (sum Stats) {
	failed := 0
	for seed := first; seed < first+seeds && failed < 3; seed++ {
		w, err := runSeed(seed, nil, Mutant{})
		if err != nil {
			complain(t, seed, err)
			failed++
		}
		sum.Add(&w.Stats)
	}
	return sum
}

// Promises 2, 3 and 5 with every fault there is, case 19 among them: batches lost,
// doubled, reordered, late.
func TestSeeds(t *testing.T) {
	if *oneSeed != 0 {
		replay(t, *oneSeed)
		return
	}
	const workers = 4
	seeds := uint64(1000)
	if raceEnabled {
		seeds = 80
	}
	var sums [workers]Stats
	t.Run("sweep", func(t *testing.T) {
		for i := range uint64(workers) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				sums[i] = sweep(t, 1+i*seeds/workers, seeds/workers)
			})
		}
	})
	var sum Stats
	for i := range sums {
		sum.Add(&sums[i])
	}
	t.Logf("%d seeds: %+v", seeds, sum)
	sawEverything(t, &sum)
}

// sawEverything shows that a sweep went where it was meant to go.
func sawEverything(t *testing.T, s *Stats) {
	for what, n := range map[string]int{
		"admission": s.Takes, "refusal": s.Refused, "redial": s.Redials, "restart": s.Restarts,
		"duplicate dropped": s.Duplicates, "gap": s.Gaps, "resend coalesced with what came after": s.Coalesced,
		"batch in several frames": s.Parts, "frame of an old session": s.Stale,
		"incarnation changed with frames under way": s.Crossed,
		"log at its bound":                          s.Full, "loss counted": s.Lost, "handover": s.Handovers, "balance equal on all nodes": s.Compared,
		"window equal on all nodes": s.Windows, "log equal on all nodes": s.Logs,
		"amount later than its window": s.Late, "amount dropped by its origin as late": s.Over,
		"amount of the window ahead": s.Ahead, "amount of one further ahead": s.FarAhead,
		"two windows of a key in one batch": s.Merged, "jump of the clock with something unsent": int(s.Swallowed),
		"refund": int(s.Given), "refund before its take": s.EarlyRefunds,
		"hold settled": s.Settled, "hold that expired before its settlement came": s.LateSettles, "hold alike on all nodes": s.HoldsAlike,
		"ban that replaced another": s.BansReplaced, "ban in force on all nodes": s.BansAlike, "record that a START brought": s.Resent,
		"changed limit": s.Changes, "window equal after a change": s.ChangedAlike,
	} {
		if n == 0 {
			t.Errorf("no seed saw a case of: %s", what)
		}
	}
}

func replay(t *testing.T, seed uint64) {
	var trace io.Writer
	if *showTrace {
		trace = os.Stdout
	}
	w, err := runSeed(seed, trace, Mutant{})
	if err != nil {
		complain(t, seed, err)
	}
	t.Logf("%+v", w.Stats)
}

// The same seed gives the same run, to the byte of its trace.
func TestDeterministic(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		var sums [2][]byte
		for i := range sums {
			h := sha256.New()
			if _, err := runSeed(seed, h, Mutant{}); err != nil {
				complain(t, seed, err)
			}
			sums[i] = h.Sum(nil)
		}
		if string(sums[0]) != string(sums[1]) {
			t.Errorf("seed %d: got traces %x and %x", seed, sums[0], sums[1])
		}
	}
}

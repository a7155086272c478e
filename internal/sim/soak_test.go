package sim

import (
	"os"
	"testing"
	"time"
)

// TestSoak is TestSeeds, and a little of TestBound, on fresh seeds, for as long as STINT_SOAK says: make soak.
func TestSoak(t *testing.T) {
	soak := os.Getenv("STINT_SOAK")
	if soak == "" {
		t.Skip("runs for as long as STINT_SOAK says, a Go duration: make soak")
	}
	d, err := time.ParseDuration(soak)
	if err != nil {
		t.Fatalf("STINT_SOAK: %v", err)
	}
	began := time.Now()
	seed, runs := uint64(began.UnixNano()), 0
	var sum Stats
	for ; time.Since(began) < d && !t.Failed(); seed++ {
		w, err := runSeed(seed, nil, Mutant{})
		if err != nil {
			complain(t, seed, err)
		}
		sum.Add(&w.Stats)
		if runs++; runs%20 == 0 {
			w, err := boundSeed(seed)
			if err != nil {
				t.Error(err)
			}
			sum.Add(&w.Stats)
		}
	}
	t.Logf("%d seeds: %+v", runs, sum)
}

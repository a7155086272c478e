package sim

import (
	"fmt"
	"strings"
	"testing"
)

// row is one workload of the table that docs/design.md prints: what the cluster admits
// against what one central bucket would have, at a delay of 1 ms and of 20 ms.
type row struct {
	name  string
	limit Limit
	load  Load
	lasts int64
	burst int // on every node at once, instead of a load

	rateOnly bool

	near, far, give float64 // admitted ÷ central, give or take
}

// perSecond is a limit with one key.
func perSecond(events, burst int64) Limit {
	return Limit{Name: "api", Events: events, Per: Second, Burst: burst, Keys: 1}
}

var rows = []row{
	{"1000/s b1000, even, 2×", perSecond(1000, 1000), Load{PerSecond: 2000, Even: true}, 10 * Second, 0, false, 0.996, 0.996, 0.007},
	{"the same, 5×", perSecond(1000, 1000), Load{PerSecond: 5000, Even: true}, 5 * Second, 0, false, 1, 1.004, 0.007},
	{"90 % on one node, 2×", perSecond(1000, 1000), Load{PerSecond: 2000, Nodes: []float64{36, 1, 1, 1, 1}}, 5 * Second, 0, false, 1, 1, 0.007},
	{"3/s at 10/s", perSecond(3, 3), Load{PerSecond: 10}, 60 * Second, 0, false, 1, 1, 0.03}, // case 3
	{"10/s at 100/s", perSecond(10, 10), Load{PerSecond: 100}, 30 * Second, 0, false, 1, 1, 0.03},
	{"on/off, 5×", perSecond(1000, 1000), Load{PerSecond: 5000, On: Second, Off: Second}, 6 * Second, 0, false, 1, 1.01, 0.02},
	{"100 takes on each at once, b100", perSecond(100, 100), Load{}, Second, 100, false, 5, 5, 0.01},
	{"the same within 5 ms", perSecond(100, 100), Load{PerSecond: 100_000, Even: true}, 5 * Millisecond, 0, false, 3.5, 5, 0.3},
	{"10,000/s b10, 2×", perSecond(10_000, 10), Load{PerSecond: 20_000}, Second, 0, false, 0.944, 0.797, 0.1},
}

// Promise 4: the long-run rate is that of one central bucket, whatever its pattern; and
// promise 3 at every admission on the way. The burst that strikes all nodes at once is
// within its bound, which is then large.
func TestRates(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-32s %28s %28s\n", "", "τ = 1 ms", "τ = 20 ms")
	for _, r := range rows {
		if raceEnabled {
			r.lasts = max(r.lasts/10, min(r.lasts, Second))
			r.give = max(r.give, 0.1)
		}
		fmt.Fprintf(&table, "%-32s", r.name)
		for _, c := range []struct {
			delay int64
			want  float64
		}{{Millisecond, r.near}, {20 * Millisecond, r.far}} {
			w, err := r.run(7, c.delay, Mutant{})
			if err != nil {
				t.Errorf("%s, τ %d ms: %v", r.name, c.delay/Millisecond, err)
			}
			k := w.keys[0]
			got := float64(k.total) / float64(k.granted)
			fmt.Fprintf(&table, "   %6.3f excess %4.0f of %4d", got, w.Stats.Excess, w.Stats.Bound)
			if got < c.want-r.give || got > c.want+r.give {
				t.Errorf("%s, τ %d ms: got %.3f of a central bucket, want %.3f ± %.3f", r.name, c.delay/Millisecond, got, c.want, r.give)
			}
		}
		table.WriteByte('\n')
	}
	t.Log(table.String())
}

func (r row) run(seed uint64, delay int64, mutant Mutant) (*World, error) {
	w := New(Options{Seed: seed, Limits: []Limit{r.limit}, Net: Net{Delay: delay}, InTouch: true, RateOnly: r.rateOnly, Mutant: mutant})
	w.Meet(Millisecond)
	if err := w.Run(2 * Second); err != nil {
		return w, err
	}
	began := w.now
	if r.burst > 0 {
		w.Burst(0, 0, r.burst)
	} else {
		w.Drive(r.load, r.lasts)
	}
	if err := w.Run(r.lasts); err != nil {
		return w, err
	}
	return w, w.checkRate(w.keys[0], began)
}

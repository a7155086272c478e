package sim

import (
	"math"
	"testing"
)

func TestClock(t *testing.T) {
	for _, c := range []clock{{0, 0}, {5, 500_000}, {Second, -500_000}, {-90 * Second, 499_999}, {1 << 40, 1}} {
		for _, v := range []int64{1, 2, 999, Second, Second + 1, 77*Second + 123, 1000 * Second} {
			local := c.read(v)
			if got := c.when(local); got > v || c.read(got) < local || got > 0 && c.read(got-1) >= local {
				t.Errorf("%+v shows %d at %d, and first at %d, it says", c, local, v, got)
			}
		}
		if got := c.when(math.MaxInt64); got != never {
			t.Errorf("%+v shows the end of time at %d", c, got)
		}
	}
}

package window

import "math"

func addSat(a, b int64) int64 {
	if c := a + b; (c > a) == (b > 0) {
		return c
	}
	if b > 0 {
		return math.MaxInt64
	}
	return math.MinInt64
}

func subSat(a, b int64) int64 {
	if c := a - b; (c < a) == (b > 0) {
		return c
	}
	if b > 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// neg is −n.
func neg(n int64) int64 { return -max(n, -math.MaxInt64) }

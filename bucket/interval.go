package bucket

// Interval is how long n ≥ 0 events take to come back, in nanoseconds, rounded up.
func (l *Limit) Interval(n int64) int64 { return l.span(max(n, 0)).up() }

package table

import "github.com/stint-go/stint/bucket"

// spend asks for n events of a state and, if it gets them, appends them to a run. It
// returns what then remains, and how long to wait otherwise: 0 if and only if admitted.
func spend(b *bucket.Limit, s bucket.State, r bucket.Run, now, n int64) (next bucket.State, run bucket.Run, left, retry int64) {
	next, ok := b.Take(s, now, n)
	if !ok {
		if retry = b.RetryAfter(next, now, n); retry == 0 {
			retry = bucket.Never // the end of time
		}
		return next, r, b.Remaining(next, now), retry
	}
	if n > 0 {
		r = b.Extend(r, now, n)
	}
	return next, r, b.Remaining(next, now), 0
}

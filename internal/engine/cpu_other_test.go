//go:build !unix

package engine

import "time"

var begun = time.Now()

// cpuTime is the wall clock, for want of better.
func cpuTime() time.Duration { return time.Since(begun) }

package window

import "slices"

const (
	// slewShare is the part of the time gone by that cluster time is moved by at most: a
	// twentieth, 50 ms a second.
	slewShare = 20
	// aloneStep is how far off, in ns, a lone clock steps instead.
	aloneStep = 600_000_000_000
	// meetStep is how far off, in ns, a clock steps that meets further peers.
	meetStep = 1_000_000_000
	// calm is how far off, in ns, a clock that is not slewed is left alone: what is measured
	// on links is not better, and while cluster time goes as now does, waits come true.
	calm = 5_000_000
)

// Clock derives cluster time from a node's own two clocks and its peers': cluster time is
// now + Offset, now being the monotonic clock. It is a pure state machine: the caller
// reads the clocks. It is not safe for concurrent use. Make one with [NewClock].
//
// Cluster time is the median of the wall clocks of all members, or the mean of the middle
// two. It is slewed to there, so that no window is cut short by much when a clock is set.
// It steps only where nodes that counted apart come together, and where a lone node's
// clock is set.
type Clock struct {
	offset int64 // cluster time − now
	raw    int64 // wall clock − now, at the last step
	known  int64 // where cluster time should be − wall clock, as the peers said last
	now    int64 // of the last step
	peers  int   // of the last step
	begun  bool  // a step was made
	slewed bool  // until it is where it should be

	adopted bool // from the first peer that was met

	around []int64 // used again
}

// NewClock is the clock of a node that knows of no peers. raw is its wall clock, in
// nanoseconds since the Unix epoch, less now.
func NewClock(raw int64) *Clock { return &Clock{offset: raw, raw: raw} }

// Step moves cluster time on; it is called about ten times a second. raw is this node's
// wall clock less now, as read at now; peers are what the raw wall clocks of the live
// peers are ahead of this one's, in nanoseconds. The slice is only read.
//
// Among peers cluster time is slewed, by a twentieth of the time gone by, from when it is
// more than 5 ms off until it is right. It steps to the
// median when the first peer is met, and when there are more of them than before and it
// is more than 1 s off. Alone, it goes on as it was among them: the wall clock, as far
// off as it was. It is slewed, and steps if that is more than 10 minutes off, as when
// somebody set the wall clock.
func (c *Clock) Step(now, raw int64, peers []int64) {
	elapsed := max(subSat(now, c.now), 0)
	if !c.begun {
		elapsed = 0
	}
	met := len(peers) > c.peers
	first := met && c.peers == 0 && !c.adopted
	c.lean(raw, peers)
	target := addSat(raw, c.known)
	off := subSat(target, c.offset)
	switch {
	case first,
		met && beyond(off, meetStep),
		len(peers) == 0 && beyond(off, aloneStep):
		c.offset, c.slewed = target, false
	case c.slewed, beyond(off, calm):
		most := elapsed / slewShare
		c.offset = addSat(c.offset, min(max(off, -most), most))
		c.slewed = beyond(off, most)
	}
	c.now, c.raw, c.peers, c.begun = now, raw, len(peers), true
}

// Adopt takes over cluster time, less now, from a peer whose counts this node takes over.
// The next Step, for which all peers' clocks should be known, takes it for one of them.
func (c *Clock) Adopt(now, offset int64) {
	c.offset, c.known, c.slewed = offset, subSat(offset, c.raw), false
	c.now, c.peers, c.begun, c.adopted = now, 0, true, true
}

// lean finds how far cluster time should be from this node's wall clock. Alone, what the
// peers said of it last holds until it comes near cluster time by itself: then somebody
// has put it right.
func (c *Clock) lean(raw int64, peers []int64) {
	if len(peers) > 0 {
		c.known = c.median(peers)
	} else if !beyond(subSat(raw, c.offset), max(c.known, neg(c.known))/2) {
		c.known = 0
	}
}

// median is that of the peers' clocks and this node's own, as what they are ahead of it.
func (c *Clock) median(peers []int64) int64 {
	c.around = append(append(c.around[:0], 0), peers...)
	slices.Sort(c.around)
	half := len(c.around) / 2
	if len(c.around)%2 == 1 {
		return c.around[half]
	}
	a, b := c.around[half-1], c.around[half]
	return a&b + (a^b)>>1 // (a+b)/2, rounded down, of any two
}

// beyond reports whether n is further from 0 than most.
func beyond(n, most int64) bool { return n > most || n < -most }

// Offset is cluster time less now, in nanoseconds.
func (c *Clock) Offset() int64 { return c.offset }

// Skew is what this node's own wall clock was ahead of cluster time at the last step.
func (c *Clock) Skew() int64 { return subSat(c.raw, c.offset) }

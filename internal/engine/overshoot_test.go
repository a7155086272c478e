package engine

import (
	"fmt"
	"testing"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/internal/table"
)

func TestBoundCountsThePeersInTouch(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5} {
		c := crowdOf(t, size)
		l := c.everywhere("api", 1000)
		theta := 1000 / float64(2*size)
		want := float64(size-1) * (theta - 1)
		if got := c.nodes[0].Bound(c.now, l[0]); got < want || got >= want+float64(size) {
			t.Errorf("%d nodes that have spent nothing: got %v, want (N−1)(θ−1) = %v, rounded up", size, got, want)
		}
		for _, n := range c.nodes[1:] {
			c.nodes[0].Down(c.now, n.id)
		}
		if got := c.nodes[0].Bound(c.now, l[0]); got != 0 {
			t.Errorf("%d nodes, all others down: got %v, want 0", size, got)
		}
	}
}

func TestBoundOfLimitsWithoutOvershoot(t *testing.T) {
	c := crowdOf(t, 3)
	local := perHour(1000)
	local.Shared = false
	for name, d := range map[string]table.Def{"local": local, "blocked": {Kind: table.Blocked, Shared: true}, "unlimited": {Kind: table.Unlimited, Shared: true}} {
		l := c.define(c.nodes[0], name, d, name)
		if got := c.nodes[0].Bound(c.now, l); got != 0 {
			t.Errorf("%s: got %v, want 0", name, got)
		}
	}
}

// What a peer may have spent unheard is the most it told of in a stretch as long as its
// news is old, but never more than the limit lets it.
func TestBoundFollowsWhatIsHeard(t *testing.T) {
	c := crowdOf(t, 2)
	l := c.everywhere("api", 1000) // θ = 250
	bound := func() float64 { return c.nodes[0].Bound(c.now, l[0]) }
	c.nodes[1].table.Take(l[1], l[1].Hash("ann"), c.now, 600)
	c.run(200 * ms)
	if got := bound(); got != 249+600 {
		t.Errorf("got %v after 600 at once, want θ−1 and those 600", got)
	}
	for i := range 5 {
		c.nodes[1].table.Take(l[1], l[1].Hash(fmt.Sprint(i)), c.now, 1000)
	}
	c.run(200 * ms)
	if got := bound(); got < 1000 || got > 1010 {
		t.Errorf("got %v after 5000 of five keys at once, want what the limit lets one node spend", got)
	}
	c.run(9 * second)
	if got := bound(); got < 1000 {
		t.Errorf("got %v nine seconds on, want it remembered", got)
	}
	c.run(20 * second)
	if got := bound(); got != 249 {
		t.Errorf("got %v half a minute on, want it forgotten and θ−1 left", got)
	}
}

// The slower the news, the more may have been spent unheard.
func TestBoundFollowsTheAgeOfNews(t *testing.T) {
	for _, delay := range []int64{ms, 50 * ms} {
		c := crowdOf(t, 2)
		c.delay = delay
		fast := table.Def{Kind: table.Bucket, Bucket: bucket.New(1000, second, 10), Shared: true}
		l := []*table.Limit{c.define(c.nodes[0], "api", fast, ""), c.define(c.nodes[1], "api", fast, "")}
		for range 3000 { // at its limit all the time, so that each event is told at once
			c.nodes[1].table.Take(l[1], l[1].Hash("ann"), c.now, 1)
			c.run(ms)
		}
		age := float64(2*delay+c.nodes[0].Gap()) / float64(ms)
		if got := c.nodes[0].Bound(c.now, l[0]); got < age || got > 2*age+12 {
			t.Errorf("delay %d ms: got %v at one event a millisecond, want the %v of the age and little more", delay/ms, got, age)
		}
	}
}

// Any stretch is covered by two neighbours, wherever it begins.
func TestSpendingCoversEveryStretch(t *testing.T) {
	const length = 10
	for pause := int64(0); pause < 40; pause++ {
		for split := int64(0); split <= length; split++ {
			s := &spending{}
			s.add(0, 1, length)
			s.add(pause, 50, length)
			s.add(pause+split, 50, length)
			if got, want := s.of(pause+split), int64(100); got < want {
				t.Errorf("50 and 50 within %d, %d after the first: got %d, want %d", split, pause, got, want)
			}
		}
	}
	s := &spending{}
	for i := range int64(1000) {
		s.add(i, 1, length)
	}
	if got := s.of(1000); got < length || got > 2*length {
		t.Errorf("one each: got %d in a stretch of %d, want as many to twice that", got, length)
	}
}

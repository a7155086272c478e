package cluster

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	seekEvery   = 2 * time.Second        // plus up to as much and a half again
	seekEager   = 400 * time.Millisecond // while nobody has been met, at the start
	eagerFor    = 30 * time.Second
	seedContent = 30 * time.Second // a seed that answered but is no member itself
	maxAttempts = 8                // under way at a time
	tryLimit    = 10 * time.Second // after which no more addresses of a seed are tried
)

// seeker chooses whom to ask for the rest of the cluster: seeds and lost
// members that are not alive, those first that were tried longest ago.
type seeker struct {
	seeds []string
	start time.Time
	kick  chan struct{} // look again soon

	mu     sync.Mutex
	tried  map[string]time.Time // when last; only of what may be tried again
	rest   map[string]time.Time // not before
	busy   map[string]bool
	hinted []string // to be tried next, at most maxAttempts
}

func newSeeker(seeds []string, now time.Time) *seeker {
	return &seeker{
		seeds: seeds, start: now,
		kick:  make(chan struct{}, 1),
		tried: make(map[string]time.Time),
		rest:  make(map[string]time.Time),
		busy:  make(map[string]bool),
	}
}

// hurry has the search go on at once.
func (s *seeker) hurry() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// hint has an address tried at once.
func (s *seeker) hint(addr string) {
	s.mu.Lock()
	if len(s.hinted) < maxAttempts && !slices.Contains(s.hinted, addr) {
		s.hinted = append(s.hinted, addr)
	}
	s.mu.Unlock()
	s.hurry()
}

// choose returns whom to try now, and marks them busy until done: what was
// hinted at, one seed and one lost member.
func (s *seeker) choose(now time.Time, alive map[string]bool, lost []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var chosen []string
	take := func(addr string) {
		if addr != "" && !s.busy[addr] && len(s.busy) < maxAttempts {
			s.busy[addr] = true
			s.tried[addr] = now
			chosen = append(chosen, addr)
		}
	}
	for _, addr := range s.hinted {
		take(addr)
	}
	s.hinted = nil
	take(s.stalestLocked(now, s.seeds, alive))
	take(s.stalestLocked(now, lost, alive))
	for addr := range s.tried {
		if !s.busy[addr] && !slices.Contains(s.seeds, addr) && !slices.Contains(lost, addr) {
			delete(s.tried, addr)
		}
	}
	return chosen
}

func (s *seeker) stalestLocked(now time.Time, addrs []string, alive map[string]bool) string {
	best := ""
	for _, a := range addrs {
		if alive[a] || s.busy[a] || now.Before(s.rest[a]) {
			continue
		}
		if best == "" || s.tried[a].Before(s.tried[best]) {
			best = a
		}
	}
	return best
}

// done ends an attempt. A seed that answered is let alone for a while: its
// address may be one that no member calls its own.
func (s *seeker) done(addr string, now time.Time, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, addr)
	delete(s.rest, addr)
	if answered && slices.Contains(s.seeds, addr) {
		s.rest[addr] = now.Add(seedContent)
	}
}

// pause is the time to the next look.
func (s *seeker) pause(now time.Time, met bool) time.Duration {
	d := seekEvery
	if !met && len(s.seeds) > 0 && now.Sub(s.start) < eagerFor {
		d = seekEager
	}
	return d + rand.N(d*3/2)
}

// seek is the goroutine that looks for seeds and the lost until all is over.
func (c *Cluster) seek() {
	for {
		alive, lost := c.survey()
		for _, addr := range c.seeker.choose(time.Now(), alive, lost) {
			c.wg.Go(func() { c.try(addr, alive) })
		}
		t := time.NewTimer(c.seeker.pause(time.Now(), c.delegate.met.Load()))
		select {
		case <-t.C:
		case <-c.seeker.kick:
			t.Stop()
			if !c.nap() {
				return
			}
		case <-c.ctx.Done():
			t.Stop()
			return
		}
	}
}

// nap keeps many hints, and many nodes that lost the same one, apart.
func (c *Cluster) nap() bool {
	t := time.NewTimer(100*time.Millisecond + rand.N(400*time.Millisecond))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// survey tidies the roster and returns the addresses that are alive, this
// node's own too, and those of the lost.
func (c *Cluster) survey() (alive map[string]bool, lost []string) {
	now := time.Now()
	c.mu.Lock()
	c.roster.sweep(now, c.cfg.Forget)
	for id, p := range c.peers {
		c.pruneLocked(id, p)
	}
	clashes := c.roster.clashes(now)
	alive = make(map[string]bool)
	for _, m := range c.roster.members() {
		switch m.State {
		case Alive:
			alive[m.Addr] = true
		case Dead:
			lost = append(lost, m.Addr)
		}
	}
	c.mu.Unlock()
	for _, m := range clashes {
		c.cfg.Logger.Error("two live nodes have one name: give each its own", "name", m.Name, "addr", m.Addr)
	}
	return alive, lost
}

// try asks the nodes at one seed or address for the cluster they are in.
func (c *Cluster) try(addr string, alive map[string]bool) {
	answered := false
	defer func() { c.seeker.done(addr, time.Now(), answered) }()
	targets, err := c.lookUp(addr)
	if err != nil {
		c.tryFailed(addr, "a seed cannot be resolved; trying on", err)
		return
	}
	start := time.Now()
	for _, t := range targets {
		switch {
		case t == c.self.Addr:
			continue
		case t != addr && alive[t]:
			answered = true
			continue
		case c.ctx.Err() != nil || time.Since(start) > tryLimit:
			return
		}
		if _, e := c.list.Join([]string{t}); e != nil {
			err = e
			continue
		}
		answered = true
	}
	if err != nil && !answered {
		c.tryFailed(addr, "a seed does not let us join"+why(err)+"; trying on", err)
	}
}

// why tells apart the reasons that people have to act on. memberlist's errors
// keep only the words of those inside.
func why(err error) string {
	text := err.Error()
	for _, fault := range sealFaults {
		if strings.Contains(text, fault.Error()) {
			return ": " + fault.Error()
		}
	}
	switch {
	case strings.Contains(text, keyNeeded):
		return ": it has a cluster key, and this node has none"
	case strings.Contains(text, "remote error: tls:"):
		return ": " + errRefusedKey.Error()
	}
	for _, e := range []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE} {
		if strings.Contains(text, e.Error()) {
			return ": it hangs up, its label or cluster key may be another"
		}
	}
	return ""
}

func (c *Cluster) tryFailed(addr, cause string, err error) {
	switch {
	case c.ctx.Err() != nil:
	case slices.Contains(c.seeker.seeds, addr):
		c.faults.log(addr, cause, "err", err)
	default:
		c.cfg.Logger.Debug("a lost member does not answer", "addr", addr, "err", err)
	}
}

//go:build unix

package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/fleet"
)

// undergo has the nodes undergo a round, under load, and returns when all is mended and all
// processes are back.
func (s *soak) undergo(r round) error {
	errs := make([]error, len(r.events))
	var all sync.WaitGroup
	for i, e := range r.events {
		all.Go(func() {
			time.Sleep(e.after)
			errs[i] = s.suffer(e, len(r.events) == 1)
		})
	}
	all.Wait()
	for _, e := range r.events {
		s.sum.faults[e.trouble]++
	}
	return errors.Join(errs...)
}

// node is the one in a slot.
func (s *soak) node(slot int) *fleet.Node {
	for _, n := range s.Nodes() {
		if n.Slot == slot {
			return n
		}
	}
	return nil
}

// suffer is one fault from beginning to end. alone says that there is no other meanwhile.
func (s *soak) suffer(e event, alone bool) error {
	n := s.node(e.slot)
	if n == nil {
		return fmt.Errorf("no node in slot %d", e.slot)
	}
	switch e.trouble {
	case cutOff:
		return s.during(e, func() error { return s.net.Cut(e.slot) }, func() error { return s.net.Heal(e.slot) })
	case unplug:
		return s.during(e, func() error { return s.net.Unplug(e.slot) }, func() error { return s.net.Plug(e.slot) })
	case oneWay:
		return s.during(e, func() error { return s.net.Block(e.slot, e.other) }, func() error { return s.net.Unblock(e.slot, e.other) })
	case lossy:
		return s.during(e, func() error { return s.net.Lose(e.slot, e.much) }, func() error { return s.net.Lose(e.slot, 0) })
	case slow:
		return s.during(e, func() error { return s.net.Slow(e.slot, e.much) }, func() error { return s.net.Quicken(e.slot) })
	case pause:
		return s.during(e, func() error { n.Pause(); return nil }, func() error { n.Resume(); return nil })
	case crash:
		s.kill(n)
		time.Sleep(e.last)
		return s.again(e.slot, restartLimit)
	case replace:
		if err := s.terminate(n, alone); err != nil {
			return err
		}
		time.Sleep(e.last)
		return s.again(e.slot, restartLimit)
	case isolated:
		return s.restartAlone(n, e)
	}
	return fmt.Errorf("no such trouble: %s", e.trouble)
}

// during has a fault begin, last and end.
func (s *soak) during(e event, begin, end func() error) error {
	if err := begin(); err != nil {
		return err
	}
	time.Sleep(e.last)
	return end()
}

// kill ends a process, and notes what only it may have known.
func (s *soak) kill(n *fleet.Node) {
	s.Kill(n)
	s.book.Crashed(n, s.watch.Seen(n).Safe)
	s.detach(n)
}

// terminate ends a process in order. If there is another fault at the time, not all hear
// its last words: those that it is out of touch with do not.
func (s *soak) terminate(n *fleet.Node, alone bool) error {
	if alone {
		if _, err := fleet.Await(settleLimit, s.Settled); err != nil {
			return fmt.Errorf("before %s is replaced: %w", n.Name, err)
		}
	}
	safe := s.watch.Seen(n).Safe
	s.detach(n)
	err := s.Terminate(n)
	if !alone {
		s.book.Crashed(n, safe)
		return nil
	}
	return err
}

// again starts a node in a slot, and lets clients come when it is ready.
func (s *soak) again(slot int, within time.Duration) error {
	n, err := s.Start(slot)
	if err != nil {
		return err
	}
	s.sum.restarts.Add(1)
	took, err := fleet.Await(within, n.Ready)
	if err != nil {
		return fmt.Errorf("%s started again: ready: %w", n.Name, err)
	}
	s.sum.ready(took)
	s.attach(n)
	return nil
}

// restartAlone kills a node that is cut off and starts it again. It finds nobody, so it
// serves by itself in the end; then it is healed.
func (s *soak) restartAlone(n *fleet.Node, e event) error {
	if err := s.net.Cut(e.slot); err != nil {
		return err
	}
	time.Sleep(e.last / 3)
	s.kill(n)
	started := make(chan error, 1)
	go func() { started <- s.again(e.slot, restartLimit) }()
	time.Sleep(2 * e.last) // up to 18 s; it waits for others for 10 s
	return errors.Join(s.net.Heal(e.slot), <-started)
}

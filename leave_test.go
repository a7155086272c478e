package stint_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster/memnet"
)

// A node that leaves is not ready from then on, while it hands over as much as before.
// Broken once: it said that it was until the last peer had acknowledged.
func TestNotReadyWhileLeaving(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		r.net.Split(ip(1))
		nodes[0].Allow("ann", slow(100))
		n := nodes[0]
		ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond) // less than a death takes
		defer cancel()
		done := make(chan error)
		go func() { done <- n.Close(ctx) }()
		time.Sleep(200 * time.Millisecond)
		if err := n.Ready(context.Background()); !errors.Is(err, stint.ErrClosed) {
			t.Errorf("got %v of Ready while Close hands over, want ErrClosed", err)
		}
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v of Close, so it was over already", err)
		}
		lost := r.config(5)
		lost.Join = []string{seed(9)}
		n = r.open(lost)
		go func() { done <- n.Ready(context.Background()) }()
		time.Sleep(time.Second)
		n.Close(context.Background())
		if err := <-done; !errors.Is(err, stint.ErrClosed) {
			t.Errorf("got %v of a Ready that waited, want ErrClosed", err)
		}
	})
}

// A newcomer that leaves before it has joined: what it took is known, and nobody waits for
// it.
func TestLeaveWhileJoining(t *testing.T) {
	for _, after := range []time.Duration{0, 20, 100, 200, 300, 400, 600, 900} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				nodes := r.cluster(3)
				admitted(nodes[0], "ann", slow(100), 10)
				r.sync()
				r.net.SetFaults(memnet.Faults{Delay: 60 * time.Millisecond})
				n := r.open(r.config(3))
				admitted(n, "ann", slow(100), 5)
				time.Sleep(after * time.Millisecond)
				met := n.Stats().Nodes == 4
				for _, m := range nodes {
					met = met && m.Stats().Nodes == 4
				}
				start := time.Now()
				if err := n.Close(context.Background()); err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took > 8*time.Second {
					t.Errorf("took %v", took)
				}
				r.met(nodes...)
				if met { // else there was nobody to tell
					r.checkRemaining(85, "ann", slow(100), nodes...)
				}
			})
		})
	}
}

// Donors leave while a newcomer takes their table over, or just before: it has all counts
// all the same, those that the leavers took last among them.
func TestDonorsLeave(t *testing.T) {
	joining := 0
	for after := range 12 {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				nodes := r.cluster(3)
				hourly := everyKind(1000)[2]
				for i := range 1000 {
					nodes[i%3].AllowN(fmt.Sprint("key", i), hourly, 7)
				}
				r.sync()
				r.net.SetFaults(memnet.Faults{Delay: 60 * time.Millisecond})
				n := r.open(r.config(3))
				r.within(10*time.Second, "the newcomer is seen", func() bool {
					return n.Stats().Nodes == 4 && nodes[0].Stats().Nodes == 4 && nodes[1].Stats().Nodes == 4
				})
				time.Sleep(time.Duration(after) * 120 * time.Millisecond)
				if n.Stats().Joining {
					joining++
				}
				done := make(chan error)
				for _, m := range nodes[:2] {
					m.AllowN("last", hourly, 10)
					go func() { done <- m.Close(context.Background()) }()
				}
				for range nodes[:2] {
					if err := <-done; err != nil {
						t.Error(err)
					}
				}
				r.met(nodes[2], n)
				for i := range 1000 {
					r.checkRemaining(993, fmt.Sprint("key", i), hourly, nodes[2], n)
				}
				r.checkRemaining(980, "last", hourly, nodes[2], n)
				if s := n.Stats(); s.Missing > 0 || s.Lost > 0 {
					t.Errorf("missing %d, lost %d", s.Missing, s.Lost)
				}
			})
		})
	}
	if joining < 3 {
		t.Errorf("the newcomer was joining still in only %d of 12 runs", joining)
	}
}

// All leave at once: nobody is left to tell, and nobody waits for the others.
func TestAllLeaveAtOnce(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(5)
		for i, n := range nodes {
			admitted(n, "ann", slow(1000), 10+i)
		}
		done := make(chan error)
		start := time.Now()
		for _, n := range nodes {
			go func() { done <- n.Close(context.Background()) }()
		}
		for range nodes {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// A peer that lives and takes nothing is waited for as long as the context allows; all
// others know by then.
func TestLeaveWithAStalledPeer(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(4)
		r.net.Cut(ip(3), ip(0)) // the others say that it lives
		time.Sleep(3 * time.Second)
		admitted(nodes[0], "ann", slow(100), 10)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		start := time.Now()
		if err := nodes[0].Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		if took := time.Since(start); took < 2*time.Second || took > 4*time.Second {
			t.Errorf("took %v with a context of 2s", took)
		}
		r.checkRemaining(90, "ann", slow(100), nodes[1], nodes[2])
	})
}

package stint_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// Those who wait are served in the order of their calls, at the limit's rate.
func TestWaitIsFIFO(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		n := r.alone()
		l = l.WithName("api")
		l.Events, l.Burst = 4, 0
		n.AllowN("ann", l, 4)
		start := time.Now()
		var mu sync.Mutex
		var order []int
		var done sync.WaitGroup
		for i := range 6 {
			done.Go(func() {
				if err := n.Wait(bg, "ann", l, 1); err != nil {
					r.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			})
			synctest.Wait()
		}
		done.Wait()
		if !slices.IsSorted(order) || len(order) != 6 {
			r.Errorf("served in the order %v", order)
		}
		// 4 an hour: the sixth gets its turn in the second hour, or after 6 quarters.
		if took := time.Since(start); took < time.Hour || took > 3*time.Hour {
			r.Errorf("took %v", took)
		}
	})
}

// case 18
func TestWaitDeadlineThatCannotBeMet(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		n := r.alone()
		n.AllowN("ann", l, 100)
		start := time.Now()
		ctx, cancel := context.WithTimeout(bg, time.Millisecond)
		defer cancel()
		if err := n.Wait(ctx, "ann", l, 1); !errors.Is(err, context.DeadlineExceeded) {
			r.Errorf("got %v", err)
		}
		if took := time.Since(start); took != 0 {
			r.Errorf("waited %v to say so", took)
		}
		if err := n.Wait(bg, "ann", l, 101); !errors.Is(err, stint.ErrNever) {
			r.Errorf("got %v for more than the limit ever holds", err)
		}
	})
}

// A deadline that others in the line make impossible fails at once too.
func TestWaitDeadlineBehindOthers(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.alone()
		l := stint.PerSecond(10).WithName("api")
		n.AllowN("ann", l, 10)
		ctx, cancel := context.WithCancel(bg)
		var done sync.WaitGroup
		for range 20 {
			done.Go(func() { n.Wait(ctx, "ann", l, 1) })
		}
		synctest.Wait()
		short, stop := context.WithTimeout(bg, 2*time.Second)
		defer stop()
		start := time.Now()
		if err := n.Wait(short, "ann", l, 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 0 {
			r.Errorf("got %v after %v", err, time.Since(start))
		}
		long, stop := context.WithTimeout(bg, 2200*time.Millisecond)
		defer stop()
		if err := n.Wait(long, "ann", l, 1); err != nil {
			r.Errorf("got %v with time enough", err)
		}
		cancel()
		done.Wait()
	})
}

// Whoever gives up has taken nothing, and the next in line gets its turn.
func TestWaitCancelled(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		n := r.alone()
		n.AllowN("ann", l, 100)
		ctx, cancel := context.WithCancel(bg)
		gaveUp, served := make(chan error, 1), make(chan error, 1)
		go func() { gaveUp <- n.Wait(ctx, "ann", l, 60) }()
		synctest.Wait()
		go func() { served <- n.Wait(bg, "ann", l, 1) }()
		synctest.Wait()
		cancel()
		if err := <-gaveUp; !errors.Is(err, context.Canceled) {
			r.Errorf("got %v", err)
		}
		if err := <-served; err != nil {
			r.Error(err)
		}
	})
}

// A leaky bucket paces those who wait: never faster than its rate, and a cancelled place
// in the queue comes back.
func TestWaitLeaky(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.alone()
		l := stint.PerSecond(10).WithAlgorithm(stint.LeakyBucket).WithBurst(3).WithName("calls")
		start := time.Now()
		for i := range 5 {
			if err := n.Wait(bg, "ann", l, 1); err != nil {
				r.Fatal(err)
			}
			if at := time.Since(start); at != time.Duration(i)*100*time.Millisecond {
				r.Errorf("call %d went after %v", i, at)
			}
		}
		n.AllowN("ann", l, 1)
		used := n.Peek("ann", l).ResetAfter
		ctx, cancel := context.WithTimeout(bg, time.Hour)
		failed := make(chan error, 1)
		go func() { failed <- n.Wait(ctx, "ann", l, 1) }()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			r.Errorf("got %v", err)
		}
		if got := n.Peek("ann", l).ResetAfter; got != used {
			r.Errorf("the queue is %v long after a cancel, was %v", got, used)
		}
	})
}

// Queues on several nodes do not add up to more than the limit.
func TestWaitOnManyNodes(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		l := stint.PerSecond(10).WithName("api")
		for _, n := range nodes {
			n.Peek("ann", l)
		}
		ctx, cancel := context.WithTimeout(bg, 20*time.Second)
		defer cancel()
		var mu sync.Mutex
		passed := 0
		var done sync.WaitGroup
		for _, n := range nodes {
			for range 5 {
				done.Go(func() {
					for n.Wait(ctx, "ann", l, 1) == nil {
						mu.Lock()
						passed++
						mu.Unlock()
					}
				})
			}
		}
		done.Wait()
		if central := 10 + 20*10; passed > central+8 || passed < central*95/100 {
			r.Errorf("%d passed, a central bucket would have let %d", passed, central)
		}
	})
}

func TestWaitQueueIsBounded(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.alone()
		l := stint.PerHour(1).WithName("api")
		n.Allow("ann", l)
		ctx, cancel := context.WithCancel(bg)
		var done sync.WaitGroup
		for range 1000 {
			done.Go(func() { n.Wait(ctx, "ann", l, 1) })
		}
		synctest.Wait()
		if err := n.Wait(bg, "ann", l, 1); !errors.Is(err, stint.ErrQueueFull) {
			r.Errorf("got %v", err)
		}
		cancel()
		done.Wait()
		if err := n.Wait(ctx, "ann", l, 1); !errors.Is(err, context.Canceled) {
			r.Errorf("got %v of a context that has ended", err)
		}
	})
}

package stint_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// readyAfter is how long a node just opened takes until Ready returns.
func (r *rig) readyAfter(n *stint.Node) time.Duration {
	r.Helper()
	start := time.Now()
	if err := n.Ready(context.Background()); err != nil {
		r.Fatalf("%s: %v", n.Name(), err)
	}
	return time.Since(start)
}

func TestReadyAlone(t *testing.T) {
	inBubble(t, func(r *rig) {
		if got := r.readyAfter(r.open(r.config(0))); got != 0 {
			t.Errorf("got ready after %v with nobody to join, want at once", got)
		}
	})
}

func TestReadyWithoutAnswer(t *testing.T) {
	inBubble(t, func(r *rig) {
		cfg := r.config(1)
		cfg.JoinTimeout = 3 * time.Second
		n := r.open(cfg)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := n.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v within a second, want the context's error", err)
		}
		if d := n.Allow("ann", stint.PerHour(10).WithName("ten")); !d.OK {
			t.Errorf("got %+v before it is ready, want a decision all the same", d)
		}
		if got := time.Second + r.readyAfter(n); got < cfg.JoinTimeout || got > cfg.JoinTimeout+time.Second {
			t.Errorf("got ready after %v, want JoinTimeout, which is %v", got, cfg.JoinTimeout)
		}
	})
}

// Who is ready says so whatever the context, which is how to ask without waiting.
func TestReadyOfAnEndedContext(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.open(r.config(0))
		cfg := r.config(1)
		cfg.Join = []string{seed(9)}
		seeker := r.open(cfg)
		synctest.Wait()
		for range 100 {
			if err := n.Ready(gone()); err != nil {
				t.Fatalf("got %v of a ready node", err)
			}
			if err := seeker.Ready(gone()); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v of one that is not", err)
			}
		}
	})
}

// A node that can reach its seed, but is not told the seed's log, is not ready.
func TestReadyOnlyInSession(t *testing.T) {
	inBubble(t, func(r *rig) {
		old := r.open(r.config(0))
		ten := stint.PerHour(10).WithName("ten")
		old.AllowN("ann", ten, 4)
		n := r.open(r.config(1))
		start := time.Now()
		for n.Ready(gone()) != nil {
			if time.Since(start) > 9*time.Second {
				t.Fatal("not ready long before JoinTimeout")
			}
			time.Sleep(100 * time.Microsecond)
		}
		if got := n.Stats().Nodes; got != 2 {
			t.Errorf("ready with %d nodes in sight, want 2", got)
		}
		if m := n.Members()[0]; m.BytesIn == 0 {
			t.Errorf("ready and has heard nothing of %+v", m)
		}
		old.AllowN("ann", ten, 3)
		r.sync()
		if got := n.Peek("ann", ten).Remaining; got > 7 {
			t.Errorf("%d remain, want at most 7: what was spent once it was ready counts", got)
		}
	})
}

func TestReadyAfterClose(t *testing.T) {
	inBubble(t, func(r *rig) {
		for _, n := range []*stint.Node{r.alone(), r.open(r.config(1))} {
			n.Close(gone())
			if err := n.Ready(context.Background()); !errors.Is(err, stint.ErrClosed) {
				t.Errorf("got %v after Close, want ErrClosed", err)
			}
		}
		waiting := r.open(r.config(2))
		got := make(chan error)
		go func() { got <- waiting.Ready(context.Background()) }()
		synctest.Wait()
		waiting.Close(gone())
		if err := <-got; !errors.Is(err, stint.ErrClosed) {
			t.Errorf("got %v of waiting across a Close, want ErrClosed", err)
		}
	})
}

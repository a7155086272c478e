package stint_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

func TestCloseTwice(t *testing.T) {
	inBubble(t, func(r *rig) {
		for _, n := range append(r.cluster(2), r.alone()) {
			for range 2 {
				if err := n.Close(context.Background()); err != nil {
					t.Errorf("%s: %v", n.Name(), err)
				}
			}
		}
		n := r.open(r.config(5))
		done := make(chan error)
		for range 3 {
			go func() { done <- n.Close(context.Background()) }()
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Errorf("at once from three sides: %v", err)
			}
		}
	})
}

// A server that drains goes on limiting.
func TestTakesAfterClose(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		ten := stint.PerHour(10).WithName("ten")
		for _, n := range append(nodes, r.alone()) {
			n.AllowN("bob", ten, 4)
		}
		r.sync()
		for _, n := range r.nodes {
			if err := n.Close(context.Background()); err != nil {
				t.Fatalf("%s: %v", n.Name(), err)
			}
			if got := admitted(n, "ann", ten, 12); got != 10 {
				t.Errorf("%s: got %d of 12 admitted after Close, want 10", n.Name(), got)
			}
			into := make([]stint.Decision, 1)
			if ok, err := n.TakeAll(context.Background(), []stint.Take{{Limit: ten, Key: "cid", N: 10}}, into); !ok || err != nil {
				t.Errorf("%s: got %v, %v of TakeAll after Close", n.Name(), ok, err)
			}
			if err := n.SetLimit(stint.PerHour(20).WithName("ten")); err != nil {
				t.Errorf("%s: got %v of SetLimit after Close", n.Name(), err)
			}
			if d := n.Allow("ann", ten); !d.OK || d.Remaining != 9 {
				t.Errorf("%s: got %+v under the limit set after Close", n.Name(), d)
			}
			if s := n.Stats(); s.Limits[0].Allowed < 21 || len(n.Members()) < 1 {
				t.Errorf("%s: got %+v after Close", n.Name(), s)
			}
		}
	})
}

func TestCloseHandsTheLastTakesOver(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(4)
		api := stint.PerDay(1000).WithName("api")
		for i, n := range nodes[:3] {
			if d := n.Allow("ann", api); !d.OK || d.Remaining != int64(999-i) {
				t.Fatalf("%s: got %+v", n.Name(), d)
			}
			if err := n.Close(context.Background()); err != nil {
				t.Errorf("%s: %v", n.Name(), err)
			}
			r.checkRemaining(int64(999-i), "ann", api, nodes[i+1:]...)
			want := 3 - i
			r.within(5*time.Second, "the goodbye is heard", func() bool { return nodes[3].Stats().Nodes == want })
		}
	})
}

// Who has said goodbye comes back as somebody else: nothing is kept for it.
func TestNothingIsKeptForThoseWhoLeft(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		if err := nodes[1].Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		r.kill(2, nodes[2])
		r.within(10*time.Second, "both are missed", func() bool { return nodes[0].Stats().Nodes == 1 })
		for i := range 20 {
			nodes[0].Allow(string(rune('a'+i)), slow(100))
		}
		r.sync()
		backlog := make(map[string]int)
		for _, m := range nodes[0].Members() {
			backlog[m.Name] = m.Backlog
		}
		if backlog["n1"] != 0 || backlog["n2"] != 20 {
			t.Errorf("got a backlog of %d for the one that left and %d for the one that died, want 0 and 20", backlog["n1"], backlog["n2"])
		}
	})
}

func TestCloseIsBoundedByItsContext(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		api := stint.PerDay(1000).WithName("api")
		r.net.Split(ip(2))
		nodes[0].Allow("ann", api)
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := nodes[0].Close(ctx)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v with a context of 300ms", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error: n2 did not get the take", err)
		}
		r.checkRemaining(999, "ann", api, nodes[1])
		start = time.Now()
		nodes[1].Close(gone())
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v with a context that had ended", took)
		}
	})
}

// Without a deadline it ends as well, once the peer out of reach is declared dead.
func TestCloseOutlivesADeadPeer(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		r.net.Split(ip(2))
		api := stint.PerDay(1000).WithName("api")
		nodes[0].Allow("ann", api)
		start := time.Now()
		if err := nodes[0].Close(context.Background()); err != nil {
			t.Errorf("got %v, want none: every living peer knows", err)
		}
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("took %v", took)
		}
		r.checkRemaining(999, "ann", api, nodes[1])
	})
}

// Close in the middle of everything. That nothing runs afterwards the bubble sees to:
// it panics at its end if a goroutine is left.
func TestCloseUnderLoad(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		five := stint.PerSecond(5).WithName("five")
		stop := make(chan struct{})
		for i, n := range nodes {
			go func() {
				for events := int64(1); ; events++ {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						n.Allow("ann", five)
						n.SetLimit(stint.PerSecond(events%7 + 1).WithName("other"))
						n.Members()
						n.Stats()
					}
				}
			}()
			if i == 1 {
				time.Sleep(50 * time.Millisecond)
			}
		}
		for _, n := range nodes {
			start := time.Now()
			if err := n.Close(context.Background()); err != nil {
				t.Errorf("%s: %v", n.Name(), err)
			}
			// Definitions came so fast that not all were ever acknowledged.
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%s: took %v", n.Name(), took)
			}
		}
		time.Sleep(time.Second)
		close(stop)
	})
}

// A node that could not get its port leaves nothing behind, either.
func TestFailedOpenLeavesNothing(t *testing.T) {
	inBubble(t, func(r *rig) {
		held, err := r.net.Host(ip(0)).Listen(":7946")
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		if n, err := stint.Open(r.config(0)); err == nil {
			t.Errorf("got %v on a port in use", n.Addr())
		}
		synctest.Wait()
	})
}

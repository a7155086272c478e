package stint_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// case 29
func TestTooManyLimits(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.open(stint.Config{MaxLimits: 3})
		userLimit := func(i int) stint.Limit { return stint.PerHour(5).WithName(fmt.Sprintf("user-%d", i)) }
		for i := range 3 {
			if err := n.SetLimit(userLimit(i)); err != nil {
				t.Fatal(err)
			}
		}
		many := userLimit(3)
		_, took := n.Take(context.Background(), "ann", many, 1)
		_, all := n.TakeAll(context.Background(), []stint.Take{{Limit: userLimit(0)}, {Limit: many}}, make([]stint.Decision, 2))
		lim := n.Limiter(many)
		_, limTook := lim.Take(context.Background(), "ann", 1)
		for _, err := range []error{took, all, lim.Err(), limTook, n.SetLimit(many)} {
			if !errors.Is(err, stint.ErrTooManyLimits) {
				t.Errorf("got error %v, want ErrTooManyLimits", err)
			}
		}
		if d := n.Allow("ann", many); d.OK || d.RetryAfter != stint.Never {
			t.Errorf("got %+v, want it refused for ever", d)
		}
		for i := range 1000 {
			n.Allow("ann", userLimit(i))
		}
		if got := len(n.Limits()); got != 3 {
			t.Errorf("got %d limits, want the bound of 3", got)
		}
		// Those that are in force go on, and may change.
		if d := n.Allow("ann", userLimit(0)); !d.OK || d.Remaining != 3 {
			t.Errorf("got %+v of a limit in force", d)
		}
		if err := n.SetLimit(stint.PerHour(9).WithName("user-1")); err != nil {
			t.Errorf("got %v of changing a limit in force", err)
		}
	})
}

// The bound holds for what peers define as well, and what they spend goes on counting.
func TestLimitsOfPeersCount(t *testing.T) {
	inBubble(t, func(r *rig) {
		cfg := r.config(1)
		cfg.MaxLimits = 2
		nodes := []*stint.Node{r.open(r.config(0)), r.open(cfg)}
		r.met(nodes...)
		own := stint.PerHour(5).WithName("own")
		nodes[1].Allow("ann", own)
		for i := range 5 {
			nodes[0].Allow("ann", stint.PerHour(5).WithName(fmt.Sprintf("peer-%d", i)))
		}
		nodes[0].AllowN("ann", own, 2)
		r.sync()
		r.checkRemaining(2, "ann", own, nodes...)
		if err := nodes[1].SetLimit(stint.PerHour(5).WithName("another")); !errors.Is(err, stint.ErrTooManyLimits) {
			t.Errorf("got error %v, want ErrTooManyLimits: the table is full of the peer's limits", err)
		}
	})
}

func TestLimitsInForce(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.alone()
		b := n.Limiter(stint.PerMinute(10).WithName("b"))
		n.Allow("ann", stint.Limit{Name: "c", Events: 3})
		n.Peek("ann", stint.PerSecond(7))
		if err := n.SetLimit(stint.Blocked().WithName("a")); err != nil {
			t.Fatal(err)
		}
		want := []stint.Limit{
			stint.PerSecond(7).WithBurst(7), // goes by its text, 7/s
			stint.Blocked().WithName("a"),
			stint.PerMinute(10).WithBurst(10).WithName("b"),
			stint.PerSecond(3).WithBurst(3).WithName("c"),
		}
		if got := n.Limits(); !slices.Equal(got, want) {
			t.Errorf("got\n%+v, want\n%+v", got, want)
		}
		for i, name := range []string{"7/s", "a", "b", "c"} {
			if got, ok := n.Limit(name); !ok || got != want[i] {
				t.Errorf("%s: got %+v, %v", name, got, ok)
			}
		}
		if got, ok := n.Limit("d"); ok || got != (stint.Limit{}) {
			t.Errorf("got %+v, %v of a name that nobody defined", got, ok)
		}
		if got := b.Limit(); got != want[2] {
			t.Errorf("got %+v bound, want %+v", got, want[2])
		}
		if err := n.SetLimit(stint.PerMinute(20).WithName("b")); err != nil {
			t.Fatal(err)
		}
		if got := b.Limit().Events; got != 20 {
			t.Errorf("got %d events bound after a change, want 20", got)
		}
		if got := n.Limiter(stint.PerMinute(30).WithName("b")).Limit().Events; got != 30 || b.Limit().Events != 30 {
			t.Errorf("got %d and %d events after binding another definition, want 30", got, b.Limit().Events)
		}
		if got := n.Limiter(stint.PerMinute(10).WithName("b")).Limit().Events; got != 10 || b.Limit().Events != 10 {
			t.Errorf("got %d and %d events after binding the first one again, want 10", got, b.Limit().Events)
		}
	})
}

// cases 20 and 21
func TestRedefinition(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		named := func(events int64) stint.Limit { return stint.PerHour(events).WithName("api") }
		lim := nodes[0].Limiter(named(100))
		lim.AllowN("ann", 70)
		r.sync()
		for _, n := range nodes {
			r.set(n, named(50))
		}
		r.checkRemaining(0, "ann", named(50), nodes...)
		for _, n := range nodes {
			if d := n.Allow("ann", named(50)); d.OK || d.RetryAfter < 20*72*time.Second || d.RetryAfter > 21*72*time.Second {
				t.Errorf("%s: got %+v with 70 of 50 used, want a wait for 21 events", n.Name(), d)
			}
			r.set(n, named(200))
		}
		r.checkRemaining(130, "ann", named(200), nodes...)
		if d := lim.AllowN("ann", 131); d.OK || d.Remaining != 130 {
			t.Errorf("got %+v of 131 from 130", d)
		}
		r.set(nodes[0], stint.Unlimited().WithName("api"))
		if d := lim.AllowN("ann", 1000); !d.OK {
			t.Errorf("got %+v of an unlimited one", d)
		}
		r.set(nodes[0], stint.Blocked().WithName("api"))
		if d := lim.Allow("ann"); d.OK {
			t.Errorf("got %+v of a blocked one", d)
		}
		r.set(nodes[0], named(200))
		r.checkRemaining(130, "ann", named(200), nodes...)
	})
}

// Definitions reach the nodes of a service one after the other.
func TestNodesThatDisagree(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		named := func(events int64) stint.Limit { return stint.PerHour(events).WithName("api") }
		for _, n := range nodes {
			r.set(n, named(100))
		}
		nodes[0].AllowN("ann", named(100), 70)
		r.sync()
		r.set(nodes[1], named(50))
		r.checkRemaining(0, "ann", named(50), nodes[1])
		r.checkRemaining(30, "ann", named(100), nodes[0], nodes[2])
		nodes[2].AllowN("ann", named(100), 5)
		r.sync()
		r.checkRemaining(0, "ann", named(50), nodes[1])
		r.checkRemaining(25, "ann", named(100), nodes[0], nodes[2])
		r.set(nodes[1], named(200))
		r.checkRemaining(125, "ann", named(200), nodes[1])
		nodes[1].AllowN("ann", named(200), 20)
		r.sync()
		r.checkRemaining(105, "ann", named(200), nodes[1])
		r.checkRemaining(5, "ann", named(100), nodes[0], nodes[2])
		for _, n := range nodes {
			r.set(n, named(200))
		}
		r.checkRemaining(105, "ann", named(200), nodes...)
	})
}

// A local limit is each node's own, whatever the others make of the name.
func TestLocalLimitsStayApart(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		local := stint.PerHour(10).WithName("api").WithMode(stint.Local)
		shared := stint.PerHour(10).WithName("api")
		nodes[0].AllowN("ann", local, 4)
		nodes[1].AllowN("ann", shared, 3)
		r.sync()
		r.checkRemaining(6, "ann", local, nodes[0])
		r.checkRemaining(7, "ann", shared, nodes[1])
		if got := nodes[0].Allow("ann", local).Source; got != stint.SourceLocal {
			t.Errorf("got source %v", got)
		}
	})
}

func (r *rig) set(n *stint.Node, l stint.Limit) {
	r.Helper()
	if err := n.SetLimit(l); err != nil {
		r.Fatal(err)
	}
}

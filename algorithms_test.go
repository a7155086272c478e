package stint_test

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// metered is every algorithm that counts.
var metered = []stint.Algorithm{
	stint.TokenBucket, stint.LeakyBucket, stint.FixedWindow, stint.SlidingWindow, stint.SlidingLog,
}

// each runs a test for 100/h of every algorithm.
func each(t *testing.T, f func(r *rig, l stint.Limit)) {
	for _, a := range metered {
		t.Run(a.String(), func(t *testing.T) {
			inBubble(t, func(r *rig) { f(r, stint.PerHour(100).WithAlgorithm(a).WithName("api")) })
		})
	}
}

// 300 takes spread over three nodes at 200 a second.
func TestEveryAlgorithmHoldsOneLimit(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		nodes := r.cluster(3)
		var passed int64
		for i := range 300 {
			passed += admitted(nodes[i%3], "ann", l, 1)
			time.Sleep(5 * time.Millisecond)
		}
		if passed < 100 || passed > 103 {
			r.Errorf("%d admitted, want 100 to 103", passed)
		}
		time.Sleep(time.Second)
		r.checkRemaining(0, "ann", l, nodes...)
	})
}

// case 2
func TestMoreThanTheLimitEver(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		nodes := r.cluster(2)
		if d := nodes[0].AllowN("ann", l, 101); d.OK || d.RetryAfter != stint.Never {
			r.Errorf("got %+v, want refused for ever", d)
		}
		r.sync()
		r.checkRemaining(100, "ann", l, nodes...)
		if d := nodes[1].Allow("ann", l); !d.OK {
			r.Errorf("got %+v, want it admitted", d)
		}
	})
}

// case 17: waiting exactly RetryAfter is enough, and a nanosecond less is not; case 9:
// asking meanwhile does not make it longer.
func TestRetryAfterIsTrue(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		n := r.alone()
		for _, events := range []int64{1, 7, 60} {
			n.AllowN("ann", l, 33)
			for n.AllowN("ann", l, events).OK {
			}
			d := n.AllowN("ann", l, events)
			if d.RetryAfter <= 0 || d.RetryAfter == stint.Never {
				r.Fatalf("%d events: got %+v", events, d)
			}
			time.Sleep(d.RetryAfter - 1)
			if n.AllowN("ann", l, events).OK {
				r.Errorf("%d events: admitted before RetryAfter was over", events)
			}
			time.Sleep(time.Nanosecond)
			if d := n.AllowN("ann", l, events); !d.OK {
				r.Errorf("%d events: got %+v after RetryAfter", events, d)
			}
		}
	})
}

// case 10: the narrow limit refuses under load, and the broad one counts what was
// admitted, everywhere.
func TestTakeAllOfEveryAlgorithm(t *testing.T) {
	each(t, func(r *rig, narrow stint.Limit) {
		nodes := r.cluster(3)
		narrow = narrow.WithName("narrow")
		broad := stint.PerDay(1000).WithAlgorithm(stint.FixedWindow).WithName("broad")
		into := make([]stint.Decision, 2)
		var passed int64
		for i := range 300 {
			ok, err := nodes[i%3].TakeAll(context.Background(), []stint.Take{{Limit: broad, Key: "ann"}, {Limit: narrow, Key: "ann"}}, into)
			if err != nil {
				r.Fatal(err)
			}
			if ok {
				passed++
			} else if !into[0].OK || into[1].OK || into[1].Limit != "narrow" || into[1].RetryAfter <= 0 {
				r.Fatalf("refused with %+v", into)
			}
			time.Sleep(5 * time.Millisecond)
		}
		r.sync()
		r.checkRemaining(1000-passed, "ann", broad, nodes...)
	})
}

// cases 20, 21: from 100 to 50 with 70 used, and to 200, on all nodes or on some.
func TestSetLimitWhileInUse(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		nodes := r.cluster(3)
		nodes[2].Limiter(l)
		nodes[0].AllowN("ann", l, 40)
		nodes[1].AllowN("ann", l, 30)
		r.sync()
		less, more := stint.PerHour(50).WithAlgorithm(l.Algorithm).WithName("api"), stint.PerHour(200).WithAlgorithm(l.Algorithm).WithName("api")
		set := func(l stint.Limit, nodes ...*stint.Node) {
			for _, n := range nodes {
				if err := n.SetLimit(l); err != nil {
					r.Fatal(err)
				}
			}
		}
		left := func(n *stint.Node) int64 { return n.Limiter(mustLimit(r, n)).Peek("ann").Remaining }
		set(less, nodes[0])
		for i, want := range []int64{0, 30, 30} {
			if got := left(nodes[i]); got != want {
				r.Errorf("%d of three on 50/h: node %d has %d left, want %d", 1, i, got, want)
			}
		}
		nodes[2].Limiter(l).AllowN("ann", 5)
		r.sync()
		for i, want := range []int64{0, 25, 25} {
			if got := left(nodes[i]); got != want {
				r.Errorf("after 5 more: node %d has %d left, want %d", i, got, want)
			}
		}
		set(more, nodes...)
		for i, n := range nodes {
			if got := left(n); got != 125 {
				r.Errorf("on 200/h node %d has %d left, want 125", i, got)
			}
		}
		set(less, nodes...)
		for i, n := range nodes {
			d := n.Limiter(less).Allow("ann")
			if d.OK || d.Remaining != 0 {
				r.Errorf("on 50/h node %d answers %+v", i, d)
			}
		}
	})
}

func mustLimit(r *rig, n *stint.Node) stint.Limit {
	r.Helper()
	l, ok := n.Limit("api")
	if !ok {
		r.Fatal("no limit in force")
	}
	return l
}

// A change of the algorithm carries over what is used.
func TestSetAlgorithmWhileInUse(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		for _, to := range metered {
			nodes := r.cluster(2)
			nodes[0].AllowN("ann", l, 70)
			r.sync()
			next := stint.PerHour(100).WithAlgorithm(to).WithName("api")
			for _, n := range nodes {
				if err := n.SetLimit(next); err != nil {
					r.Fatal(err)
				}
			}
			nodes[1].Limiter(next).AllowN("ann", 10)
			r.sync()
			for i, n := range nodes {
				if got := n.Limiter(next).Peek("ann").Remaining; got != 20 {
					r.Errorf("to %s: node %d has %d left, want 20", to, i, got)
				}
			}
			for i, n := range nodes {
				n.Close(context.Background())
				r.net.Host(ip(i)).Crash()
			}
		}
	})
}

// A leaky bucket's decision says after how long the take may go.
func TestLeakyBucketDelays(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.alone()
		l := stint.PerSecond(10).WithAlgorithm(stint.LeakyBucket).WithBurst(5).WithName("calls")
		for i := range 5 {
			if d := n.Allow("ann", l); !d.OK || d.Delay != time.Duration(i)*100*time.Millisecond {
				r.Errorf("take %d: got %+v, want a delay of %d ms", i, d, 100*i)
			}
		}
		if d := n.Allow("ann", l); d.OK || d.Delay != 0 || d.RetryAfter != 100*time.Millisecond {
			r.Errorf("got %+v of a full queue", d)
		}
	})
}

// case 12, at a node: one reset at local midnight, the 25-hour day too.
func TestCalendarDay(t *testing.T) {
	inBubble(t, func(r *rig) {
		l := stint.PerDay(10).WithCalendar(stint.CalendarDay, "Europe/Paris").WithName("daily")
		paris, err := time.LoadLocation("Europe/Paris")
		if err != nil {
			r.Fatal(err)
		}
		for _, day := range []time.Time{
			time.Date(2000, 3, 26, 0, 0, 0, 0, paris), time.Date(2000, 6, 1, 0, 0, 0, 0, paris), time.Date(2000, 10, 29, 0, 0, 0, 0, paris),
		} {
			time.Sleep(time.Until(day))
			n := r.open(stint.Config{MaxKeys: fewKeys, SyncInterval: 2 * time.Second})
			if got := admitted(n, "ann", l, 20); got != 10 {
				r.Errorf("%v: %d admitted at midnight, want 10", day, got)
			}
			next := day.AddDate(0, 0, 1)
			if d := n.Allow("ann", l); d.RetryAfter.Round(time.Millisecond) != next.Sub(day) {
				r.Errorf("%v: got %v to wait, want %v", day, d.RetryAfter, next.Sub(day))
			}
			time.Sleep(time.Until(next) - time.Second)
			if n.Allow("ann", l).OK {
				r.Errorf("%v: admitted before the day was over", day)
			}
			time.Sleep(time.Second)
			if got := admitted(n, "ann", l, 20); got != 10 {
				r.Errorf("%v: %d admitted a day later, want 10", day, got)
			}
			n.Close(bg)
		}
	})
}

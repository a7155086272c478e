package stint_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

var bg = context.Background()

// cases 11, 23: what is cancelled comes back exactly, once, everywhere.
func TestReserveAndCancel(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		nodes := r.cluster(2)
		one, err := nodes[0].Reserve(bg, "ann", l, 30)
		if err != nil || !one.OK {
			r.Fatalf("got %+v, %v", one, err)
		}
		two, err := nodes[1].Reserve(bg, "ann", l, 20)
		if err != nil || !two.OK {
			r.Fatalf("got %+v, %v", two, err)
		}
		r.sync()
		r.checkRemaining(50, "ann", l, nodes...)
		one.Cancel()
		one.Cancel()
		r.sync()
		r.checkRemaining(80, "ann", l, nodes...)
		two.Cancel()
		r.sync()
		r.checkRemaining(100, "ann", l, nodes...)
	})
}

func TestReserveRefusedInShared(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		n := r.alone()
		n.AllowN("ann", l, 100)
		res, err := n.Reserve(bg, "ann", l, 1)
		if err != nil || res.OK || res.RetryAfter <= 0 {
			r.Errorf("got %+v, %v, want a refusal", res.Decision, err)
		}
		res.Cancel()
		if d := n.Peek("ann", l); d.Remaining != 0 {
			r.Errorf("%d remain after a refused reservation was cancelled", d.Remaining)
		}
	})
}

func TestReserveAheadInLocal(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.alone()
		l := stint.PerSecond(10).WithMode(stint.Local).WithName("local")
		n.AllowN("ann", l, 10)
		for i := 1; i <= 3; i++ {
			res, err := n.Reserve(bg, "ann", l, 1)
			if err != nil || !res.OK || res.Delay != time.Duration(i)*100*time.Millisecond || res.RetryAfter != 0 {
				r.Fatalf("reservation %d: got %+v, %v", i, res.Decision, err)
			}
		}
		last, _ := n.Reserve(bg, "ann", l, 10)
		if !last.OK || last.Delay != 1300*time.Millisecond {
			r.Errorf("got %+v for 10 more", last.Decision)
		}
		last.Cancel()
		if d := n.Peek("ann", l); d.RetryAfter != 400*time.Millisecond {
			r.Errorf("got %v to wait after a cancel, want 400ms", d.RetryAfter)
		}
		if res, err := n.Reserve(bg, "ann", l, 11); err != nil || res.OK || res.RetryAfter != stint.Never {
			r.Errorf("got %+v, %v for more than the burst", res.Decision, err)
		}
	})
}

func TestReturnAndReset(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		nodes := r.cluster(3)
		nodes[0].AllowN("ann", l, 60)
		r.sync()
		if got, err := nodes[1].Return(bg, "ann", l, 20); got != 20 || err != nil {
			r.Errorf("got %d, %v", got, err)
		}
		r.sync()
		r.checkRemaining(60, "ann", l, nodes...)
		if got, err := nodes[2].Return(bg, "ann", l, 1000); got != 40 || err != nil {
			r.Errorf("gave %d back of 40, %v", got, err)
		}
		r.sync()
		r.checkRemaining(100, "ann", l, nodes...)
		nodes[0].AllowN("ann", l, 70)
		r.sync()
		if got, err := nodes[1].Reset(bg, "ann", l); got != 70 || err != nil {
			r.Errorf("reset gave %d back of 70, %v", got, err)
		}
		r.sync()
		r.checkRemaining(100, "ann", l, nodes...)
		if _, err := nodes[0].Return(bg, "ann", l, -1); err == nil {
			r.Error("took a negative return")
		}
	})
}

// case 11: an estimate is settled, a holder dies.
func TestHoldSettleExpire(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		nodes := r.cluster(3)
		h, err := nodes[0].Hold(bg, "ann", l, 100, time.Minute)
		if err != nil || !h.OK {
			r.Fatalf("got %+v, %v", h, err)
		}
		r.sync()
		r.checkRemaining(0, "ann", l, nodes...)
		if no, err := nodes[1].Hold(bg, "ann", l, 1, time.Minute); err != nil || no.OK || no.ID() != (stint.HoldID{}) {
			r.Errorf("got %+v, %v for one more", no, err)
		}
		if err := h.Settle(bg, 37); err != nil {
			r.Fatal(err)
		}
		r.sync()
		r.checkRemaining(63, "ann", l, nodes...)
		if err := h.Release(bg); !errors.Is(err, stint.ErrNoHold) {
			r.Errorf("got %v for a second end", err)
		}

		dying, err := nodes[2].Hold(bg, "ann", l, 50, 10*time.Second)
		if err != nil || !dying.OK {
			r.Fatalf("got %+v, %v", dying, err)
		}
		r.sync()
		r.kill(2, nodes[2])
		r.checkRemaining(13, "ann", l, nodes[:2]...)
		time.Sleep(10 * time.Second)
		r.sync()
		r.checkRemaining(63, "ann", l, nodes[:2]...)
		if err := nodes[1].Settle(bg, dying.ID(), 20); err != nil {
			r.Errorf("settling after the end: %v", err)
		}
		r.sync()
		r.checkRemaining(43, "ann", l, nodes[:2]...)
	})
}

func TestHoldSettledByName(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		l := stint.PerHour(100).WithName("tokens")
		h, err := nodes[0].Hold(bg, "ann", l, 40, time.Minute)
		if err != nil {
			r.Fatal(err)
		}
		id, err := stint.ParseHoldID(h.ID().String())
		if err != nil || id != h.ID() {
			r.Fatalf("got %v, %v", id, err)
		}
		r.sync()
		if err := nodes[1].Settle(bg, id, 55); err != nil {
			r.Fatal(err)
		}
		r.sync()
		r.checkRemaining(45, "ann", l, nodes...)
		for _, bad := range []string{"", "zz", id.String() + "00"} {
			if _, err := stint.ParseHoldID(bad); err == nil {
				r.Errorf("took %q for a hold", bad)
			}
		}
		if _, err := nodes[0].Hold(bg, "ann", l, 1, 0); err == nil {
			r.Error("took a hold of no time")
		}
		if err := nodes[0].Settle(bg, stint.HoldID{}, 1); !errors.Is(err, stint.ErrNoHold) {
			r.Errorf("got %v for no hold", err)
		}
	})
}

// A node that was away while a hold was made and settled hears the truth, once.
func TestHoldThroughAPartition(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		nodes := r.cluster(3)
		kept, err := nodes[0].Hold(bg, "ann", l, 10, time.Minute)
		if err != nil {
			r.Fatal(err)
		}
		r.sync()
		r.net.Split(ip(2))
		h, err := nodes[0].Hold(bg, "ann", l, 50, time.Minute)
		if err != nil {
			r.Fatal(err)
		}
		if err := errors.Join(h.Settle(bg, 20), kept.Settle(bg, 5)); err != nil {
			r.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		r.checkRemaining(75, "ann", l, nodes[:2]...)
		r.checkRemaining(90, "ann", l, nodes[2])
		r.net.Heal()
		r.within(time.Minute, "the third has heard", func() bool { return nodes[2].Peek("ann", l).Remaining != 90 })
		r.sync()
		r.checkRemaining(75, "ann", l, nodes...)
	})
}

func TestBan(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		nodes := r.cluster(3)
		if err := nodes[0].Ban(bg, "eve", l, time.Minute); err != nil {
			r.Fatal(err)
		}
		r.sync()
		for _, n := range nodes {
			if d := n.Allow("eve", l); d.OK || d.Remaining != 0 || d.RetryAfter <= 59*time.Second || d.RetryAfter > time.Minute {
				r.Errorf("%s: got %+v of a banned key", n.Name(), d)
			}
			if !n.Allow("ann", l).OK {
				r.Errorf("%s: another key is refused", n.Name())
			}
			bans := n.Bans()
			if len(bans) != 1 || bans[0].Limit != "api" || bans[0].Key != "eve" || bans[0].For <= 59*time.Second {
				r.Errorf("%s: got bans %+v", n.Name(), bans)
			}
		}
		if err := nodes[2].Unban(bg, "eve", l); err != nil {
			r.Fatal(err)
		}
		r.sync()
		for _, n := range nodes {
			if d := n.Peek("eve", l); !d.OK || d.Remaining != 100 || len(n.Bans()) != 0 {
				r.Errorf("%s: got %+v, bans %v after the ban was lifted", n.Name(), d, n.Bans())
			}
		}
		if err := nodes[1].Ban(bg, "eve", l, time.Second); err != nil {
			r.Fatal(err)
		}
		time.Sleep(time.Second + 50*time.Millisecond)
		for _, n := range nodes {
			if d := n.Allow("eve", l); !d.OK {
				r.Errorf("%s: got %+v after the ban was over", n.Name(), d)
			}
		}
	})
}

func TestBanErrors(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.alone()
		l := stint.PerHour(10).WithName("api")
		tests := []struct {
			name string
			err  error
			want string
		}{
			{"no time", n.Ban(bg, "eve", l, 0), "positive"},
			{"for ages", n.Ban(bg, "eve", l, stint.Never), "at most"},
			{"a limit that cannot be had", n.Ban(bg, "eve", stint.PerHour(-1), time.Minute), "Events"},
			{"unlimited", n.Ban(bg, "eve", stint.Unlimited(), time.Minute), "unlimited"},
			{"blocked", n.Ban(bg, "eve", stint.Blocked(), time.Minute), "blocked"},
		}
		for _, tt := range tests {
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
				r.Errorf("%s: got %v, want a word of %q", tt.name, tt.err, tt.want)
			}
		}
	})
}

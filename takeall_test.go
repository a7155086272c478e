package stint_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// case 10
func TestTakeAllLeavesTheFirstUntouched(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		user := stint.PerHour(10).WithName("user")
		total := stint.PerHour(5).WithName("total")
		nodes[0].AllowN("", total, 5)
		r.sync()
		for _, n := range nodes {
			into := make([]stint.Decision, 2)
			ok, err := n.TakeAll(context.Background(), []stint.Take{{Limit: user, Key: "ann", N: 3}, {Limit: total}}, into)
			if ok || err != nil {
				t.Fatalf("%s: got %v, %v, want it refused", n.Name(), ok, err)
			}
			if d := into[0]; !d.OK || d.Remaining != 10 || d.Limit != "user" {
				t.Errorf("%s: got %+v of the one that would have passed", n.Name(), d)
			}
			if d := into[1]; d.OK || d.RetryAfter <= 0 || d.RetryAfter > 12*time.Minute || d.Limit != "total" {
				t.Errorf("%s: got %+v of the one that refused", n.Name(), d)
			}
		}
		r.sync()
		r.checkRemaining(10, "ann", user, nodes...)
		r.checkRemaining(0, "", total, nodes...)
		for _, n := range nodes {
			if got := n.Stats().Keys; got != 1 {
				t.Errorf("%s: got %d keys, want the used one only", n.Name(), got)
			}
		}
	})
}

func TestTakeAllTogether(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		user := stint.PerHour(10).WithName("user")
		total := stint.PerHour(50).WithName("total")
		takes := []stint.Take{{Limiter: nodes[0].Limiter(user), Key: "ann", N: 2}, {Limit: total, N: 4}, {Limit: stint.Unlimited(), Key: "ann"}}
		into := make([]stint.Decision, 4)
		if ok, err := nodes[0].TakeAll(context.Background(), takes, into); !ok || err != nil {
			t.Fatalf("got %v, %v", ok, err)
		}
		if into[0].Remaining != 8 || into[1].Remaining != 46 || !into[2].OK || into[3] != (stint.Decision{}) {
			t.Errorf("got %+v", into)
		}
		r.sync()
		r.checkRemaining(8, "ann", user, nodes...)
		r.checkRemaining(46, "", total, nodes...)
	})
}

func TestTakeAllDuplicatesAddUp(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.alone()
		ten := stint.PerHour(10).WithName("ten")
		same := func(events ...int64) []stint.Take {
			var takes []stint.Take
			for i, e := range events {
				take := stint.Take{Limit: ten, Key: "ann", N: e}
				if i%2 == 1 { // the same limit, however it is named
					take = stint.Take{Limiter: n.Limiter(ten), Key: "ann", N: e}
				}
				takes = append(takes, take)
			}
			return takes
		}
		into := make([]stint.Decision, 3)
		ok, err := n.TakeAll(context.Background(), same(4, 5, 2), into)
		if ok || err != nil || !into[0].OK || !into[1].OK || into[2].OK {
			t.Errorf("got %v, %v, %+v of 4+5+2 from 10", ok, err, into)
		}
		r.checkRemaining(10, "ann", ten, n)
		ok, err = n.TakeAll(context.Background(), same(4, 5, 0), into) // 0 means 1
		if !ok || err != nil || into[0].Remaining != 6 || into[1].Remaining != 1 || into[2].Remaining != 0 {
			t.Errorf("got %v, %v, %+v of 4+5+1 from 10", ok, err, into)
		}
		r.checkRemaining(0, "ann", ten, n)
	})
}

func TestTakeAllManyKeys(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		five := stint.PerHour(5).WithName("five")
		var takes []stint.Take
		for i := range 100 {
			takes = append(takes, stint.Take{Limit: five, Key: fmt.Sprint("key-", i), N: int64(i%5) + 1})
		}
		into := make([]stint.Decision, 100)
		if ok, err := nodes[0].TakeAll(context.Background(), takes, into); !ok || err != nil {
			t.Fatalf("got %v, %v of a hundred", ok, err)
		}
		if ok, err := nodes[0].TakeAll(context.Background(), takes, into); ok || err != nil {
			t.Fatalf("got %v, %v of a hundred once more", ok, err)
		}
		r.sync()
		for i := range takes {
			r.checkRemaining(4-int64(i%5), takes[i].Key, five, nodes...)
		}
	})
}

// Waiting for the longest of the waits is enough.
func TestTakeAllRetryAfterIsTrue(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.alone()
		a, b := stint.PerMinute(6).WithName("a"), stint.PerMinute(2).WithName("b")
		takes := []stint.Take{{Limit: a, N: 3}, {Limit: b}, {Limit: a, N: 2}}
		into := make([]stint.Decision, 3)
		n.AllowN("", a, 6)
		n.AllowN("", b, 2)
		if ok, err := n.TakeAll(context.Background(), takes, into); ok || err != nil {
			t.Fatalf("got %v, %v", ok, err)
		}
		want := []time.Duration{30 * time.Second, 30 * time.Second, 50 * time.Second}
		for i, d := range into {
			if d.RetryAfter != want[i] {
				t.Errorf("take %d: got a wait of %v, want %v", i, d.RetryAfter, want[i])
			}
		}
		time.Sleep(50*time.Second - time.Nanosecond)
		if ok, _ := n.TakeAll(context.Background(), takes, into); ok {
			t.Error("admitted a nanosecond early")
		}
		time.Sleep(time.Nanosecond)
		if ok, _ := n.TakeAll(context.Background(), takes, into); !ok {
			t.Errorf("got %+v after the longest wait", into)
		}
	})
}

func TestTakeAllErrors(t *testing.T) {
	inBubble(t, func(r *rig) {
		n, stranger := r.alone(), r.alone()
		ten := stint.PerHour(10).WithName("ten")
		good := stint.Take{Limit: ten, Key: "ann"}
		tests := []struct {
			name  string
			takes []stint.Take
			room  int
			want  string
		}{
			{"no room", []stint.Take{good, good}, 1, "room for 1 decisions on 2 takes"},
			{"negative", []stint.Take{good, {Limit: ten, Key: "ann", N: -2}}, 2, "take 1: a take of -2 events"},
			{"another node's", []stint.Take{good, {Limiter: stranger.Limiter(ten)}}, 2, "take 1: the limiter of ten belongs to another node"},
			{"no limit", []stint.Take{good, {Key: "ann"}}, 2, "take 1: limit: Events and Per are not set"},
		}
		for _, tt := range tests {
			ok, err := n.TakeAll(context.Background(), tt.takes, make([]stint.Decision, tt.room))
			if ok || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, %v, want an error that says %q", tt.name, ok, err, tt.want)
			}
		}
		r.checkRemaining(10, "ann", ten, n)
		if ok, err := n.TakeAll(context.Background(), nil, nil); !ok || err != nil {
			t.Errorf("got %v, %v of no takes at all", ok, err)
		}
	})
}

package stint_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// A verb is one of the ways to take n events, which all must decide alike.
type verb struct {
	name string
	take func(n *stint.Node, key string, l stint.Limit, events int64) (stint.Decision, error)
}

var verbs = []verb{
	{"Node.AllowN", func(n *stint.Node, key string, l stint.Limit, events int64) (stint.Decision, error) {
		return n.AllowN(key, l, events), nil
	}},
	{"Limiter.AllowN", func(n *stint.Node, key string, l stint.Limit, events int64) (stint.Decision, error) {
		return n.Limiter(l).AllowN(key, events), nil
	}},
	{"Node.Take", func(n *stint.Node, key string, l stint.Limit, events int64) (stint.Decision, error) {
		return n.Take(context.Background(), key, l, events)
	}},
	{"Limiter.Take", func(n *stint.Node, key string, l stint.Limit, events int64) (stint.Decision, error) {
		return n.Limiter(l).Take(gone(), key, events)
	}},
}

func TestTakeOnALoneNode(t *testing.T) {
	const never = stint.Never
	ten := stint.PerMinute(10).WithName("ten")
	tests := []struct {
		name   string
		limit  stint.Limit
		before int64 // taken at once before
		after  time.Duration
		n      int64
		want   stint.Decision
	}{
		{"first", ten, 0, 0, 1, stint.Decision{OK: true, Remaining: 9, ResetAfter: 6 * time.Second}},
		{"several", ten, 2, 0, 3, stint.Decision{OK: true, Remaining: 5, ResetAfter: 30 * time.Second}},
		{"the last", ten, 9, 0, 1, stint.Decision{OK: true, ResetAfter: time.Minute}},
		{"one too many", ten, 10, 0, 1, stint.Decision{RetryAfter: 6 * time.Second, ResetAfter: time.Minute}},
		{"two too many", ten, 9, 2 * time.Second, 3, stint.Decision{Remaining: 1, RetryAfter: 10 * time.Second, ResetAfter: 52 * time.Second}},
		{"once it is back", ten, 10, 6 * time.Second, 1, stint.Decision{OK: true, ResetAfter: time.Minute}},
		{"nothing, of a fresh key", ten, 0, 0, 0, stint.Decision{OK: true, Remaining: 10}},
		{"nothing, of a key in use", ten, 4, 0, 0, stint.Decision{OK: true, Remaining: 6, ResetAfter: 24 * time.Second}},
		{"nothing, of an empty key", ten, 10, 0, 0, stint.Decision{OK: true, ResetAfter: time.Minute}},
		{"more than the burst", ten, 3, 0, 11, stint.Decision{Remaining: 7, RetryAfter: never, ResetAfter: 18 * time.Second}},
		{"all there is", ten, 0, 0, math.MaxInt64, stint.Decision{Remaining: 10, RetryAfter: never}},
		{"burst apart from the rate", ten.WithBurst(20), 15, 0, 5, stint.Decision{OK: true, ResetAfter: 2 * time.Minute}},
		{"local", ten.WithMode(stint.Local), 9, 0, 2, stint.Decision{Remaining: 1, RetryAfter: 6 * time.Second, ResetAfter: 54 * time.Second, Source: stint.SourceLocal}},
		{"blocked", stint.Blocked().WithName("ten"), 0, 0, 1, stint.Decision{RetryAfter: never}},
		{"blocked, nothing", stint.Blocked().WithName("ten"), 0, 0, 0, stint.Decision{RetryAfter: never}},
		{"unlimited", stint.Unlimited().WithName("ten"), 1 << 50, 0, math.MaxInt64, stint.Decision{OK: true, Remaining: math.MaxInt64}},
		{"one in ten years", stint.Limit{Name: "ten", Events: 1, Per: 87648 * time.Hour}, 1, time.Second, 1, stint.Decision{RetryAfter: 87648*time.Hour - time.Second, ResetAfter: 87648*time.Hour - time.Second}},
		{"one in three seconds", stint.Limit{Name: "ten", Events: 1, Per: 3 * time.Second}, 1, time.Second, 1, stint.Decision{RetryAfter: 2 * time.Second, ResetAfter: 2 * time.Second}},
		{"the fastest", stint.PerSecond(math.MaxInt64).WithName("ten"), 0, 0, math.MaxInt64, stint.Decision{OK: true, ResetAfter: time.Second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				want := tt.want
				want.Limit = "ten"
				if tt.limit.Mode == stint.Shared {
					want.Source = stint.SourceShared
				}
				for _, v := range verbs {
					n := r.alone()
					n.AllowN("ann", tt.limit, tt.before)
					time.Sleep(tt.after)
					if got, err := v.take(n, "ann", tt.limit, tt.n); err != nil || got != want {
						r.Errorf("%s: got\n%+v, %v, want\n%+v", v.name, got, err, want)
					}
				}
			})
		})
	}
}

func TestNegativeTake(t *testing.T) {
	inBubble(t, func(r *rig) {
		ten := stint.PerMinute(10).WithName("ten")
		for _, v := range verbs {
			n := r.alone()
			n.AllowN("ann", ten, 4)
			for _, events := range []int64{-1, math.MinInt64} {
				got, err := v.take(n, "ann", ten, events)
				if strings.HasSuffix(v.name, "Take") {
					if err == nil || got != (stint.Decision{}) {
						t.Errorf("%s: got %+v, %v, want an error", v.name, got, err)
					}
				} else if got.OK || got.RetryAfter != stint.Never || got.Limit != "ten" {
					t.Errorf("%s: got %+v, want it refused for ever", v.name, got)
				}
			}
			r.checkRemaining(6, "ann", ten, n)
		}
	})
}

// case 2
func TestFirstTakeAboveTheBurst(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		five := stint.PerHour(5).WithName("five")
		if d := nodes[0].AllowN("ann", five, 6); d.OK || d.RetryAfter != stint.Never || d.Remaining != 5 {
			t.Errorf("got %+v of 6 from 5, want it refused for ever and 5 remaining", d)
		}
		r.sync()
		r.checkRemaining(5, "ann", five, nodes...)
		if d := nodes[0].Allow("ann", five); !d.OK || d.Remaining != 4 {
			t.Errorf("got %+v of 1 afterwards, want 4 remaining", d)
		}
	})
}

func TestPeekChangesNothing(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.alone()
		ten := stint.PerMinute(10).WithName("ten")
		lim := n.Limiter(ten)
		n.AllowN("ann", ten, 9)
		want := stint.Decision{OK: true, Limit: "ten", Remaining: 1, ResetAfter: 54 * time.Second, Source: stint.SourceShared}
		for range 3 {
			if got := n.Peek("ann", ten); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if got := lim.Peek("ann"); got != want {
				t.Errorf("got %+v of the limiter, want %+v", got, want)
			}
		}
		n.Allow("ann", ten)
		if got := n.Peek("ann", ten); got.OK || got.RetryAfter != 6*time.Second {
			t.Errorf("got %+v of an empty key, want a wait of 6s", got)
		}
		if got := n.Stats().Keys; got != 1 {
			t.Errorf("got %d keys, want 1: to look at one is not to keep it", got)
		}
		if got := n.Peek("bob", ten); !got.OK || got.Remaining != 10 || n.Stats().Keys != 1 {
			t.Errorf("got %+v and %d keys of a fresh one", got, n.Stats().Keys)
		}
	})
}

// case 26
func TestOddKeys(t *testing.T) {
	long := strings.Repeat("k", 10_000)
	keys := []string{"", "\n", "a\nb", "a\r\nb", "{}", "{a}b", "\x00", "\xff\xfe", " ", long, long + "k", strings.Repeat("\n", 10_000)}
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		nine := stint.PerDay(9).WithName("nine")
		for i, key := range keys {
			nodes[0].AllowN(key, nine, int64(i%8)+1)
		}
		r.sync()
		for i, key := range keys {
			r.checkRemaining(8-int64(i%8), key, nine, nodes...)
		}
	})
}

// case 24
func TestTwoLimitsOneKey(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		a, b := stint.PerHour(5).WithName("a"), stint.PerHour(5).WithName("b")
		unnamed, other := stint.PerHour(5), stint.PerHour(6)
		nodes[0].AllowN("ann", a, 5)
		nodes[0].AllowN("ann", unnamed, 4)
		r.sync()
		r.checkRemaining(0, "ann", a, nodes...)
		r.checkRemaining(5, "ann", b, nodes...)
		r.checkRemaining(1, "ann", unnamed, nodes...)
		r.checkRemaining(6, "ann", other, nodes...)
		// Nothing that follows from how name and key are put together, either.
		nodes[0].AllowN("bc", stint.PerHour(5).WithName("ab"), 5)
		r.checkRemaining(5, "c", stint.PerHour(5).WithName("abb"), nodes[0])
		r.checkRemaining(5, "bbc", a, nodes[0])
	})
}

// case 22, on a node
func TestTakeUnderABadLimit(t *testing.T) {
	tests := []struct {
		name  string
		limit stint.Limit
		want  error
		text  string
	}{
		{"absent", stint.Limit{}, nil, "not set"},
		{"negative", stint.PerSecond(-1), nil, "Events is -1"},
		{"strict", stint.PerSecond(1).WithMode(stint.Strict), stint.ErrNotSupported, "strict"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				n := r.alone()
				bad := tt.limit.WithName("bad")
				lim := n.Limiter(bad)
				_, err := n.Take(context.Background(), "ann", bad, 1)
				_, lerr := lim.Take(context.Background(), "ann", 1)
				_, aerr := n.TakeAll(context.Background(), []stint.Take{{Limit: bad, Key: "ann"}}, make([]stint.Decision, 1))
				for _, err := range []error{err, lerr, aerr, lim.Err(), n.SetLimit(bad)} {
					if err == nil || !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), "bad") || tt.want != nil && !errors.Is(err, tt.want) {
						t.Errorf("got error %v, want one about bad that says %q", err, tt.text)
					}
				}
				refusals := []stint.Decision{n.Allow("ann", bad), n.AllowN("ann", bad, 0), n.Peek("ann", bad), lim.Allow("ann"), lim.Peek("ann")}
				for _, d := range refusals {
					if d.OK || d.RetryAfter != stint.Never || d.Limit != "bad" {
						t.Errorf("got %+v, want it refused for ever", d)
					}
				}
				if lim.Limit() != bad || len(n.Limits()) != 0 {
					t.Errorf("got %v bound and %v in force", lim.Limit(), n.Limits())
				}
			})
		})
	}
}

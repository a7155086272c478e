package bucket

import (
	"testing"

	"pgregory.net/rapid"
)

// TestCharge: (time, before, charged, after), T is 1 s, the burst 5.
func TestCharge(t *testing.T) {
	l := New(1, second, 5)
	tests := []struct {
		name     string
		now, at  int64 // s
		n, start int64
		debt     int64 // s
		after    int64 // s
		forgiven int64
	}{
		{"on a full bucket", 100, 0, 3, 99, 5, 102, 0},
		{"on one in use", 100, 102, 3, 99, 5, 105, 0},
		{"heard late, full since", 100, 90, 3, 80, 5, 93, 0},
		{"heard late, it was full then", 100, 80, 3, 95, 5, 98, 0},
		{"to the brim", 100, 100, 5, 100, 0, 105, 0},
		{"into debt", 100, 105, 3, 100, 5, 108, 0},
		{"to the bottom", 100, 105, 5, 100, 5, 110, 0},
		{"past it", 100, 105, 7, 100, 5, 110, 2},
		{"past it from the bottom", 100, 110, 7, 100, 5, 110, 7},
		{"past it from below", 100, 120, 7, 100, 5, 120, 7},
		{"no debt allowed", 100, 103, 4, 100, 0, 105, 2},
		{"a negative debt is none", 100, 103, 4, 100, -9, 105, 2},
		{"nothing", 100, 102, 0, 100, 5, 102, 0},
		{"a refund", 100, 104, -3, 100, 5, 101, 0},
		{"a refund out of debt", 100, 109, -3, 100, 5, 106, 0},
		{"a refund past full", 100, 102, -9, 100, 5, 93, 0},
		{"a refund below the bottom", 100, 120, -3, 100, 5, 117, 0},
		// A peer that lies about times is charged up to the cap, and what is cut off
		// counts no more events than it told; once it counted all up to that time.
		{"from the future", 100, 100, 2, 1 << 30, 5, 110, 2},
		{"a refund from the future", 100, 100, -2, 1 << 30, 5, 110, 0},
	}
	for _, test := range tests {
		r := l.RunFrom(test.n, test.start*second)
		got, forgiven := l.Charge(State{At: test.at * second}, test.now*second, r, test.debt*second)
		if want := (State{At: test.after * second}); got != want || forgiven != test.forgiven {
			t.Errorf("%s: %+v, forgiven %d; want %+v, %d", test.name, got, forgiven, want, test.forgiven)
		}
	}
}

// TestHugeMessage: a peer's message of more than any limit is charged as the debt
// allowed, and is never read as a fresh bucket (case 27).
func TestHugeMessage(t *testing.T) {
	l := New(100, second, 50)
	for _, n := range []int64{101, 1e6, 1 << 30, 1<<63 - 1} {
		now := 10 * second
		s, forgiven := l.Charge(State{}, now, l.RunFrom(n, now), l.DebtStale())
		if want := n - 100; forgiven != want && n < 1<<40 { // beyond, the count is cut
			t.Errorf("%d events: forgiven %d, want %d", n, forgiven, want)
		}
		if got := l.Remaining(s, now); got != 0 {
			t.Errorf("%d events: %d remain", n, got)
		}
		if got, want := l.RetryAfter(s, now, 1), second/2+second/100; got != want {
			t.Errorf("%d events: RetryAfter = %d, want %d", n, got, want)
		}
	}
}

// TestDebtCaps: promise 4. Fresh news is charged in full up to what all the other
// nodes can have spent; stale news never shuts a key out for longer than (burst+n)·T.
// What is cut off is counted: to the event, rounded down once a charge.
func TestDebtCaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Filter(func(l *Limit) bool { return l.Debt(100) < far }).Draw(t, "limit")
		now := rapid.Int64Range(0, far/4).Draw(t, "now")
		s := stateOf(l, now, near(l)).Draw(t, "state")
		n := rapid.OneOf(rapid.Int64Range(1, 10*l.burst), rapid.Int64Range(1, 1e15)).Draw(t, "n")
		start := now - rapid.Int64Range(0, near(l)).Draw(t, "age")
		nodes := rapid.IntRange(2, 100).Draw(t, "nodes")
		stale := rapid.Bool().Draw(t, "stale")
		debt := l.Debt(nodes)
		if stale {
			debt = l.DebtStale()
		}

		got, forgiven := l.Charge(s, now, l.RunFrom(n, start), debt)
		inFull, _ := l.Charge(s, now, l.RunFrom(n, start), Never)
		cut := l.sub(span{inFull.At, inFull.Rem}, span{got.At, got.Rem})
		if want := min(n, l.events(cut)); forgiven != want {
			t.Fatalf("forgiven %d, want %d of %d", forgiven, want, n)
		}
		if at(l, got).Cmp(at(l, s)) < 0 || at(l, inFull).Cmp(at(l, got)) < 0 {
			t.Fatalf("charged %+v, before %+v, in full %+v", got, s, inFull)
		}
		bottom := sum(sum(exact(now), events(l, l.burst)), exact(debt))
		if at(l, got).Cmp(later(bottom, at(l, s))) > 0 {
			t.Fatalf("At = %v, below the bottom %s", got, bottom.FloatString(9))
		}
		if at(l, inFull).Cmp(bottom) <= 0 && forgiven != 0 {
			t.Fatalf("forgiven %d above the bottom", forgiven)
		}
		if stale && at(l, s).Cmp(bottom) <= 0 {
			k := rapid.Int64Range(1, l.burst).Draw(t, "k")
			if wait, most := l.RetryAfter(got, now, k), ceil(events(l, l.burst+k)); wait > most {
				t.Fatalf("RetryAfter(%d) = %d, above %d", k, wait, most)
			}
		}
	})
}

// TestFreshDebtHoldsAllOthersSpend: in a cluster of any size, what every other node
// can have spent within the time that news is fresh is charged in full.
func TestFreshDebtHoldsAllOthersSpend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Filter(func(l *Limit) bool { return l.Debt(100) < far }).Draw(t, "limit")
		now := FreshFor + rapid.Int64Range(0, far/4).Draw(t, "now")
		nodes := rapid.IntRange(2, 100).Draw(t, "nodes")
		each := l.burst + l.events(span{FreshFor, 0})
		s := State{At: now + rapid.Int64Range(0, l.all.ns).Draw(t, "used")}
		for node := range nodes - 1 {
			var forgiven int64
			s, forgiven = l.Charge(s, now, l.RunFrom(each, now-FreshFor), l.Debt(nodes))
			if forgiven != 0 {
				t.Fatalf("node %d: forgiven %d of %d", node, forgiven, each)
			}
		}
	})
}

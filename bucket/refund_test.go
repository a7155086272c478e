package bucket

import (
	"testing"

	"pgregory.net/rapid"
)

// TestMixedRuns: takes and refunds of one node in one run. A run that gives back
// more than it takes once lost its takes, where a refund had found the bucket full:
// the receiver then had more to give than the origin.
func TestMixedRuns(t *testing.T) {
	type step struct{ now, n int64 }
	l := New(1, 1, 10) // T is 1 ns
	tests := []struct {
		name   string
		before int64 // At
		steps  []step
		after  int64
	}{
		{"taken and given back", 0, []step{{100, 5}, {100, -5}}, 100},
		{"given back in part", 0, []step{{100, 5}, {102, -2}}, 103},
		{"given back while in use", 108, []step{{100, -5}}, 103},
		{"given back when full", 0, []step{{100, -5}}, 95},
		{"given back when full, then less taken", 0, []step{{100, -7}, {101, 5}}, 106},
		{"given back when full, then as much taken", 0, []step{{100, -5}, {101, 5}}, 106},
		{"given back when full, then more taken", 0, []step{{100, -5}, {101, 7}}, 108},
		{"given back in use, then taken", 104, []step{{100, -2}, {101, 5}}, 107},
	}
	for _, test := range tests {
		var r Run
		for _, s := range test.steps {
			r = l.Extend(r, s.now, s.n)
		}
		wire := l.RunFrom(r.N, l.Start(r))
		got, forgiven := l.Charge(State{At: test.before}, 110, wire, 0)
		if want := (State{At: test.after}); got != want || forgiven != 0 {
			t.Errorf("%s: %+v, forgiven %d; want %+v, 0", test.name, got, forgiven, want)
		}
	}
}

// TestRefundStopsAtFull: a refund of any size leaves at most a full bucket, now,
// later, and under whatever is charged after it.
func TestRefundStopsAtFull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Draw(t, "limit")
		now := rapid.Int64Range(0, near(l)).Draw(t, "now")
		s := stateOf(l, now, l.all.ns).Draw(t, "state")
		back := rapid.OneOf(rapid.Int64Range(1, l.burst), rapid.Int64Range(1, 1<<62)).Draw(t, "back")

		got, forgiven := l.Charge(s, now, l.Extend(Run{}, now, -back), l.Debt(2))
		if forgiven != 0 {
			t.Fatalf("forgiven = %d", forgiven)
		}
		before, after := l.Remaining(s, now), l.Remaining(got, now)
		if after < before || after > l.burst {
			t.Fatalf("Remaining %d, and after a refund of %d: %d, of %d", before, back, after, l.burst)
		}
		if inUse := l.events(l.used(s, now)); back < inUse && after > before+back {
			t.Fatalf("Remaining %d, and after a refund of %d: %d", before, back, after)
		}

		if at(l, got).Cmp(exact(now)) > 0 {
			return
		}
		later := now + rapid.Int64Range(0, near(l)).Draw(t, "wait")
		r := l.Extend(Run{}, later, rapid.Int64Range(1, l.burst).Draw(t, "n"))
		if got, want := charged(l, got, r), charged(l, State{At: now}, r); got != want {
			t.Fatalf("charged after a refund: %+v, want %+v as from a full bucket", got, want)
		}
	})
}

package bucket

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// plenty is a debt that nothing in these tests reaches.
const plenty = far

// runs draws runs of takes, of refunds and of both, with times from 0 to bound.
func runs(l *Limit, bound int64) *rapid.Generator[Run] {
	most := min(1e6, l.events(span{bound, 0}))
	return rapid.Custom(func(t *rapid.T) Run {
		return Run{
			N: rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-most, most)).Draw(t, "n"),
			M: rapid.Int64Range(-bound, bound).Draw(t, "m"),
		}
	})
}

func charged(l *Limit, s State, rs ...Run) State {
	for _, r := range rs {
		s, _ = l.Charge(s, 0, r, plenty)
	}
	return s
}

// TestComposeIsExact: applying Compose(a, b) equals applying a and then b, on any
// state and for runs of either sign. Where T is not a whole number of nanoseconds M
// is rounded up, and the one may leave At later than the other by less than 1 ns;
// never earlier.
func TestComposeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Draw(t, "limit")
		s := stateOf(l, 0, near(l)).Draw(t, "state")
		a, b := runs(l, near(l)).Draw(t, "a"), runs(l, near(l)).Draw(t, "b")
		ab := l.Compose(a, b)
		if ab.N != a.N+b.N {
			t.Fatalf("N = %d, want %d", ab.N, a.N+b.N)
		}
		want := charged(l, s, a, b)
		got := charged(l, s, ab)
		checkAbove(t, l, got, at(l, want), 1)
	})
}

// checkAbove: got − want is 0 if T is whole, else in [0, ns).
func checkAbove(t rapid.TB, l *Limit, got State, want *big.Rat, ns int64) {
	t.Helper()
	d := diff(at(l, got), want)
	if d.Sign() == 0 {
		return
	}
	if d.Sign() < 0 || whole(l) || d.Cmp(exact(ns)) >= 0 {
		t.Fatalf("At = %v, want %s: off by %s ns", got, want.FloatString(9), d.FloatString(9))
	}
}

// TestComposeIsAssociative: exactly, if T is whole; else M grouped from the left may
// be 1 ns above M grouped from the right.
func TestComposeIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Draw(t, "limit")
		g := runs(l, near(l))
		a, b, c := g.Draw(t, "a"), g.Draw(t, "b"), g.Draw(t, "c")
		left := l.Compose(l.Compose(a, b), c)
		right := l.Compose(a, l.Compose(b, c))
		if left.N != right.N || left.M < right.M || left.M > right.M+1 || whole(l) && left != right {
			t.Fatalf("(ab)c = %+v, a(bc) = %+v", left, right)
		}
	})
}

// TestZeroRun: composing with it changes no run of events that happened from 0 on.
func TestZeroRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Draw(t, "limit")
		r := l.RunFrom(rapid.Int64Range(1, 1e6).Draw(t, "n"), rapid.Int64Range(0, near(l)).Draw(t, "start"))
		if got := l.Compose(Run{}, r); got != r {
			t.Fatalf("Compose(Run{}, %+v) = %+v", r, got)
		}
		if got := l.Compose(r, Run{}); got != r {
			t.Fatalf("Compose(%+v, Run{}) = %+v", r, got)
		}
	})
}

// TestExtendIsCompose: a take appended is the run of that take alone, composed.
func TestExtendIsCompose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Draw(t, "limit")
		r := runs(l, near(l)).Draw(t, "run")
		now := rapid.Int64Range(0, near(l)).Draw(t, "now")
		n := rapid.Int64Range(-1000, 1000).Draw(t, "n")
		got, want := l.Extend(r, now, n), l.Compose(r, l.RunFrom(n, now))
		if got.N != want.N || got.M < want.M || got.M > want.M+1 || whole(l) && got != want {
			t.Fatalf("Extend(%+v, %d, %d) = %+v, want %+v", r, now, n, got, want)
		}
	})
}

// TestStart: RunFrom(N, Start(r)) is r, or r with M 1 ns above where T is not whole.
func TestStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Draw(t, "limit")
		r := runs(l, near(l)).Draw(t, "run")
		got := l.RunFrom(r.N, l.Start(r))
		if got.N != r.N || got.M < r.M || got.M > r.M+1 || whole(l) && got != r {
			t.Fatalf("RunFrom(%d, %d) = %+v, want %+v", r.N, l.Start(r), got, r)
		}
	})
}

// TestStartOfTakes: the effective start of takes lies between the first and the last
// of them.
func TestStartOfTakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Draw(t, "limit")
		times := rapid.SliceOfN(rapid.Int64Range(0, near(l)), 1, 20).Draw(t, "times")
		slices.Sort(times)
		var r Run
		for _, now := range times {
			r = l.Extend(r, now, rapid.Int64Range(1, 50).Draw(t, "n"))
		}
		first, last := times[0], times[len(times)-1]
		// Every take may have been rounded up by 1 ns.
		if got := l.Start(r); got < first || got > last+int64(len(times)) {
			t.Fatalf("Start = %d, want within %d … %d", got, first, last)
		}
	})
}

// take is one take at one node.
type take struct{ now, n, node int64 }

func takes(l *Limit) *rapid.Generator[[]take] {
	return rapid.Custom(func(t *rapid.T) []take {
		one := rapid.Custom(func(t *rapid.T) take {
			return take{
				rapid.Int64Range(0, near(l)).Draw(t, "now"),
				rapid.Int64Range(1, 50).Draw(t, "n"),
				rapid.Int64Range(0, 3).Draw(t, "node"),
			}
		})
		all := rapid.SliceOfN(one, 1, 30).Draw(t, "takes")
		slices.SortStableFunc(all, func(a, b take) int { return int(min(max(a.now-b.now, -1), 1)) })
		return all
	})
}

// inOrder applies takes one by one as they happened, exactly.
func inOrder(l *Limit, s State, all []take) *big.Rat {
	x := at(l, s)
	for _, k := range all {
		x = sum(later(x, exact(k.now)), events(l, k.n))
	}
	return x
}

// TestChargesCommute: takes of four nodes, told as runs cut at random and delivered
// in any order, never leave At earlier (more remaining) than in order of time; nor
// later than if none had found a full bucket. Where none did, the order is no
// matter at all.
func TestChargesCommute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Draw(t, "limit")
		s := stateOf(l, 0, near(l)).Draw(t, "state")
		all := takes(l).Draw(t, "takes")
		got := charged(l, s, rapid.Permutation(cut(t, l, all)).Draw(t, "order")...)

		want := inOrder(l, s, all)
		if at(l, got).Cmp(want) < 0 {
			t.Fatalf("At = %v, before %s", got, want.FloatString(9))
		}
		last := all[len(all)-1].now
		most := sum(later(at(l, s), exact(last)), exact(int64(len(all)))) // rounding up
		busy := at(l, State{At: last})
		for _, k := range all {
			most = sum(most, events(l, k.n))
			busy = sum(busy, events(l, k.n))
		}
		if at(l, got).Cmp(most) > 0 {
			t.Fatalf("At = %v, after %s", got, most.FloatString(9))
		}

		s.At = addSat(ceil(busy), int64(len(all))) // in use all the time
		got = charged(l, s, rapid.Permutation(cut(t, l, all)).Draw(t, "order")...)
		if want := inOrder(l, s, all); at(l, got).Cmp(want) != 0 {
			t.Fatalf("At = %v, want %s", got, want.FloatString(9))
		}
	})
}

// cut makes the runs of each node, up to five of them.
func cut(t *rapid.T, l *Limit, all []take) []Run {
	runs := make(map[int64]Run)
	for _, k := range all {
		id := k.node*5 + rapid.Int64Range(0, 4).Draw(t, "run")
		runs[id] = l.Extend(runs[id], k.now, k.n)
	}
	var out []Run
	for id := range int64(20) {
		if r, ok := runs[id]; ok {
			out = append(out, r)
		}
	}
	return out
}

// TestRunOfOneNode: its takes, told as one run, leave what they left at the node
// itself, up to 1 ns a take later if T is not whole.
func TestRunOfOneNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := usual.Draw(t, "limit")
		s := stateOf(l, 0, near(l)).Draw(t, "state")
		all := takes(l).Draw(t, "takes")
		var r Run
		for _, k := range all {
			r = l.Extend(r, k.now, k.n)
		}
		checkAbove(t, l, charged(l, s, r), inOrder(l, s, all), int64(len(all)))
	})
}

package window

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestLaws: any limit, any state, any moment, any ask (case 7).
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLimit.Draw(t, "limit")
		wall := rapid.OneOf(rapid.Int64Range(-far, far), number).Draw(t, "wall")
		s := stateOf(l, l.Frame(wall)).Draw(t, "state")
		n := rapid.OneOf(rapid.Int64Range(0, l.events), number).Draw(t, "n")
		checkTake(t, l, s, wall, n)
		checkCharge(t, l, s, wall, number.Draw(t, "from"), number.Draw(t, "per"), number.Draw(t, "charge"))
	})
}

// TestAnyFrame: a frame that does not hold the moment, or is none, gives no sense and no
// panic.
func TestAnyFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLimit.Draw(t, "limit")
		f := Frame{number.Draw(t, "f"), number.Draw(t, "f"), number.Draw(t, "f"), number.Draw(t, "f")}
		s, wall, n := stateOf(l, f).Draw(t, "state"), number.Draw(t, "wall"), number.Draw(t, "n")
		l.Charge(&s, f, number.Draw(t, "from"), number.Draw(t, "per"), n)
		if got := l.Remaining(s, f, wall); got < 0 || got > l.events {
			t.Fatalf("Remaining = %d of %d", got, l.events)
		}
		if l.ResetAfter(s, f, wall) < 0 || l.RetryAfter(s, f, wall, n) < 0 {
			t.Fatal("a wait is negative")
		}
		l.Take(&s, f, wall, n)
	})
	l := NewSliding(5, 1)
	s, f := State{10, [3]int64{0, math.MaxInt64}}, Frame{9, 10, 11, 12}
	if got := l.Used(s, f, math.MinInt64); got != math.MaxInt64 {
		t.Errorf("Used = %d", got)
	}
	if got := l.Used(State{10, [3]int64{0, 1000}}, f, 1000); got != 1000 {
		t.Errorf("Used = %d", got)
	}
}

// checkFrame: the frame holds its moment, and within 73 years it joins its neighbours.
func checkFrame(t rapid.TB, l *Limit, wall int64) Frame {
	f := l.Frame(wall)
	if !f.Contains(wall) {
		t.Fatalf("Frame(%d) = %+v", wall, f)
	}
	if wall < -far || wall > far || l.per > far/8 {
		return f
	}
	next, last := l.Frame(f.To), l.Frame(f.From-1)
	if next.Before != f.From || next.From != f.To || next.To != f.After || f.Contains(f.To) {
		t.Fatalf("Frame(%d) = %+v, the next is %+v", wall, f, next)
	}
	if last.From != f.Before || last.To != f.From || last.After != f.To || f.Contains(f.From-1) {
		t.Fatalf("Frame(%d) = %+v, the last is %+v", wall, f, last)
	}
	return f
}

// checkTake: answers agree with each other; a refusal changes nothing; what remains can
// be taken, and no more; waiting is enough, and waiting less is not (case 17).
func checkTake(t rapid.TB, l *Limit, s State, wall, n int64) {
	f := checkFrame(t, l, wall)
	left, used := l.Remaining(s, f, wall), l.Used(s, f, wall)
	if left < 0 || left > l.events || used < 0 || left != max(0, l.events-used) {
		t.Fatalf("Remaining = %d of %d, Used = %d", left, l.events, used)
	}
	retry, reset := l.RetryAfter(s, f, wall, n), l.ResetAfter(s, f, wall)
	if retry < 0 || reset < 0 || (reset == 0) != (used == 0 && left == l.events && !waiting(l, s, f)) {
		t.Fatalf("RetryAfter = %d, ResetAfter = %d, Used = %d", retry, reset, used)
	}
	if n < 0 || n > l.events {
		if retry != Never {
			t.Fatalf("RetryAfter(%d) = %d, want Never", n, retry)
		}
	}
	took := s
	charged, after, wait := l.Take(&took, f, wall, n)
	if wait != retry || (wait == 0) != (n >= 0 && n <= l.events-used) {
		t.Fatalf("Take(%d): wait %d, RetryAfter = %d, Used = %d of %d", n, wait, retry, used, l.events)
	}
	if wait == 0 {
		if after != left-n || l.Remaining(took, f, wall) != after || charged < n {
			t.Fatalf("Take(%d) of %d left: charged %d, leaves %d", n, left, charged, after)
		}
		return
	}
	rolled := s
	if l.Roll(&rolled, f); took != rolled || charged != 0 || after != left {
		t.Fatalf("refused Take(%d): %+v, was %+v; charged %d, left %d of %d", n, took, rolled, charged, after, left)
	}
	if wait == Never || wall < -far || wall > far {
		return
	}
	if l.RetryAfter(rolled, l.Frame(wall+wait), wall+wait, n) != 0 {
		t.Fatalf("take of %d at %d refused after the %d ns of RetryAfter", n, wall, wait)
	}
	if l.RetryAfter(rolled, l.Frame(wall+wait-1), wall+wait-1, n) == 0 {
		t.Fatalf("take of %d at %d passes 1 ns before the %d ns of RetryAfter", n, wall, wait)
	}
	if l.AtRest(rolled, wall+wait-1) {
		t.Fatalf("%+v is at rest at %d, and refuses", rolled, wall+wait-1)
	}
}

// waiting reports whether something was counted in the window ahead.
func waiting(l *Limit, s State, f Frame) bool {
	return l.Roll(&s, f) == 1 && s.Counts[0] > 0
}

// checkCharge: what is charged is used, and nothing is minted by it.
func checkCharge(t rapid.TB, l *Limit, s State, wall, from, per, n int64) {
	f := l.Frame(wall)
	charged := s
	landed := l.Charge(&charged, f, from, per, n)
	was, is := l.Used(s, f, wall), l.Used(charged, f, wall)
	if !landed && was != is || n >= 0 && is < was || n <= 0 && is > was {
		t.Fatalf("Charge(%d, %d, %d) = %v: used %d, was %d", from, per, n, landed, is, was)
	}
	if is > was && is-was > max(n, 0) {
		t.Fatalf("Charge(%d, %d, %d): used %d, was %d", from, per, n, is, was)
	}
	again := charged
	l.Roll(&again, f)
	if again != charged {
		t.Fatalf("Charge left %+v, which rolls to %+v", charged, again)
	}
}

// TestNothingRises: within a fixed window remaining never rises unless events are
// returned, and never leaves 0 … events (case 8).
func TestNothingRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := limitOf(NewFixed(rapid.Int64Range(1, 50).Draw(t, "events"), minute))
		wall := rapid.Int64Range(0, far).Draw(t, "wall") / minute * minute
		f := l.Frame(wall)
		var s State
		left := l.events
		for f.Contains(wall) {
			n := rapid.Int64Range(1, 10).Draw(t, "n")
			back := false
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				l.Charge(&s, f, f.From, minute, n)
			case 1:
				l.Charge(&s, f, f.From, minute, -n)
				back = true
			default:
				l.Take(&s, f, wall, n)
			}
			now := l.Remaining(s, f, wall)
			if now < 0 || now > l.events || now > left && !back {
				t.Fatalf("%d remain, %d before, returned: %v", now, left, back)
			}
			left, wall = now, wall+rapid.Int64Range(0, 5*second).Draw(t, "step")
		}
		if got := l.Remaining(s, l.Frame(wall), wall); got != l.events {
			t.Fatalf("%d remain in the next window, want %d", got, l.events)
		}
	})
}

// TestClockBack: wherever a clock goes back to, a key never has more remaining than
// before unless it is in a window that it was in before; and it is itself again once this
// window, and for sliding ones the next, is over (case 13).
func TestClockBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLimit.Filter(func(l *Limit) bool { return l.events < far && l.per <= 1<<50 }).Draw(t, "limit")
		wall := rapid.Int64Range(-far/2, far/2).Draw(t, "wall")
		f := l.Frame(wall)
		s := State{From: rapid.SampledFrom([]int64{f.From, f.To}).Draw(t, "from")}
		for i := range s.Counts {
			s.Counts[i] = rapid.Int64Range(-1, l.events).Draw(t, "count")
		}
		back := wall - rapid.Int64Range(0, far/2).Draw(t, "back")
		g := l.Frame(back)
		left := l.Remaining(s, f, wall)
		if s.From >= g.After && l.Remaining(s, g, back) > left {
			t.Fatalf("%+v: %d remain at %d, %d at %d before", s, l.Remaining(s, g, back), back, left, wall)
		}
		l.Roll(&s, g)
		over := g.After
		if l.sliding {
			over += l.per
		}
		if wait := l.RetryAfter(s, g, back, l.events); wait > over-back {
			t.Fatalf("%+v at %d: the whole limit after %d, want at most %d", s, back, wait, over-back)
		}
	})
}

// TestWide: products that take 128 bits are divided as big numbers are.
func TestWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		per := rapid.OneOf(rapid.Int64Range(1, maxPer), rapid.SampledFrom([]int64{1, 2, 3, maxPer - 1, maxPer})).Draw(t, "per")
		l := NewSliding(1, per)
		count := rapid.Int64Range(1, math.MaxInt64).Draw(t, "count")
		left := rapid.Int64Range(1, per).Draw(t, "left")
		weight := new(big.Int).Mul(big.NewInt(count), big.NewInt(left))
		weight.Add(weight, big.NewInt(per-1)).Div(weight, big.NewInt(per))
		if got, want := l.weigh(count, left), weight.Int64(); got != want {
			t.Fatalf("%d of which %d of %d is left weigh %d, want %d", count, left, per, got, want)
		}
		room := rapid.Int64Range(0, count).Draw(t, "room")
		view := l.view(count, room)
		if view < 0 || view > per || view > 0 && l.weigh(count, view) > room || view < per && l.weigh(count, view+1) <= room {
			t.Fatalf("view of %d in %d: %d of %d", count, room, view, per)
		}
	})
}

package table

import (
	"math"
	"testing"

	"github.com/stint-go/stint/bucket"
)

// cutOf is what a table gives of its one key.
func cutOf(t *testing.T, donor *Table, now int64) (all []Saved) {
	t.Helper()
	donor.Cut(now, 0, math.MaxUint64, noNews, func(_ *Limit, s *Saved) { all = append(all, *s) })
	return all
}

// A bucket that has just become full is given all the same: what was spent elsewhere
// before that comes on top of what was spent here. Left out, a newcomer had more left than
// the same takes in order of time leave.
func TestCutGivesWhatHasJustCameToRest(t *testing.T) {
	const start = 1000 * second
	donor, tab := New(Config{Record: true}), New(Config{Record: true})
	d := def(10, second, 10)
	l, m := define(t, donor, "a", d), define(t, tab, "a", d)
	donor.Take(l, 7, start, 5) // full again at 500 ms
	tab.Take(m, 7, start, 5)   // in truth 10 are used
	now := int64(start + 600_000_000)
	saved := cutOf(t, donor, now)
	if len(saved) != 1 {
		t.Fatalf("got %d keys, want the one that has been full for 100 ms", len(saved))
	}
	tab.Merge(m, now, Other{Saved: &saved[0], As: l.Def(), Exact: true})
	if got := tab.Peek(m, 7, now, 0).Remaining; got != 6 {
		t.Errorf("got %d left, want 6 of 10: 10 were taken, 6 are back", got)
	}
	if again := cutOf(t, donor, start+bucket.FreshFor+600_000_000); len(again) != 0 {
		t.Errorf("got %v, want nothing of a key at rest for longer than news is fresh", again)
	}
}

// Parts of a nanosecond are counted in parts that a limit's rate says: those of a full
// bucket under another limit mean nothing. Carried over, they made the remaining events
// wrap round.
func TestMergeOfARestingBucketUnderAnotherRate(t *testing.T) {
	const now = 1000 * second
	tab := New(Config{})
	m := define(t, tab, "a", def(1_000_000, second, 3_000_000))
	other := def(7, 3*second, 7) // in sevenths of a nanosecond
	tab.Merge(m, now, Other{Saved: &Saved{Hash: 7, At: now - second, Rem: 6}, As: &other})
	if got := tab.Take(m, 7, now, 1); !got.OK || got.Remaining != 2_999_999 {
		t.Errorf("got %+v, want 2,999,999 left", got)
	}
	check(t, tab)
}

// Where all that a table has of a key is its own, the donor's count with that on top is
// the count, though it is less: some of it was given back elsewhere.
func TestMergeExactly(t *testing.T) {
	const now = 1005 * second
	for name, d := range kinds(50, 1000*second) {
		for _, exact := range []bool{false, true} {
			donor, tab := New(Config{Record: true}), New(Config{Record: true})
			l, m := define(t, donor, name, d), define(t, tab, name, d)
			donor.Take(l, 7, now, 3) // what is left of the 9, given back to 3
			tab.Take(m, 7, now, 9)
			tab.Drain(false, noNews)
			tab.Take(m, 7, now, 2)
			saved := cutOf(t, donor, now)
			tab.Merge(m, now, Other{Saved: &saved[0], As: l.Def(), Exact: exact})
			want := int64(50 - 9 - 2)
			if exact {
				want = 50 - 3 - 2
			}
			if got := tab.Peek(m, 7, now, 0).Remaining; got != want {
				t.Errorf("%s, exact %v: got %d left, want %d", name, exact, got, want)
			}
			check(t, tab)
		}
	}
}

// What is unsent stays in its window where the donor is one ahead, and where this table is.
func TestMergeKeepsUnsentInItsWindow(t *testing.T) {
	const per, now = 10 * second, 1000 * second
	d := kinds(50, per)["fixed"]
	for _, ahead := range []int64{-per, 0, per} {
		donor, tab := New(Config{Record: true}), New(Config{Record: true})
		l, m := define(t, donor, "a", d), define(t, tab, "a", d)
		donor.Charge(l, 7, now, Row{4, now + max(ahead, 0), per}, 0)
		tab.Take(m, 7, now, 3)
		if ahead < 0 {
			tab.Charge(m, 7, now, Row{2, now + per, per}, 0)
		}
		saved := cutOf(t, donor, now)
		tab.Merge(m, now, Other{Saved: &saved[0], As: l.Def(), Exact: true})
		var got []Row
		tab.Drain(false, func(_ *Limit, _ uint64, r Row) { got = append(got, r) })
		if len(got) != 1 || got[0] != (Row{3, now, per}) {
			t.Errorf("donor %d windows ahead: got %v unsent, want 3 in the window of now", ahead/per, got)
		}
		check(t, tab)
	}
}

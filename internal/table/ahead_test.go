package table

import "testing"

// TestNewsAheadOverABoundary: what is unsent of a window that has just ended is told,
// though the first thing that happens in the next is news from a peer of the one after.
func TestNewsAheadOverABoundary(t *testing.T) {
	for name, d := range map[string]Def{"fixed": fixed(10, 10*second), "sliding": sliding(10, 10*second)} {
		tab := New(Config{Record: true})
		l := define(t, tab, "x", d)
		tab.Take(l, 7, 105*second, 3)
		tab.Charge(l, 7, 112*second, Row{2, 120 * second, 10 * second}, 0)
		var got []Row
		tab.Drain(false, func(_ *Limit, _ uint64, r Row) { got = append(got, r) })
		if want := (Row{3, 100 * second, 10 * second}); len(got) != 1 || got[0] != want {
			t.Errorf("%s: told %v, want %v", name, got, want)
		}
	}
}

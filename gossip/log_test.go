package gossip

import (
	"slices"
	"testing"
)

// Coalescing composes what was spent first with what was spent then, in this order,
// whichever side is the larger; it keeps the earliest urgency and the latest cut.
func TestCoalescingKeepsTheOrder(t *testing.T) {
	w := newWorld(t)
	a := w.born("a", func(c *Config) {
		c.Compose = func(a, b Entry) Entry { a.N, a.Start = a.N+b.N, 10*a.Start+b.Start; return a }
	})
	a.Up(w.now, 9, "absent")
	drains := [][]Entry{
		{{1, 1, 1, 1, 0}},
		{{1, 1, 1, 2, 0}, {1, 2, 1, 2, 0}, {2, 1, 1, 2, 0}},
		{{1, 2, 1, 3, 0}},
		{{1, 1, 1, 4, 0}, {1, 2, 1, 4, 0}, {1, 3, 1, 4, 0}, {1, 4, 1, 4, 0}, {1, 5, 1, 4, 0}},
		{{1, 1, 1, 5, 0}, {2, 1, 1, 5, 0}},
	}
	for i, d := range drains {
		a.Append(w.now+int64(i), w.now-int64(i%3), d)
	}
	s := a.log.segments[0]
	want := map[windowKey]Entry{
		about(1, 1): {1, 1, 4, 1245, 0}, about(1, 2): {1, 2, 3, 234, 0}, about(2, 1): {2, 1, 2, 25, 0},
		about(1, 3): {1, 3, 1, 4, 0}, about(1, 4): {1, 4, 1, 4, 0}, about(1, 5): {1, 5, 1, 4, 0},
	}
	if len(s.entries) != len(want) || s.from != 0 || s.to != 5 {
		t.Fatalf("got %d entries in (%d, %d], want %d in (0, 5]", len(s.entries), s.from, s.to, len(want))
	}
	for _, e := range s.entries {
		if e != want[keyOf(e)] {
			t.Errorf("got %v, want %v", e, want[keyOf(e)])
		}
	}
	if s.first != w.now-2 || s.last != w.now+4 {
		t.Errorf("got first %d, last %d; want −2, 4", s.first-w.now, s.last-w.now)
	}
}

// Of two definitions of one limit in one segment the later stands.
func TestCoalescingKeepsTheLaterDefinition(t *testing.T) {
	w := newWorld(t)
	a := w.born("a")
	a.Up(w.now, 9, "absent")
	for _, d := range []Definition{{1, "a", "1/s"}, {2, "b", "1/s"}, {1, "a", "2/s"}, {3, "c", "1/s"}, {2, "b", "3/s"}} {
		a.define(d)
	}
	want := []Definition{{1, "a", "2/s"}, {2, "b", "3/s"}, {3, "c", "1/s"}}
	if got := a.log.segments[0].defs; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Entries that the caller changes afterwards are not the log's.
func TestAppendCopies(t *testing.T) {
	w := newWorld(t)
	a := w.born("a")
	a.Up(w.now, 9, "absent")
	entries := []Entry{{1, 1, 5, w.now, 0}}
	a.Append(w.now, w.now, entries)
	entries[0].N = 7
	if got := a.log.segments[0].entries[0].N; got != 5 {
		t.Errorf("got %d, want 5", got)
	}
}

// A drain is cut where it would not fit a frame, and an empty one is none.
func TestDrainsFitFrames(t *testing.T) {
	for _, test := range []struct {
		entries, frame int
		want           uint64
	}{{0, 280, 0}, {1, 280, 1}, {10, 280, 1}, {11, 280, 2}, {35, 280, 4}, {3, 1, 3}} {
		w := newWorld(t)
		a := w.born("a", func(c *Config) { c.MaxFrame = test.frame })
		a.Up(w.now, 9, "absent")
		a.Append(w.now, w.now, typical(test.entries, w.now))
		if entries, _ := a.Size(); a.Head() != test.want || entries != test.entries {
			t.Errorf("%d entries, frames of %d: got %d drains of %d entries, want %d", test.entries, test.frame, a.Head(), entries, test.want)
		}
	}
}

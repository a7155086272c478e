package gossip

import (
	"slices"
	"testing"
)

// Rule 5. All live definitions follow each START, the newest of each, in a few parts if
// they need them.
func TestDefinitionsFollowEachStart(t *testing.T) {
	small := func(c *Config) { c.MaxFrame = 100 }
	w := newWorld(t)
	a, b := w.born("a", small), w.born("b", small)
	var want []Definition
	for i := range 10 {
		d := Definition{ID: uint64(10 - i), Name: "limit", Text: "10/s"}
		a.define(d)
		d.Text = "20/s"
		a.define(d)
		a.define(d)
		want = append(want, d)
	}
	slices.Reverse(want)
	if a.Head() != 20 {
		t.Errorf("got %d drains, want one for each change: 20", a.Head())
	}
	w.meet()
	for range 2 {
		b.defs = nil
		a.closed(b)
		a.open(b)
		w.handAll(w.take(kind(a, kindHello)))
		w.handAll(w.take(kind(b, kindWelcome)))
		if parts := w.take(kind(a, kindStart)); len(parts) < 3 {
			t.Fatalf("got %d parts, want several", len(parts))
		} else {
			w.handAll(parts[1:]) // the first is lost
			if b.Heard() {
				t.Fatal("half a START opened the session")
			}
		}
		w.pass(500 * ms)
		last := b.defs[max(0, len(b.defs)-len(want)):]
		if !a.Quiet() || !slices.Equal(last, want) {
			t.Errorf("quiet %v, got definitions %v, want %v", a.Quiet(), last, want)
		}
	}
}

// A START that arrives once more must not bring back the definitions of its time.
func TestLateStartKeepsNewerDefinitions(t *testing.T) {
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	a.define(Definition{1, "api", "10/s"})
	w.meet()
	w.handAll(w.take(kind(a, kindHello)))
	w.handAll(w.take(kind(b, kindWelcome)))
	start := w.take(kind(a, kindStart))
	w.handAll(start)
	a.define(Definition{1, "api", "20/s"})
	w.settle()
	w.handAll(start)
	if got := b.defs[len(b.defs)-1].Text; got != "20/s" {
		t.Errorf("got %q, want the newest definition", got)
	}
}

package gossip

import "testing"

// Connected is not in step. What comes and cannot be applied, because something before it
// is missing, is no sign of life: the lag grows until the number moves. Broken once: it
// was taken from the last frame of whatever kind.
func TestOverdue(t *testing.T) {
	w, a, b := pair(t)
	look := func() LinkStats { return b.Links(w.now)[0] }
	a.spend(1)
	w.settle()
	if s := look(); s.Overdue != 0 {
		t.Errorf("got news overdue for %d in step", s.Overdue)
	}
	start := w.now
	for range 28 { // less than Timeout
		w.skip(50 * ms)
		a.spend(1)
		a.tick()
		w.handAll(w.take(func(p packet) bool { // all but the batch that b waits for
			f := p.frame()
			return p.from == a && (f.batch == nil || f.batch.From > b.sources[a.id].cursor)
		}))
		w.takeAll()
	}
	s := look()
	if want := w.now - start - a.cfg.Keepalive; s.Overdue != want || s.Lag < want || s.LagMax < want {
		t.Errorf("got overdue %d, lags %d and %d, want %d at least", s.Overdue, s.Lag, s.LagMax, want)
	}
	if s.HeardAt < start+1000*ms {
		t.Errorf("last heard after %d: the test cut more than it should", s.HeardAt-start)
	}
	w.auto = true
	w.pass(2000 * ms)
	if s := look(); s.Overdue != 0 || s.Lag > 2000*ms {
		t.Errorf("got overdue %d, lag %d once the number has moved", s.Overdue, s.Lag)
	}
}

// A member that was never heard of is overdue from when it came up, again after a death.
func TestOverdueFromTheStart(t *testing.T) {
	w := newWorld(t)
	a, b := w.born("a"), w.born("b")
	for range 2 {
		a.up(b)
		w.skip(3000 * ms)
		a.up(b)
		if s := a.Links(w.now)[0]; s.Overdue != 3000*ms-a.cfg.Keepalive || s.LagMax != s.Overdue {
			t.Errorf("got overdue %d, lag %d after 3 s of silence", s.Overdue, s.LagMax)
		}
		a.down(b)
	}
}

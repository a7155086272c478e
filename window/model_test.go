package window

import (
	"math/rand/v2"
	"testing"
)

// TestModel makes a million random operations on a key of each kind of limit, and on the
// naive list of what happened: takes and charges of any sign, clocks that go back and
// far ahead. Every answer must be the same.
func TestModel(t *testing.T) {
	tests := []struct {
		name  string
		limit Limit
		per   int64 // about one window
	}{
		{"fixed", NewFixed(10, 60), 60},
		{"fixed wide", NewFixed(1000, minute), minute},
		{"sliding", NewSliding(10, 60), 60},
		{"sliding wide", NewSliding(1000, minute), minute},
		{"sliding odd", NewSliding(7, 11), 11},
		{"day", NewCalendar(10, Day, zone("Europe/Paris")), day},
		{"month", NewCalendar(10, Month, zone("America/Sao_Paulo")), 30 * day},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := &walk{l: &test.limit, per: test.per, r: rand.New(rand.NewPCG(3, uint64(i)))}
			w.m = &naive{l: w.l}
			w.wall = 1_700_000_000 * second
			ops := operations()
			if test.limit.unit != None {
				ops /= 10 // its arithmetic is that of fixed windows
			}
			for range ops {
				w.step()
				w.check(t)
				if t.Failed() {
					return
				}
			}
			if w.admitted < ops/50 || w.refused < ops/50 || w.late < ops/2000 {
				t.Errorf("admitted %d, refused %d, too late %d of %d: this shows little", w.admitted, w.refused, w.late, ops)
			}
		})
	}
}

// walk is a limit and its model on the way through time.
type walk struct {
	l    *Limit
	m    *naive
	r    *rand.Rand
	per  int64
	s    State
	wall int64

	admitted, refused, late int
}

// step moves the clock: a little most of the time, to the edges of windows, and sometimes
// anywhere.
func (w *walk) step() {
	f := w.l.Frame(w.wall)
	switch w.r.IntN(40) {
	case 0:
		w.wall = pick(w.r, f.From, f.From+1, f.To-1, f.To, f.To+1, f.After-1, f.After)
	case 1:
		w.wall = pick(w.r, f.From-1, f.Before, f.Before-1)
	case 2:
		w.wall += w.r.Int64N(4 * w.per)
	case 3:
		w.wall -= w.r.Int64N(4 * w.per)
	case 4:
		if w.r.IntN(20) == 0 {
			w.wall += pick(w.r, 1, -1) * w.r.Int64N(10*365*day)
		}
	default:
		w.wall += w.r.Int64N(w.per/20 + 2)
	}
	if w.wall < -50*365*day || w.wall > 100*365*day {
		w.wall = w.r.Int64N(50 * 365 * day)
	}
}

// check makes one operation on both.
func (w *walk) check(t *testing.T) {
	f := w.l.Frame(w.wall)
	if want := w.m.frame(w.wall); f != want {
		t.Fatalf("Frame(%d) = %+v, want %+v", w.wall, f, want)
	}
	if w.r.IntN(3) > 0 {
		w.take(t, f, pick(w.r, 1, 1, 1, 2, w.r.Int64N(w.l.events+2), w.l.events, 0, -1))
	} else {
		w.charge(t, f, pick(w.r, 1, 1, 3, w.r.Int64N(2*w.l.events), -1, -w.r.Int64N(w.l.events), 0))
	}
	w.views(t, f)
}

func (w *walk) take(t *testing.T, f Frame, n int64) {
	before := w.s
	charged, left, retry := w.l.Take(&w.s, f, w.wall, n)
	want, ok := w.m.take(w.wall, n)
	if charged != want || ok != (retry == 0) {
		t.Fatalf("Take(%+v, %d, %d) charged %d, retry %d; want %d, %v", before, w.wall, n, charged, retry, want, ok)
	}
	if want := max(0, w.l.events-w.m.used(f, w.wall)); left != want {
		t.Fatalf("Take(%+v, %d, %d): %d left, want %d", before, w.wall, n, left, want)
	}
	if ok {
		w.admitted++
		return
	}
	w.refused++
	if w.l.Roll(&before, f); w.s != before {
		t.Fatalf("refused take of %d changed %+v to %+v", n, before, w.s)
	}
	if got := w.l.RetryAfter(w.s, f, w.wall, n); got != retry {
		t.Fatalf("RetryAfter = %d, Take said %d", got, retry)
	}
	if w.r.IntN(4) == 0 {
		w.retry(t, f, n, retry)
	}
}

// retry checks a wait: it is enough, and no shorter one is. Within a window less is used
// as time goes by, so that its last moment speaks for all of it.
func (w *walk) retry(t *testing.T, f Frame, n, wait int64) {
	if wait == Never {
		if n >= 0 && n <= w.l.events {
			t.Fatalf("take of %d of %d: never", n, w.l.events)
		}
		return
	}
	if wait <= 0 {
		t.Fatalf("take of %d refused: retry after %d", n, wait)
	}
	at := w.wall + wait
	if !w.m.passes(at, n) {
		t.Fatalf("take of %d at %d refused after the %d of RetryAfter, state %+v", n, w.wall, wait, w.s)
	}
	for _, end := range []int64{at, f.To, f.After} {
		if end <= at && end > w.wall && w.m.passes(end-1, n) {
			t.Fatalf("take of %d at %d passes after %d, RetryAfter is %d, state %+v", n, w.wall, end-1-w.wall, wait, w.s)
		}
	}
}

func (w *walk) charge(t *testing.T, f Frame, n int64) {
	at := w.wall + w.r.Int64N(8*w.per) - 4*w.per
	own := w.m.frame(pick(w.r, w.wall, at))
	from, per := own.From, own.To-own.From
	if w.r.IntN(5) == 0 { // as another limit cuts it
		from, per = at, pick(w.r, 1, w.per, w.r.Int64N(3*w.per)+1)
	}
	before := w.s
	got := w.l.Charge(&w.s, f, from, per, n)
	if want := w.m.charge(w.wall, from, per, n); got != want {
		t.Fatalf("Charge(%+v, %d, %d, %d, %d) = %v, want %v", before, w.wall, from, per, n, got, want)
	}
	if !got {
		w.late++
	}
}

// views compares all that can be read, now and at another time.
func (w *walk) views(t *testing.T, f Frame) {
	m := w.m.clone()
	wall := w.wall
	if w.r.IntN(4) == 0 {
		wall += w.r.Int64N(6*w.per) - 3*w.per
		f = m.frame(wall)
		m.roll(f)
	}
	used := m.used(f, wall)
	if got := w.l.Used(w.s, f, wall); got != used {
		t.Fatalf("Used(%+v, %d) = %d, want %d", w.s, wall, got, used)
	}
	if got, want := w.l.Remaining(w.s, f, wall), max(0, w.l.events-used); got != want {
		t.Fatalf("Remaining(%+v, %d) = %d, want %d", w.s, wall, got, want)
	}
	reset := w.l.ResetAfter(w.s, f, wall)
	if reset < 0 || !m.passes(wall+reset, w.l.events) {
		t.Fatalf("ResetAfter(%+v, %d) = %d, and it is not", w.s, wall, reset)
	}
	if reset > 0 && m.passes(wall+reset-1, w.l.events) {
		t.Fatalf("ResetAfter(%+v, %d) = %d, and it is earlier", w.s, wall, reset)
	}
	if w.l.unit != None && wall < w.wall {
		return // a calendar's state forgets early what could only matter to clocks that go back
	}
	got, want := w.l.AtRest(w.s, wall), w.m.rests(wall)
	if got && !want || want && !got && w.l.unit == None {
		t.Fatalf("AtRest(%+v, %d) = %v, want %v", w.s, wall, got, want)
	}
}

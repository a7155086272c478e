package table

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

// plain is a key of any kind as it would be without a table around it: the arithmetic, and
// a map of what is to be told.
type plain struct {
	def    Def
	bucket bucket.State
	window window.State
	log    window.Log
	ban    int64
	news   map[Row]int64 // by where it lies; of buckets and logs only how much
}

// plains is a table of them.
type plains struct {
	t    *Table // asked for definitions and cluster time only
	keys map[modelID]*plain
}

func (m *plains) key(l *Limit, hash uint64, now int64) *plain {
	k := m.keys[modelID{l, hash}]
	if k == nil {
		k = &plain{def: *l.Def(), bucket: full, news: map[Row]int64{}}
		m.keys[modelID{l, hash}] = k
	}
	if k.def != *l.Def() {
		m.convert(k, *l.Def(), now)
	}
	return k
}

// convert is the rule for a change: what is used stays used.
func (m *plains) convert(k *plain, to Def, now int64) {
	from := k.def
	k.def = to
	switch {
	case from.Kind == Bucket && to.Kind == Bucket && k.bucket.At >= now:
		k.bucket = from.Bucket.Convert(k.bucket, now, &to.Bucket)
		return
	case from.Kind == Bucket && to.Kind == Bucket:
		k.bucket.Rem = 0
		return
	case from.Kind == Log && to.Kind == Log, from.Kind == Window && to.Kind == Window && from.Window.SameCut(&to.Window):
		return
	}
	used := m.used(&plain{def: from, bucket: k.bucket, window: k.window, log: k.log}, now)
	k.bucket, k.window, k.log = full, window.State{}, nil
	if used > 0 {
		m.apply(k, now, m.mark(k, now, used), bucket.Never)
	}
}

func (m *plains) frame(k *plain, now int64) (window.Frame, int64) {
	wall := m.t.Wall(now)
	return k.def.Window.Frame(wall), wall
}

func (m *plains) mark(k *plain, now, n int64) Row {
	if k.def.Kind != Window {
		return Row{n, now, 0}
	}
	f, _ := m.frame(k, now)
	return Row{n, f.From, f.To - f.From}
}

func (m *plains) used(k *plain, now int64) int64 {
	switch k.def.Kind {
	case Bucket:
		return k.def.Bucket.Used(k.bucket, now)
	case Window:
		f, wall := m.frame(k, now)
		return k.def.Window.Used(k.window, f, wall)
	}
	return k.def.Log.Used(k.log, now)
}

func (m *plains) peek(k *plain, now, n int64) (r Result) {
	switch k.def.Kind {
	case Bucket:
		_, ok := k.def.Bucket.Take(k.bucket, now, n)
		r = weighBucket(&k.def.Bucket, k.bucket, now, n, ok)
	case Window:
		f, wall := m.frame(k, now)
		retry := k.def.Window.RetryAfter(k.window, f, wall, n)
		r = Result{retry == 0, k.def.Window.Remaining(k.window, f, wall), retry, k.def.Window.ResetAfter(k.window, f, wall)}
	case Log:
		retry := k.def.Log.RetryAfter(k.log, now, n)
		r = Result{retry == 0, k.def.Log.Remaining(k.log, now), retry, k.def.Log.ResetAfter(k.log, now)}
	}
	if k.ban > now {
		r = Result{false, 0, max(r.RetryAfter, k.ban-now), max(r.ResetAfter, k.ban-now)}
	}
	return r
}

func (m *plains) take(k *plain, now, n int64, news bool) Result {
	if r := m.peek(k, now, n); !r.OK || n == 0 {
		return r
	}
	told := n
	switch k.def.Kind {
	case Bucket:
		k.bucket, _ = k.def.Bucket.Take(k.bucket, now, n)
	case Window:
		f, wall := m.frame(k, now)
		told, _, _ = k.def.Window.Take(&k.window, f, wall, n)
	case Log:
		k.def.Log.Take(&k.log, now, n)
	}
	if !news {
		told -= n
	}
	m.tell(k, m.mark(k, now, told))
	r := m.peek(k, now, 0)
	r.OK, r.RetryAfter = true, 0
	return r
}

// tell adds to the news of a key.
func (m *plains) tell(k *plain, r Row) {
	if !k.def.Shared || r.N == 0 {
		return
	}
	if r.Per == 0 {
		r.Start = 0
	}
	k.news[Row{Start: r.Start, Per: r.Per}] += r.N
}

func (m *plains) apply(k *plain, now int64, r Row, debt int64) {
	at := r.Start
	if r.Per != 0 {
		at = min(r.Start+r.Per-m.t.Wall(0), now)
	}
	switch k.def.Kind {
	case Bucket:
		k.bucket, _ = k.def.Bucket.Charge(k.bucket, now, k.def.Bucket.RunFrom(r.N, at), debt)
	case Window:
		f, wall := m.frame(k, now)
		if r.Per == 0 {
			g := k.def.Window.Frame(min(m.t.Wall(at), wall))
			r.Start, r.Per = g.From, g.To-g.From
		}
		k.def.Window.Charge(&k.window, f, r.Start, r.Per, r.N)
	case Log:
		k.def.Log.Charge(&k.log, now, at, r.N)
	}
}

// refund takes events out one by one, each where it counts.
func (m *plains) refund(k *plain, now, n int64, mark Row) (given int64) {
	if k.def.Kind == Window {
		f, _ := m.frame(k, now)
		k.def.Window.Roll(&k.window, f)
	}
	for ; given < n && m.used(k, now) > 0; given++ {
		before, one := *k, mark
		before.log = append(window.Log(nil), k.log...)
		one.N = -1
		if k.def.Kind == Bucket {
			one.Start, one.Per = now, 0
		}
		m.apply(k, now, one, 0)
		if !m.helped(&before, k, now) {
			*k = before
			break
		}
		if k.def.Kind != Window {
			m.tell(k, Row{N: -1})
			continue
		}
		f, wall := m.frame(k, now)
		from, per := m.t.windowOf(newVersion(k.def, 0, false), f, wall, one)
		g := k.def.Window.Frame(from)
		if g.From != from || g.To-g.From != per { // another cut
			g = k.def.Window.Frame(min(from+per-1, wall))
		}
		m.tell(k, Row{-1, g.From, g.To - g.From})
	}
	return given
}

// helped reports whether an event came back that counted, and would again.
func (m *plains) helped(before, after *plain, now int64) bool {
	if before.def.Kind != Window {
		return m.used(after, now) < m.used(before, now)
	}
	f, wall := m.frame(after, now)
	for i := range after.window.Counts {
		if n := before.window.Counts[i]; n != after.window.Counts[i] && n > 0 {
			probe := window.State{From: after.window.From}
			probe.Counts[i] = 1
			return after.def.Window.Used(probe, f, wall) > 0
		}
	}
	return false
}

func TestKindsAgainstModel(t *testing.T) {
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 17))
		tab := New(Config{Record: true, MaxKeys: 3000})
		tab.SetWall(1_000_000 * second)
		m := &plains{tab, map[modelID]*plain{}}
		// No fixed and sliding window of one cut: the entry of a fixed one goes when it is
		// over, or does not, and only then a change to the other finds it.
		defs := []Def{
			fixed(20, 10*second), fixed(30, 10*second), sliding(20, 15*second), sliding(25, 15*second), logging(20, 10*second),
			logging(12, 5*second), def(10, 10*second, 15), {Kind: Window, Window: window.NewFixed(10, 20*second)},
		}
		limits := []*Limit{}
		for i, name := range []string{"a", "b", "c", "d"} {
			limits = append(limits, define(t, tab, name, defs[2*i]))
		}
		marks := map[modelID][]Row{}
		now := int64(0)
		pick := func() (*Limit, uint64) { return limits[rnd.IntN(4)], mix(rnd.IntN(12)) }
		for step := range 8_000 {
			now += rnd.Int64N(second / 10)
			l, hash := pick()
			k, n, id := m.key(l, hash, now), rnd.Int64N(5), modelID{l, hash}
			fail := func(what string, got, want any) {
				t.Helper()
				t.Fatalf("seed %d step %d, %v: %s of %d: %+v, want %+v", seed, step, k.def.Kind, what, n, got, want)
			}
			switch op := rnd.IntN(1000); {
			case op < 400:
				want := m.take(k, now, n, true)
				if got := tab.Take(l, hash, now, n); got != want {
					fail("take", got, want)
				}
				if mark := tab.Mark(l, now); want.OK && len(marks[id]) < 20 {
					mark.N = n
					marks[id] = append(marks[id], mark)
				}
			case op < 450:
				want := m.take(k, now, n, false)
				if got := tab.Hold(l, hash, now, n); got != want {
					fail("hold", got, want)
				}
			case op < 550:
				if got, want := tab.Peek(l, hash, now, n), m.peek(k, now, n); got != want {
					fail("peek", got, want)
				}
			case op < 700:
				r := m.mark(k, now-rnd.Int64N(2*second), rnd.Int64N(9)-2)
				if r.Per == 0 {
					r.Start = max(now-rnd.Int64N(second), 0)
				}
				if r.N != 0 {
					tab.Charge(l, hash, now, r, hour)
					m.apply(k, now, r, hour)
				}
			case op < 780 && len(marks[id]) > 0:
				i := rnd.IntN(len(marks[id]))
				mark := marks[id][i]
				marks[id] = append(marks[id][:i], marks[id][i+1:]...)
				want := m.refund(k, now, mark.N, mark)
				if got := tab.Refund(l, hash, now, mark.N, mark); got != want {
					fail("refund", got, want)
				}
			case op < 790:
				want := m.used(k, now)
				if got := tab.Reset(l, hash, now); got != want {
					fail("reset", got, want)
				}
				m.reset(k, now)
			case op < 800:
				k.ban = now + rnd.Int64N(4*second) - second
				if err := tab.Ban(l, hash, now, k.ban); err != nil {
					t.Fatal(err)
				}
			case op < 900:
				m.takeAll(t, pick, rnd, now)
			case op < 910:
				define(t, tab, l.name, defs[rnd.IntN(len(defs))])
				for hash := range 12 {
					m.key(l, mix(hash), now)
					tab.Peek(l, mix(hash), now, 0) // so that both convert at one moment
				}
			case op < 960:
				m.drain(t, now)
			case op < 980:
				tab.Sweep(now, 4)
			case op < 990:
				tab.SetNodes(1 + rnd.IntN(9))
			default:
				tab.SetWall(tab.Wall(0) + rnd.Int64N(second/10) - second/20)
			}
		}
		check(t, tab)
		if got := tab.Stats(); got.Evicted+got.Overflowed > 0 {
			t.Errorf("seed %d: %+v, want room for all", seed, got)
		}
	}
}

func (m *plains) reset(k *plain, now int64) {
	switch k.def.Kind {
	case Window:
		f, wall := m.frame(k, now)
		for _, at := range []int64{f.From, f.Before} {
			g := k.def.Window.Frame(at)
			m.refund(k, wall-m.t.Wall(0), 1<<20, Row{0, g.From, g.To - g.From})
		}
	default:
		m.refund(k, now, 1<<20, Row{Start: now})
	}
}

// drain compares what is told: of a window exactly, else how much.
func (m *plains) drain(t *testing.T, now int64) {
	t.Helper()
	got := told(m.t)
	for id, k := range m.keys {
		sums := map[Row]int64{}
		for r, n := range got[id] {
			if r.Per == 0 {
				r.Start = 0
			}
			sums[r] += n
		}
		// What is two windows old is told or dropped, whichever comes first.
		over := func(r Row, n int64) bool { return n == 0 || r.Per != 0 && m.t.Wall(now)-r.Start > 2*r.Per }
		maps.DeleteFunc(sums, over)
		maps.DeleteFunc(k.news, over)
		if !maps.Equal(sums, k.news) {
			t.Fatalf("at %d: %v: told %v, want %v", now, k.def.Kind, sums, k.news)
		}
		k.news = map[Row]int64{}
	}
}

func (m *plains) takeAll(t *testing.T, pick func() (*Limit, uint64), rnd *rand.Rand, now int64) {
	t.Helper()
	asks := make([]Ask, 1+rnd.IntN(4))
	trial := &plains{m.t, map[modelID]*plain{}}
	want := true
	for i := range asks {
		asks[i].Limit, asks[i].Hash = pick()
		asks[i].N = rnd.Int64N(4)
		id := modelID{asks[i].Limit, asks[i].Hash}
		if trial.keys[id] == nil {
			k := *m.key(id.l, id.hash, now)
			k.log, k.news = append(window.Log(nil), k.log...), map[Row]int64{}
			trial.keys[id] = &k
		}
		want = want && trial.take(trial.keys[id], now, asks[i].N, true).OK
	}
	into := make([]Result, len(asks))
	if got := m.t.TakeAll(asks, now, into); got != want {
		t.Fatalf("TakeAll of %v = %v %v, want %v", asks, got, into, want)
	}
	for i, a := range asks {
		if want {
			if r := m.take(m.key(a.Limit, a.Hash, now), now, a.N, true); r != into[i] {
				t.Fatalf("ask %d of %v: %+v, want %+v", i, asks, into[i], r)
			}
		}
	}
}

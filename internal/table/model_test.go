package table

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stint-go/stint/bucket"
)

// model is a table that never forgets: a map, and the arithmetic of bucket.
type model struct {
	nodes int64
	keys  map[modelID]*modelKey
}

type modelID struct {
	l    *Limit
	hash uint64
}

type modelKey struct {
	def           Def // by which the rest is to be read
	gen           uint16
	state         bucket.State
	unsent        bucket.Run
	dirty, urgent bool
	sum, latest   int64 // of an unknown limit
}

// key is the state of a key under the definition in force.
func (m *model) key(l *Limit, hash uint64, now int64) *modelKey {
	k := m.keys[modelID{l, hash}]
	if k == nil {
		k = &modelKey{def: *l.Def(), gen: l.current.Load().gen, state: full, latest: full.At}
		m.keys[modelID{l, hash}] = k
	}
	if v := l.current.Load(); v.Kind == Bucket && k.gen != v.gen {
		d := v.Def
		b := d.Bucket
		switch k.def.Kind {
		case Unknown:
			k.state = full
			if k.sum > 0 {
				k.state, _ = b.Charge(full, now, b.RunFrom(k.sum, k.latest), b.DebtStale())
			}
		case Bucket:
			if k.state.At < now {
				k.state.Rem = 0
			} else {
				k.state = k.def.Bucket.Convert(k.state, now, &b)
			}
			if k.unsent.N != 0 {
				k.unsent = b.RunFrom(k.unsent.N, k.def.Bucket.Start(k.unsent))
			}
		}
		k.def, k.gen = d, v.gen
	}
	return k
}

func (m *model) peek(l *Limit, hash uint64, now, n int64) Result {
	d := *l.Def()
	switch d.Kind {
	case Unlimited:
		return Result{true, 1<<63 - 1, 0, 0}
	case Blocked, Unknown:
		return Result{false, 0, bucket.Never, 0}
	}
	k := *m.key(l, hash, now)
	_, ok := d.Bucket.Take(k.state, now, n)
	return m.result(&d.Bucket, k.state, now, n, ok)
}

func (m *model) result(b *bucket.Limit, s bucket.State, now, n int64, ok bool) Result {
	r := Result{ok, b.Remaining(s, now), 0, b.ResetAfter(s, now)}
	if !ok {
		r.RetryAfter = b.RetryAfter(s, now, n)
	}
	return r
}

func (m *model) take(l *Limit, hash uint64, now, n int64) Result {
	r := m.peek(l, hash, now, n)
	if !r.OK || n == 0 || l.Def().Kind != Bucket {
		return r
	}
	k := m.key(l, hash, now)
	k.state, _ = k.def.Bucket.Take(k.state, now, n)
	if k.def.Shared && n > 0 {
		k.unsent = k.def.Bucket.Extend(k.unsent, now, n)
		k.dirty = true
		m.hurry(k, now)
	}
	return m.result(&k.def.Bucket, k.state, now, n, true)
}

func (m *model) charge(l *Limit, hash uint64, now, n, start, debt int64) {
	if n == 0 {
		return
	}
	k := m.key(l, hash, now)
	switch l.Def().Kind {
	case Unknown:
		if k.sum > 0 || n > 0 {
			k.sum, k.latest = max(k.sum+n, 0), max(k.latest, start)
		}
	case Bucket:
		b := &k.def.Bucket
		k.state, _ = b.Charge(k.state, now, b.RunFrom(n, start), debt)
		m.hurry(k, now)
	}
}

func (m *model) hurry(k *modelKey, now int64) {
	if k.dirty && k.unsent.N >= max(1, k.def.Bucket.Remaining(k.state, now)/(2*m.nodes)) {
		k.urgent = true
	}
}

func (m *model) drain(urgentOnly bool) (all []news) {
	for id, k := range m.keys {
		if k.urgent || k.dirty && !urgentOnly {
			all = append(all, news{id.l, id.hash, k.unsent.N, k.def.Bucket.Start(k.unsent)})
			k.unsent, k.dirty, k.urgent = bucket.Run{}, false, false
		}
	}
	return all
}

func byKey(a, b news) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.limit.index, b.limit.index))
}

// alike allows for the fractions of a nanosecond that times are rounded up by: for each
// take of a run, of which TakeAll makes one for a key, and for each new definition.
func alike(a, b news) bool {
	diff := a.start - b.start
	return a.limit == b.limit && a.hash == b.hash && a.n == b.n && -a.n <= diff && diff <= a.n
}

// TestAgainstModel: random operations on a table that has room are those on a map.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		tab := New(Config{Record: true, MaxKeys: 3000})
		m := &model{nodes: 1, keys: map[modelID]*modelKey{}}
		defs := []Def{
			def(10, second, 20), def(3, 7*second, 5), def(1000, second, 30), def(10, second, 21), def(1, hour, 1),
			{Kind: Unlimited}, {Kind: Blocked}, {Kind: Bucket, Bucket: bucket.New(5, second, 10)},
		}
		limits := []*Limit{
			define(t, tab, "a", defs[0]), define(t, tab, "b", defs[1]),
			learn(t, tab, ID("c"), Def{}), learn(t, tab, ID("d"), defs[3]),
		}
		names := []string{"a", "b", "c", "d"}
		now := int64(0)
		pick := func() (*Limit, uint64) {
			l := limits[rnd.IntN(len(limits))]
			return l, l.Hash(string(rune(rnd.ExpFloat64() * 60)))
		}
		for step := range 12_000 {
			now += rnd.Int64N(second / 50)
			l, hash := pick()
			n := rnd.Int64N(6)
			switch op := rnd.IntN(1000); {
			case op < 500:
				if got, want := tab.Take(l, hash, now, n), m.take(l, hash, now, n); got != want {
					t.Fatalf("seed %d step %d: take of %d: %+v, want %+v", seed, step, n, got, want)
				}
			case op < 600:
				if got, want := tab.Peek(l, hash, now, n), m.peek(l, hash, now, n); got != want {
					t.Fatalf("seed %d step %d: peek of %d: %+v, want %+v", seed, step, n, got, want)
				}
			case op < 850:
				n, start, debt := rnd.Int64N(12)-2, now-rnd.Int64N(second), rnd.Int64N(10*second)
				charge(tab, l, hash, now, n, start, debt)
				m.charge(l, hash, now, n, start, debt)
			case op < 950:
				m.takeAll(t, tab, pick, rnd, now)
			case op < 960:
				i, d := rnd.IntN(len(limits)), defs[rnd.IntN(len(defs))]
				if limits[i].Def().Kind == Unknown {
					learn(t, tab, limits[i].ID(), defs[0])
					m.settle(t, tab, limits[i], now)
					continue
				}
				if rnd.IntN(3) == 0 {
					learn(t, tab, ID(names[i]), d)
				} else {
					define(t, tab, names[i], d)
				}
			case op < 980:
				urgentOnly := rnd.IntN(3) > 0
				got, _, _ := drain(tab, urgentOnly)
				want := m.drain(urgentOnly)
				slices.SortFunc(got, byKey)
				slices.SortFunc(want, byKey)
				if !slices.EqualFunc(got, want, alike) {
					t.Fatalf("seed %d step %d: drained %d entries, want %d\n%v\n%v", seed, step, len(got), len(want), got, want)
				}
			case op < 990:
				tab.Sweep(now, rnd.IntN(20))
			default:
				m.nodes = 1 + rnd.Int64N(9)
				tab.SetNodes(int(m.nodes))
			}
		}
		check(t, tab)
		if got := tab.Stats(); got.Evicted+got.Overflowed > 0 {
			t.Errorf("seed %d: %+v, want room for all", seed, got)
		}
	}
}

// settle looks at every key of a limit that was unknown: until somebody does, it is
// open by which of its definitions the amounts are read.
func (m *model) settle(t *testing.T, tab *Table, l *Limit, now int64) {
	for id := range m.keys {
		if id.l != l {
			continue
		}
		if got, want := tab.Peek(l, id.hash, now, 1), m.peek(l, id.hash, now, 1); got != want {
			t.Fatalf("settled: %+v, want %+v", got, want)
		}
	}
}

// takeAll makes a TakeAll on both: the model goes one by one, on a copy.
func (m *model) takeAll(t *testing.T, tab *Table, pick func() (*Limit, uint64), rnd *rand.Rand, now int64) {
	asks := make([]Ask, 1+rnd.IntN(4))
	for i := range asks {
		asks[i].Limit, asks[i].Hash = pick()
		asks[i].N = rnd.Int64N(4)
	}
	trial := &model{nodes: m.nodes, keys: map[modelID]*modelKey{}}
	for _, a := range asks {
		if a.Limit.Def().Kind == Bucket {
			k := *m.key(a.Limit, a.Hash, now)
			trial.keys[modelID{a.Limit, a.Hash}] = &k
		}
	}
	want, into := true, make([]Result, len(asks))
	for _, a := range asks {
		want = want && trial.take(a.Limit, a.Hash, now, a.N).OK
	}
	if got := tab.TakeAll(asks, now, into); got != want {
		t.Fatalf("TakeAll of %v = %v %v, want %v", asks, got, into, want)
	}
	for i, a := range asks {
		if want {
			if r := m.take(a.Limit, a.Hash, now, a.N); r != into[i] {
				t.Fatalf("ask %d of %v: %+v, want %+v", i, asks, into[i], r)
			}
		}
	}
}

// TestLimitedStaysLimited: whatever is evicted to make room, a key that was refused is
// refused until its time.
func TestLimitedStaysLimited(t *testing.T) {
	evicted, overflowed := int64(0), int64(0)
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		tab := New(Config{Record: seed%2 == 0, MaxKeys: 200})
		limits := []*Limit{define(t, tab, "a", def(1, 10*second, 3)), define(t, tab, "b", def(5, second, 20))}
		until := map[modelID]int64{}
		now := int64(0)
		for range 10_000 {
			now += rnd.Int64N(second / 20)
			l := limits[rnd.IntN(2)]
			id := modelID{l, l.Hash(string(rune(rnd.ExpFloat64() * 150)))}
			before := tab.Stats().Overflowed
			got := tab.Take(l, id.hash, now, 1+rnd.Int64N(2))
			if tab.Stats().Overflowed != before {
				continue
			}
			if got.OK && now < until[id] {
				t.Fatalf("seed %d: admitted at %d a key limited until %d", seed, now, until[id])
			}
			if got.Remaining == 0 {
				until[id] = now + tab.Peek(l, id.hash, now, 1).RetryAfter
			}
			if rnd.IntN(50) == 0 {
				drain(tab, false)
			}
			if rnd.IntN(50) == 0 {
				tab.Sweep(now, 1)
			}
		}
		evicted, overflowed = evicted+tab.Stats().Evicted, overflowed+tab.Stats().Overflowed
		check(t, tab)
	}
	if evicted == 0 || overflowed == 0 {
		t.Errorf("%d evicted, %d overflowed: want some of each", evicted, overflowed)
	}
}

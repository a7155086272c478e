package sim

// Load is traffic: asks arrive at random times, on average so many a second, spread
// over nodes and keys.
type Load struct {
	PerSecond float64
	Even      bool      // asks come at even intervals and go round the nodes
	Nodes     []float64 // the share of each node; none: all alike
	Limits    []int     // asked for; none: all
	Most      int64     // events of one ask, from 1; default 1
	Hot       float64   // the share that goes to the first key of its limit
	Both      float64   // the share of asks for two limits at once
	Verbs     float64   // the share of asks that are for something other than a take
	On, Off   int64     // traffic comes so long, then rests so long; 0: always comes
}

// Drive lets a load begin now and last.
func (w *World) Drive(l Load, last int64) {
	gap, end := int64(Second/l.PerSecond), w.now+last
	began, turn := w.now, 0
	var next func()
	next = func() {
		if w.now >= end {
			return
		}
		if l.On == 0 || (w.now-began)%(l.On+l.Off) < l.On {
			w.ask(&l, turn)
			turn++
		}
		if l.Even {
			w.After(gap, next)
		} else {
			w.After(1+w.rand.Int64N(2*gap), next)
		}
	}
	w.After(0, next)
}

func (w *World) ask(l *Load, turn int) {
	place := turn % len(w.nodes)
	if !l.Even {
		place = w.pick(l.Nodes)
	}
	if w.chance(l.Verbs) {
		w.someVerb(place)
		return
	}
	a := w.anAsk(l)
	if !w.chance(l.Both) {
		w.Take(place, a)
		return
	}
	b := w.anAsk(l)
	for b.Limit == a.Limit && b.Key == a.Key {
		b = w.anAsk(l)
	}
	w.TakeAll(place, a, b)
}

func (w *World) anAsk(l *Load) Ask {
	a := Ask{Limit: w.rand.IntN(len(w.opts.Limits)), N: 1}
	if len(l.Limits) > 0 {
		a.Limit = l.Limits[w.rand.IntN(len(l.Limits))]
	}
	if !w.chance(l.Hot) {
		a.Key = w.rand.IntN(w.opts.Limits[a.Limit].Keys)
	}
	if l.Most > 1 {
		a.N += w.rand.Int64N(l.Most)
	}
	return a
}

// pick is a place, by shares.
func (w *World) pick(shares []float64) int {
	if len(shares) == 0 {
		return w.rand.IntN(len(w.nodes))
	}
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	x := w.rand.Float64() * sum
	for place, s := range shares {
		if x -= s; x < 0 {
			return place
		}
	}
	return len(shares) - 1
}

// Burst is so many asks for one event of a key on every node, all at this instant.
func (w *World) Burst(limit, k, asks int) {
	for place := range w.nodes {
		for range asks {
			w.Take(place, Ask{limit, k, 1})
		}
	}
}

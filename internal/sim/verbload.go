package sim

// someVerb has a node do something other than take, on a key of a limit that says so.
// Holds and bans last for less than a run or for much longer, so that a quiet cluster
// knows which.
func (w *World) someVerb(place int) {
	limit := w.rand.IntN(len(w.opts.Limits))
	if !w.opts.Limits[limit].Verbs {
		return
	}
	k := w.rand.IntN(w.opts.Limits[limit].Keys)
	switch kind := w.rand.IntN(20); {
	case kind < 8:
		w.someHold(place, limit, k)
	case kind < 13:
		w.someCancel()
	case kind < 16:
		w.Return(place, Ask{limit, k, w.between(1, 5)})
	case kind < 17:
		w.Reset(place, limit, k)
	case kind < 19:
		w.Ban(place, limit, k, w.someLife())
	default:
		w.Ban(place, limit, k, 0)
	}
}

func (w *World) someLife() int64 {
	if w.chance(0.3) {
		return 3600 * Second
	}
	return w.between(50*Millisecond, 1500*Millisecond)
}

// someHold is settled where it was made or elsewhere, with less, with more, with nothing,
// too late, twice at once, or never.
func (w *World) someHold(place, limit, k int) {
	n, ttl := w.between(1, 8), w.someLife()
	h := w.Hold(place, Ask{limit, k, n}, ttl)
	if h == nil {
		return
	}
	for range w.rand.IntN(3) {
		if w.chance(0.5) {
			place = w.rand.IntN(len(w.nodes))
		}
		actual := []int64{0, w.between(1, n), n, n + w.between(1, 3)}[w.rand.IntN(4)]
		w.After(w.between(0, min(2*ttl, 2*Second)), func() {
			if !w.calm {
				w.Settle(place, h, actual)
			}
		})
	}
}

// someCancel gives back one of the latest takes, once.
func (w *World) someCancel() {
	if len(w.grants) == 0 {
		return
	}
	last := len(w.grants) - 1
	i := last - w.rand.IntN(min(len(w.grants), 20))
	g := w.grants[i]
	w.grants[i] = w.grants[last]
	w.grants = w.grants[:last]
	if g.key.Verbs {
		w.Cancel(g)
	}
}

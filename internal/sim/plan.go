package sim

// Torment lets a world run for so long with traffic and with every fault there is, each
// drawn from the seed. Nodes that crash come back.
func (w *World) Torment(last int64) error {
	w.Meet(100 * Millisecond)
	l := w.someLoad()
	if w.opts.Ledger.PartitionMemory > 0 {
		l.Verbs = 0 // records are remembered for longer than frames are under way, or come twice
	}
	w.Drive(l, last)
	if w.chance(0.3) {
		w.After(w.between(0, last), func() { w.Burst(1, 0, 100) })
	}
	if w.chance(0.4) {
		limit := w.rand.IntN(len(w.opts.Limits))
		for tries := 0; tries < 3 && !w.opts.Limits[limit].windows(); tries++ {
			limit = w.rand.IntN(len(w.opts.Limits))
		}
		w.rollOut(limit, last)
	}
	faults := 3 + w.rand.IntN(12)
	if w.opts.Lossy {
		faults *= 3
	}
	for range faults {
		w.someFault(w.between(0, last))
	}
	return w.Run(last)
}

func (w *World) someLoad() Load {
	l := Load{PerSecond: float64(w.between(20, 300)), Hot: w.rand.Float64(), Both: 0.1, Verbs: 0.3}
	if w.chance(0.5) {
		l.Nodes = []float64{9, 1, 1, 1, 1}
	}
	if w.chance(0.5) {
		l.Most = w.between(1, 8)
	}
	if w.chance(0.3) {
		l.On, l.Off = w.between(50*Millisecond, Second), w.between(50*Millisecond, Second)
	}
	if w.chance(0.2) {
		l.PerSecond, l.Limits = 1000, []int{w.rand.IntN(len(w.opts.Limits))}
	}
	return l
}

// someFault begins at a time and ends by itself.
func (w *World) someFault(at int64) { w.fault(at, w.rand.IntN(13)) }

// someHarmlessFault is one that no promise has an exception for.
func (w *World) someHarmlessFault(at int64) { w.fault(at, w.rand.IntN(10)) }

func (w *World) fault(at int64, kind int) {
	a := w.rand.IntN(len(w.nodes))
	b := (a + 1 + w.rand.IntN(len(w.nodes)-1)) % len(w.nodes)
	lasts, hold := w.between(10*Millisecond, Second), w.chance(0.5)
	w.At(at, func() {
		if w.calm {
			return
		}
		n, m := w.nodes[a], w.nodes[b]
		switch kind {
		case 0, 1, 2:
			if l := n.links[m.id]; l != nil {
				n.snap(l, lasts/4)
			}
		case 3, 4:
			w.partition(a, b, hold)
			w.After(lasts, func() { w.mend(a, b) })
		case 5:
			w.partition(a, b, hold)
			w.partition(b, a, hold)
			w.After(lasts, func() { w.mend(a, b); w.mend(b, a) })
		case 6, 7, 8:
			n.down(m)
			w.After(lasts, func() { n.meet(m) })
		case 9:
			n.stall(lasts / 4)
		case 10:
			w.crash(a)
			w.After(lasts, func() { w.restart(a) })
		case 11:
			w.leave(a, 500*Millisecond)
			w.After(600*Millisecond+lasts, func() { w.restart(a) })
		case 12: // case 13
			w.SetWall(a, []int64{11 * Second, -8 * 3600 * Second}[lasts%2])
		}
	})
}

package sim

import "github.com/stint-go/stint/gossip"

// Chaos is the world of a seed: its network, clocks and bounds are drawn from it. Most
// worlds lose nothing but time. In one of eight logs are so small, or the dead are
// forgotten so soon, that drains are lost, and counted.
func Chaos(seed uint64) Options {
	o := Options{Seed: seed, Nodes: 5, Limits: []Limit{
		{Name: "hourly", Events: 100, Per: 3600 * Second, Burst: 100, Keys: 4},
		{Name: "api", Events: 200, Per: Second, Burst: 200, Keys: 3},
		{Name: "single", Events: 1, Per: 30 * Second, Burst: 1, Keys: 3},
		{Name: "bytes", Events: 1_000_000, Per: Second, Burst: 3_000_000, Keys: 2},
		{Name: "many", Events: 3, Per: Second, Burst: 3, Keys: 24},
	}}
	w := New(Options{Seed: seed, Nodes: 1}) // for its chance only
	o.Net = Net{
		Delay: w.between(50*Microsecond, 20*Millisecond), Jitter: w.between(0, 30*Millisecond),
		Loss: 0.1 * w.rand.Float64(), Double: 0.1 * w.rand.Float64(), Reorder: 0.2 * w.rand.Float64(),
	}
	if w.chance(0.5) {
		o.PPM = 500
	}
	o.Ledger = gossip.Config{Resend: 100 * Millisecond, Timeout: 500 * Millisecond, Keepalive: 150 * Millisecond}
	if w.chance(0.3) {
		o.Ledger.MaxFrame = 150 // five entries
	}
	if o.Lossy = seed%8 == 0; o.Lossy {
		o.Ledger.PartitionMemory = w.between(20*Millisecond, 500*Millisecond)
		if w.chance(0.5) {
			o.Ledger.MaxBytes = int(w.between(1500, 6000))
		}
	}
	return o
}

// Torment lets a world run for so long with traffic and with every fault there is, each
// drawn from the seed. Nodes that crash come back.
func (w *World) Torment(last int64) error {
	w.Meet(100 * Millisecond)
	w.Drive(w.someLoad(), last)
	if w.chance(0.3) {
		w.After(w.between(0, last), func() { w.Burst(1, 0, 100) })
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
	l := Load{PerSecond: float64(w.between(20, 300)), Hot: w.rand.Float64(), Both: 0.1}
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
		l.PerSecond, l.Limits = 1000, []int{1}
	}
	return l
}

// someFault begins at a time and ends by itself.
func (w *World) someFault(at int64) { w.fault(at, w.rand.IntN(12)) }

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
		}
	})
}

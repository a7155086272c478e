package sim

import "testing"

// Promise 2, second half: all nodes show the same balance, give or take one, after three
// seconds at three times the limit over a network that loses, doubles, reorders and
// breaks. No bucket was ever full meanwhile: one node had emptied it for all before.
func TestBalancesAreAlike(t *testing.T) {
	seeds := uint64(30)
	if raceEnabled {
		seeds = 5
	}
	compared := 0
	for seed := uint64(1); seed <= seeds; seed++ {
		o := Chaos(seed)
		o.Ledger.MaxBytes, o.Ledger.PartitionMemory, o.PPM = 0, 0, 0 // nothing lost, clocks alike
		o.Limits = []Limit{{Name: "api", Events: 100, Per: Second, Burst: 1000, Keys: 2}}
		net := o.Net
		o.Net = Net{Delay: Millisecond} // a full bucket takes news for younger by the delay
		w := New(o)
		w.Meet(Millisecond)
		_ = w.Run(500 * Millisecond)
		w.Take(0, Ask{0, 0, 1000})
		w.Take(1, Ask{0, 1, 1000})
		_ = w.Run(500 * Millisecond)
		w.opts.Net, w.since = net, w.now
		w.Drive(Load{PerSecond: 600, Most: 2}, 3*Second)
		for range 12 {
			w.someHarmlessFault(w.now + w.between(0, 3*Second))
		}
		if err := w.Run(3 * Second); err != nil {
			t.Error(err)
		}
		if err := w.Quiet(6 * Second); err != nil {
			t.Error(err)
		}
		compared += w.Stats.Compared
	}
	if compared != 2*int(seeds) {
		t.Errorf("compared the balances of %d keys, want all %d", compared, 2*seeds)
	}
}

// Case 19. A network that loses, doubles and delays changes no total: what is left of a
// limit that nobody reached is what a faultless run leaves.
func TestFaultsChangeNoTotal(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		var left [2][]int64
		for i, faulty := range []bool{false, true} {
			o := Chaos(seed)
			o.Ledger.MaxBytes, o.Ledger.PartitionMemory = 0, 0
			o.Limits = []Limit{{Name: "daily", Events: 1000, Per: 24 * 3600 * Second, Burst: 1000, Keys: 3}}
			w := New(o)
			w.Meet(50 * Millisecond)
			w.calm = true
			_ = w.Run(Second) // until all have joined: who is taken for dead before loses something
			w.calm = !faulty
			for ask := range int64(600) { // the same asks in both
				w.At(w.now+ask*3*Millisecond, func() { w.Take(int(ask*ask%5), Ask{0, int(ask % 3), 1 + ask%4}) })
			}
			for range 10 {
				w.someHarmlessFault(w.now + w.between(0, 2*Second))
			}
			_ = w.Run(2 * Second)
			if err := w.Quiet(6 * Second); err != nil {
				t.Errorf("faulty %v: %v", faulty, err)
			}
			for place := range w.nodes {
				left[i] = append(left[i], w.Peek(place, 0, 0), w.Peek(place, 0, 1), w.Peek(place, 0, 2))
			}
		}
		for i, want := range left[0] {
			if got := left[1][i]; got != want {
				t.Errorf("seed %d: got %d left of key %d on node %d, want %d", seed, got, i%3, i/3, want)
			}
		}
	}
}

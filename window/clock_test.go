package window

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// tick is the time between two steps.
const tick = 100 * ms

// machine is a node: a wall clock that somebody sets, and the clock made of it. Its
// monotonic clock is that of the test.
type machine struct {
	raw int64
	*Clock
}

func newMachine(raw int64) *machine { return &machine{raw, NewClock(raw)} }

// run lets the time go by for a cluster of machines that all see each other, or alone,
// and reports the largest change of cluster time in a tick.
func run(now *int64, span int64, machines ...*machine) (largest int64) {
	for end := *now + span; *now < end; {
		*now += tick
		for _, m := range machines {
			var peers []int64
			for _, p := range machines {
				if p != m {
					peers = append(peers, p.raw-m.raw)
				}
			}
			before := m.Offset()
			m.Step(*now, m.raw, peers)
			if change := m.Offset() - before; change > largest || -change > largest {
				largest = max(change, -change)
			}
		}
	}
	return largest
}

const epoch = 1_700_000_000 * second

// TestClockAlone: case 13. A lone node follows its wall clock: 11 s are slewed, 8 h are a
// step.
func TestClockAlone(t *testing.T) {
	m := newMachine(epoch)
	now := hour
	m.raw += second // before the first step nobody knows how long ago
	if run(&now, tick, m); m.Offset() != epoch {
		t.Errorf("the first step: offset %d", m.Offset()-epoch)
	}
	m.raw = epoch
	if run(&now, minute, m); m.Offset() != epoch || m.Skew() != 0 {
		t.Fatalf("offset %d, skew %d", m.Offset()-epoch, m.Skew())
	}
	m.raw += 11 * second
	if got := run(&now, 10*second, m); got != 5*ms {
		t.Errorf("moved by %d in a tick, want %d", got, 5*ms)
	}
	if got := m.Offset(); got != epoch+500*ms || m.Skew() != 11*second-500*ms {
		t.Errorf("after 10 s: offset %d, skew %d", got-epoch, m.Skew())
	}
	if run(&now, 210*second, m); m.Offset() != m.raw {
		t.Errorf("after 220 s: %d off", m.Offset()-m.raw)
	}
	m.raw -= 8 * hour
	if run(&now, tick, m); m.Offset() != m.raw || m.Skew() != 0 {
		t.Errorf("back by 8 h: %d off", m.Offset()-m.raw)
	}
	m.raw += 10 * minute
	if got := run(&now, tick, m); got != 5*ms {
		t.Errorf("10 minutes: moved by %d in a tick, want a slew", got)
	}
}

// TestClockMeets: nodes that come together agree at once, whatever their own clocks say,
// and a third one changes that only by the median.
func TestClockMeets(t *testing.T) {
	for _, skew := range []int64{5 * second, 5 * hour, -5 * hour} {
		a, b, c := newMachine(epoch+skew), newMachine(epoch), newMachine(epoch+3*ms)
		now := hour
		run(&now, minute, a)
		run(&now, tick, a, b)
		if a.Offset() != b.Offset() || b.Offset() != epoch+skew/2 {
			t.Fatalf("two: %d and %d, want %d", a.Offset()-epoch, b.Offset()-epoch, skew/2)
		}
		run(&now, minute, a, b)
		run(&now, tick, a, b, c)
		median := min(max(skew, 0), 3*ms)
		for i, m := range []*machine{a, b, c} {
			if got := m.Offset() - epoch; got != median {
				t.Errorf("skew %d: machine %d is at %d, want %d", skew, i, got, median)
			}
		}
		if got := a.Skew(); got != skew-median {
			t.Errorf("skew %d of the first: got %d", skew, got)
		}
	}
}

// TestClockSetAmongPeers: a wall clock that is set moves cluster time little or not at
// all, and slowly, on all nodes alike.
func TestClockSetAmongPeers(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5} {
		var machines []*machine
		for i := range n {
			machines = append(machines, newMachine(epoch+int64(i)*ms))
		}
		now := hour
		run(&now, minute, machines...)
		before := machines[0].Offset()
		machines[0].raw -= 8 * hour
		if got := run(&now, minute, machines...); got > tick/20 {
			t.Errorf("%d nodes: moved by %d in a tick", n, got)
		}
		for i, m := range machines {
			if m.Offset() != machines[0].Offset() {
				t.Errorf("%d nodes: node %d is %d off the first", n, i, m.Offset()-machines[0].Offset())
			}
			if moved := before - m.Offset(); n > 2 && (moved < 0 || moved > int64(n)*ms) {
				t.Errorf("%d nodes: node %d moved by %d", n, i, moved)
			}
		}
	}
}

// TestClockCutOff: a node whose wall clock is far off does not return to it when it is
// cut off for a while, which would open a window of its own.
func TestClockCutOff(t *testing.T) {
	for _, skew := range []int64{5 * second, 5 * hour, -5 * hour} {
		a, b, c := newMachine(epoch), newMachine(epoch), newMachine(epoch+skew)
		now := hour
		run(&now, minute, a, b, c)
		if got := run(&now, 10*minute, c); got != 0 || c.Offset() != epoch {
			t.Errorf("cut off: moved by %d, now %d", got, c.Offset()-epoch)
		}
		if got := run(&now, minute, a, b, c); got != 0 {
			t.Errorf("back: moved by %d", got)
		}
		// Then somebody sets it right, while it is cut off again.
		run(&now, minute, c)
		c.raw = epoch + 20*ms
		if got := run(&now, minute, c); got > tick/20 || c.Offset() != c.raw {
			t.Errorf("set right: moved by %d, now %d", got, c.Offset()-epoch)
		}
	}
}

// TestClockNoise: what is measured on the links is never exact. Nodes stay together
// within the noise, and time goes on.
func TestClockNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var clocks []*Clock
	raws := []int64{epoch, epoch + 20*ms, epoch - 7*ms, epoch + hour}
	for _, raw := range raws {
		clocks = append(clocks, NewClock(raw))
	}
	for now := hour; now < 2*hour; now += tick {
		for i, c := range clocks {
			var peers []int64
			for j := range raws {
				if j != i {
					peers = append(peers, raws[j]-raws[i]+r.Int64N(4*ms)-2*ms)
				}
			}
			before := c.Offset()
			c.Step(now, raws[i], peers)
			if now > hour && c.Offset() < before-tick/20 {
				t.Fatalf("clock %d went back by %d", i, before-c.Offset())
			}
			if got := c.Offset() - epoch; got < 8*ms || got > 12*ms { // the mean of 0 and 20 ms
				t.Fatalf("clock %d is at %d", i, got)
			}
		}
	}
}

// TestClockCalm: a few milliseconds leave cluster time alone, so that waits come true;
// more are put right to the last.
func TestClockCalm(t *testing.T) {
	m := newMachine(epoch)
	now := hour
	run(&now, second, m)
	for _, test := range []struct{ off, want int64 }{{5 * ms, 0}, {-5 * ms, 0}, {6 * ms, 6 * ms}, {2 * ms, 6 * ms}, {-4 * ms, -4 * ms}} {
		m.raw = epoch + test.off
		if run(&now, second, m); m.Offset() != epoch+test.want {
			t.Errorf("%d off: at %d, want %d", test.off, m.Offset()-epoch, test.want)
		}
	}
	m.raw = epoch + 11*second // a slew that a step ends
	run(&now, second, m)
	m.raw = epoch + hour
	run(&now, tick, m)
	m.raw += ms
	if run(&now, second, m); m.Offset() != epoch+hour {
		t.Errorf("after a step: at %d", m.Offset()-epoch)
	}
}

// TestClockLaws: any numbers: after every step the offset is the target, or nearer to it
// by a twentieth of the time that went by; the caller's slice is left alone.
func TestClockLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewClock(number.Draw(t, "raw"))
		var last *int64
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			now, raw := number.Draw(t, "now"), number.Draw(t, "raw")
			peers := rapid.SliceOfN(number, 0, 5).Draw(t, "peers")
			kept := append([]int64(nil), peers...)
			before := c.Offset()
			c.Step(now, raw, peers)
			for i := range peers {
				if peers[i] != kept[i] {
					t.Fatal("Step changed its argument")
				}
			}
			target := addSat(raw, c.known)
			most := int64(0)
			if last != nil {
				most = max(subSat(now, *last), 0) / slewShare
			}
			if got := c.Offset(); got == before && !beyond(subSat(target, before), calm) {
				// left alone
			} else if got != target && got != addSat(before, most) && got != subSat(before, most) {
				t.Fatalf("offset %d, was %d; target %d, at most %d", got, before, target, most)
			}
			last = &now
		}
	})
}

// TestMedian: odd and even counts, this node's own 0 included.
func TestMedian(t *testing.T) {
	tests := []struct {
		peers []int64
		want  int64
	}{
		{[]int64{10}, 5},
		{[]int64{-10}, -5},
		{[]int64{-3}, -2},
		{[]int64{10, 20}, 10},
		{[]int64{-5, 10}, 0},
		{[]int64{30, 10, 20}, 15},
		{[]int64{-1, 100, -100}, -1},
		{[]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}, math.MaxInt64},
		{[]int64{math.MinInt64, math.MinInt64, math.MaxInt64}, math.MinInt64 / 2},
	}
	for _, test := range tests {
		if got := NewClock(0).median(test.peers); got != test.want {
			t.Errorf("median(%v) = %d, want %d", test.peers, got, test.want)
		}
	}
}

// TestClockAllocates nothing, once it has room.
func TestClockAllocates(t *testing.T) {
	c := NewClock(epoch)
	peers, now := []int64{3, 1, 2}, hour
	if got := testing.AllocsPerRun(1000, func() { now += tick; c.Step(now, epoch, peers) }); got != 0 {
		t.Errorf("%v allocations a step, want 0", got)
	}
}

// TestClockAdopts: a newcomer whose own clock is hours off goes by its donor's cluster
// time, whatever it knows of clocks. When it knows all, it stays there, or goes where the
// donor goes, too: to the median.
func TestClockAdopts(t *testing.T) {
	for _, donor := range []int64{2 * ms, 3 * hour} { // right but for a little, and not
		own, now := epoch+5*hour, hour
		c := NewClock(own)
		c.Step(now, own, nil)
		c.Adopt(now, epoch+donor)
		if got := c.Offset() - epoch; got != donor {
			t.Errorf("got %d, want the donor's %d", got, donor)
		}
		peers := []int64{-5 * hour, -5*hour + 3*ms, donor - 5*hour} // of the others' clocks
		c.Step(now+tick, own, peers)
		want := donor // near enough to go there slowly
		if donor > second {
			want = (3*ms + donor) / 2
		}
		if got := c.Offset() - epoch; got != want {
			t.Errorf("donor %d: got %d, want %d", donor, got, want)
		}
	}
}

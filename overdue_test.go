package stint_test

import (
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// Connected is not in sync. A peer whose stream is open but whose batches do not arrive
// shows a lag that grows, and raises the bound to what it may be spending unheard.
func TestStalledStreamRaisesTheBound(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		api := stint.PerSecond(100).WithName("api")
		news := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				for _, n := range nodes {
					n.Allow("ann", api)
				}
			}
		}
		look := func() (of stint.Member, bound float64) {
			s := nodes[0].Stats()
			for _, m := range s.Peers {
				if m.Name == "n1" {
					of = m
				}
			}
			return of, s.Limits[0].Bound
		}
		news(2 * time.Second)
		if m, bound := look(); m.Lag > 100*time.Millisecond || bound > 60 {
			t.Fatalf("got a lag of %v and a bound of %v in step", m.Lag, bound)
		}
		r.net.Cut(ip(1), ip(0)) // the third still says that n1 lives
		lag, bound := time.Duration(0), 0.0
		for i := range 4 {
			news(time.Second)
			m, b := look()
			if m.State != "alive" {
				t.Fatalf("n1 is %s: no stall", m.State)
			}
			if i > 0 && (m.Lag < lag+900*time.Millisecond || m.LagMax < m.Lag) {
				t.Errorf("after %d s: got lags %v and %v, after %v a second ago", i+1, m.Lag, m.LagMax, lag)
			}
			if want := 100 + 100*m.Lag.Seconds(); i > 1 && (b < want || b < bound+90) {
				t.Errorf("after %d s: got a bound of %v, want %v and more than the %v a second ago", i+1, b, want, bound)
			}
			lag, bound = m.Lag, b
		}
		r.net.Heal()
		news(5 * time.Second)
		if m, _ := look(); m.Lag > 100*time.Millisecond {
			t.Errorf("got a lag of %v after the heal", m.Lag)
		}
		news(45 * time.Second) // the worst lag is kept for 20 s at most, and what was told in so long a stretch for 20 more
		if m, b := look(); m.LagMax > time.Second || b > 60 {
			t.Errorf("got a lag of %v and a bound of %v long after", m.LagMax, b)
		}
	})
}

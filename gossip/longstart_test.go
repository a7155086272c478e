package gossip

import "testing"

// A START that takes longer than the time-out, told part by part, opens the session: what
// was sent behind it, and dropped, waits from then on, and is sent again at once. Broken
// once: it had waited since the START began, and the link dialled anew, for ever.
func TestStartLongerThanTheTimeout(t *testing.T) {
	w, a, b := laden(t, 200, small, func(c *Config) { c.Window, c.Timeout, c.Resend = 4, 100*ms, 40*ms })
	for i := range 5000 {
		if i == 3 { // the START has begun
			a.put(a.ban(1000, true, 3600_000*ms))
		}
		a.tick()
		w.now += 10 * ms
		w.handAll(w.take(func(p packet) bool { return p.from == a }))
		w.handAll(w.take(func(p packet) bool { return p.from == b }))
		if i > 3 && a.Quiet() {
			break
		}
	}
	if !a.Quiet() || len(b.news) != 201 || len(a.redials) > 0 {
		t.Errorf("got quiet %v, %d records of 201, %d redials", a.Quiet(), len(b.news), len(a.redials))
	}
}

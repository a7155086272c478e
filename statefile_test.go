package stint_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// A file of format 1, which a node of before wrote at the moment at which a bubble begins,
// is read, and written anew as what it is now. What it has makes way for any peer's counts, for it does not
// say whose news is in it.
func TestStateFileOfTheOlderFormat(t *testing.T) {
	old, err := os.ReadFile(filepath.Join("testdata", "state-format-1"))
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(r *rig) {
		file := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(file, old, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			n, _ := r.stateful(file)
			for i, l := range everyKind(100) {
				r.checkRemaining(30-int64(i), "ann", l, n)
			}
			r.checkRemaining(80, "hal", everyKind(100)[1], n)
			if d := n.Allow("eve", everyKind(100)[0]); d.OK || n.Stats().Holds != 1 {
				t.Errorf("the ban or the hold is gone: %+v, %+v", d, n.Stats())
			}
			n.Close(bg)
		}

		nodes := r.cluster(2)
		for i, l := range everyKind(100)[1:] { // of the first they count nothing
			admitted(nodes[0], "ann", l, 11+i)
		}
		r.sync()
		cfg := r.config(2)
		cfg.StateFile = filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(cfg.StateFile, old, 0o600); err != nil {
			t.Fatal(err)
		}
		n := r.open(cfg)
		r.checkRemaining(30, "ann", everyKind(100)[0], n)
		if err := n.Ready(context.Background()); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
		r.met(nodes...)
		r.checkRemaining(100, "ann", everyKind(100)[0], nodes...)
		for i, l := range everyKind(100)[1:] {
			r.checkRemaining(89-int64(i), "ann", l, nodes...)
		}
	})
}

// A file that has all that the peers have, and more, stays as it is, and nothing is lost.
func TestRestartWithAFileThatKnowsEverything(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		r.spend(nodes[0], 30)
		r.sync()
		r.net.Split(ip(1))
		r.spend(nodes[1], 20)
		file := r.saved(1)
		r.crash(1, nodes[1], file)
		cfg := r.config(1)
		cfg.Transport = r.net.Host(ip(11))
		n := r.open(cfg)
		r.ready(n)
		nodes[1] = n
		r.met(nodes...)
		r.used(50, n)
		r.used(30, nodes[0], nodes[2])
		r.noneLost(nodes...)
		r.spend(nodes[0], 5)
		r.sync()
		r.used(55, n)
	})
}

// Limits that only peers define are in the file, too, and so are amounts of limits that
// nobody has explained yet: who reads it states that it has them.
func TestStateFileHasLimitsOfPeers(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		r.spend(nodes[0], 30) // n1 never asks for this limit
		r.sync()
		file := r.saved(1)
		for i, n := range nodes {
			r.crash(i, n, file)
		}
		for range 2 {
			cfg := r.config(1)
			cfg.JoinTimeout = time.Second
			n := r.open(cfg)
			r.ready(n)
			cfg = r.config(5)
			cfg.Join = []string{seed(1)}
			m := r.open(cfg)
			r.ready(m)
			r.used(30, m)
			r.kill(5, m)
			n.Close(context.Background())
		}
		cfg := r.config(1)
		cfg.JoinTimeout = time.Second
		r.used(30, r.open(cfg))
	})
}

// Holds and bans over a restart with a file that is older than what has become of them: by a
// peer's table, and by its log alone.
func TestHoldsOverARestartWithAFile(t *testing.T) {
	for _, served := range []bool{false, true} {
		eachFiled(t, func(r *filed) {
			nodes := r.three()
			var ids []stint.HoldID
			for _, ttl := range []time.Duration{time.Hour, time.Hour, time.Hour, 7 * time.Second, 50 * time.Millisecond} {
				h, err := nodes[0].Hold(bg, "ann", r.Limit, 100, ttl)
				if err != nil {
					r.Fatal(err)
				}
				ids = append(ids, h.ID())
			}
			settle := func(n *stint.Node, id stint.HoldID, events int64) {
				r.Helper()
				if err := n.Settle(bg, id, events); err != nil {
					r.Fatal(err)
				}
			}
			for _, key := range []string{"eve", "mal"} {
				if err := nodes[1].Ban(bg, key, r.Limit, time.Hour); err != nil {
					r.Fatal(err)
				}
			}
			r.sync()
			settle(nodes[2], ids[0], 10)
			r.sync()
			file := r.saved(1) // one settled, three open, and one over
			r.crash(1, nodes[1], file)
			if served {
				r.net.Split(ip(1), ip(5))
			}
			settle(nodes[2], ids[1], 20)
			if err := nodes[0].Unban(bg, "mal", r.Limit); err != nil {
				r.Fatal(err)
			}
			cfg := r.config(1)
			cfg.JoinTimeout = 2 * time.Second
			n := r.open(cfg)
			if served { // it has served a newcomer, and takes over no counts any more
				r.ready(n)
				cfg = r.config(5)
				cfg.Join = []string{seed(1)}
				m := r.open(cfg)
				r.ready(m)
				m.Close(bg)
				r.net.Heal()
			}
			nodes[1] = n
			r.met(nodes...)
			time.Sleep(8 * time.Second) // the last is over
			r.used(10+20+100, nodes...)
			settle(n, ids[2], 30)
			r.sync()
			r.used(10+20+30, nodes...)
			for _, n := range nodes {
				if n.Allow("eve", r.Limit).OK || !n.Allow("mal", r.Limit).OK {
					r.Errorf("%s: eve should be banned, and mal not", n.Name())
				}
			}
			r.noneLost(nodes...)
		})
	}
}

// A node settles a hold and lifts a ban, tells nobody and dies: its file does.
func TestFileTellsOfHoldsAndBans(t *testing.T) {
	eachFiled(t, func(r *filed) {
		nodes := r.three()
		h, err := nodes[0].Hold(bg, "ann", r.Limit, 100, time.Hour)
		if err != nil {
			r.Fatal(err)
		}
		if err := nodes[0].Ban(bg, "eve", r.Limit, time.Hour); err != nil {
			r.Fatal(err)
		}
		r.sync()
		r.net.Split(ip(1))
		if err := nodes[1].Settle(bg, h.ID(), 10); err != nil {
			r.Fatal(err)
		}
		if err := nodes[1].Unban(bg, "eve", r.Limit); err != nil {
			r.Fatal(err)
		}
		file := r.saved(1)
		r.crash(1, nodes[1], file)
		cfg := r.config(1)
		cfg.Transport = r.net.Host(ip(11))
		nodes[1] = r.open(cfg)
		r.met(nodes...)
		r.used(10, nodes...)
		for _, n := range nodes {
			if !n.Allow("eve", r.Limit).OK {
				r.Errorf("%s: eve is banned still", n.Name())
			}
		}
	})
}

// A hold that ran out while nobody ran comes back at once.
func TestHoldExpiresWhileNobodyRuns(t *testing.T) {
	for _, away := range []time.Duration{time.Minute, time.Hour} { // remembered by now, and not
		inBubble(t, func(r *rig) {
			file := filepath.Join(t.TempDir(), "state")
			l := everyKind(100)[2].WithName("api")
			l.Per = 24 * time.Hour
			n, _ := r.stateful(file)
			if _, err := n.Hold(bg, "ann", l, 40, 10*time.Second); err != nil {
				t.Fatal(err)
			}
			n.AllowN("ann", l, 5)
			n.Close(bg)
			time.Sleep(away)
			n, _ = r.stateful(file)
			time.Sleep(time.Second)
			r.checkRemaining(95, "ann", l, n)
		})
	}
}

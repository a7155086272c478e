//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/fleet"
	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// The tests of chaos run daemons as a fleet, break things while clients take, and hold what
// the daemons have counted in the end against what the clients were told. With STINT_SOAK
// set they take the time that the promise is made for, and otherwise a few seconds.

// soaking says whether the long forms are to run.
func soaking() bool { return os.Getenv("STINT_SOAK") != "" }

// long is a time for the long form, or else the short one.
func long(long, short time.Duration) time.Duration {
	if soaking() {
		return long
	}
	return short
}

// needNet makes a net, or skips the test where there can be none.
func needNet(t *testing.T, slots int) *fleet.Net {
	t.Helper()
	n, err := fleet.NewNet(slots)
	if errors.Is(err, fleet.ErrImpossible) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// ally is a fleet under test.
type ally struct {
	*fleet.Fleet
	t   *testing.T
	net *fleet.Net // nil: loopback
}

// startFleet starts nodes in slots 1 to n and waits until they are one cluster.
func startFleet(t *testing.T, net *fleet.Net, n int, flags ...string) *ally {
	t.Helper()
	a := &ally{t: t, net: net, Fleet: fleet.New(fleet.Config{
		Command: []string{"stint"}, Flags: flags, Net: net, Log: func(line string) { t.Log(line) },
	})}
	t.Cleanup(a.Close)
	for slot := 1; slot <= n; slot++ {
		a.start(slot)
	}
	a.settle(20 * time.Second)
	return a
}

func (a *ally) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *ally) start(slot int) *fleet.Node {
	a.t.Helper()
	n, err := a.Start(slot)
	a.must(err)
	return n
}

// settle waits until all have told each other all.
func (a *ally) settle(within time.Duration) {
	a.t.Helper()
	if _, err := fleet.Await(within, a.Settled); err != nil {
		for _, n := range a.Nodes() {
			s, err := n.Stats()
			a.t.Logf("%s: ready %v, %+v %v", n.Name, n.Ready(), s, err)
		}
		a.t.Fatalf("all in touch and settled: %v", err)
	}
}

// agree waits until all nodes count what clients were told, and says how long that took.
func (a *ally) agree(b *fleet.Book, within time.Duration, size int64) time.Duration {
	a.t.Helper()
	_, took, err := b.Agree(a.t.Context(), a.Nodes(), within, func(_ fleet.Key, left int64) int64 { return size - left })
	a.must(err)
	return took
}

// window is the text of a period of an hour or a little more, in whole minutes, whose
// current window does not end while a test runs that may need so long.
func window(need time.Duration) string {
	for minutes := 60; ; minutes++ {
		period := time.Duration(minutes) * time.Minute
		if now := time.Now(); now.Truncate(period).Equal(now.Add(need).Truncate(period)) {
			return fmt.Sprintf("%dm", minutes)
		}
	}
}

// keys are so many of a limit.
func keys(limit string, n int) (all []fleet.Key) {
	for i := range n {
		all = append(all, fleet.Key{Limit: limit, Key: fmt.Sprintf("k%d", i)})
	}
	return all
}

// indices are 0 to n − 1.
func indices(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// judge holds what was admitted of a limit against it, and against the bound in force with
// news as old as any that was seen.
func judge(t *testing.T, b *fleet.Book, limit string, seen fleet.Seen) load.Result {
	t.Helper()
	l, err := stint.ParseLimit(limit)
	if err != nil {
		t.Fatal(err)
	}
	rule, err := load.RuleOf(l)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[fleet.Outcome]load.Outcome{
		fleet.Unsent: load.Unsent, fleet.Unknown: load.Failed, fleet.Refused: load.Refused, fleet.Admitted: load.Admitted,
	}
	var takes []load.Take
	var addrs []string
	for _, s := range b.Spends() {
		for int(s.Node) >= len(addrs) {
			addrs = append(addrs, fmt.Sprint(len(addrs)))
		}
		for range s.N { // a take of n events is n takes at one instant
			takes = append(takes, load.Take{
				Due: s.Asked, From: s.From, To: s.To, Done: s.Answered, Server: s.Node, Key: s.Key, Outcome: outcomes[s.Outcome],
			})
		}
	}
	r := load.Analyse(takes, rule, &load.News{Age: seen.MaxLag + seen.MaxGap, Nodes: seen.MinNodes}, addrs)
	bound := 0.0
	if r.Bound != nil {
		bound = *r.Bound
	}
	t.Logf("%s: %d asked, %d admitted (%.4f of central), %d failed, excess %.1f, bound then %.1f; news up to %v old, at least %d nodes",
		limit, r.Asked, r.Admitted, r.Ratio, r.Failed, r.Excess, bound, seen.MaxLag+seen.MaxGap, seen.MinNodes)
	return r
}

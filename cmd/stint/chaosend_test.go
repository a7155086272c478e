//go:build unix

package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/fleet"
)

// A process that is stopped where it stands, under load, holds up nobody else and costs the
// others no memory to speak of; when it goes on, all count what clients were told.
func TestChaosPause(t *testing.T) {
	t.Parallel()
	const size, mostGrowth = 1_000_000, 64 << 20
	a := startFleet(t, nil, 3, "--limit", "hour=1000000/"+window(20*time.Minute)+" algorithm=fixed-window")
	b := fleet.NewBook(keys("hour", 50)...)
	spend := &fleet.Load{Book: b, Keys: indices(50), Rate: 200, Clients: 4}
	nodes := a.Nodes()
	defer spend.Stop()
	defer nodes[2].Resume() // or else there is no end to a request

	spend.Attach(nodes...)
	began := time.Now()
	time.Sleep(time.Second)
	before, paused := memory(t, nodes[:2]), time.Now()
	nodes[2].Pause()
	time.Sleep(long(30*time.Second, 3*time.Second))
	after, resumed := memory(t, nodes[:2]), time.Now()
	nodes[2].Resume()
	time.Sleep(time.Second)
	spend.Stop()

	took := a.agree(b, 10*time.Second, size)
	t.Logf("agreed %v after all had gone on for a second: %v takes", took, b.Totals())
	t.Logf("p50, p99, worst of takes elsewhere: before %v, meanwhile %v", waits(b, nodes[:2], began, paused), waits(b, nodes[:2], paused, resumed))
	for i := range before {
		t.Logf("%s: %d MB before, %d MB after", nodes[i].Name, before[i]>>20, after[i]>>20)
		if after[i]-before[i] > mostGrowth {
			t.Errorf("%s grew from %d to %d bytes while a peer stood still", nodes[i].Name, before[i], after[i])
		}
	}
	for _, s := range b.Spends() {
		if s.Outcome != fleet.Admitted && s.Node != nodes[2].ID {
			t.Fatalf("a take elsewhere came to %+v", s)
		}
	}
}

// memory is how much each node has resident.
func memory(t *testing.T, nodes []*fleet.Node) (all []int64) {
	t.Helper()
	for _, n := range nodes {
		m, err := n.Memory()
		if err != nil {
			t.Skip("no /proc to read a process's memory from: ", err)
		}
		all = append(all, m)
	}
	return all
}

// waits is half, 99 % and all of the times that answers took which were asked for in between.
func waits(b *fleet.Book, nodes []*fleet.Node, from, to time.Time) (out [3]time.Duration) {
	var all []time.Duration
	for _, s := range b.Spends() {
		if s.Asked < from.UnixNano() || s.Asked > to.UnixNano() {
			continue
		}
		if slices.ContainsFunc(nodes, func(n *fleet.Node) bool { return n.ID == s.Node }) {
			all = append(all, time.Duration(s.Answered-s.Asked))
		}
	}
	slices.Sort(all)
	if len(all) > 0 {
		out = [3]time.Duration{all[len(all)/2], all[len(all)*99/100], all[len(all)-1]}
	}
	return out
}

// A process is killed under load and started again under its name. It knows the counts before
// it is ready; and in the end all know them, give or take what it had told nobody.
func TestChaosKill(t *testing.T) {
	t.Parallel()
	const size = 100_000
	a := startFleet(t, nil, 3, "--limit", "hour=100000/"+window(20*time.Minute)+" algorithm=fixed-window")
	b := fleet.NewBook(append(keys("hour", 20), fleet.Key{Limit: "hour", Key: "before"})...)
	once := &fleet.Load{Book: b}
	for _, n := range a.Nodes() {
		once.Take(n, 20, 100)
	}
	spend := &fleet.Load{Book: b, Keys: indices(20), Rate: 100, Clients: 2}
	defer spend.Stop()
	watch := a.Watch()
	defer watch.Stop()
	spend.Attach(a.Nodes()...)

	for range int(long(10, 2)) {
		time.Sleep(1500 * time.Millisecond) // under load; longer than what is not safe yet
		victim := a.Nodes()[2]
		a.Kill(victim)
		b.Crashed(victim, watch.Seen(victim).Safe)
		spend.Detach(victim)

		again := a.start(3)
		if _, err := fleet.Await(20*time.Second, again.Ready); err != nil {
			t.Fatal(err)
		}
		if left, err := again.Remaining("hour", "before"); err != nil || left != size-300 {
			t.Errorf("%s is ready and has %d left of what 300 are gone of %d (%v)", again.Name, left, size, err)
		}
		spend.Attach(again)
	}
	spend.Stop()
	a.settle(20 * time.Second)
	a.agree(b, 5*time.Second, size)
	var all fleet.Want
	for _, w := range b.Want() {
		all.Told, all.Unknown, all.Crashed = all.Told+w.Told, all.Unknown+w.Unknown, all.Crashed+w.Crashed
	}
	t.Logf("%+v of %v takes", all, b.Totals())
	if all.Told < 500 || all.Crashed+all.Unknown > all.Told/2 {
		t.Errorf("%+v: want most takes to be known for certain", all)
	}
}

//go:build unix

package main

import (
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/fleet"
)

// Five nodes are replaced one by one, under load, with keys near their limit of a thousand an
// hour: what is admitted is a thousand, what an hour gives back meanwhile, and the bound
// (case 5).
func TestChaosReplace(t *testing.T) {
	t.Parallel()
	const bucket, nodes = "1000/h", 5
	a := startFleet(t, nil, nodes, "--limit", "bucket="+bucket, "--limit", "window=1000/"+window(20*time.Minute)+" algorithm=fixed-window")
	b := fleet.NewBook(fleet.Key{Limit: "bucket", Key: "k"})
	w := fleet.NewBook(fleet.Key{Limit: "window", Key: "k"})
	loads := []*fleet.Load{{Book: b, Keys: []int{0}, Rate: 20}, {Book: w, Keys: []int{0}, Rate: 20}}
	for _, l := range loads {
		defer l.Stop()
		for _, n := range a.Nodes() {
			l.Take(n, 0, 190)
		}
		a.settle(20 * time.Second)
		l.Attach(a.Nodes()...)
	}
	watch := a.Watch()
	defer watch.Stop()

	for _, old := range a.Nodes() {
		for _, l := range loads {
			l.Detach(old)
		}
		if err := a.Terminate(old); err != nil {
			t.Errorf("%s: %v", old.Name, err)
		}
		n := a.start(old.Slot)
		if _, err := fleet.Await(20*time.Second, n.Ready); err != nil {
			t.Fatal(err)
		}
		for _, l := range loads {
			l.Attach(n)
		}
		time.Sleep(long(3*time.Second, 300*time.Millisecond))
	}
	for _, l := range loads {
		l.Stop()
	}
	a.settle(20 * time.Second)

	seen := watch.Worst()
	if r := judge(t, b, bucket, seen); r.Broken || r.Failed > 0 || r.Admitted < 1000 {
		t.Errorf("%d admitted, %d failed (%v), %.1f beyond the bound", r.Admitted, r.Failed, b.Fault(), r.Beyond)
	}
	// A window that does not end is a bucket of which next to nothing comes back.
	if r := judge(t, w, "1000/10000h", seen); r.Broken || r.Failed > 0 || r.Admitted < 1000 {
		t.Errorf("of the window %d admitted, %d failed (%v), %.1f beyond the bound", r.Admitted, r.Failed, w.Fault(), r.Beyond)
	}
}

// Three nodes grow to ten while clients ask for several times the limit at each: what is
// admitted stays the limit's (case 6).
func TestChaosGrow(t *testing.T) {
	t.Parallel()
	const limit, slots = "100/s burst=100", 10
	a := startFleet(t, nil, 3, "--limit", "flood="+limit)
	b := fleet.NewBook(fleet.Key{Limit: "flood", Key: "k"})
	flood := &fleet.Load{Book: b, Keys: []int{0}, Rate: 60, Clients: 2}
	defer flood.Stop()
	watch := a.Watch()
	defer watch.Stop()
	flood.Attach(a.Nodes()...)
	pause := long(3*time.Second, 200*time.Millisecond)
	for slot := 4; slot <= slots; slot++ {
		time.Sleep(pause)
		n := a.start(slot)
		if _, err := fleet.Await(20*time.Second, n.Ready); err != nil {
			t.Fatal(err)
		}
		flood.Attach(n)
	}
	time.Sleep(pause)
	flood.Stop()
	if r := judge(t, b, limit, watch.Worst()); r.Broken || r.Failed > 0 || r.Admitted < 100 || r.Refused < 100 {
		t.Errorf("%d admitted, %d refused, %d failed (%v), %.1f beyond the bound", r.Admitted, r.Refused, r.Failed, b.Fault(), r.Beyond)
	}
}

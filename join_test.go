package stint_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster/memnet"
)

// everyKind is a limit of each algorithm, of so many an hour.
func everyKind(n int64) (limits []stint.Limit) {
	for _, a := range []string{"", " algorithm=leaky-bucket", " algorithm=fixed-window", " algorithm=sliding-window", " algorithm=sliding-log"} {
		l, err := stint.ParseLimit(fmt.Sprintf("%d/h%s", n, a))
		if err != nil {
			panic(err)
		}
		limits = append(limits, l)
	}
	return limits
}

// Promise 7: a newcomer knows every count when it is ready, of every algorithm, also what
// nodes spent that are gone, and holds and bans.
func TestNewcomerKnowsTheCounts(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		for i, n := range nodes {
			for _, l := range everyKind(100) {
				admitted(n, "ann", l, 10+i)
			}
		}
		held, err := nodes[0].Hold(context.Background(), "hal", everyKind(100)[0], 40, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := nodes[1].Ban(context.Background(), "bob", everyKind(100)[0], time.Hour); err != nil {
			t.Fatal(err)
		}
		r.sync()
		r.kill(2, nodes[2])
		n := r.open(r.config(3))
		if err := n.Ready(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, l := range everyKind(100) {
			r.checkRemaining(100-10-11-12, "ann", l, n)
		}
		r.checkRemaining(60, "hal", everyKind(100)[0], n)
		if n.Allow("bob", everyKind(100)[0]).OK {
			t.Error("the ban is not known")
		}
		if s := n.Stats(); s.Joining || s.Missing > 0 || s.Lost > 0 {
			t.Errorf("got %+v", s)
		}
		if err := n.Settle(context.Background(), held.ID(), 5); err != nil {
			t.Error(err)
		}
		r.sync()
		r.checkRemaining(95, "hal", everyKind(100)[0], nodes[0], nodes[1], n)
	})
}

// Case 5. Five nodes are replaced one after another, all the time under load: of the limit
// no more is admitted than it has.
func TestCase5(t *testing.T) {
	inBubble(t, func(r *rig) {
		const all = 1000
		limit := everyKind(all)[2] // a fixed window
		total := int64(0)
		nodes := r.cluster(5)
		spend := func(each int) {
			for _, n := range nodes {
				total += admitted(n, "ann", limit, each)
			}
			r.sync()
		}
		spend(30)
		for i := range nodes {
			cfg := r.config(5 + i)
			cfg.Join = []string{seed((i + 1) % 5), seed(5 + (i+4)%5)}
			n := r.open(cfg)
			for n.Ready(gone()) != nil {
				total += admitted(nodes[1], "ann", limit, 1)
				time.Sleep(10 * time.Millisecond)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			if err := nodes[i].Close(ctx); err != nil {
				t.Error(err)
			}
			cancel()
			nodes[i] = n
			r.sync()
			r.checkRemaining(all-total, "ann", limit, nodes...)
			spend(3)
		}
		for range 150 {
			spend(1)
		}
		if total < all || total > all+4 {
			t.Errorf("got %d admitted of %d", total, all)
		}
	})
}

// A node that crashed and comes back under its name has the count of before.
func TestRestartKeepsTheCount(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(3)
		for _, n := range nodes {
			admitted(n, "ann", stint.PerHour(100), 10)
		}
		r.sync()
		r.kill(1, nodes[1])
		cfg := r.config(1)
		cfg.Transport = r.net.Host(ip(1))
		n := r.open(cfg)
		if err := n.Ready(context.Background()); err != nil {
			t.Fatal(err)
		}
		r.checkRemaining(70, "ann", stint.PerHour(100), n)
	})
}

// All start at once and know nothing but each other's addresses.
func TestAllJoinAtOnce(t *testing.T) {
	inBubble(t, func(r *rig) {
		var nodes []*stint.Node
		for i := range 5 {
			cfg := r.config(i)
			cfg.Join = []string{seed(0), seed(1), seed(2), seed(3), seed(4)}
			nodes = append(nodes, r.open(cfg))
			admitted(nodes[i], "ann", stint.PerHour(100), 3)
		}
		start := time.Now()
		r.met(nodes...)
		t.Logf("all ready in %v", time.Since(start))
		r.checkRemaining(100-15, "ann", stint.PerHour(100), nodes...)
	})
}

// A node that was ready by itself, and has spent something, meets a cluster later.
func TestLoneNodeMeetsACluster(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		for _, n := range nodes {
			admitted(n, "ann", everyKind(100)[2], 10)
		}
		cfg := r.config(7)
		cfg.Join, cfg.JoinTimeout = []string{seed(8)}, 4*time.Second
		lone := r.open(cfg)
		if err := lone.Ready(context.Background()); err != nil {
			t.Fatal(err)
		}
		admitted(lone, "ann", everyKind(100)[2], 5)
		time.Sleep(time.Minute)
		cfg = r.config(8)
		cfg.Join = []string{seed(0)}
		r.net.Split(ip(7))
		nodes = append(nodes, lone, r.open(cfg))
		if err := nodes[3].Ready(context.Background()); err != nil {
			t.Fatal(err)
		}
		r.net.Heal()
		r.met(nodes...)
		time.Sleep(5 * time.Second)
		r.met(nodes...)
		r.checkRemaining(75, "ann", everyKind(100)[2], nodes...)
	})
}

// Every donor is cut off: the newcomer starts with what there is, and says so.
func TestJoinTimeout(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := r.cluster(2)
		admitted(nodes[0], "ann", stint.PerHour(100), 10)
		cfg := r.config(2)
		cfg.JoinTimeout = 2 * time.Second
		n := r.open(cfg)
		r.within(5*time.Second, "members are seen", func() bool { return n.Stats().Nodes == 3 })
		for i := range nodes {
			r.net.Cut(ip(i), ip(2))
		}
		r.within(5*time.Second, "it gives up joining", func() bool { return !n.Stats().Joining })
		_ = nodes
	})
}

// TestJoinOfMany times a newcomer to many live keys: STINT_JOIN says how many.
func TestJoinOfMany(t *testing.T) {
	keys := 20_000
	if s := os.Getenv("STINT_JOIN"); s != "" {
		fmt.Sscan(s, &keys)
	}
	net := memnet.New(1)
	open := func(i int) *stint.Node {
		cfg := stint.Config{Name: fmt.Sprint("n", i), Bind: ":7946", Transport: net.Host(ip(i)), MaxKeys: 2 * keys}
		if i > 0 {
			cfg.Join = []string{seed(0)}
		}
		n, err := stint.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close(gone()) })
		return n
	}
	donor := open(0)
	l := stint.PerHour(10)
	for i := range keys {
		donor.AllowN(fmt.Sprint("key", i), l, int64(1+i%5))
	}
	start := time.Now()
	n := open(1)
	if err := n.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d keys in %v", keys, time.Since(start))
	for i := range keys {
		if got, want := n.Peek(fmt.Sprint("key", i), l).Remaining, 10-int64(1+i%5); got != want {
			t.Fatalf("key %d: %d left, want %d", i, got, want)
		}
	}
}

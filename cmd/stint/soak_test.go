//go:build unix

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/fleet"
)

const (
	soakNodes = 5
	soakKeys  = 10     // of each limit, half of them taken at steady nodes only
	soakRate  = 100.0  // takes a second at each node, or less if the soak is long
	soakSize  = 20_000 // events of each limit that is counted

	floodLimit = "100/s burst=100"

	settleLimit  = 30 * time.Second
	restartLimit = 30 * time.Second
	worstAgeFor  = 21 * time.Second // LagMax is that of the last 10 to 20 s
	floodFor     = 3 * time.Second
)

// countedLimits are one of each algorithm, all so wide that nothing comes back and nothing
// is refused while a soak runs: what is used of them is what was taken.
func countedLimits(need time.Duration) map[string]string {
	period := window(need)
	return map[string]string{
		"token":   fmt.Sprintf("1/24h burst=%d", soakSize),
		"leaky":   fmt.Sprintf("1/24h burst=%d algorithm=leaky-bucket", soakSize),
		"fixed":   fmt.Sprintf("%d/%s algorithm=fixed-window", soakSize, period),
		"sliding": fmt.Sprintf("%d/%s algorithm=sliding-window", soakSize, period),
		"log":     fmt.Sprintf("%d/24h algorithm=sliding-log", soakSize),
	}
}

// soak is a run.
type soak struct {
	*ally
	book  *fleet.Book
	load  *fleet.Load // at all nodes
	exact *fleet.Load // at steady nodes, of keys that no other has
	watch *fleet.Watch
	sum   summary
	lines tail
}

// TestSoak lets five processes suffer faults of all kinds by chance, for as long as
// STINT_SOAK says, while clients take under limits of every algorithm; every so often,
// and in the end, all counts must be what the clients were told. STINT_SEED repeats the
// faults of a run: make soak.
func TestSoak(t *testing.T) {
	if !soaking() {
		t.Skip("runs for as long as STINT_SOAK says, a Go duration: make soak")
	}
	lasts, err := time.ParseDuration(os.Getenv("STINT_SOAK"))
	if err != nil {
		t.Fatalf("STINT_SOAK: %v", err)
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("STINT_SEED"); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("STINT_SEED: %v", err)
		}
	}
	net, err := fleet.NewNet(soakNodes)
	if err != nil && !errors.Is(err, fleet.ErrImpossible) {
		t.Fatal(err)
	}
	if net != nil {
		t.Cleanup(func() {
			if err := net.Close(); err != nil {
				t.Error(err)
			}
		})
	} else {
		t.Logf("only processes are troubled, not their network: %v", err)
	}
	t.Logf("STINT_SEED=%d", seed)
	s := newSoak(t, net, lasts, seed)
	defer s.watch.Stop()
	defer s.load.Stop()
	defer s.exact.Stop()
	defer func() { t.Log("\n" + s.summary(seed)) }()
	s.run(lasts, newPlanner(seed, soakNodes, net != nil))
}

func newSoak(t *testing.T, net *fleet.Net, lasts time.Duration, seed uint64) *soak {
	t.Helper()
	s := &soak{sum: summary{faults: make(map[trouble]int), began: time.Now()}}
	flags := []string{"--limit", "flood=" + floodLimit}
	var all []fleet.Key
	var ours, theirs []int
	limits := countedLimits(lasts + 20*time.Minute)
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		flags = append(flags, "--limit", name+"="+limits[name])
		n := len(all)
		all = append(all, keys(name, soakKeys)...)
		ours, theirs = append(ours, indices(len(all))[n:n+soakKeys/2]...), append(theirs, indices(len(all))[n+soakKeys/2:]...)
	}
	s.ally = &ally{t: t, net: net, Fleet: fleet.New(fleet.Config{
		Command: []string{"stint"}, Flags: flags, Net: net, Log: s.lines.add,
	})}
	t.Cleanup(s.Close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.lines.String())
		}
	})
	for slot := 1; slot <= soakNodes; slot++ {
		s.start(slot)
	}
	s.settle(settleLimit)
	s.book = fleet.NewBook(all...)
	rate := min(soakRate, 0.75*soakSize*float64(len(theirs))/soakNodes/lasts.Seconds())
	s.load = &fleet.Load{Book: s.book, Keys: theirs, Clients: 2, Seed: seed, Rate: rate, Back: 0.05, Hold: 0.03}
	s.exact = &fleet.Load{Book: s.book, Keys: ours, Clients: 2, Seed: seed + 1, Rate: rate, Back: 0.05, Hold: 0.03}
	for key := range all { // something to give back
		s.load.Take(s.Nodes()[0], key, 100)
	}
	s.settle(settleLimit)
	s.watch = s.Watch()
	return s
}

// attach lets clients come to nodes.
func (s *soak) attach(nodes ...*fleet.Node) {
	s.load.Attach(nodes...)
	for _, n := range nodes {
		if n.Slot <= steady {
			s.exact.Attach(n)
		}
	}
}

// detach lets them go.
func (s *soak) detach(nodes ...*fleet.Node) {
	s.load.Detach(nodes...)
	s.exact.Detach(nodes...)
}

// run is round after round until time is up, and then the last comparison.
func (s *soak) run(lasts time.Duration, p *planner) {
	s.t.Helper()
	s.attach(s.Nodes()...)
	for began := time.Now(); time.Since(began) < lasts; {
		r := p.next()
		if err := s.undergo(r); err != nil {
			s.t.Fatalf("round %d, %v: %v", p.made, r, err)
		}
		if r.check {
			s.compare(fmt.Sprintf("round %d, %v", p.made, r))
			s.attach(s.Nodes()...)
		}
		if r.calm {
			s.calm()
		}
	}
	s.compare("the end")
	if refused := s.book.Totals()[fleet.Refused]; refused > 0 {
		s.t.Errorf("%d takes were refused of limits of which %d are never used up", refused, soakSize)
	}
}

// compare lets the clients rest until all is settled, and holds the counts against what they
// were told.
func (s *soak) compare(when string) {
	s.t.Helper()
	s.detach(s.Nodes()...)
	took, err := fleet.Await(settleLimit, s.Settled)
	if err != nil {
		s.complain()
		s.t.Fatalf("%s: all in touch and settled: %v", when, err)
	}
	s.sum.settled(took)
	counts, _, err := s.book.Agree(s.t.Context(), s.Nodes(), fleet.HoldTTL+5*time.Second, func(_ fleet.Key, left int64) int64 { return soakSize - left })
	if err != nil {
		s.complain()
		s.t.Fatalf("%s: %v", when, err)
	}
	s.sum.compared(counts, s.book.Want())
	for key, want := range s.book.Want() {
		if slices.Contains(s.exact.Keys, key) && !want.Exact() {
			s.t.Fatalf("%s: %v: %+v although it was taken at steady nodes only", when, s.book.Keys[key], want)
		}
	}
}

func (s *soak) complain() {
	for _, n := range s.Nodes() {
		stats, err := n.Stats()
		s.t.Logf("%s: ready %v, %+v %v", n.Name, n.Ready(), stats, err)
	}
}

// calm waits until no news is old any more, floods a fresh key from all sides, and holds what
// was admitted against the bound in force.
func (s *soak) calm() {
	s.t.Helper()
	time.Sleep(worstAgeFor)
	b := fleet.NewBook(fleet.Key{Limit: "flood", Key: fmt.Sprint(s.sum.calms)})
	flood := &fleet.Load{Book: b, Keys: []int{0}, Rate: 100, Clients: 2}
	watch := s.Watch()
	flood.Attach(s.Nodes()...)
	time.Sleep(floodFor)
	flood.Stop()
	watch.Stop()
	r := judge(s.t, b, floodLimit, watch.Worst())
	s.sum.calm(&r)
	if r.Broken {
		s.t.Errorf("calm %d: %.1f beyond the bound", s.sum.calms, r.Beyond)
	}
}

// tail keeps the last lines that the nodes have logged.
type tail struct {
	mu    sync.Mutex
	lines []string
}

const tailLines = 2000

func (l *tail) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines = append(l.lines, line); len(l.lines) > 2*tailLines {
		l.lines = slices.Clone(l.lines[tailLines:])
	}
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

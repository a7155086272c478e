package stint_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// A capture of a whole cluster's traffic, said again to a node that lives and to one that
// was restarted: whole, cut, doubled, in another order, with bits flipped. No count changes,
// on no node, by one event; nothing crashes; the cluster goes on. With a key nothing is let
// in at all. Without one whoever reaches the port is a member, but old sessions stay old.
//
// With -v the test prints what was tried. With STINT_SOAK streams are cut, and bits flipped,
// at every byte of the handshake and the first records.
func TestReplayedCapture(t *testing.T) {
	for _, mode := range []string{"sealed", "in clear"} {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				v := &victims{rig: r, sealed: mode == "sealed", tap: &wiretap{}}
				v.capture()
				v.attack("alive")
				v.restart(0)
				v.attack("restarted")
				if v.sealed {
					v.impostor()
				}
				v.goOn()
				t.Logf("\n%s", printed(mode, v.rows))
			})
		})
	}
}

// victims are nodes n0, n1, … whose traffic was overheard.
type victims struct {
	*rig
	sealed bool
	tap    *wiretap
	log    events
	nodes  []*stint.Node
	keys   []string
	rows   []row
}

// row is one line of the table of what was tried.
type row struct {
	node, what, how           string
	tries, bytes              int
	answered                  int // bytes
	ghosts                    int // times that a node took a dead member for alive
	lost, broken, log, counts int // live members lost, links broken, lines at warn, counts changed
}

func printed(mode string, rows []row) string {
	var b strings.Builder
	line := "%-9s %-10s %-11s %-17s %8v %10v %10v %7v %6v %6v %5v %7v\n"
	fmt.Fprintf(&b, line, "", "node", "what", "how", "tries", "bytes", "answered", "ghosts", "lost", "links", "log", "counts")
	for _, x := range rows {
		fmt.Fprintf(&b, line, mode, x.node, x.what, x.how, x.tries, x.bytes, x.answered, x.ghosts, x.lost, x.broken, x.log, x.counts)
	}
	return b.String()
}

var (
	replayWindow = stint.Limit{Name: "window", Events: 1_000_000, Per: 3652 * 24 * time.Hour, Algorithm: stint.FixedWindow}
	replayLimits = []stint.Limit{slow(10_000), replayWindow}
)

func (v *victims) config(i int) stint.Config {
	cfg := v.rig.config(i)
	if i == 0 {
		cfg.Join = []string{seed(1)}
	}
	if v.sealed {
		cfg.ClusterKeys = [][]byte{clusterKey(1)}
	}
	cfg.Transport = tapped{cfg.Transport, v.tap}
	cfg.Logger = slog.New(&v.log)
	return cfg
}

// capture has a cluster do all that it does: spend, break links, lose and gain members, and
// say goodbye.
func (v *victims) capture() {
	for i := range 3 {
		v.nodes = append(v.nodes, v.open(v.config(i)))
	}
	v.met(v.nodes...)
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		v.keys = append(v.keys, fmt.Sprint("key-", i))
	}
	spend := func() {
		for range 50 {
			n := v.nodes[dice.IntN(len(v.nodes))]
			for _, l := range replayLimits {
				if d := n.AllowN(v.keys[dice.IntN(20)], l, dice.Int64N(5)+1); !d.OK {
					v.Fatalf("refused: %+v", d)
				}
			}
			time.Sleep(time.Duration(dice.IntN(20)) * time.Millisecond)
		}
	}
	spend()
	l := v.nodes[1].Limiter(replayWindow)
	if _, err := l.Hold(v.Context(), "held", 7, 10*24*time.Hour); err != nil {
		v.Fatal(err)
	}
	if err := l.Ban(v.Context(), "banned", 10*24*time.Hour); err != nil {
		v.Fatal(err)
	}
	v.keys = append(v.keys, "held", "banned")
	v.net.BreakStreams(ip(0), ip(1))
	spend()
	v.restart(2)
	spend()
	left := v.open(v.config(3))
	v.settle(left)
	left.AllowN(v.keys[0], replayLimits[0], 3)
	left.Close(v.Context())
	v.settle()
	spend()
	v.settle()
}

// restart kills a node and, once the others have noticed, starts it again.
func (v *victims) restart(i int) {
	v.Helper()
	v.kill(i, v.nodes[i])
	v.within(30*time.Second, "the loss is noticed", func() bool { return v.nodes[(i+1)%3].Stats().Nodes == 2 && v.nodes[(i+2)%3].Stats().Nodes == 2 })
	v.nodes[i] = v.open(v.config(i))
	v.settle()
}

// settle waits until all are in touch again, then for as long as old news would be news.
func (v *victims) settle(more ...*stint.Node) {
	v.Helper()
	v.met(append(slices.Clone(v.nodes), more...)...)
	time.Sleep(2 * time.Second)
}

// counts is what every node counts, of every key.
func (v *victims) counts() (all []int64) {
	for _, n := range v.nodes {
		for _, l := range replayLimits {
			for _, k := range v.keys {
				all = append(all, n.Peek(k, l).Remaining)
			}
		}
		s := n.Stats()
		all = append(all, int64(s.Holds), int64(s.Bans), s.Lost, s.Forgiven)
	}
	return all
}

// group runs tries and writes down, and checks, what came of them.
func (v *victims) group(node, what, how string, f func(x *row)) {
	v.Helper()
	v.rows = append(v.rows, row{node: node, what: what, how: how})
	x := &v.rows[len(v.rows)-1]
	counts, opened, lost, ghosts, warned := v.counts(), v.opened(), v.downs(true), v.downs(false), v.log.count(slog.LevelWarn, "")
	f(x)
	time.Sleep(10 * time.Second)
	x.lost, x.ghosts, x.log = v.downs(true)-lost, v.downs(false)-ghosts, v.log.count(slog.LevelWarn, "")-warned
	for link, n := range v.opened() {
		x.broken += int(n - opened[link])
	}
	for i, c := range v.counts() {
		if c != counts[i] {
			x.counts++
		}
	}
	switch {
	case x.counts > 0:
		v.Errorf("%s: %s, %s: %d counts changed", node, what, how, x.counts)
	case v.sealed && (x.broken > 0 || x.lost > 0 || x.log > 6):
		v.Errorf("%s: %s, %s: the cluster felt it: %+v", node, what, how, *x)
	}
}

// say tries something on a stream: from a stranger's address, or one that a member had.
func (v *victims) say(x *row, what ...[]byte) {
	v.Helper()
	x.tries++
	for _, b := range what {
		x.bytes += len(b)
	}
	from := []string{"10.9.9.9", ip(3)}[x.tries%2]
	x.answered += v.sayTo(v.net.Host(from), seed(0), what...)
}

// opened is how many streams the nodes had to open again, by the two ends.
func (v *victims) opened() map[[2]uint64]int64 {
	n := make(map[[2]uint64]int64)
	for i, node := range v.nodes {
		for _, m := range node.Members() {
			n[[2]uint64{uint64(i), m.Incarnation}] = m.Reconnects
		}
	}
	return n
}

// downs is how many times a node gave up a member: one that lives, or one that is long dead
// and was believed alive.
func (v *victims) downs(living bool) (n int) {
	for _, node := range v.nodes {
		for _, m := range node.Members() {
			if m.Self {
				n += v.log.count(slog.LevelInfo, "member down", fmt.Sprintf("%016x", m.Incarnation))
			}
		}
	}
	if living {
		return n
	}
	return v.log.count(slog.LevelInfo, "member down") - n
}

// goOn checks that the cluster counts as ever.
func (v *victims) goOn() {
	v.settle()
	before := v.counts()
	for _, n := range v.nodes {
		n.AllowN(v.keys[0], replayWindow, 2)
	}
	v.sync()
	for i, n := range v.nodes {
		want := before[i*len(before)/3+len(v.keys)] - 6
		if got := n.Peek(v.keys[0], replayWindow).Remaining; got != want {
			v.Errorf("afterwards %s has %d left, want %d", n.Name(), got, want)
		}
	}
}

// events is a log that is counted.
type events struct {
	mu    sync.Mutex
	lines []string // "level message attributes"
}

func (e *events) Enabled(context.Context, slog.Level) bool { return true }
func (e *events) WithAttrs([]slog.Attr) slog.Handler       { return e }
func (e *events) WithGroup(string) slog.Handler            { return e }

func (e *events) Handle(_ context.Context, rec slog.Record) error {
	if rec.Level < slog.LevelInfo {
		return nil
	}
	line := rec.Level.String() + " " + rec.Message
	rec.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, line)
	return nil
}

// count tells how many lines of a level have all the words.
func (e *events) count(l slog.Level, words ...string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, line := range e.lines {
		lacks := func(w string) bool { return !strings.Contains(line, w) }
		if strings.HasPrefix(line, l.String()) && !slices.ContainsFunc(words, lacks) {
			n++
		}
	}
	return n
}

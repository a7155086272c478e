package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/load"
)

const (
	demoTimes   = 5       // the demand, in limits
	demoFastest = 200_000 // takes a second
	demoJoin    = 15 * time.Second
	demoKey     = "visitor"
)

func demoCommand() *cobra.Command {
	var nodes int
	var limitText string
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Start a few nodes here, ask them for five times a limit, and see what they admit",
		Long: `Start a few nodes in this process, which gossip over real sockets on this machine, and ask each
in turn for the same key, five times as often as the limit allows. At the end, side by side:
what they admitted, what one bucket in the middle would have, and what as many
limiters did that were asked the same but do not know of each other.

Exit codes: 0 the nodes kept the bound on what they may overspend, 1 they broke it, 2 error.`,
		Example: `  stint demo
  stint demo --nodes 5 --limit '1000/s burst=200' --for 5s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := newDemo(nodes, limitText, lasts)
			if err != nil {
				return err
			}
			return d.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().IntVar(&nodes, "nodes", 3, "how many nodes")
	cmd.Flags().StringVar(&limitText, "limit", "100/s", "the limit, `RATE [burst=N]`")
	cmd.Flags().DurationVar(&lasts, "for", 10*time.Second, "how long to ask")
	return cmd
}

// demo is a cluster in this process, and as many limiters on their own.
type demo struct {
	limit stint.Limit
	rule  load.Rule
	plan  load.Plan

	nodes  []*demoNode
	shared []load.Take // what the nodes decided
	alone  []load.Take // what the limiters on their own did with the same takes
}

type demoNode struct {
	node   *stint.Node
	shared *stint.Limiter
	alone  *stint.Limiter
	count  counts
}

func newDemo(nodes int, limitText string, lasts time.Duration) (*demo, error) {
	limit, err := stint.ParseLimit(limitText)
	if err != nil {
		return nil, flagError("limit", err)
	}
	d := &demo{limit: limit.WithName("demo")}
	if d.rule, err = load.RuleOf(limit); err != nil {
		return nil, flagError("limit", fmt.Errorf("%w: give a rate such as 100/s", err))
	}
	if limit.Algorithm != stint.TokenBucket || limit.Calendar != stint.NoCalendar {
		return nil, flagError("limit", fmt.Errorf("%s: the demo is of a token bucket", limit))
	}
	if limit.Mode != stint.Shared {
		return nil, flagError("limit", fmt.Errorf("mode %s: the demo is of mode shared", limit.Mode))
	}
	if nodes < 1 || nodes > 100 {
		return nil, flagError("nodes", fmt.Errorf("%d: give 1 to 100", nodes))
	}
	rate := demoTimes * float64(d.rule.Events) / d.rule.Per.Seconds()
	if rate > demoFastest {
		return nil, flagError("limit", fmt.Errorf("%s: this machine will not ask so often; give at most %d/s", limit, demoFastest/demoTimes))
	}
	d.plan = load.Plan{Rate: rate, For: lasts, Servers: nodes, Keys: 1}
	if err := d.plan.Validate(); err != nil {
		return nil, flagError("for", err)
	}
	d.nodes = make([]*demoNode, nodes)
	d.shared, d.alone = make([]load.Take, d.plan.Len()), make([]load.Take, d.plan.Len())
	return d, nil
}

func (d *demo) run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "Nodes on loopback: %d. Limit: %s for one key, asked for %.4g times a second.\n",
		len(d.nodes), d.limit, d.plan.Rate)
	if err := d.start(ctx); err != nil {
		return errors.Join(err, d.stop())
	}
	watching, stopWatching := context.WithCancel(context.Background())
	var side sync.WaitGroup
	news := &demoNews{}
	side.Go(func() { news.watch(watching, d.nodes) })
	side.Go(func() { d.show(watching, out) })

	start := time.Now()
	n := d.plan.Drive(ctx, func(i int) { d.take(i, start) }, func() {})
	lasted := time.Since(start)
	stopWatching()
	side.Wait()
	err := d.stop()

	broken := d.compare(out, n, lasted, news.worst())
	if err != nil {
		return err
	}
	if broken {
		return errNo
	}
	return nil
}

// start opens the nodes and waits until all hear each other.
func (d *demo) start(ctx context.Context) error {
	var seeds []string
	for i := range d.nodes {
		node, err := stint.Open(stint.Config{
			Name: fmt.Sprintf("node-%d", i+1), Bind: "127.0.0.1:0", Join: seeds,
			Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return fmt.Errorf("starting node %d: %w", i+1, err)
		}
		seeds = []string{node.Addr()}
		d.nodes[i] = &demoNode{
			node:   node,
			shared: node.Limiter(d.limit),
			alone:  node.Limiter(d.limit.WithName("alone").WithMode(stint.Local)),
		}
	}
	ctx, cancel := context.WithTimeout(ctx, demoJoin)
	defer cancel()
	return d.meet(ctx)
}

// meet waits until every node is in session with every other.
func (d *demo) meet(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, n := range d.nodes {
		for n.hears() < len(d.nodes) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return fmt.Errorf("%s hears of only %d nodes, not %d: %w", n.node.Name(), n.hears(), len(d.nodes), ctx.Err())
			}
		}
	}
	return nil
}

// hears is how many nodes this one is in session with, itself included.
func (n *demoNode) hears() int {
	all := 1
	for _, m := range n.node.Stats().Peers {
		if m.State == "alive" && m.InSession {
			all++
		}
	}
	return all
}

func (d *demo) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeWait)
	defer cancel()
	var errs []error
	for _, n := range d.nodes {
		if n != nil {
			errs = append(errs, n.node.Close(ctx))
		}
	}
	return errors.Join(errs...)
}

// take makes take i of the plan, of a node and of its limiter on its own.
func (d *demo) take(i int, start time.Time) {
	j := d.plan.Server(i)
	n, due := d.nodes[j], int64(d.plan.At(i))
	ask := func(l *stint.Limiter) load.Take {
		t := load.Take{Due: due, From: int64(time.Since(start)), Server: int32(j), Outcome: load.Refused}
		if l.Allow(demoKey).OK {
			t.Outcome = load.Admitted
		}
		t.To = int64(time.Since(start))
		t.Done = t.To
		return t
	}
	d.shared[i], d.alone[i] = ask(n.shared), ask(n.alone)
	n.count.add(d.shared[i].Outcome == load.Admitted)
}

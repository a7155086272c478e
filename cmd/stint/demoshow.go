package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// counts are what one node was asked and said so far.
type counts struct{ admitted, refused atomic.Int64 }

func (c *counts) add(admitted bool) {
	if admitted {
		c.admitted.Add(1)
	} else {
		c.refused.Add(1)
	}
}

// show writes the counts until the context ends: on a terminal a table that stays in its
// place, elsewhere a line a second.
func (d *demo) show(ctx context.Context, out io.Writer) {
	every, write := time.Second, d.line
	if isTerminal(out) {
		every, write = 200*time.Millisecond, d.table
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	start := time.Now()
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			write(out, time.Since(start), first)
		}
	}
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

func (d *demo) line(out io.Writer, since time.Duration, _ bool) {
	fmt.Fprintf(out, "%3.0f s ", since.Seconds())
	for i, n := range d.nodes {
		admitted, refused := n.count.admitted.Load(), n.count.refused.Load()
		fmt.Fprintf(out, " | node-%d asked %d admitted %d refused %d", i+1, admitted+refused, admitted, refused)
	}
	fmt.Fprintln(out)
}

func (d *demo) table(out io.Writer, since time.Duration, first bool) {
	if !first {
		fmt.Fprintf(out, "\x1b[%dA", len(d.nodes)+2) // back up to its first line
	}
	row := func(name string, asked, admitted, refused any) {
		fmt.Fprintf(out, "\x1b[K%-10s %10v %10v %10v\n", name, asked, admitted, refused)
	}
	row(fmt.Sprintf("%.1f s", since.Seconds()), "asked", "admitted", "refused")
	var admitted, refused int64
	for i, n := range d.nodes {
		a, r := n.count.admitted.Load(), n.count.refused.Load()
		admitted, refused = admitted+a, refused+r
		row(fmt.Sprintf("node-%d", i+1), a+r, a, r)
	}
	row("all", admitted+refused, admitted, refused)
}

// compare writes the last table and says whether the nodes broke their bound.
func (d *demo) compare(out io.Writer, n int, lasted time.Duration, news load.News) (broken bool) {
	names := make([]string, len(d.nodes))
	shared := load.Analyse(d.shared[:n], d.rule, &news, names)
	alone := load.Analyse(d.alone[:n], d.rule, nil, names)

	fmt.Fprintf(out, "\n%d takes in %.1f s, for a limit of %s:\n\n", n, lasted.Seconds(), d.limit)
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	row := func(name string, admitted int64, excess float64) {
		times := 1.0
		if shared.Central > 0 {
			times = float64(admitted) / float64(shared.Central)
		}
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.2f\t%.1f\t\n", name, admitted, float64(admitted)/lasted.Seconds(), times, excess)
	}
	fmt.Fprintf(w, "\tadmitted\ta second\t× central\tmost over the limit\t\n")
	row("Stint, nodes: "+strconv.Itoa(len(d.nodes)), shared.Admitted, shared.Excess)
	row("one central bucket", shared.Central, 0)
	row("independent limiters: "+strconv.Itoa(len(d.nodes)), alone.Admitted, alone.Excess)
	w.Flush()

	fmt.Fprintf(out, "\nMost over the limit is in events, over any interval beyond burst + rate·t. With news up to\n"+
		"%.1f ms old, as measured, the nodes could honestly have been %s over.\n", news.Age.Seconds()*1e3, boundText(shared.Bound))
	if shared.Broken {
		fmt.Fprintf(out, "THE BOUND IS BROKEN, by %.1f events.\n", shared.Beyond)
	} else {
		fmt.Fprintln(out, "The bound was kept at every instant.")
	}
	return shared.Broken
}

func boundText(bound *float64) string {
	if bound == nil {
		return "none"
	}
	return fmt.Sprintf("%.1f", *bound)
}

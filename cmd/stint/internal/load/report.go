package load

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Print writes the result as a table for people.
func (r *Report) Print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "server\tasked\tadmitted\trefused\tfailed\tunsent\t\n")
	for _, s := range r.Servers {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t\n", s.Addr, s.Asked, s.Admitted, s.Refused, s.Failed, s.Unsent)
	}
	fmt.Fprintf(w, "all\t%d\t%d\t%d\t%d\t%d\t\n", r.Asked, r.Admitted, r.Refused, r.Failed, r.Unsent)
	w.Flush()

	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, name+"\t"+format+"\n", args...)
	}
	fmt.Fprintln(out)
	row("limit", "%s, pattern %s, keys %d, %.4g takes a second for %.1f s", r.Limit, r.Pattern, r.Keys, r.Rate, r.Seconds)
	row("admitted", "%d, %.1f a second", r.Admitted, float64(r.Admitted)/r.Seconds)
	if r.Rule.bucket() {
		row("central bucket", "%d of the same arrivals; admitted ÷ central = %.4f", r.Central, r.Ratio)
		row("excess", "%.1f events over any interval, %.1f %% of the burst", r.Excess, r.Percent)
	} else {
		row("central counter", "%d of the same arrivals; admitted ÷ central = %.4f", r.Central, r.Ratio)
	}
	if r.Bound != nil {
		row("bound then", "%.1f events, with news up to %.1f ms old at %d nodes: %s", *r.Bound, r.Age, r.Nodes, r.verdict())
	}
	row("latency", "p50 %.2f ms, p90 %.2f ms, p99 %.2f ms, max %.2f ms", r.Latency.P50, r.Latency.P90, r.Latency.P99, r.Latency.Max)
	w.Flush()
	for _, note := range r.Notes {
		fmt.Fprintln(out, note)
	}
}

func (r *Result) verdict() string {
	if r.Broken {
		return fmt.Sprintf("BROKEN by %.1f", r.Beyond)
	}
	return "kept at every instant"
}

// progress writes a line a second until the context ends.
func progress(ctx context.Context, out io.Writer, t *tally) {
	if out == nil {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var before int64
	for seconds := 1; ; seconds++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked, admitted := t.asked.Load(), t.by[Admitted].Load()
		fmt.Fprintf(out, "%3d s  asked %d  admitted %d (%d/s)  refused %d  failed %d  unsent %d\n", seconds,
			asked, admitted, admitted-before, t.by[Refused].Load(), t.by[Failed].Load(), t.by[Unsent].Load())
		before = admitted
	}
}

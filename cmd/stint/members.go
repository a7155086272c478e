package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func membersCommand() *cobra.Command {
	var a asking
	cmd := &cobra.Command{
		Use:   "members",
		Short: "List the nodes that a server knows, and how old its news of each is",
		Long: `List the nodes that a server knows, and how it stands with each: lag is the age of
the newest news from that node, worst the oldest that any news was when it came in
lately, or for how long more is overdue; backlog what is still to be sent there, unacked
what is on its way; out and in the bytes on the links, reconnects how often ours broke.
A node that is alive and not in step is connected, and its news does not come through.

Then, of each limit that may be overspent: the bound is by how many events, of any one
key, because of what the others have spent and the server has not heard, as far as the
last 10 to 20 s tell (a burst that strikes all nodes at one instant exceeds it until they
have told of it); the excess is what came of it.`,
		Example: `  stint members
  stint members --server 10.0.0.7:8080 --json | jq '.members[].name'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var body struct {
				Members []member
				Limits  []overshoot
			}
			return a.get(cmd, "/v1/members", &body, func(out io.Writer) error {
				if err := printMembers(out, body.Members); err != nil {
					return err
				}
				return printOvershoot(out, body.Limits)
			})
		},
	}
	a.flags(cmd)
	return cmd
}

// member is a node as a server sees it; times are milliseconds.
type member struct {
	Name, Addr, State string
	Self, Joining     bool
	InSession         bool    `json:"in_session"`
	Lag               float64 `json:"lag_ms"`
	Worst             float64 `json:"lag_max_ms"`
	Backlog, Unacked  int
	Out               int64 `json:"bytes_out"`
	In                int64 `json:"bytes_in"`
	Reconnects        int64
}

// overshoot is by how much a limit may be overspent, and was.
type overshoot struct {
	Name   string
	Bound  float64
	Excess int64
}

func printMembers(out io.Writer, all []member) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tADDRESS\tSTATE\tLAG\tWORST\tBACKLOG\tUNACKED\tOUT\tIN\tRECONNECTS")
	for _, m := range all {
		if m.Self {
			fmt.Fprintf(w, "%s\t%s\t%s\t\t\t\t\t\t\t\n", m.Name, m.Addr, m.state())
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.1f ms\t%.1f ms\t%d\t%d\t%s\t%s\t%d\n",
			m.Name, m.Addr, m.state(), m.Lag, m.Worst, m.Backlog, m.Unacked, size(m.Out), size(m.In), m.Reconnects)
	}
	return w.Flush()
}

// state is the member's, and what more there is to say of one that lives.
func (m *member) state() string {
	switch {
	case m.Joining:
		return m.State + " (joining)"
	case m.Self:
		return m.State + " (asked)"
	case m.State == "alive" && !m.InSession:
		return m.State + " (not in step)"
	}
	return m.State
}

func printOvershoot(out io.Writer, limits []overshoot) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	head := "\nLIMIT\tBOUND\tEXCESS\n"
	for _, l := range limits {
		if l.Bound > 0 || l.Excess > 0 {
			fmt.Fprintf(w, "%s%s\t%.0f\t%d\n", head, l.Name, l.Bound, l.Excess)
			head = ""
		}
	}
	return w.Flush()
}

// size is a number of bytes as people read it.
func size(n int64) string {
	v, units := float64(n), "kMGTPE"
	if n < 1000 {
		return fmt.Sprint(n, " B")
	}
	for v /= 1000; v >= 1000; v /= 1000 {
		units = units[1:]
	}
	return fmt.Sprintf("%.1f %cB", v, units[0])
}

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
lately, backlog what is still to be sent there, unacked what is on its way.`,
		Example: `  stint members
  stint members --server 10.0.0.7:8080 --json | jq '.members[].name'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var body struct {
				Members []member
			}
			return a.get(cmd, "/v1/members", &body, func(out io.Writer) error {
				return printMembers(out, body.Members)
			})
		},
	}
	a.flags(cmd)
	return cmd
}

// member is a node as a server sees it; times are milliseconds.
type member struct {
	Name, Addr, State string
	Self              bool
	Lag               float64 `json:"lag_ms"`
	Worst             float64 `json:"lag_max_ms"`
	Backlog, Unacked  int
}

func printMembers(out io.Writer, all []member) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tADDRESS\tSTATE\tLAG\tWORST\tBACKLOG\tUNACKED")
	for _, m := range all {
		if m.Self {
			fmt.Fprintf(w, "%s\t%s\t%s (asked)\t\t\t\t\n", m.Name, m.Addr, m.State)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.1f ms\t%.1f ms\t%d\t%d\n", m.Name, m.Addr, m.State, m.Lag, m.Worst, m.Backlog, m.Unacked)
	}
	return w.Flush()
}

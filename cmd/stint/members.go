package main

import (
	"fmt"
	"net/http"
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
			c, err := newClient(a.server)
			if err != nil {
				return err
			}
			got, err := c.call(cmd.Context(), "GET", "/v1/members", nil, http.StatusOK)
			if err != nil {
				return err
			}
			var body struct {
				Members []struct {
					Name, Addr, State string
					Self              bool
					Lag               float64 `json:"lag_ms"`
					Worst             float64 `json:"lag_max_ms"`
					Backlog, Unacked  int
				}
			}
			if err := got.into(&body); err != nil {
				return err
			}
			if a.json {
				_, err := cmd.OutOrStdout().Write(got.body)
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tADDRESS\tSTATE\tLAG\tWORST\tBACKLOG\tUNACKED")
			for _, m := range body.Members {
				if m.Self {
					fmt.Fprintf(w, "%s\t%s\t%s (asked)\t\t\t\t\n", m.Name, m.Addr, m.State)
					continue
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%.1f ms\t%.1f ms\t%d\t%d\n", m.Name, m.Addr, m.State, m.Lag, m.Worst, m.Backlog, m.Unacked)
			}
			return w.Flush()
		},
	}
	a.flags(cmd)
	return cmd
}

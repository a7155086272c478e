package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func returnCommand() *cobra.Command {
	var a asking
	var k keyed
	var n int64
	cmd := &cobra.Command{
		Use:   "return --limit NAME --key KEY",
		Short: "Give events back that were taken and not used",
		Long: `Give events back that were taken and not used, on every node, and say how many of them
came back: never more than the key is seen to have used, and of a window only what was taken
from the present one.`,
		Example: `  stint return --limit mail --key "$USER"
  stint return --limit api --key user1 --n 10`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 0 {
				return flagError("n", fmt.Errorf("%d: give 0 events back or more", n))
			}
			return a.refund(cmd, "/v1/return", k.with("n", n))
		},
	}
	a.flags(cmd)
	k.flags(cmd)
	cmd.Flags().Int64Var(&n, "n", 1, "how many events")
	return cmd
}

func resetCommand() *cobra.Command {
	var a asking
	var k keyed
	cmd := &cobra.Command{
		Use:   "reset --limit NAME --key KEY",
		Short: "Give back all that a key has used",
		Long: `Give back all that a key has used, on every node, and say how much that was. What the
server asked has not heard of yet stays charged. A ban stays, too: see stint unban.`,
		Example: `  stint reset --limit api --key user1
  stint reset --limit api --key user1 --json | jq .returned`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.refund(cmd, "/v1/reset", k.body())
		},
	}
	a.flags(cmd)
	k.flags(cmd)
	return cmd
}

// refund asks for events to be given back.
func (a *asking) refund(cmd *cobra.Command, path string, body map[string]any) error {
	var got struct{ Returned int64 }
	return a.post(cmd, path, body, &got, func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "returned: %d\n", got.Returned)
		return err
	})
}

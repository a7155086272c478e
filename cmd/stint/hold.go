package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

func holdCommand() *cobra.Command {
	var a asking
	var k keyed
	var n int64
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:   "hold --limit NAME --key KEY --n N --ttl TIME",
		Short: "Take events until their number is known: exit 0 held, 1 denied, 2 error",
		Long: `Take an estimate of events for something whose cost is known only afterwards, and print the
name of the hold, which stint settle or stint release ends, at any server of the cluster that
has heard of it. A hold that nobody ends gives all back after its --ttl.

What is denied prints nothing but its reason, to standard error. Exit codes: 0 held, 1 denied,
2 error.`,
		Example: `  id=$(stint hold --limit tokens --key user1 --n 4000 --ttl 2m) || exit
  stint settle --hold "$id" --n 2713`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case n < 1:
				return flagError("n", fmt.Errorf("%d: hold 1 event or more", n))
			case ttl <= 0:
				return flagError("ttl", fmt.Errorf("%v: give a time above 0, such as 2m", ttl))
			}
			var h struct {
				decision
				Hold string
			}
			body := k.with("n", n)
			body["ttl"] = ttl.Seconds()
			return a.post(cmd, "/v1/hold", body, &h, func(out io.Writer) error {
				if !h.OK {
					return h.print(cmd.ErrOrStderr(), "", "denied")
				}
				_, err := fmt.Fprintln(out, h.Hold)
				return err
			})
		},
	}
	a.flags(cmd)
	k.flags(cmd)
	cmd.Flags().Int64Var(&n, "n", 1, "how many events, by estimate")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long the hold lasts if nobody ends it, such as 2m (required)")
	cmd.MarkFlagRequired("ttl")
	return cmd
}

func settleCommand() *cobra.Command {
	var a asking
	var hold string
	var n int64
	cmd := &cobra.Command{
		Use:   "settle --hold ID --n N",
		Short: "End a hold: so many events were spent",
		Long: `End a hold: so many events were spent, and the rest of it comes back on every node. More
than was held is charged, too. A hold ends once; that it has ended before is an error.`,
		Example: `  stint settle --hold "$id" --n 2713
  stint settle --server 10.0.0.7:8080 --hold "$id" --n 2713`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 0 {
				return flagError("n", fmt.Errorf("%d: say how many were spent, 0 or more", n))
			}
			return a.done(cmd, "/v1/settle", map[string]any{"hold": hold, "n": n}, fmt.Sprintf("settled: %d", n))
		},
	}
	a.flags(cmd)
	holdFlag(cmd, &hold)
	cmd.Flags().Int64Var(&n, "n", 0, "how many events were spent (required)")
	cmd.MarkFlagRequired("n")
	return cmd
}

func releaseCommand() *cobra.Command {
	var a asking
	var hold string
	cmd := &cobra.Command{
		Use:     "release --hold ID",
		Short:   "End a hold: nothing was spent",
		Example: `  stint release --hold "$id"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.done(cmd, "/v1/release", map[string]any{"hold": hold}, "released")
		},
	}
	a.flags(cmd)
	holdFlag(cmd, &hold)
	return cmd
}

func holdFlag(cmd *cobra.Command, id *string) {
	cmd.Flags().StringVar(id, "hold", "", "the `ID` that stint hold printed (required)")
	cmd.MarkFlagRequired("hold")
}

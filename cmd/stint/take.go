package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

func takeCommand() *cobra.Command {
	var a asking
	var k keyed
	var n int64
	cmd := &cobra.Command{
		Use:   "take --limit NAME --key KEY",
		Short: "Ask a server for events: exit 0 allowed, 1 denied, 2 error",
		Example: `  stint take --limit api --key user1
  stint take --limit api --key user1 --n 10 --json
  if stint take --limit mail --key "$USER"; then send; fi`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := newClient(a.server)
			if err != nil {
				return err
			}
			if n < 0 {
				return flagError("n", fmt.Errorf("%d: ask for 0 events (a peek) or more", n))
			}
			ask := map[string]any{"limit": k.limit, "key": k.key, "n": n}
			got, err := c.call(cmd.Context(), "POST", "/v1/take", ask, http.StatusOK, http.StatusTooManyRequests)
			if err != nil {
				return err
			}
			if err := printDecision(cmd.OutOrStdout(), got, a.json, "allowed", "denied"); err != nil {
				return err
			}
			if got.status != http.StatusOK {
				return errNo
			}
			return nil
		},
	}
	a.flags(cmd)
	k.flags(cmd)
	cmd.Flags().Int64Var(&n, "n", 1, "how many events; 0 asks without taking")
	return cmd
}

func peekCommand() *cobra.Command {
	var a asking
	var k keyed
	cmd := &cobra.Command{
		Use:   "peek --limit NAME --key KEY",
		Short: "Look at a key without taking: exit 0 whatever is left, 2 error",
		Example: `  stint peek --limit api --key user1
  stint peek --limit api --key user1 --json | jq .remaining`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := newClient(a.server)
			if err != nil {
				return err
			}
			query := "/v1/peek?" + url.Values{"limit": {k.limit}, "key": {k.key}}.Encode()
			got, err := c.call(cmd.Context(), "GET", query, nil, http.StatusOK)
			if err != nil {
				return err
			}
			return printDecision(cmd.OutOrStdout(), got, a.json, "would be allowed", "would be denied")
		},
	}
	a.flags(cmd)
	k.flags(cmd)
	return cmd
}

func printDecision(out io.Writer, got *answer, asJSON bool, yes, no string) error {
	var d struct {
		OK         bool
		Remaining  int64
		RetryAfter float64 `json:"retry_after"`
		ResetAfter float64 `json:"reset_after"`
	}
	if err := got.into(&d); err != nil {
		return err
	}
	switch {
	case asJSON:
		out.Write(got.body)
	case d.OK:
		fmt.Fprintf(out, "%s: %d left%s\n", yes, d.Remaining, when(", all back in ", d.ResetAfter))
	case d.RetryAfter < 0:
		fmt.Fprintf(out, "%s: no wait can help, it is more than the limit ever holds; %d left\n", no, d.Remaining)
	default:
		fmt.Fprintf(out, "%s: %d left%s\n", no, d.Remaining, when(", try again in ", d.RetryAfter))
	}
	return nil
}

// when is a time of seconds for people, rounded up, after its words; nothing if it is 0.
func when(words string, seconds float64) string {
	const years30 = 1e9
	switch {
	case seconds <= 0:
		return ""
	case seconds > years30:
		return words + "more than 30 years"
	}
	d, unit := time.Duration(seconds*float64(time.Second)), time.Millisecond
	if d > time.Minute {
		unit = time.Second
	}
	return words + (d + unit - 1).Truncate(unit).String()
}

package main

import (
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

// maxWait is the longest that a server lets a take wait.
const maxWait = time.Hour

func takeCommand() *cobra.Command {
	var a asking
	var k keyed
	var n int64
	cmd := &cobra.Command{
		Use:   "take --limit NAME --key KEY",
		Short: "Ask a server for events: exit 0 allowed, 1 denied, 2 error",
		Long: `Ask a server for events. Exit codes: 0 allowed, 1 denied, 2 error.

With --wait a take that would be denied waits for its turn at the server, behind those who
came before it, and what is allowed may go at once. If that cannot be in time, it is denied
at once. To interrupt it gives back what it had.`,
		Example: `  stint take --limit api --key user1
  stint take --limit api --key user1 --n 10 --json
  stint take --limit api --key user1 --wait 2s
  if stint take --limit mail --key "$USER"; then send; fi`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			body := k.with("n", n)
			switch {
			case n < 0:
				return flagError("n", fmt.Errorf("%d: ask for 0 events (a peek) or more", n))
			case a.wait < 0 || a.wait > maxWait:
				return flagError("wait", fmt.Errorf("%v: give 0 (not to wait) to %v", a.wait, maxWait))
			case a.wait > 0 && n == 0:
				return flagError("wait", fmt.Errorf("%v: a peek, of 0 events, does not wait", a.wait))
			case a.wait > 0:
				body["wait"] = a.wait.Seconds()
			}
			var d decision
			return a.post(cmd, "/v1/take", body, &d, func(out io.Writer) error {
				return d.print(out, "allowed", "denied")
			})
		},
	}
	a.flags(cmd)
	k.flags(cmd)
	cmd.Flags().Int64Var(&n, "n", 1, "how many events; 0 asks without taking")
	cmd.Flags().DurationVar(&a.wait, "wait", 0, "wait for so long at most until they can be had")
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
			var d decision
			query := "/v1/peek?" + url.Values{"limit": {k.limit}, "key": {k.key}}.Encode()
			return a.get(cmd, query, &d, func(out io.Writer) error {
				return d.print(out, "would be allowed", "would be denied")
			})
		},
	}
	a.flags(cmd)
	k.flags(cmd)
	return cmd
}

// decision is what a server decided, in seconds.
type decision struct {
	OK         bool
	Remaining  int64
	RetryAfter float64 `json:"retry_after"`
	ResetAfter float64 `json:"reset_after"`
	Delay      float64
}

func (d *decision) print(out io.Writer, yes, no string) (err error) {
	switch {
	case d.OK:
		_, err = fmt.Fprintf(out, "%s%s: %d left%s\n", yes, when(" in ", d.Delay), d.Remaining, when(", all back in ", d.ResetAfter))
	case d.RetryAfter < 0:
		_, err = fmt.Fprintf(out, "%s: no wait can help, it is more than the limit ever holds; %d left\n", no, d.Remaining)
	default:
		_, err = fmt.Fprintf(out, "%s: %d left%s\n", no, d.Remaining, when(", try again in ", d.RetryAfter))
	}
	return err
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

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"
)

func banCommand() *cobra.Command {
	var a asking
	var k keyed
	var last time.Duration
	cmd := &cobra.Command{
		Use:   "ban --limit NAME --key KEY --for TIME",
		Short: "Refuse everything asked of a key for a time",
		Long: `Refuse everything asked of a key for a time, on every node. Another ban of the key replaces
this one, whether it is longer or shorter. Nothing but this verb ever bans a key.`,
		Example: `  stint ban --limit login --key 192.0.2.7 --for 1h
  stint unban --limit login --key 192.0.2.7`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if last <= 0 {
				return flagError("for", fmt.Errorf("%v: give a time above 0, such as 1h", last))
			}
			return a.done(cmd, "/v1/ban", k.with("for", last.Seconds()), "banned for "+last.String())
		},
	}
	a.flags(cmd)
	k.flags(cmd)
	cmd.Flags().DurationVar(&last, "for", 0, "how long, such as 90s or 24h (required)")
	cmd.MarkFlagRequired("for")
	return cmd
}

func unbanCommand() *cobra.Command {
	var a asking
	var k keyed
	cmd := &cobra.Command{
		Use:     "unban --limit NAME --key KEY",
		Short:   "Lift the ban of a key, if there is one",
		Example: `  stint unban --limit login --key 192.0.2.7`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.done(cmd, "/v1/unban", k.body(), "not banned")
		},
	}
	a.flags(cmd)
	k.flags(cmd)
	return cmd
}

func bansCommand() *cobra.Command {
	var a asking
	cmd := &cobra.Command{
		Use:   "bans",
		Short: "List the bans that a server knows",
		Long: `List the bans that a server knows, and how long each lasts still. Of a key there are the
first 128 bytes; one with white space or unprintable characters is quoted.`,
		Example: `  stint bans
  stint bans --server 10.0.0.7:8080 --json | jq '.bans[].key'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var body struct {
				Bans []struct {
					Limit, Key string
					For        float64
				}
			}
			return a.get(cmd, "/v1/bans", &body, func(out io.Writer) error {
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "LIMIT\tKEY\tSTILL FOR")
				for _, b := range body.Bans {
					fmt.Fprintf(w, "%s\t%s\t%s\n", b.Limit, shown(b.Key), when("", b.For))
				}
				return w.Flush()
			})
		},
	}
	a.flags(cmd)
	return cmd
}

// shown is a key fit for a column: quoted if it would not read as one word.
func shown(key string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' || r == '"' }
	if key == "" || strings.ContainsFunc(key, odd) {
		return strconv.Quote(key)
	}
	return key
}

// done asks for something of which there is nothing to tell but that it is done.
func (a *asking) done(cmd *cobra.Command, path string, body map[string]any, said string) error {
	var got struct{ OK bool }
	return a.post(cmd, path, body, &got, func(out io.Writer) error {
		_, err := fmt.Fprintln(out, said)
		return err
	})
}

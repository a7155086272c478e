package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-go/stint/cmd/stint/internal/load"
)

func loadCommand() *cobra.Command {
	var (
		cfg     load.Config
		servers []string
		pattern string
		asJSON  bool
		quiet   bool
	)
	cmd := &cobra.Command{
		Use:   "load --server A --server B … --limit NAME",
		Short: "Drive servers at a fixed rate and judge what they admitted",
		Long: `Drive servers at a fixed rate, open loop (the next take is not held up by the last), and
judge what they admitted together: against one central counter on the same arrivals, and if
the limit is a bucket, against the bound on what nodes can overspend that hear of each other
late. Server and generator must share a clock: run it on the servers' machine, or read the
figures with care.

Patterns: even (each server in turn), skew=0.9 (that share to the first server, the rest
to the others in turn), burst=100 (so many at one instant, then none until the rate is met).

Exit codes: 0 done, 1 the bound is broken, 2 error.`,
		Example: `  stint load --server :8080 --server :8081 --limit api --rate 500 --for 10s
  stint load --server :8080 --server :8081 --limit api --keys 1000 --rate 3000 --pattern skew=0.9
  stint load --server :8080 --limit api --json | jq .excess`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cfg.Pattern, err = load.ParsePattern(pattern); err != nil {
				return flagError("pattern", err)
			}
			if cfg.Addrs, err = addresses(servers); err != nil {
				return err
			}
			if cfg.Keys < 1 {
				return flagError("keys", fmt.Errorf("%d: give at least 1", cfg.Keys))
			}
			if !quiet {
				cfg.Progress = cmd.ErrOrStderr()
			}
			r, err := load.Run(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			if asJSON {
				out := json.NewEncoder(cmd.OutOrStdout())
				out.SetIndent("", "  ")
				err = out.Encode(r)
			} else {
				r.Print(cmd.OutOrStdout())
			}
			if err == nil && r.Broken {
				return errNo
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&servers, "server", []string{defaultServer}, "address of a daemon, `HOST:PORT`; repeat for more")
	f.StringVar(&cfg.Limit, "limit", "", "`NAME` of the limit at the servers (required)")
	f.StringVar(&cfg.KeyName, "key", "load", "the `KEY`; with --keys the beginning of each")
	f.IntVar(&cfg.Keys, "keys", 1, "spread the takes over `N` keys")
	f.Float64Var(&cfg.Rate, "rate", 100, "takes a second, over all servers")
	f.DurationVar(&cfg.For, "for", 10*time.Second, "how long")
	f.StringVar(&pattern, "pattern", "even", "even, skew=SHARE or burst=N")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	f.BoolVar(&quiet, "quiet", false, "show no progress")
	cmd.MarkFlagRequired("limit")
	return cmd
}

func addresses(servers []string) (addrs []string, err error) {
	for _, server := range servers {
		addr, err := hostPort(server)
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}

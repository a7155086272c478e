// Command stint serves, asks and tries out a rate limiter whose nodes gossip.
//
// See stint --help, and stint VERB --help for each verb.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run()) }

// Exit codes, the same for every verb.
const (
	exitOK    = 0
	exitNo    = 1 // the answer is no: a take was denied, a bound was broken
	exitError = 2 // there is no answer: bad flags, no server, …
)

// errNo is returned by a verb that has said what it had to say, and it was no.
var errNo = errors.New("no")

// run is main with an exit code. The first SIGINT or SIGTERM ends the verb's context, so
// that it can finish in order; a second one kills.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	err := root().ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNo):
		return exitNo
	}
	fmt.Fprintln(os.Stderr, "stint:", err)
	return exitError
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stint",
		Short: "A rate limiter whose nodes gossip",
		Long: `Stint limits how often things happen, on many nodes at once, without a central
service: every node decides by itself, in memory, and tells the others what it spent.

Exit codes: 0 yes or done, 1 no (take, hold: denied; load, demo: the bound is broken), 2 error.`,
		Example: `  stint demo
  stint serve --limit api=100/s
  stint take --limit api --key user1`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	})
	cmd.AddCommand(serveCommand(), takeCommand(), peekCommand(), returnCommand(), resetCommand(),
		holdCommand(), settleCommand(), releaseCommand(), banCommand(), unbanCommand(), bansCommand(),
		membersCommand(), loadCommand(), demoCommand(), keygenCommand(), versionCommand())
	return cmd
}

// flagError says that a flag's value will not do, and what would.
func flagError(flag string, err error) error { return fmt.Errorf("--%s: %w", flag, err) }

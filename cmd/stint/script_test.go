package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/daemon"
	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// TestMain lets this test binary run as the command stint, in scripts and as the daemons
// of TestCluster.
func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"stint": main}) }

// TestScripts runs the verbs as a shell would: testdata/script has one file for each.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"daemon": startDaemon,
		},
	})
}

// exits CODE PROGRAM ARG…: run a program, which must end with that code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// daemon VARIABLE NAME=SPEC…: a node of its own that answers HTTP at $VARIABLE.
func startDaemon(ts *testscript.TestScript, _ bool, args []string) {
	node, err := stint.Open(stint.Config{Name: args[0]})
	ts.Check(err)
	for _, text := range args[1:] {
		limit, err := parseNamed(text)
		ts.Check(err)
		ts.Check(node.SetLimit(limit))
	}
	server := httptest.NewServer(daemon.New(node, slog.New(slog.DiscardHandler)).Handler())
	ts.Defer(func() {
		server.Close()
		ts.Check(node.Close(context.Background()))
	})
	ts.Setenv(args[0], server.Listener.Addr().String())
}

// Daemon and generator are on one floor and do not know of each other.
func TestHeaderIsTheSame(t *testing.T) {
	if got, want := load.DecidedAt, daemon.DecidedAt; got != want {
		t.Errorf("load reads header %s, the daemon writes %s", got, want)
	}
}

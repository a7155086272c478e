package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/daemon"
	"github.com/stint-go/stint/cmd/stint/internal/load"
)

// TestMain lets this test binary run as the command stint, in scripts and as the daemons
// of TestCluster.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", raceExit)
	testscript.Main(m, map[string]func(){"stint": main})
}

// raceExit has the race detector, if it is on, hold up the end of each process for less than
// the second that is its default.
const raceExit = "atexit_sleep_ms=50"

// TestScripts runs the verbs as a shell would: testdata/script has one file for each.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", raceExit)
			return nil
		},
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

// Every limit that the help of serve shows is one, and there is one of each algorithm.
func TestServeHelp(t *testing.T) {
	seen := map[stint.Algorithm]bool{}
	for _, m := range regexp.MustCompile(`(?m)\b(\w+=)'([^']+)'`).FindAllStringSubmatch(serveCommand().Long, -1) {
		limit, err := parseNamed(m[1] + m[2])
		if err != nil {
			t.Error(err)
		}
		seen[limit.Algorithm] = true
	}
	for a := stint.TokenBucket; a < stint.Unmetered; a++ {
		if !seen[a] {
			t.Errorf("no example of a %s", a)
		}
	}
}

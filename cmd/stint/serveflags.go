package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-go/stint"
)

// serveFlags are the flags of serve as they were given.
type serveFlags struct {
	http, gossip, advertise string
	join, limits            []string
	name, label, keyFile    string
	state                   string
	sync                    time.Duration
	maxKeys                 int
	log                     string
}

func (f *serveFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.http, "http", defaultServer, "answer HTTP at `HOST:PORT`; port 0 picks one")
	fs.StringVar(&f.gossip, "gossip", "", "talk to other nodes at `HOST:PORT`, TCP and UDP; default: stand alone")
	fs.StringVar(&f.advertise, "advertise", "", "`HOST:PORT` at which other nodes reach this one; default: that of --gossip")
	fs.StringArrayVar(&f.join, "join", nil, "`SEED` to meet others by: host:port, dns+host:port or dnssrv+name; repeat for more")
	fs.StringVar(&f.name, "name", "", "`NAME` of the node, its own in the cluster; default: host name and random digits")
	fs.StringArrayVar(&f.limits, "limit", nil, "`NAME=SPEC` of a limit, such as api=100/s or 'web=100/min algorithm=sliding-window'; repeat for more")
	fs.StringVar(&f.state, "state", "", "`FILE` that keeps what is used, so that it outlives this process; default: none")
	fs.StringVar(&f.keyFile, "key-file", "", "`FILE` made by stint keygen, the same on every node")
	fs.StringVar(&f.label, "label", "", "`WORD` that keeps clusters apart, the same on every node of one")
	fs.DurationVar(&f.sync, "sync-interval", 0, "how long news that is not urgent may wait (default 100ms)")
	fs.IntVar(&f.maxKeys, "max-keys", 0, "most keys to remember (default 1000000)")
	fs.StringVar(&f.log, "log", "text", "log as text or json, to standard error")
}

// config checks the flags, and reports everything that is wrong with them at once.
func (f *serveFlags) config() (cfg stint.Config, limits []stint.Limit, err error) {
	cfg = stint.Config{
		Name: f.name, Bind: f.gossip, Advertise: f.advertise, Join: f.join,
		Label: f.label, StateFile: f.state, SyncInterval: f.sync, MaxKeys: f.maxKeys,
	}
	var errs []error
	bad := func(flag, format string, args ...any) {
		errs = append(errs, flagError(flag, fmt.Errorf(format, args...)))
	}
	if f.gossip == "" {
		if len(f.join) > 0 {
			bad("join", "a node that stands alone joins nobody: give --gossip HOST:PORT as well")
		}
		if f.advertise != "" {
			bad("advertise", "a node that stands alone has no address: give --gossip HOST:PORT as well")
		}
	}
	if f.sync < 0 {
		bad("sync-interval", "%v: give a time above 0", f.sync)
	}
	if f.maxKeys < 0 {
		bad("max-keys", "%d: give a number above 0", f.maxKeys)
	}
	if f.keyFile != "" {
		keys, err := readKeyFile(f.keyFile)
		if err != nil {
			bad("key-file", "%w", err)
		} else {
			cfg.HashSeed, cfg.ClusterKeys = keys.seed, keys.keys
		}
	}
	seen := map[string]bool{}
	for _, text := range f.limits {
		l, err := parseNamed(text)
		if err != nil {
			bad("limit", "%w", err)
		} else if seen[l.Name] {
			bad("limit", "%s is given twice: keep one", l.Name)
		}
		seen[l.Name] = true
		limits = append(limits, l)
	}
	return cfg, limits, errors.Join(errs...)
}

// parseNamed reads NAME=SPEC.
func parseNamed(text string) (stint.Limit, error) {
	name, spec, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return stint.Limit{}, fmt.Errorf("%q: write NAME=SPEC, such as api=100/s", text)
	}
	l, err := stint.ParseLimit(spec)
	if err != nil {
		return l, err
	}
	if l.Name != "" && l.Name != name {
		return l, fmt.Errorf("%q has two names, %s and %s: keep one", text, name, l.Name)
	}
	l.Name = name
	return l, l.Validate()
}

func (f *serveFlags) logger() (*slog.Logger, error) {
	switch f.log {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, nil)), nil
	}
	return nil, flagError("log", fmt.Errorf("%q: give text or json", f.log))
}

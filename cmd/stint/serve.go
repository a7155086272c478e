package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/daemon"
)

// How long a stopping daemon waits for answers under way, and for its goodbye.
const (
	drainWait   = 10 * time.Second
	goodbyeWait = 5 * time.Second
)

func serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a node and answer for it over HTTP",
		Long: `Run a node and answer for it over HTTP, until SIGTERM or SIGINT: then readyz says no, what is
under way is answered, the other nodes get the last news, and the exit code is 0.

Without --gossip the node stands alone. With it, it looks for the others at the --join
addresses, of which one that answers will do, and serves at once meanwhile.

A limit is NAME=RATE [name=value …], a rate such as 100/min or 1/3s, or unlimited, or blocked.
All nodes need the same ones. With mode=local each node has the whole limit. Algorithms:

  token-bucket    api='20/s burst=50'     (default) even in the long run, with bursts
  leaky-bucket    send='10/s burst=100 algorithm=leaky-bucket'
                                          a queue of burst places: a take is told its delay
  fixed-window    day='1000/day calendar=day zone=Europe/Paris'
                  min='100/min algorithm=fixed-window'
                                          a count for each period, by the calendar or not
  sliding-window  web='100/min algorithm=sliding-window'
                                          any period, by two counts: exact for even traffic
  sliding-log     pay='5/10m algorithm=sliding-log'
                                          any period, exact, from the times of events

With --state FILE what is used outlives the process, also where no other node knows of it.

With --key-file, SIGHUP has the file read again: its keys come into force with nothing lost,
if all of it is in order and the seed is as it was; else the log says what is wrong, and the
keys stay. See stint keygen --help for how to change a key.

HTTP: POST /v1/take, /v1/return, /v1/reset, /v1/hold, /v1/settle, /v1/release, /v1/ban, /v1/unban;
GET /v1/peek?limit=&key=, /v1/bans, /v1/limits, /v1/members, /v1/stats, /healthz, /readyz.`,
		Example: `  stint serve --limit api=100/s
  stint serve --limit 'daily=1000/day calendar=day zone=Europe/Paris' --state stint.state
  stint serve --http :8081 --gossip 127.0.0.1:7001 --limit api=100/s
  stint serve --http :8082 --gossip 127.0.0.1:7002 --join 127.0.0.1:7001 --limit api=100/s
  stint serve --gossip 10.0.0.1:7946 --key-file stint.keys --join dns+stint:7946 --limit api=100/s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys := newKeyReload(f.keyFile)
			defer keys.stop()
			cfg, limits, err := f.config()
			if err != nil {
				return err
			}
			log, err := f.logger()
			if err != nil {
				return err
			}
			cfg.Logger = log
			keys.keys, keys.seed = cfg.ClusterKeys, cfg.HashSeed
			return serve(cmd.Context(), f.http, cfg, limits, keys, log)
		},
	}
	f.register(cmd)
	return cmd
}

// serve runs until the context ends, and then stops in order.
func serve(ctx context.Context, addr string, cfg stint.Config, limits []stint.Limit, keys *keyReload, log *slog.Logger) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return flagError("http", fmt.Errorf("%w: name a free address, or port 0 for any", err))
	}
	defer listener.Close()
	node, err := stint.Open(cfg)
	if err != nil {
		return err
	}
	for _, l := range limits {
		if err := node.SetLimit(l); err != nil {
			return errors.Join(flagError("limit", err), goodbye(node))
		}
	}

	d := daemon.New(node, log)
	server := d.Server()
	broken := make(chan error, 1)
	go func() { broken <- server.Serve(listener) }()
	log.Info("serving", "http", listener.Addr().String(), "gossip", node.Addr(), "name", node.Name(),
		"limits", len(limits), "pid", os.Getpid(), "version", version())
	if len(limits) == 0 {
		log.Warn("no limits: every take will be answered with 404; give --limit NAME=SPEC")
	}

	for running := true; running; {
		select {
		case err = <-broken:
			err, running = fmt.Errorf("serving HTTP: %w", err), false
		case <-ctx.Done():
			log.Info("stopping", "name", node.Name())
			d.Drain()
			err, running = shutdown(server), false
		case <-keys.asked:
			keys.reload(node.SetClusterKeys, log)
		}
	}
	err = errors.Join(err, goodbye(node))
	log.Info("stopped", "name", node.Name())
	return err
}

// shutdown lets requests under way finish, in good time.
func shutdown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainWait)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("requests still under way after %v: %w", drainWait, err), server.Close())
	}
	return nil
}

func goodbye(node *stint.Node) error {
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeWait)
	defer cancel()
	if err := node.Close(ctx); err != nil {
		return fmt.Errorf("leaving the cluster: %w", err)
	}
	return nil
}

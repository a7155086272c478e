// Package daemon is the HTTP face of a node: what stint serve listens with.
//
// All bodies are JSON. A fault is {"error":"what is wrong, and what to change"}: 400 for a
// request that makes no sense, 404 for a limit, hold or path that is not there, 405, 413 for
// a body over 1 MiB, 503 while the node is joining (readyz), full of holds or bans, or going
// away. Durations are seconds.
package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
)

const (
	maxBody   = 1 << 20
	maxHeader = 64 << 10 // a key of 10 kB, escaped, fits in a query

	timeout = 15 * time.Second // for a request and its answer, beside what a take may wait
)

// Daemon answers for a node. Make one with New.
type Daemon struct {
	node     *stint.Node
	log      *slog.Logger
	draining atomic.Bool

	serving context.Context // of all requests, until Drain
	drain   context.CancelFunc
}

// New makes the daemon of a node, which stays the caller's to close.
func New(node *stint.Node, log *slog.Logger) *Daemon {
	d := &Daemon{node: node, log: log}
	d.serving, d.drain = context.WithCancel(context.Background())
	return d
}

// Drain makes readyz answer 503 from now on, so that whoever watches it sends its
// requests elsewhere, and ends the waits of takes that Server serves. All other calls are
// answered as before.
func (d *Daemon) Drain() {
	d.draining.Store(true)
	d.drain()
}

// Server returns an http.Server with time-outs for the daemon's calls.
func (d *Daemon) Server() *http.Server {
	return &http.Server{
		Handler:           d.Handler(),
		BaseContext:       func(net.Listener) context.Context { return d.serving },
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       timeout,
		WriteTimeout:      timeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelWarn),
	}
}

// Handler routes the calls.
func (d *Daemon) Handler() http.Handler {
	mux := http.NewServeMux()
	route := func(method, path string, h http.HandlerFunc) {
		mux.HandleFunc(method+" "+path, h)
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", method)
			fail(w, http.StatusMethodNotAllowed, "%s takes %s, not %s", path, method, r.Method)
		})
	}
	route("POST", "/v1/take", d.take)
	route("GET", "/v1/peek", d.peek)
	route("POST", "/v1/return", d.giveBack)
	route("POST", "/v1/reset", d.reset)
	route("POST", "/v1/ban", d.ban)
	route("POST", "/v1/unban", d.unban)
	route("GET", "/v1/bans", d.bans)
	route("POST", "/v1/hold", d.hold)
	route("POST", "/v1/settle", d.settle)
	route("POST", "/v1/release", d.release)
	route("GET", "/v1/limits", d.limits)
	route("GET", "/v1/members", d.members)
	route("GET", "/v1/stats", d.stats)
	route("GET", "/healthz", d.healthz)
	route("GET", "/readyz", d.readyz)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "no such path: %s", r.URL.Path)
	})
	return mux
}

func (d *Daemon) healthz(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]bool{"ok": true})
}

func (d *Daemon) readyz(w http.ResponseWriter, r *http.Request) {
	if d.draining.Load() {
		fail(w, http.StatusServiceUnavailable, "shutting down")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Millisecond)
	defer cancel()
	if err := d.node.Ready(ctx); err != nil {
		fail(w, http.StatusServiceUnavailable, "not ready: %v", err)
		return
	}
	reply(w, http.StatusOK, map[string]bool{"ready": true})
}

func reply(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil { // a number without a JSON form, such as infinity
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer has no JSON form"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n')) // an error here is a client that has gone
}

func fail(w http.ResponseWriter, status int, format string, args ...any) {
	reply(w, status, map[string]string{"error": fmt.Sprintf(format, args...)})
}

// failed tells why a verb could not do what it was asked.
func (d *Daemon) failed(w http.ResponseWriter, verb string, err error) {
	switch {
	case errors.Is(err, stint.ErrUnknownLimit), errors.Is(err, stint.ErrNoHold):
		fail(w, http.StatusNotFound, "%v", err)
	case errors.Is(err, stint.ErrNotSupported):
		fail(w, http.StatusNotImplemented, "%v", err)
	case errors.Is(err, stint.ErrClosed), errors.Is(err, stint.ErrTooManyHolds), errors.Is(err, stint.ErrTooManyBans):
		fail(w, http.StatusServiceUnavailable, "%v", err)
	default:
		d.log.Error(verb+" failed", "err", err)
		fail(w, http.StatusInternalServerError, "%v", err)
	}
}

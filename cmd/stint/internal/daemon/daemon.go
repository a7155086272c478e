// Package daemon is the HTTP face of a node: what stint serve listens with.
//
// All bodies are JSON. A fault is {"error":"what is wrong, and what to change"}: 400 for a
// request that makes no sense, 404 for a limit or path that is not there, 405, 413 for
// a body over 1 MiB, 503 while the node is joining (readyz) or going away. Durations are seconds.
package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
)

const (
	maxBody   = 1 << 20
	maxHeader = 64 << 10 // a key of 10 kB, escaped, fits in a query
)

// Daemon answers for a node. Make one with New.
type Daemon struct {
	node     *stint.Node
	log      *slog.Logger
	draining atomic.Bool
}

// New makes the daemon of a node, which stays the caller's to close.
func New(node *stint.Node, log *slog.Logger) *Daemon {
	return &Daemon{node: node, log: log}
}

// Drain makes readyz answer 503 from now on, so that whoever watches it sends its
// requests elsewhere. All other calls are answered as before.
func (d *Daemon) Drain() { d.draining.Store(true) }

// Server returns an http.Server with time-outs for the daemon's calls.
func (d *Daemon) Server() *http.Server {
	return &http.Server{
		Handler:           d.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      15 * time.Second,
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

// failTake tells why a take got no decision.
func (d *Daemon) failTake(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, stint.ErrUnknownLimit):
		fail(w, http.StatusNotFound, "%v", err)
	case errors.Is(err, stint.ErrNotSupported):
		fail(w, http.StatusNotImplemented, "%v", err)
	case errors.Is(err, stint.ErrClosed):
		fail(w, http.StatusServiceUnavailable, "%v", err)
	default:
		d.log.Error("take failed", "err", err)
		fail(w, http.StatusInternalServerError, "%v", err)
	}
}

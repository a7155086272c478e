package cluster

import (
	"context"
	"log/slog"
	"sync"
)

const maxFaults = 1024 // causes and peers remembered; then all are forgotten

// faults logs what goes wrong with peers: the first time of each cause and
// peer at warn, after that at debug, so that nobody can flood the log.
type faults struct {
	logger *slog.Logger

	mu   sync.Mutex
	seen map[[2]string]struct{}
}

func newFaults(l *slog.Logger) *faults {
	return &faults{logger: l, seen: make(map[[2]string]struct{})}
}

func (f *faults) log(peer, cause string, args ...any) {
	level := slog.LevelDebug
	if f.first(peer, cause) {
		level = slog.LevelWarn
	}
	f.logger.Log(context.Background(), level, cause, append([]any{"peer", peer}, args...)...)
}

func (f *faults) first(peer, cause string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := [2]string{peer, cause}
	if _, ok := f.seen[key]; ok {
		return false
	}
	if len(f.seen) >= maxFaults {
		clear(f.seen)
	}
	f.seen[key] = struct{}{}
	return true
}

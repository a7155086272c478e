package cluster

import (
	"context"
	"sync"
)

// mailbox hands functions to one goroutine, in order. Posting never blocks, so
// that callbacks under foreign locks may do it. The zero value is not usable.
type mailbox struct {
	wake chan struct{}

	mu    sync.Mutex
	queue []func()
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (m *mailbox) post(f func()) {
	m.mu.Lock()
	m.queue = append(m.queue, f)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// run calls what is posted until the context ends; what is posted later is
// never called.
func (m *mailbox) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		}
		m.mu.Lock()
		queue := m.queue
		m.queue = nil
		m.mu.Unlock()
		for _, f := range queue {
			if ctx.Err() != nil {
				return
			}
			f()
		}
	}
}

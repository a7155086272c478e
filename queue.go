package stint

import (
	"slices"
	"sync"

	"github.com/stint-go/stint/internal/table"
)

// maxQueue is how many may wait for one key on one node.
const maxQueue = 1000

// queues are the lines of those who wait, one for each key that anybody waits for.
type queues struct {
	mu    sync.Mutex
	lines map[queueKey][]*waiter
}

type queueKey struct {
	limit *table.Limit
	hash  uint64
}

type waiter struct {
	n     int64
	first chan struct{} // closed once nobody stands before it
}

// join puts somebody who wants n events at the end of a key's line. ahead is how many
// events those before want.
func (q *queues) join(key queueKey, n int64) (w *waiter, ahead int64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	line := q.lines[key]
	if len(line) >= maxQueue {
		return nil, 0, ErrQueueFull
	}
	for _, other := range line {
		ahead = addSat(ahead, other.n)
	}
	w = &waiter{n: n, first: make(chan struct{})}
	if len(line) == 0 {
		close(w.first)
	}
	if q.lines == nil {
		q.lines = make(map[queueKey][]*waiter)
	}
	q.lines[key] = append(line, w)
	return w, ahead, nil
}

// leave takes somebody out of the line, from wherever it stands.
func (q *queues) leave(key queueKey, w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	line := q.lines[key]
	i := slices.Index(line, w)
	line = slices.Delete(line, i, i+1)
	if len(line) == 0 {
		delete(q.lines, key)
		return
	}
	q.lines[key] = line
	if i == 0 {
		close(line[0].first)
	}
}

// addSat is a + b for b ≥ 0, at most the greatest number.
func addSat(a, b int64) int64 {
	if c := a + b; c >= a {
		return c
	}
	return int64(Never)
}

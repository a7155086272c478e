package sim

// event is something that happens at one instant of virtual time.
type event struct {
	at  int64
	seq uint64
	run func()
}

// before orders events totally: those of one instant happen in the order in which they
// were scheduled.
func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

// queue is a binary heap of events, the next one first.
type queue struct {
	heap []event
	seq  uint64
}

func (q *queue) push(at int64, run func()) {
	q.seq++
	q.heap = append(q.heap, event{at, q.seq, run})
	for i := len(q.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.heap[i].before(&q.heap[up]) {
			return
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

func (q *queue) pop() event {
	first, last := q.heap[0], len(q.heap)-1
	q.heap[0], q.heap[last] = q.heap[last], event{}
	q.heap = q.heap[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return first
		}
		if right := down + 1; right < last && q.heap[right].before(&q.heap[down]) {
			down = right
		}
		if !q.heap[down].before(&q.heap[i]) {
			return first
		}
		q.heap[i], q.heap[down] = q.heap[down], q.heap[i]
		i = down
	}
}

package engine

import "container/heap"

// end is when to look at a hold again.
type end struct {
	at   int64
	hold hold
}

// ends is a heap of them, the next first.
type ends []end

func (h ends) Len() int           { return len(h) }
func (h ends) Less(i, j int) bool { return h[i].at < h[j].at }
func (h ends) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ends) Push(x any)        { *h = append(*h, x.(end)) }

func (h *ends) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

func (e *Engine) watch(at int64, name hold) { heap.Push(&e.ends, end{at, name}) }

func (e *Engine) unwatch() hold { return heap.Pop(&e.ends).(end).hold }

package sim

import "fmt"

// spot is where amounts add up: a key and, where its limit counts windows, the window.
type spot struct {
	key        int
	start, per int64
}

// amount is so many events of a spot, less than 0 if they were given back.
type amount struct {
	spot int // its place in World.spots
	n    int64
}

// spotOf is the place of a spot, made if need be.
func (w *World) spotOf(key int, start, per int64) int {
	s := spot{key: key}
	if per != 0 {
		s = spot{key, start, per}
	}
	i, known := w.spotAt[s]
	if !known {
		i = len(w.spots)
		w.spots = append(w.spots, s)
		w.spotAt[s] = i
	}
	return i
}

// String names a spot in a trace.
func (s spot) String() string {
	if s.per == 0 {
		return fmt.Sprintf("key %d", s.key)
	}
	return fmt.Sprintf("key %d in the window of %d ms at %d", s.key, s.per/Millisecond, s.start/Millisecond)
}

// sums is an amount for each spot or key.
type sums []int64

func (s *sums) add(i int, n int64) {
	for i >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[i] += n
}

func (s sums) at(i int) int64 {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// scratch is a cleared sum of all spots.
func (w *World) scratch() sums {
	for len(w.counts) < len(w.spots) {
		w.counts = append(w.counts, 0)
	}
	clear(w.counts)
	return w.counts
}

// over reports whether an origin may have dropped an amount: its window and the two after
// it are past on its clock, or once were.
func (n *Node) over(s spot) bool {
	return s.per != 0 && max(n.cluster(), n.furthest)-s.start > 3*s.per
}

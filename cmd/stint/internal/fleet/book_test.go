//go:build unix

package fleet

import (
	"testing"
	"time"
)

// What must be counted follows from what clients know, and a count that is off by one event
// in either direction is found.
func TestWant(t *testing.T) {
	const node, dead = 0, 1
	at := func(second int64) int64 { return second * int64(time.Second) }
	take := func(node int32, n int64, o Outcome, answered int64) Spend {
		return Spend{Node: node, N: n, Outcome: o, Answered: answered}
	}
	tests := map[string]struct {
		spends      []Spend
		least, most int64
		crashed     int64
	}{
		"nothing":         {nil, 0, 0, 0},
		"told":            {[]Spend{take(node, 2, Admitted, at(1)), take(dead, 1, Admitted, at(1))}, 3, 3, 0},
		"refused, unsent": {[]Spend{take(node, 2, Refused, at(1)), take(node, 2, Unsent, at(1))}, 0, 0, 0},
		"no answer":       {[]Spend{take(node, 5, Admitted, at(1)), take(node, 2, Unknown, at(9))}, 5, 7, 0},
		"given back":      {[]Spend{take(node, 5, Admitted, at(1)), take(node, -2, Admitted, at(2))}, 3, 3, 0},
		"back, no answer": {[]Spend{take(node, 5, Admitted, at(1)), take(node, -2, Unknown, at(2))}, 3, 5, 0},
		"crashed":         {[]Spend{take(dead, 5, Admitted, at(10)), take(dead, 3, Admitted, at(11))}, 5, 8, 3},
		"back, crashed":   {[]Spend{take(dead, 5, Admitted, at(10)), take(dead, -3, Admitted, at(11))}, 2, 5, 3},
		"others live on":  {[]Spend{take(node, 5, Admitted, at(11))}, 5, 5, 0},
	}
	for name, test := range tests {
		b := NewBook(Key{"l", "k"})
		b.Crashed(&Node{ID: dead}, time.Unix(10, 0))
		for _, s := range test.spends {
			b.Enter(s)
		}
		w := b.Want()[0]
		if w.Least != test.least || w.Most != test.most || w.Crashed != test.crashed || w.Exact() != (test.least == test.most) {
			t.Errorf("%s: got %+v, want %d to %d, %d crashed", name, w, test.least, test.most, test.crashed)
		}
		for _, right := range [][]int64{{w.Least, w.Least}, {w.Most, w.Most}} {
			if err := w.Check(right); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, wrong := range [][]int64{{w.Least - 1, w.Least}, {w.Least, w.Most + 1}} {
			if w.Check(wrong) == nil {
				t.Errorf("%s: counts %d pass, of %d to %d", name, wrong, w.Least, w.Most)
			}
		}
		if err := w.Check([]int64{w.Least, w.Most}); (err == nil) != (w.Exact() || w.Crashed > 0) {
			t.Errorf("%s: counts %d and %d that differ: %v", name, w.Least, w.Most, err)
		}
	}
}

// A node is settled if all others live, hear it, and have acknowledged all.
func TestSettled(t *testing.T) {
	well := Peer{State: "alive", InSession: true}
	tests := map[string]struct {
		peers []Peer
		want  bool
	}{
		"two":         {[]Peer{well, well}, true},
		"one missing": {[]Peer{well}, false},
		"one dead":    {[]Peer{well, {State: "dead"}}, false},
		"an old self": {[]Peer{well, well, {State: "dead", Backlog: 3}}, true},
		"a stranger":  {[]Peer{well, well, well}, false},
		"not heard":   {[]Peer{well, {State: "alive"}}, false},
		"a backlog":   {[]Peer{well, {State: "alive", InSession: true, Backlog: 1}}, false},
		"under way":   {[]Peer{well, {State: "alive", InSession: true, Unacked: 1}}, false},
	}
	for name, test := range tests {
		s := Stats{Peers: test.peers}
		if got := s.Settled(2); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

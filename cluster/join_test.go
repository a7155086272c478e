package cluster

import (
	"slices"
	"testing"
	"time"
)

func TestChoose(t *testing.T) {
	none := map[string]bool{}
	s := newSeeker([]string{"s1", "s2"}, at(0))
	for _, tt := range []struct {
		name  string
		at    float64
		alive map[string]bool
		lost  []string
		hint  string
		want  []string
		done  []string // of those, that answered
	}{
		{"one seed and one lost", 0, none, []string{"l1", "l2"}, "", []string{"s1", "l1"}, nil},
		{"then the others", 3, none, []string{"l1", "l2"}, "", []string{"s2", "l2"}, nil},
		{"then again", 6, none, []string{"l1", "l2"}, "", []string{"s1", "l1"}, nil},
		{"not who is alive", 9, map[string]bool{"s2": true}, nil, "", []string{"s1"}, nil},
		{"hints first", 12, map[string]bool{"s2": true}, []string{"l1"}, "h", []string{"h", "s1", "l1"}, []string{"s1"}},
		{"an answering seed rests", 15, map[string]bool{"s2": true}, nil, "", nil, nil},
		{"but not for ever", 43, map[string]bool{"s2": true}, nil, "", []string{"s1"}, nil},
	} {
		if tt.hint != "" {
			s.hint(tt.hint)
			s.hint(tt.hint)
		}
		got := s.choose(at(tt.at), tt.alive, tt.lost)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		for _, a := range got {
			s.done(a, at(tt.at), slices.Contains(tt.done, a))
		}
	}
	if len(s.tried) > 3 || len(s.busy) != 0 {
		t.Errorf("it remembers %v and %v", s.tried, s.busy)
	}
}

func TestChooseIsBounded(t *testing.T) {
	s := newSeeker(nil, at(0))
	var lost []string
	for i := range 100 {
		lost = append(lost, string(rune('A'+i)))
	}
	total := 0
	for range 100 {
		for _, a := range lost {
			s.hint(a)
		}
		total += len(s.choose(at(0), nil, lost))
	}
	if total != maxAttempts {
		t.Errorf("%d attempts are under way, want %d", total, maxAttempts)
	}
}

func TestSeekPause(t *testing.T) {
	young, old := newSeeker([]string{"s"}, at(0)), newSeeker(nil, at(0))
	for range 100 {
		for _, tt := range []struct {
			got      time.Duration
			min, max time.Duration
		}{
			{young.pause(at(1), false), seekEager, seekEager * 5 / 2},
			{young.pause(at(1), true), seekEvery, seekEvery * 5 / 2},
			{young.pause(at(31), false), seekEvery, seekEvery * 5 / 2},
			{old.pause(at(1), false), seekEvery, seekEvery * 5 / 2},
		} {
			if tt.got < tt.min || tt.got > tt.max {
				t.Errorf("got %v, want %v to %v", tt.got, tt.min, tt.max)
			}
		}
	}
}

package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// at is a moment so many seconds into a test.
func at(s float64) time.Time {
	return time.Unix(1e9, 0).Add(time.Duration(s * float64(time.Second)))
}

func see(name string, incarnation, start uint64, addr string) sighting {
	return sighting{meta{incarnation, start, name}, addr}
}

func TestRoster(t *testing.T) {
	type step struct {
		do   func(r *roster, now time.Time) []Event
		want string
	}
	seen := func(s sighting, want string) step {
		return step{func(r *roster, now time.Time) []Event { return r.seen(s, now) }, want}
	}
	lost := func(id uint64, want string) step {
		return step{func(r *roster, now time.Time) []Event { return r.lost(id, now) }, want}
	}
	leave := func(id uint64, want string) step {
		return step{func(r *roster, now time.Time) []Event { return r.leave(id, now) }, want}
	}
	for _, tt := range []struct {
		name  string
		steps []step
		want  string // members at the end
	}{
		{"comes and goes", []step{
			seen(see("b", 2, 10, "B"), "member up b/2@B alive"),
			seen(see("b", 2, 10, "B"), ""),
			lost(2, "member down b/2@B dead"),
			lost(2, ""),
			seen(see("b", 2, 10, "B"), "member up b/2@B alive"),
		}, "b/2 alive"},
		{"leaves for good", []step{
			seen(see("b", 2, 10, "B"), "member up b/2@B alive"),
			leave(2, "member down b/2@B left"),
			seen(see("b", 2, 10, "B"), ""),
			lost(2, ""),
		}, "b/2 left"},
		{"moves", []step{
			seen(see("b", 2, 10, "B"), "member up b/2@B alive"),
			seen(see("b", 2, 10, "C"), "member up b/2@C alive"),
		}, "b/2 alive"},
		{"restarts at its address", []step{
			seen(see("b", 2, 10, "B"), "member up b/2@B alive"),
			seen(see("b", 3, 20, "B"), "member down b/2@B dead, member up b/3@B alive"),
			lost(2, ""),
		}, "b/2 dead, b/3 alive"},
		{"an old incarnation heard of late", []step{
			seen(see("b", 3, 20, "B"), "member up b/3@B alive"),
			seen(see("b", 2, 10, "B"), ""),
			lost(2, ""),
		}, "b/2 dead, b/3 alive"},
		{"restarts with its clock set back", []step{
			seen(see("b", 2, 20, "B"), "member up b/2@B alive"),
			seen(see("b", 3, 10, "B"), ""),
			lost(2, "member down b/2@B dead, member up b/3@B alive"),
		}, "b/2 dead, b/3 alive"},
		{"restarts under another name", []step{
			seen(see("b", 2, 10, "B"), "member up b/2@B alive"),
			seen(see("x", 3, 20, "B"), "member down b/2@B dead, member up x/3@B alive"),
		}, "b/2 dead, x/3 alive"},
		{"restarts at the same millisecond", []step{
			seen(see("b", 3, 10, "B"), "member up b/3@B alive"),
			seen(see("b", 2, 10, "B"), ""),
		}, "b/2 dead, b/3 alive"},
		{"two of one name", []step{
			seen(see("b", 2, 10, "B"), "member up b/2@B alive"),
			seen(see("b", 3, 20, "C"), "member up b/3@C alive"),
		}, "b/2 alive, b/3 alive"},
		{"this node's own past", []step{
			seen(see("a", 9, 999, "A"), ""),
			seen(see("a", 1, 1, "A"), ""),
		}, "a/9 dead"},
		{"nobody knows whom", []step{lost(7, ""), leave(7, "")}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoster(Member{Name: "a", Addr: "A", Incarnation: 1, Self: true}, 5)
			for i, s := range tt.steps {
				var got []string
				for _, e := range s.do(r, at(float64(i))) {
					got = append(got, fmt.Sprintf("%v %s/%d@%s %v", e.Kind, e.Member.Name, e.Member.Incarnation, e.Member.Addr, e.Member.State))
				}
				if g := strings.Join(got, ", "); g != s.want {
					t.Errorf("step %d: got %q, want %q", i, g, s.want)
				}
			}
			if got := others(r); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func others(r *roster) string {
	var got []string
	for _, m := range r.members() {
		if !m.Self {
			got = append(got, fmt.Sprintf("%s/%d %v", m.Name, m.Incarnation, m.State))
		}
	}
	return strings.Join(got, ", ")
}

func TestSweep(t *testing.T) {
	for _, tt := range []struct {
		name   string
		others []sighting // that live
		left   bool
		after  float64 // seconds
		want   string
	}{
		{"lost", nil, false, 3600, "b/2 dead"},
		{"lost too long ago", nil, false, 86500, ""},
		{"left a moment ago", nil, true, 59, "b/2 left"},
		{"left", nil, true, 61, ""},
		{"address taken", []sighting{see("x", 3, 1, "B")}, false, 1, "x/3 alive"},
		{"name taken", []sighting{see("b", 3, 20, "C")}, false, 1, "b/3 alive"},
		{"name held by an older", []sighting{see("b", 3, 1, "C")}, false, 1, "b/2 dead, b/3 alive"},
		{"own name, younger than this node", []sighting{see("x", 3, 1, "C")}, false, 1, "b/2 dead, x/3 alive"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoster(Member{Name: "a", Addr: "A", Incarnation: 1, Self: true}, 5)
			r.seen(see("b", 2, 10, "B"), at(0))
			if tt.left {
				r.leave(2, at(0))
			}
			r.lost(2, at(0))
			for _, s := range tt.others {
				r.seen(s, at(0))
			}
			r.sweep(at(tt.after), 24*time.Hour)
			if got := others(r); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("too many lost", func(t *testing.T) {
		r := newRoster(Member{Name: "a", Addr: "A", Incarnation: 1, Self: true}, 5)
		for i := range uint64(maxLost + 10) {
			r.seen(see(fmt.Sprint(i), 2+i, 10, fmt.Sprint("addr", i)), at(0))
			r.lost(2+i, at(float64(i)))
		}
		r.sweep(at(1000), 24*time.Hour)
		if len(r.records) != maxLost || r.records[2] != nil || r.records[2+maxLost+9] == nil {
			t.Errorf("%d stay, the first %v", len(r.records), r.records[2])
		}
	})
}

func TestClashes(t *testing.T) {
	r := newRoster(Member{Name: "a", Addr: "A", Incarnation: 1, Self: true}, 5)
	names := func(s float64) (got []uint64) {
		for _, m := range r.clashes(at(s)) {
			got = append(got, m.Incarnation)
		}
		return got
	}
	r.seen(see("b", 2, 10, "B"), at(0))
	r.seen(see("b", 3, 20, "C"), at(0))
	r.seen(see("a", 4, 20, "D"), at(3))
	for _, tt := range []struct {
		at   float64
		want []uint64
	}{{1, nil}, {6, []uint64{2, 3}}, {7, nil}, {9, []uint64{4}}, {100, nil}} {
		if got := names(tt.at); !slices.Equal(got, tt.want) {
			t.Errorf("after %v s: got %v, want %v", tt.at, got, tt.want)
		}
	}
}

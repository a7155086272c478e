package table

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

func TestDefine(t *testing.T) {
	tab := New(Config{})
	d := def(1, second, 10)
	l := define(t, tab, "api", d)
	if again := define(t, tab, "api", d); again != l {
		t.Error("the same name again: another handle")
	}
	if got := tab.Lookup(ID("api")); got != l {
		t.Errorf("Lookup = %p, want %p", got, l)
	}
	if got := tab.Lookup(ID("other")); got != nil {
		t.Errorf("Lookup of an unknown limit = %p", got)
	}
	if !l.Defined() || l.ID() != ID("api") || *l.Def() != d {
		t.Errorf("defined %v, id %#x, def %v", l.Defined(), l.ID(), *l.Def())
	}
	if got := len(*l.versions.Load()); got != 1 {
		t.Errorf("an equal definition made generation %d", got-1)
	}
	if _, err := tab.Define("none", Def{}); !errors.Is(err, errNoKind) {
		t.Errorf("a definition without kind: %v", err)
	}
}

func TestLearn(t *testing.T) {
	tab := New(Config{})
	ours, theirs := def(1, second, 10), def(2, second, 20)
	l := learn(t, tab, ID("api"), theirs)
	if *l.Def() != theirs || l.Defined() {
		t.Errorf("learned: %v, defined %v", *l.Def(), l.Defined())
	}
	learn(t, tab, ID("api"), Def{})
	if *l.Def() != theirs {
		t.Errorf("an unknown definition replaced one: %v", *l.Def())
	}
	define(t, tab, "api", ours)
	learn(t, tab, ID("api"), theirs)
	if *l.Def() != ours || !l.Defined() {
		t.Errorf("a peer's definition replaced ours: %v", *l.Def())
	}
}

// TestTooManyLimits is case 29: bounded, with an error that can be told.
func TestTooManyLimits(t *testing.T) {
	tab := New(Config{MaxLimits: 3})
	for i := range 3 {
		define(t, tab, fmt.Sprint(i), def(1, second, 1))
	}
	if _, err := tab.Define("3", def(1, second, 1)); !errors.Is(err, ErrTooManyLimits) {
		t.Errorf("a limit too many: %v", err)
	}
	if _, err := tab.Learn(7, Def{}); !errors.Is(err, ErrTooManyLimits) {
		t.Errorf("a limit of a peer too many: %v", err)
	}
	define(t, tab, "1", def(2, second, 1)) // changes are no new limits
	if got := tab.Stats().Limits; got != 3 {
		t.Errorf("%d limits, want 3", got)
	}
}

func TestNamesWithOneID(t *testing.T) {
	tab := New(Config{})
	define(t, tab, "a", def(1, second, 1)).name = "b" // as if b had the ID of a
	if _, err := tab.Define("a", def(1, second, 1)); !errors.Is(err, ErrNameTaken) {
		t.Errorf("got %v, want %v", err, ErrNameTaken)
	}
}

// TestChange is cases 20 and 21: a change takes effect on the next take, and what is
// used stays used.
func TestChange(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", def(10, 10*second, 10))
	tab.Take(l, 7, 0, 6)
	for _, c := range []struct {
		def  Def
		n    int64
		want Result
	}{
		{def(10, 20*second, 10), 0, Result{true, 4, 0, 12 * second}}, // slower
		{def(10, 10*second, 20), 0, Result{true, 14, 0, 6 * second}}, // more
		{def(10, 10*second, 5), 1, Result{false, 0, 2 * second, 6 * second}},
		{def(10, 10*second, 5), 0, Result{false, 0, second, 6 * second}}, // in debt by 1
		{Def{Kind: Blocked}, 1, Result{false, 0, 1<<63 - 1, 0}},
		{Def{Kind: Unlimited}, 5, Result{true, 1<<63 - 1, 0, 0}},
		{def(10, 10*second, 10), 1, Result{true, 3, 0, 7 * second}},
	} {
		define(t, tab, "x", c.def)
		if got := tab.Take(l, 7, 0, c.n); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.def, got, c.want)
		}
	}
	// all of it is news, whatever the definition was
	all, _, _ := drain(tab, false)
	if len(all) != 1 || all[0].n != 7 || all[0].start != 0 {
		t.Errorf("news %v, want 7 events from 0", all)
	}
	check(t, tab)
}

// TestUnsentOutlivesADefinition: what was spent under a limit that is none by now is
// still told.
func TestUnsentOutlivesADefinition(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", def(10, 10*second, 10))
	tab.Take(l, 7, 5*second, 6)
	define(t, tab, "x", Def{Kind: Unlimited})
	tab.Sweep(hour, 1<<20)
	all, _, _ := drain(tab, false)
	if len(all) != 1 || all[0] != (news{l, 7, 6, 5 * second}) {
		t.Errorf("news %v, want 6 events from 5 s", all)
	}
	tab.Sweep(hour, 1<<20)
	if got := tab.Stats().Keys; got != 0 {
		t.Errorf("%d keys after that, want 0", got)
	}
}

func TestTooManyChanges(t *testing.T) {
	tab := New(Config{})
	l := define(t, tab, "x", def(1, second, 10))
	tab.Take(l, 7, 0, 4)
	for i := range maxGeneration {
		define(t, tab, "x", def(1, second, 11-int64(i%2)))
	}
	if _, err := tab.Define("x", def(1, second, 12)); !errors.Is(err, ErrTooManyChanges) {
		t.Errorf("change %d: %v, want %v", maxGeneration+1, err, ErrTooManyChanges)
	}
	if got, want := tab.Peek(l, 7, 0, 1), (Result{true, 7, 0, 4 * second}); got != want {
		t.Errorf("then %+v, want %+v", got, want)
	}
}

// TestChangeWhileTaking has a limit change under takers: none of them may see an entry
// newer than its own definition, and nothing is lost or admitted twice.
func TestChangeWhileTaking(t *testing.T) {
	tab := New(Config{Record: true})
	l := define(t, tab, "x", def(1, hour, 100_000))
	var wg sync.WaitGroup
	var sum [4]int64
	for i := range sum {
		wg.Go(func() {
			for range 5000 {
				if tab.Take(l, 7, 0, 1).OK {
					sum[i]++
				}
			}
		})
	}
	for i := range int64(200) {
		define(t, tab, "x", def(1, hour+i%2, 100_000))
	}
	wg.Wait()
	if got, want := tab.Peek(l, 7, 0, 0).Remaining, 100_000-(sum[0]+sum[1]+sum[2]+sum[3]); got > want || got < want-200 {
		t.Errorf("%d remain, want %d, or a fraction of an event less for each change", got, want)
	}
	all, _, _ := drain(tab, false)
	if len(all) != 1 || all[0].n != 20_000 {
		t.Errorf("news %v, want 20,000 events", all)
	}
}

package table

import (
	"errors"
	"testing"

	"github.com/stint-go/stint/bucket"
)

func TestBan(t *testing.T) {
	for name, d := range kinds(10, 10*second) {
		for _, present := range []bool{false, true} {
			tab := New(Config{Record: true})
			l := define(t, tab, name, d)
			if present {
				tab.Take(l, 7, 0, 1)
			}
			if err := tab.Ban(l, 7, 0, 5*second); err != nil {
				t.Fatal(err)
			}
			left := int64(10)
			if present {
				left = 9
			}
			refused := func(what string, r Result, retry int64) {
				t.Helper()
				if r.OK || r.Remaining != 0 || r.RetryAfter != retry || r.ResetAfter < 1 {
					t.Errorf("%s: %s: %+v, want a refusal for %d", name, what, r, retry)
				}
			}
			refused("take", tab.Take(l, 7, second, 1), 4*second)
			refused("take of 0", tab.Take(l, 7, second, 0), 4*second)
			refused("peek", tab.Peek(l, 7, 5*second-1, 1), 1)
			refused("hold", tab.Hold(l, 7, second, 1), 4*second)
			refused("too many", tab.Take(l, 7, second, 11), bucket.Never)
			if _, ok := tab.Borrow(l, 7, second, 1); ok {
				t.Errorf("%s: borrowed", name)
			}
			into := make([]Result, 2)
			if tab.TakeAll([]Ask{{l, 8, 1}, {l, 7, 1}}, second, into) {
				t.Errorf("%s: all admitted", name)
			}
			refused("one of all", into[1], 4*second)
			if got := tab.Peek(l, 8, second, 0); !into[0].OK || got.Remaining != 10 {
				t.Errorf("%s: the other key: %+v, then %+v", name, into[0], got)
			}
			if got := tab.Take(l, 7, 5*second, 1); !got.OK || d.Kind != Bucket && got.Remaining != left-1 {
				t.Errorf("%s: when it is over: %+v, want %d left", name, got, left-1)
			}
			if got := tab.Stats().Bans; got != 0 {
				t.Errorf("%s: %d bans, want none", name, got)
			}
			if i := tab.shards[0].find(7, l.index); tab.shards[0].entries[i].flags&banned != 0 {
				t.Errorf("%s: the entry still thinks it is banned", name)
			}
			check(t, tab)
		}
	}
}

func TestUnban(t *testing.T) {
	tab := New(Config{})
	l, other := define(t, tab, "x", def(1, second, 10)), define(t, tab, "y", def(1, second, 10))
	tab.Ban(l, 7, 0, hour)
	tab.Ban(l, 7, 0, 2*hour) // the last word goes
	if got := tab.Take(l, 7, 0, 1).RetryAfter; got != 2*hour {
		t.Errorf("wait for %d, want two hours", got)
	}
	if got := tab.Take(other, 7, 0, 1); !got.OK {
		t.Errorf("the same hash of another limit: %+v", got)
	}
	tab.Ban(other, 7, 0, 0) // was not banned
	tab.Ban(l, 8, 0, 0)
	tab.Ban(l, 7, hour, hour)
	if got := tab.Take(l, 7, hour, 1); !got.OK || tab.Stats().Bans != 0 {
		t.Errorf("lifted: %+v, %d bans", got, tab.Stats().Bans)
	}
	check(t, tab)
}

func TestBansAreBounded(t *testing.T) {
	for maxKeys, want := range map[int]int{1: 1, 4: 1, 40: 10} {
		tab := New(Config{MaxKeys: maxKeys})
		l := define(t, tab, "x", def(1, second, 10))
		for i := range want {
			if err := tab.Ban(l, mix(i), 0, hour); err != nil {
				t.Fatal(err)
			}
		}
		if err := tab.Ban(l, mix(want), 0, hour); !errors.Is(err, ErrTooManyBans) {
			t.Errorf("a ban too many: %v", err)
		}
		if err := tab.Ban(l, mix(0), 0, 2*hour); err != nil {
			t.Errorf("a longer ban: %v", err)
		}
		tab.Sweep(3*hour, 1)
		if err := tab.Ban(l, mix(want), 3*hour, 4*hour); err != nil || tab.Stats().Bans != 1 {
			t.Errorf("after a sweep: %v, %d bans", err, tab.Stats().Bans)
		}
		check(t, tab)
	}
	tab := New(Config{})
	for name, k := range map[string]Kind{"a": Unlimited, "b": Blocked} {
		if err := tab.Ban(define(t, tab, name, Def{Kind: k}), 7, 0, hour); !errors.Is(err, ErrNoKeys) {
			t.Errorf("%v: %v", k, err)
		}
	}
}

// TestBanOutlivesAll: its entry may go, the table be full, the definition come later.
func TestBanOutlivesAll(t *testing.T) {
	tab := New(Config{MaxKeys: 14})
	l := learn(t, tab, ID("x"), Def{})
	tab.Ban(l, 1000, 0, hour)
	define(t, tab, "x", def(1, second, 10))
	tab.Take(l, 1001, 0, 1)
	tab.Ban(l, 1001, 0, hour)
	tab.Sweep(minutes, 1)
	if got := tab.Stats(); got.Keys != 0 || got.Bans != 2 {
		t.Errorf("%+v, want no keys and two bans", got)
	}
	for hash := range uint64(14) { // full of keys at their limits
		tab.Take(l, hash, minutes, 10)
	}
	for _, d := range []Def{def(1, second, 10), fixed(10, second), logging(10, second)} {
		define(t, tab, "x", d)
		for hash := uint64(1000); hash < 1002; hash++ {
			if got := tab.Take(l, hash, minutes, 1); got.OK || got.RetryAfter != 59*minutes {
				t.Errorf("%v: %+v, want to wait for 59 minutes", d.Kind, got)
			}
		}
	}
	if got := tab.Stats().Overflowed; got != 0 {
		t.Errorf("%d takes went to the overflow entry", got)
	}
	tab.Charge(l, 1000, 2*minutes, Row{3, 2 * minutes, 0}, 0) // charges go on
	if got := tab.Peek(l, 1000, hour, 0); !got.OK {
		t.Errorf("when it is over: %+v", got)
	}
	tab.Sweep(2*hour, 1)
	check(t, tab)
}

// TestBanOfAKeyThatComes: an entry that is made for a banned key knows of the ban.
func TestBanOfAKeyThatComes(t *testing.T) {
	for name, d := range kinds(10, 10*second) {
		tab := New(Config{})
		l := define(t, tab, name, d)
		tab.Ban(l, 7, 0, minutes)
		tab.Charge(l, 7, second, Row{N: 3, Start: second}, 0)
		if got := tab.Take(l, 7, second, 1); got.OK || got.RetryAfter != 59*second {
			t.Errorf("%s: %+v, want to wait for 59 s", name, got)
		}
		tab.Ban(l, 7, second, 0)
		if got := tab.Take(l, 7, second, 1); !got.OK || got.Remaining != 6 {
			t.Errorf("%s, lifted: %+v, want 6 left", name, got)
		}
		check(t, tab)
	}
}

//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// trouble is a kind of fault.
type trouble string

const (
	cutOff   trouble = "cut"        // nothing comes in or goes out
	unplug   trouble = "unplug"     // the same, the interface being down
	oneWay   trouble = "one-way"    // one hears the other, and not the other way round
	lossy    trouble = "loss"       // of packets that come in
	slow     trouble = "slow"       // what goes out
	pause    trouble = "pause"      // SIGSTOP
	crash    trouble = "kill"       // -9, and started again under its name
	replace  trouble = "replace"    // SIGTERM, and started again under its name
	isolated trouble = "cut & kill" // killed while cut off, started again, healed
)

// troubles are all, those first that need no net.
var troubles = []trouble{pause, crash, replace, cutOff, unplug, oneWay, lossy, slow, isolated}

const netless = 3 // of troubles

// event is one fault.
type event struct {
	trouble
	slot, other int           // other: of one-way, whom it does not reach
	after, last time.Duration // from the start of its round; of kill and replace, till it starts again
	much        int           // percent of loss, kilobits a second
}

func (e event) String() string {
	text := fmt.Sprintf("%s n%d", e.trouble, e.slot)
	switch e.trouble {
	case oneWay:
		text += fmt.Sprintf("→n%d", e.other)
	case lossy:
		text += fmt.Sprintf(" %d %%", e.much)
	case slow:
		text += fmt.Sprintf(" %d kbit/s", e.much)
	}
	return fmt.Sprintf("%s at %v for %v", text, e.after, e.last)
}

// ends says whether the process ends.
func (e event) ends() bool {
	return e.trouble == crash || e.trouble == replace || e.trouble == isolated
}

// round is one fault, or two at a time at different nodes, all mended at its end.
type round struct {
	events []event
	check  bool // wait until all is settled, and compare counts
	calm   bool // and then see that the bound is kept
}

func (r round) String() string {
	var parts []string
	for _, e := range r.events {
		parts = append(parts, e.String())
	}
	return strings.Join(parts, ", ")
}

// steady is how many slots, from 1 on, have processes that never end without a goodbye that
// all hear: what is taken there must be known to the event.
const steady = 2

// planner makes rounds from a seed: always the same.
type planner struct {
	chance *rand.Rand
	slots  int
	kinds  []trouble
	deck   []trouble // of kinds, shuffled; what has been dealt is taken out
	made   int
}

const calmEvery = 12 // rounds; they take some ten seconds

func newPlanner(seed uint64, slots int, withNet bool) *planner {
	p := &planner{chance: rand.New(rand.NewPCG(seed, 0)), slots: slots, kinds: troubles}
	if !withNet {
		p.kinds = troubles[:netless]
	}
	return p
}

func (p *planner) millis(least, most int) time.Duration {
	return time.Duration(least+p.chance.IntN(most-least)) * time.Millisecond
}

// deal takes a kind that may befall the slot from the deck, so that all come up, by and by.
func (p *planner) deal(slot int, alone bool) trouble {
	for i := 0; ; i++ {
		if i == len(p.deck) {
			for _, j := range p.chance.Perm(len(p.kinds)) {
				p.deck = append(p.deck, p.kinds[j])
			}
		}
		kind := p.deck[i]
		if slot > steady || kind != crash && kind != isolated && (kind != replace || alone) {
			p.deck = slices.Delete(p.deck, i, i+1)
			return kind
		}
	}
}

func (p *planner) event(slot int, alone bool) event {
	kind := p.deal(slot, alone)
	e := event{trouble: kind, slot: slot, after: p.millis(0, 1500), last: p.millis(500, 9000)}
	switch kind {
	case oneWay:
		e.other = 1 + (slot+p.chance.IntN(p.slots-1))%p.slots
	case lossy:
		e.much = 10 + p.chance.IntN(20)
	case slow:
		e.much = 100 + p.chance.IntN(1000)
	case crash, replace:
		e.last = p.millis(0, 3000)
	}
	return e
}

// next makes a round. At most one process ends in it: counts live on in the others.
func (p *planner) next() round {
	p.made++
	slots := p.chance.Perm(p.slots)
	alone := p.chance.IntN(2) == 0
	r := round{events: []event{p.event(1+slots[0], alone)}, check: p.chance.IntN(2) == 0}
	for !alone && len(r.events) < 2 {
		if e := p.event(1+slots[1], false); !e.ends() || !r.events[0].ends() {
			r.events = append(r.events, e)
		}
	}
	r.calm = p.made%calmEvery == 0
	r.check = r.check || r.calm
	return r
}

// A seed is a plan, and each kind of fault comes up in it, alone and beside another.
func TestSoakPlanOfASeed(t *testing.T) {
	a, b, other := newPlanner(1, 5, true), newPlanner(1, 5, true), newPlanner(2, 5, true)
	seen, differ := map[string]bool{}, false
	for range 300 {
		r := a.next()
		if got, want := b.next().String(), r.String(); got != want {
			t.Fatalf("got %s, want %s of the same seed", got, want)
		}
		differ = differ || other.next().String() != r.String()
		ends := 0
		for _, e := range r.events {
			seen[fmt.Sprint(e.trouble, len(r.events))] = true
			if e.ends() {
				ends++
			}
			if e.slot <= steady && e.ends() && (e.trouble != replace || len(r.events) > 1) {
				t.Errorf("%v: %v at a node that is to be steady", r, e)
			}
			if e.slot < 1 || e.slot > 5 || e.trouble == oneWay && (e.other == e.slot || e.other < 1 || e.other > 5) {
				t.Errorf("%v: slots are 1 to 5", e)
			}
		}
		if ends > 1 {
			t.Errorf("%v: two processes end at a time", r)
		}
	}
	if !differ || len(seen) != 2*len(troubles) {
		t.Errorf("another seed differs: %v; seen %v", differ, seen)
	}
}

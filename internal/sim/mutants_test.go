package sim

import (
	"math"
	"strings"
	"testing"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/engine"
	"github.com/stint-go/stint/internal/table"
)

// A rule switched off must break a promise in some seed: a check that cannot fail is
// none. The rules are broken from outside, by forging frames and by standing between
// engine and table.
func TestMutants(t *testing.T) {
	for _, m := range []struct {
		name string
		make func() Mutant
		run  func(uint64, Mutant) error
		want string // what the oracle says
	}{
		{"cursor rule", noCursor, tormented, "missing"},
		{"deduplication", noDeduplication, tormented, "doubled|which has drained|missing"},
		{"acknowledgement", noAcknowledgement, tormented, "has not all|lost"},
		{"(n, m): entries add up", naiveSum, buckets, "a central bucket"},
		{"(n, m): starts ignored", noStarts, buckets, "overspends|a central bucket"},
		{"debt, promise 3", noDebt, saturated, "overspends"},
		{"debt, promise 4", noDebt, saturatedForLong, "events since"},
		{"windows of their own", oneWindow, tormented, "missing"},
		{"a hold is no amount", heldAndTold, tormented, "drained"},
		{"a hold expires", noExpiry, tormented, "counts a hold|missing|by a settlement"},
		{"join: own drains go on top", ownLeftOut, tormented, "has counted|has left|left of key|taken|has applied"},
		{"join: nothing in a chunk is unsent", unsentCut, tormented, "did not log it"},
		{"join: none is not zero", noneIsZero, forgetful, "doubled"},
		{"join: all hold their logs", everybodyHolds, tormented, "lost"},
		{"join: the vector is of the same step", vectorBefore, tormented, "doubled|and has"},
		{"the last word stands", lastToCome, tormented, "disagree|wrote|should ban|bans key"},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			const most = 200
			for seed := uint64(1); seed <= most; seed++ {
				if err := m.run(seed, m.make()); err != nil {
					t.Logf("seed %d of at most %d: %v", seed, most, err)
					if !containsAny(err.Error(), m.want) {
						t.Errorf("the oracle said something else than %q", m.want)
					}
					return
				}
			}
			t.Errorf("none of %d seeds fails without the rule", most)
		})
	}
}

func containsAny(s, words string) bool {
	for word := range strings.SplitSeq(words, "|") {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

func tormented(seed uint64, m Mutant) error {
	_, err := runSeed(seed, nil, m)
	return err
}

// forgetful is torment where drains may be lost, as the dead are soon forgotten.
func forgetful(seed uint64, m Mutant) error { return tormented(8*seed, m) }

// buckets is torment for buckets alone, of which nobody gives anything back.
func buckets(seed uint64, m Mutant) error {
	o := Chaos(seed)
	o.Mutant, o.Limits, o.PPM = m, rules[:5], 0
	w := New(o)
	w.Meet(100 * Millisecond)
	l := w.someLoad()
	l.Verbs = 0
	w.Drive(l, 2*Second)
	for range 12 {
		w.someFault(w.between(0, 2*Second))
	}
	for to := 1; to < o.Nodes; to++ { // what n0 tells is merged for a while
		w.At(300*Millisecond, func() { w.partition(0, to, false) })
		w.At(1600*Millisecond, func() { w.mend(0, to) })
	}
	if err := w.Run(2 * Second); err != nil {
		return err
	}
	return w.Quiet(10 * Second)
}

// saturation is five nodes far apart under five times their limit.
var saturation = row{limit: perSecond(1000, 100), load: Load{PerSecond: 5000}, lasts: 2 * Second}

func saturated(seed uint64, m Mutant) error {
	_, err := saturation.run(seed, 20*Millisecond, m)
	return err
}

func saturatedForLong(seed uint64, m Mutant) error {
	r := saturation
	r.rateOnly = true
	_, err := r.run(seed, 20*Millisecond, m)
	return err
}

// forger rewrites batches so that their receiver takes them to be of its present
// session and to continue its present number. should says which.
func forger(should func(number uint64, f frame) bool) Mutant {
	type pair struct{ origin, peer uint64 }
	latest := make(map[pair]frame) // WELCOMEs
	return Mutant{
		Send: func(_ *World, _, _ *Node, data []byte) {
			if f := readFrame(data); f.kind == welcome {
				latest[pair{f.origin, f.peer}] = f
			}
		},
		Deliver: func(_ *World, _, to *Node, data []byte) []byte {
			f := readFrame(data)
			number, known := to.engine.Ledger().Number(f.origin)
			if f.kind != batch || !known || !should(number, f) {
				return data
			}
			w := latest[pair{f.origin, f.peer}]
			f.session, f.nonce = w.session, w.nonce
			f.own[0], f.own[1] = number, max(f.to(), number+1)
			return forge(f, 5+f.count+1)
		},
	}
}

// noCursor has a batch applied though what comes before it is missing.
func noCursor() Mutant {
	return forger(func(number uint64, f frame) bool { return f.from() > number })
}

// noDeduplication has a batch applied though it was already.
func noDeduplication() Mutant {
	return forger(func(number uint64, f frame) bool { return f.to() <= number })
}

// noAcknowledgement has every batch acknowledged as it is sent, lost or not.
func noAcknowledgement() Mutant {
	return Mutant{Send: func(w *World, from, to *Node, data []byte) {
		f := readFrame(data)
		if f.kind != batch {
			return
		}
		echo := forge(frame{kind: f.own[4]}, 0)[1:10]
		answer := frame{kind: ack, origin: f.origin, peer: f.peer, session: f.session, nonce: f.nonce, count: 2, rest: append([]byte{0xc2}, echo...)}
		answer.own[0] = f.to()
		w.After(0, func() {
			if !from.gone {
				from.receive(to, forge(answer, 9))
			}
		})
	}}
}

// naiveSum merges entries of a key as if only amounts mattered.
func naiveSum() Mutant {
	return Mutant{Compose: func(a, b gossip.Entry) gossip.Entry { a.N += b.N; return a }}
}

// charging alters what is charged.
type charging struct {
	engine.Table
	alter func(start, debt int64) (int64, int64)
}

func (c charging) Charge(l *table.Limit, hash uint64, now int64, r table.Row, debt int64) {
	r.Start, debt = c.alter(r.Start, debt)
	c.Table.Charge(l, hash, now, r, debt)
}

func altered(alter func(start, debt int64) (int64, int64)) Mutant {
	return Mutant{Table: func(_ *Node, t engine.Table) engine.Table { return charging{t, alter} }}
}

// noStarts forgets when a run began, and with it m.
func noStarts() Mutant {
	return altered(func(_, debt int64) (int64, int64) { return math.MinInt64, debt })
}

// noDebt forgives what would push a key below empty.
func noDebt() Mutant {
	return altered(func(start, _ int64) (int64, int64) { return start, 0 })
}

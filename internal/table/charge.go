package table

import (
	"math"

	"github.com/stint-go/stint/window"
)

// Charge applies what was spent at another node, without asking; an N below zero is a
// refund, which never lifts a key above full. It is never recorded as unsent. Debt bounds
// how far a bucket may be pushed below empty, in nanoseconds ([bucket.Limit.Debt]); what
// is cut off is counted as forgiven.
//
// An amount that comes in the terms of another kind, as while a change is rolled out,
// goes where it happened: into the window of its Start, or, coming from a window, to the
// end of that or now, whichever is earlier.
//
// An absent key is inserted as by Take; where there is no room, the limit's overflow
// entry is charged. Amounts of a limit of kind Unknown are added up until it is defined;
// those of unlimited and blocked limits are dropped.
func (t *Table) Charge(l *Limit, hash uint64, now int64, r Row, debt int64) {
	s := t.shard(hash)
	s.mu.Lock()
	v := l.current.Load()
	if r.N == 0 || v.Kind == Unlimited || v.Kind == Blocked {
		s.mu.Unlock()
		return
	}
	i := s.find(hash, l.index)
	if i < 0 && !t.traceless(v, now, r) {
		if i = t.insertLocked(s, l, v, hash, now); i < 0 {
			s.mu.Unlock()
			t.overflowed.Add(1)
			t.Charge(l, l.overflow, now, r, debt)
			return
		}
	}
	poke := i >= 0 && t.chargeLocked(s, l, v, i, now, r, debt)
	s.mu.Unlock()
	if poke {
		t.poke()
	}
}

// traceless reports whether a charge leaves an absent key as it is, or so long at rest
// that no fresh news of it can make a difference.
func (t *Table) traceless(v *version, now int64, r Row) bool {
	switch v.Kind {
	case Bucket:
		return v.Bucket.RunFrom(r.N, t.startOf(r, now)).M < restingAt(now)
	case Window:
		var s window.State
		wall := t.Wall(now)
		f := v.frameAt(wall)
		from, per := t.windowOf(v, f, wall, r)
		return !v.Window.Charge(&s, f, from, per, r.N) || v.Window.AtRest(s, t.Wall(restingAt(now)))
	case Log:
		return r.N < 0 || v.Log.Used(window.Log{{At: min(t.startOf(r, now), now), N: 1}}, now) == 0
	}
	return r.N < 0 && r.Per == 0
}

// chargeLocked charges slot i. It reports whether to poke once the lock is free.
func (t *Table) chargeLocked(s *shard, l *Limit, v *version, i int, now int64, r Row, debt int64) bool {
	e := &s.entries[i]
	if v.Kind == Unknown {
		e.unknown().add(r)
		return false
	}
	t.refreshLocked(s, i, l, v, now)
	if v.Kind == Window {
		t.chargeWindow(s, e, l, v, now, r)
	} else {
		t.chargeEntry(s, e, v, now, r, debt)
	}
	l.exceeds(t.beyondLocked(s, e, v, now))
	if s.groups[i/groupSlots].dirty&slotBit(i) == 0 {
		return false
	}
	return t.touchedLocked(s, i, t.remainingLocked(s, e, v, now), now)
}

// chargeEntry charges an entry that is written for v.
func (t *Table) chargeEntry(s *shard, e *entry, v *version, now int64, r Row, debt int64) {
	switch v.Kind {
	case Bucket:
		b := &v.Bucket
		state, forgiven := b.Charge(e.state, now, b.RunFrom(r.N, t.startOf(r, now)), debt)
		e.state = state
		t.forgiven.add(forgiven)
	case Window:
		w, wall := e.window(), t.Wall(now)
		f := v.frameAt(wall)
		from, per := t.windowOf(v, f, wall, r)
		at := w.state.From
		v.Window.Charge(&w.state, f, from, per, r.N)
		w.follow(at, f)
	case Log:
		if r.N > 0 || e.log().slab > 0 {
			v.Log.Charge(s.ownLog(e), now, t.startOf(r, now), r.N)
		}
	}
}

// chargeWindow charges an entry of windows. If that puts it a window ahead, what is
// unsent of the window before is left for the next drain.
func (t *Table) chargeWindow(s *shard, e *entry, l *Limit, v *version, now int64, r Row) {
	w := e.window()
	f, _ := t.rollLocked(w, v, now)
	from, before := w.state.From, w.unsent[1]
	t.chargeEntry(s, e, v, now, r, 0)
	if w.state.From != from && before != 0 {
		t.leaveLocked(s, row{l, e.hash, Row{before, f.Before, f.From - f.Before}})
	}
}

// startOf is when an amount was spent, on this node's clock: of a window, at its end,
// unless it goes on.
func (t *Table) startOf(r Row, now int64) int64 {
	if r.Per == 0 {
		return r.Start
	}
	return min(t.monotonic(plus(r.Start, r.Per)), now)
}

// windowOf is the window that an amount belongs to, in cluster time.
func (t *Table) windowOf(v *version, f window.Frame, wall int64, r Row) (from, per int64) {
	if r.Per != 0 {
		return r.Start, r.Per
	}
	if at := min(t.Wall(r.Start), wall); !f.Contains(at) {
		f = v.Window.Frame(at)
	}
	return f.From, f.To - f.From
}

// add puts a charge on an entry of an unknown limit. Without windows, what is given back
// before it was taken is lost, as it would be on a full bucket.
func (u *unknownBody) add(r Row) {
	switch {
	case r.Per == 0 && u.per == 0:
		u.start = max(u.start, r.Start)
		u.n = max(plus(u.n, r.N), 0)
	case r.Per == 0, r.Start == u.start:
		u.n = plus(u.n, r.N)
	case u.per == 0: // windows from now on
		u.start, u.per = r.Start, r.Per
		u.n = plus(u.n, r.N)
	case r.Start > u.start:
		u.turn(r)
	case r.Start == u.before && u.old != 0 || r.Start+r.Per == u.start:
		u.before, u.old = r.Start, plus(u.old, r.N)
	}
}

// turn begins a newer window.
func (u *unknownBody) turn(r Row) {
	u.before, u.old = u.start, u.n
	if plus(u.start, u.per) != r.Start {
		u.before, u.old = math.MinInt64, 0
	}
	u.start, u.per, u.n = r.Start, r.Per, r.N
}

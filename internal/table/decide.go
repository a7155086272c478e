package table

import (
	"math"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

// What each kind does with an entry. The entry is ready: v, the definition in force, has
// keys to count, and the body is written for it.

// spendLocked asks for n ≥ 1 events of the entry in slot i. news says that what is
// admitted is to be told to peers, if v records. It reports whether to poke once the lock
// is free.
func (t *Table) spendLocked(s *shard, i int, v *version, now, n int64, news bool) (r Result, poke bool) {
	e := &s.entries[i]
	news = news && v.record
	switch v.Kind {
	case Bucket:
		var unrecorded bucket.Run
		run := &unrecorded
		if news {
			run = &e.unsent
		}
		r.Remaining, r.RetryAfter = v.Bucket.Spend(&e.state, run, now, n)
		r.ResetAfter = until(e.state, now)
	case Window:
		r = t.spendWindow(e.window(), v, now, n, news)
	default:
		r = s.spendLog(e, v, now, n, news)
	}
	if r.OK = r.RetryAfter == 0; !r.OK {
		return r, false
	}
	return r, v.record && t.touchedLocked(s, i, r.Remaining, now)
}

// touchedLocked marks slot i after its key has changed and left remain of its budget. It
// reports whether to poke.
func (t *Table) touchedLocked(s *shard, i int, left, now int64) bool {
	g, bit := &s.groups[i/groupSlots], slotBit(i)
	unsent := s.entries[i].pending()
	if unsent == 0 && g.dirty&bit == 0 {
		return false
	}
	return t.unmarked(g, bit, unsent, left) && t.markLocked(s, i, unsent, left, now)
}

func (t *Table) spendWindow(w *windowBody, v *version, now, n int64, news bool) (r Result) {
	wall := t.Wall(now)
	f := v.frameAt(wall)
	from := w.state.From
	charged, left, retry := v.Window.Take(&w.state, f, wall, n)
	w.follow(from, f)
	if retry > 0 {
		return Result{false, left, retry, v.Window.ResetAfter(w.state, f, wall)}
	}
	i := w.where(f)
	if !news { // what was below zero is settled as news, whoever tells of the n
		charged -= n
	}
	if v.record && charged != 0 {
		w.add(i, charged)
	}
	// When the budget is back does not depend on how much counts. (To copy the state so
	// soon after it was written would have the processor wait.)
	some := window.State{From: w.state.From}
	if some.Counts[i] = 1; i > 0 {
		some.Counts[0] = w.state.Counts[0]
	}
	return Result{true, left, 0, v.Window.ResetAfter(some, f, wall)}
}

func (s *shard) spendLog(e *entry, v *version, now, n int64, news bool) (r Result) {
	log := s.ownLog(e)
	r.Remaining, r.RetryAfter = v.Log.Take(log, now, n)
	r.ResetAfter = v.Log.ResetAfter(*log, now)
	if r.RetryAfter == 0 && news {
		e.log().add(n, now)
	}
	return r
}

// weighLocked is what a take of n ≥ 0 would get of the entry in slot i; -1 stands for an
// absent key.
func (t *Table) weighLocked(s *shard, i int, v *version, now, n int64) (r Result) {
	if i < 0 {
		return t.weighAbsent(v, now, n)
	}
	e := &s.entries[i]
	switch v.Kind {
	case Bucket:
		after, ok := v.Bucket.Take(e.state, now, n)
		if !ok {
			e.state = after // the clock may have gone back
		}
		return weighBucket(&v.Bucket, e.state, now, n, ok)
	case Window:
		f, wall := t.rollLocked(e.window(), v, now)
		return weighWindow(v, e.window().state, f, wall, n)
	}
	return weighLog(v, s.events(e), now, n)
}

func (t *Table) weighAbsent(v *version, now, n int64) Result {
	switch v.Kind {
	case Bucket:
		_, ok := v.Bucket.Take(full, now, n)
		return weighBucket(&v.Bucket, full, now, n, ok)
	case Window:
		wall := t.Wall(now)
		f := v.frameAt(wall)
		return weighWindow(v, window.State{From: f.From}, f, wall, n)
	}
	return weighLog(v, nil, now, n)
}

// fitsLocked reports whether a take of n ≥ 0 would pass. Like weighLocked it makes the
// entry stand at now.
func (t *Table) fitsLocked(s *shard, i int, v *version, now, n int64) bool {
	if i < 0 {
		return n <= v.most
	}
	e := &s.entries[i]
	switch v.Kind {
	case Bucket:
		after, ok := v.Bucket.Take(e.state, now, n)
		if !ok {
			e.state = after
		}
		return ok
	case Window:
		f, wall := t.rollLocked(e.window(), v, now)
		return v.Window.RetryAfter(e.window().state, f, wall, n) == 0
	}
	return v.Log.RetryAfter(s.events(e), now, n) == 0
}

func weighBucket(b *bucket.Limit, s bucket.State, now, n int64, ok bool) Result {
	r := Result{OK: ok, Remaining: b.Remaining(s, now), ResetAfter: b.ResetAfter(s, now)}
	if !ok {
		if r.RetryAfter = b.RetryAfter(s, now, n); r.RetryAfter == 0 {
			r.RetryAfter = bucket.Never // the end of time
		}
	}
	return r
}

func weighWindow(v *version, s window.State, f window.Frame, wall, n int64) Result {
	retry := v.Window.RetryAfter(s, f, wall, n)
	return Result{retry == 0, v.Window.Remaining(s, f, wall), retry, v.Window.ResetAfter(s, f, wall)}
}

func weighLog(v *version, log window.Log, now, n int64) Result {
	retry := v.Log.RetryAfter(log, now, n)
	return Result{retry == 0, v.Log.Remaining(log, now), retry, v.Log.ResetAfter(log, now)}
}

// usedLocked is how many events of an entry count at now, by v, the definition that it is
// written for; a part of an event counts as one.
func (t *Table) usedLocked(s *shard, e *entry, v *version, now int64) int64 {
	switch v.Kind {
	case Bucket:
		return v.Bucket.Used(e.state, now)
	case Window:
		wall := t.Wall(now)
		return v.Window.Used(e.window().state, v.frameAt(wall), wall)
	}
	return v.Log.Used(s.events(e), now)
}

// remainingLocked is how many events could be taken of an entry.
func (t *Table) remainingLocked(s *shard, e *entry, v *version, now int64) int64 {
	if v.Kind == Bucket {
		return v.Bucket.Remaining(e.state, now)
	}
	return max(v.most-t.usedLocked(s, e, v, now), 0)
}

// until is how long it takes from now until a bucket is full.
func until(s bucket.State, now int64) int64 {
	if s.At < now {
		return 0
	}
	d := s.At - now
	if s.Rem > 0 {
		d++
	}
	return d
}

// flat is every decision of a limit without entries.
func flat(k Kind) Result {
	if k == Unlimited {
		return Result{OK: true, Remaining: math.MaxInt64}
	}
	return Result{RetryAfter: bucket.Never}
}

package table

import (
	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

// Refund gives back up to n events that were taken where mark says ([Table.Mark]), here
// and as news to peers, and returns how many. It is never more than what is used, so that
// nothing lifts a key above full: what a window has counted comes back in that window or
// not at all; of a log, those of that time first; a bucket may have got some of it back by
// itself. A key that has no entry has nothing to give back.
func (t *Table) Refund(l *Limit, hash uint64, now, n int64, mark Row) int64 {
	mark.N = n
	return t.giveBack(l, hash, now, mark, (*Table).refundLocked)
}

// Reset gives back all that this node sees as used of a key, as Refund does, and returns
// how much that is. What it has not heard of stays charged, there and here.
func (t *Table) Reset(l *Limit, hash uint64, now int64) int64 {
	return t.giveBack(l, hash, now, Row{N: bucket.Never, Start: now}, (*Table).resetLocked)
}

// giveBack runs f on the entry of a key.
func (t *Table) giveBack(l *Limit, hash uint64, now int64, r Row, f func(*Table, *shard, int, *Limit, *version, int64, Row) int64) int64 {
	if r.N <= 0 {
		return 0
	}
	s := t.shard(hash)
	s.mu.Lock()
	v := l.current.Load()
	if !v.Kind.counts() {
		s.mu.Unlock()
		return 0
	}
	i := t.readyLocked(s, l, v, hash, now)
	given, poke := int64(0), false
	if i >= 0 {
		if given = f(t, s, i, l, v, now, r); given > 0 {
			poke = t.touchedLocked(s, i, t.remainingLocked(s, &s.entries[i], v, now), now)
		}
	}
	s.mu.Unlock()
	if poke {
		t.poke()
	}
	return given
}

// refundLocked gives back up to r.N events taken where r says.
func (t *Table) refundLocked(s *shard, i int, l *Limit, v *version, now int64, r Row) int64 {
	e := &s.entries[i]
	switch v.Kind {
	case Bucket:
		return e.refund(v, now, r.N)
	case Window:
		return t.refundWindow(s, e, l, v, now, r)
	}
	r.Start, r.Per = min(t.startOf(r, now), now), 0
	if v.Log.Used(window.Log{{At: r.Start, N: 1}}, now) == 0 {
		return 0 // they have expired
	}
	return t.refundLog(s, e, l, v, now, r)
}

// resetLocked gives back all that is used.
func (t *Table) resetLocked(s *shard, i int, l *Limit, v *version, now int64, all Row) int64 {
	e := &s.entries[i]
	switch v.Kind {
	case Bucket:
		return e.refund(v, now, all.N)
	case Window:
		return t.resetWindow(s, e, l, v, now)
	}
	return t.refundLog(s, e, l, v, now, all)
}

// refund gives back up to n events to a bucket. A run in which takes and refunds cancel
// out is not told, though its M may say that the bucket was full for a moment between
// them: peers then have it refill for so much longer, less than the time between two
// drains.
func (e *entry) refund(v *version, now, n int64) int64 {
	b := &v.Bucket
	if after, ok := b.Take(e.state, now, 1); !ok {
		e.state = after // the clock may have gone back
	}
	if n = min(n, b.Used(e.state, now)); n <= 0 {
		return 0
	}
	e.state, _ = b.Charge(e.state, now, b.Extend(bucket.Run{}, now, -n), 0)
	if v.record {
		e.unsent = b.Extend(e.unsent, now, -n)
	}
	return n
}

// refundWindow gives back what a window has counted, if it still counts.
func (t *Table) refundWindow(s *shard, e *entry, l *Limit, v *version, now int64, r Row) int64 {
	w := e.window()
	f, wall := t.rollLocked(w, v, now)
	from, per := t.windowOf(v, f, wall, r)
	trial := w.state
	if !v.Window.Charge(&trial, f, from, per, -1) || trial.From != w.state.From {
		return 0
	}
	for i, n := range trial.Counts {
		if n != w.state.Counts[i] {
			return t.uncount(s, e, l, v, f, wall, i, r.N)
		}
	}
	return 0
}

func (t *Table) resetWindow(s *shard, e *entry, l *Limit, v *version, now int64) int64 {
	w := e.window()
	f, wall := t.rollLocked(w, v, now)
	used := v.Window.Used(w.state, f, wall)
	for i := w.where(f); i < len(w.state.Counts); i++ {
		t.uncount(s, e, l, v, f, wall, i, bucket.Never)
	}
	return used
}

// uncount gives back up to n events of the window that count i is of.
func (t *Table) uncount(s *shard, e *entry, l *Limit, v *version, f window.Frame, wall int64, i int, n int64) int64 {
	w := e.window()
	if one := (window.State{From: w.state.From}); i > w.where(f) {
		if one.Counts[i] = 1; v.Window.Used(one, f, wall) == 0 {
			return 0 // it is over
		}
	}
	n = min(n, w.state.Counts[i])
	if n <= 0 {
		return 0
	}
	w.state.Counts[i] -= n
	switch {
	case !v.record:
	case i < len(w.unsent):
		w.add(i, -n)
	default: // a peer is a window ahead already
		t.leaveLocked(s, row{l, e.hash, Row{-n, f.Before, f.From - f.Before}})
	}
	return n
}

// refundLog gives back up to r.N events of a log, those at r.Start first.
func (t *Table) refundLog(s *shard, e *entry, l *Limit, v *version, now int64, r Row) int64 {
	n := min(r.N, v.Log.Used(s.events(e), now))
	if n <= 0 {
		return 0
	}
	v.Log.Charge(s.ownLog(e), now, r.Start, -n)
	if v.record {
		if told := n - e.log().cancel(n, r.Start); told > 0 {
			t.leaveLocked(s, row{l, e.hash, Row{N: -told, Start: r.Start}})
		}
	}
	return n
}

// cancel takes up to n events taken at a time out of what is unsent, and returns how many.
func (b *logBody) cancel(n, at int64) int64 {
	if at < b.first {
		return 0
	}
	n = min(n, b.unsent)
	b.unsent -= n
	return n
}

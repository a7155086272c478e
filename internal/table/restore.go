package table

import (
	"cmp"
	"slices"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

// Restore makes a key's state no less used than what was saved of it: of a bucket the
// later At counts, of windows the greater count of each, of logs the one with more in
// force at now. It is never recorded as unsent. Saved is as Dump gave it, with its times
// made this table's; whatever it holds, no call panics. Limits that do not count, and
// keys that were at rest, are passed over. Where there is no room, the limit's overflow
// entry is restored.
func (t *Table) Restore(l *Limit, now int64, saved *Saved) {
	t.restore(l, saved.Hash, now, saved)
}

func (t *Table) restore(l *Limit, hash uint64, now int64, saved *Saved) {
	s := t.shard(hash)
	s.mu.Lock()
	v := l.current.Load()
	if !v.Kind.counts() || t.idle(v, now, saved) {
		s.mu.Unlock()
		return
	}
	i := t.readyLocked(s, l, v, hash, now)
	if i < 0 {
		if i = t.insertLocked(s, l, v, hash, now); i < 0 {
			s.mu.Unlock()
			t.overflowed.Add(1)
			t.restore(l, l.overflow, now, saved)
			return
		}
	}
	e := &s.entries[i]
	switch v.Kind {
	case Bucket:
		e.state = v.Bucket.Later(e.state, bucketOf(saved))
	case Window:
		t.restoreWindow(e.window(), v, now, saved)
	default:
		t.restoreLog(s, e, v, now, saved)
	}
	poke := t.touchedLocked(s, i, t.remainingLocked(s, e, v, now), now)
	s.mu.Unlock()
	if poke {
		t.poke()
	}
}

// idle reports whether a saved key is at rest.
func (t *Table) idle(v *version, now int64, saved *Saved) bool {
	switch v.Kind {
	case Bucket:
		return saved.At < now
	case Window:
		return v.Window.AtRest(t.windowSaved(v, saved), t.Wall(now))
	}
	return v.Log.Used(logSaved(saved), now) == 0
}

func bucketOf(saved *Saved) bucket.State { return bucket.State{At: saved.At, Rem: saved.Rem} }

// windowSaved is a saved window, which begins where the limit begins one.
func (t *Table) windowSaved(v *version, saved *Saved) window.State {
	return window.State{From: v.Window.Frame(saved.At).From, Counts: saved.Counts}
}

func (t *Table) restoreWindow(w *windowBody, v *version, now int64, saved *Saved) {
	f, _ := t.rollLocked(w, v, now)
	other := t.windowSaved(v, saved)
	v.Window.Roll(&other, f)
	w.later(other, f)
}

// later makes counts no less than those of other, which was rolled to the same moment.
func (w *windowBody) later(other window.State, f window.Frame) {
	other = w.meet(other, f)
	for i := range other.Counts {
		w.state.Counts[i] = max(w.state.Counts[i], other.Counts[i])
	}
}

// meet has w, with what is unsent of it, and other stand at the same window: the later one.
func (w *windowBody) meet(other window.State, f window.Frame) window.State {
	if from := w.state.From; other.From > from { // the other one is a window ahead
		w.state = window.State{From: other.From, Counts: shift(w.state.Counts)}
		w.follow(from, f)
	} else if other.From < from {
		other = window.State{From: from, Counts: shift(other.Counts)}
	}
	return other
}

// shift is counts as seen from one window later.
func shift(c [3]int64) [3]int64 { return [3]int64{0, c[0], c[1]} }

func (t *Table) restoreLog(s *shard, e *entry, v *version, now int64, saved *Saved) {
	var other window.Log
	for _, ev := range logSaved(saved) {
		v.Log.Charge(&other, now, ev.At, ev.N)
	}
	log := s.ownLog(e)
	if v.Log.Used(other, now) > v.Log.Used(*log, now) {
		*log = other
	}
}

// logSaved is a saved log, in order and without what no log holds.
func logSaved(saved *Saved) window.Log {
	log := window.Log(saved.Log)
	sorted := slices.IsSortedFunc(log, func(a, b window.Event) int { return cmp.Compare(a.At, b.At) })
	if sorted && !slices.ContainsFunc(log, func(e window.Event) bool { return e.N <= 0 }) {
		return log
	}
	log = slices.DeleteFunc(slices.Clone(log), func(e window.Event) bool { return e.N <= 0 })
	slices.SortFunc(log, func(a, b window.Event) int { return cmp.Compare(a.At, b.At) })
	return log
}

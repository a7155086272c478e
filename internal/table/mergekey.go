package table

import (
	"math"
	"slices"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

// Other is a key as another node has it.
type Other struct {
	*Saved
	As    *Def  // the definition by which it is saved
	More  []Row // what has been spent here that it does not have, but for what is unsent
	Lack  []Row // what it has that is not counted here, and is to be, whichever is more
	Exact bool  // all that there is here is in it, in More or unsent
}

// Nothing is a key of a limit as a node has it that counts nothing of it.
func (t *Table) Nothing(l *Limit, hash uint64, now int64) Other {
	def := l.Def()
	o := Other{Saved: &Saved{Hash: hash, At: t.Wall(now)}, As: def}
	switch def.Kind {
	case Bucket:
		o.At = full.At
	case Unknown:
		o.At = math.MinInt64
	}
	return o
}

// Merge makes a key's state no less used than another node's with what has been spent
// here on top; or just that, if it is Exact. Else it is as Restore.
func (t *Table) Merge(l *Limit, now int64, o Other) { t.merge(l, o.Hash, now, o) }

func (t *Table) merge(l *Limit, hash uint64, now int64, o Other) {
	s := t.shard(hash)
	s.mu.Lock()
	v := l.current.Load()
	i := s.find(hash, l.index)
	if !t.mergeable(v, now, &o, i >= 0) {
		s.mu.Unlock()
		return
	}
	if i < 0 {
		if i = t.insertLocked(s, l, v, hash, now); i < 0 {
			s.mu.Unlock()
			t.overflowed.Add(1)
			o.Exact = false
			t.merge(l, l.overflow, now, o)
			return
		}
	}
	poke := t.mergeLocked(s, l, v, i, now, o)
	s.mu.Unlock()
	if poke {
		t.poke()
	}
}

// mergeable reports whether what was saved means anything to a limit that is v; here, that
// there is an entry of the key.
func (t *Table) mergeable(v *version, now int64, o *Other, here bool) bool {
	switch {
	case v.Kind == Unlimited, v.Kind == Blocked:
		return false
	case o.As.Kind == Unknown:
		return true
	case !o.As.Kind.counts(), v.Kind == Unknown:
		return false
	}
	return len(o.More) > 0 || o.Exact && here || !t.idle(v.like(o.As), restingAt(now), o.Saved)
}

// like is v if that is as, or a version to read as by.
func (v *version) like(as *Def) *version {
	if v.Def == *as {
		return v
	}
	return newVersion(*as, 0, false)
}

func (t *Table) mergeLocked(s *shard, l *Limit, v *version, i int, now int64, o Other) (poke bool) {
	e := &s.entries[i]
	if v.Kind == Unknown {
		if o.Exact {
			*e.unknown() = unknownBody{start: math.MinInt64}
		}
		e.unknown().add(Row{o.Counts[1], o.Counts[2], o.At - o.Counts[2]})
		e.unknown().add(Row{o.Counts[0], o.At, int64(o.Rem)})
		return false
	}
	t.refreshLocked(s, i, l, v, now)
	rows := e.rows(v)
	more := append(slices.Clone(o.More), rows[:]...)
	for k := range s.leftLocked() {
		if r := &s.aside.left[k]; r.limit == l && r.hash == e.hash {
			more = append(more, r.Row)
		}
	}
	if !o.Exact {
		for _, r := range o.Lack {
			t.chargeEntry(s, e, v, now, r, bucket.Never)
		}
	}
	saved, first := t.recut(v, now, o.Saved, o.As)
	more = append(first[:len(first):len(first)], more...)
	switch v.Kind {
	case Bucket:
		state := bucketOf(saved)
		for _, r := range more {
			if r.N != 0 {
				state, _ = v.Bucket.Charge(state, now, v.Bucket.RunFrom(r.N, t.startOf(r, now)), bucket.Never)
			}
		}
		if !o.Exact {
			state = v.Bucket.Later(e.state, state)
		}
		e.state = state
	case Window:
		t.mergeWindow(e.window(), v, now, t.windowSaved(v, saved), more, o.Exact)
	default:
		t.mergeLog(s, e, v, now, saved, more, o.Exact)
	}
	return t.touchedLocked(s, i, t.remainingLocked(s, e, v, now), now)
}

// recut is what was saved under a definition, in the terms of v, the one in force, and
// amounts that come on top.
func (t *Table) recut(v *version, now int64, saved *Saved, as *Def) (*Saved, []Row) {
	old := v.like(as)
	switch {
	case as.Kind == v.Kind && v.Kind == Bucket:
		s := *saved
		if as.Bucket != v.Bucket {
			b := bucketOf(saved)
			if b.At >= now {
				b = as.Bucket.Convert(b, now, &v.Bucket)
			} else if b.Rem > 0 { // parts of another nanosecond
				b = bucket.State{At: b.At + 1}
			}
			s.At, s.Rem = b.At, b.Rem
		}
		return &s, nil
	case as.Kind == v.Kind && (v.Kind != Window || as.Window.SameCut(&v.Window)):
		return saved, nil
	}
	blank := &Saved{Hash: saved.Hash, At: t.Wall(now)}
	if v.Kind == Bucket {
		blank.At = full.At
	}
	r := t.mark(v, now)
	switch as.Kind {
	case Unknown:
		return blank, []Row{{saved.Counts[1], saved.Counts[2], saved.At - saved.Counts[2]}, {saved.Counts[0], saved.At, int64(saved.Rem)}}
	case Bucket:
		r.N = as.Bucket.Burst() - as.Bucket.Remaining(bucketOf(saved), now)
	case Window:
		wall := t.Wall(now)
		r.N = as.Window.Used(t.windowSaved(old, saved), as.Window.Frame(wall), wall)
	case Log:
		r.N = as.Log.Used(logSaved(saved), now)
	}
	return blank, []Row{r}
}

func (t *Table) mergeWindow(w *windowBody, v *version, now int64, other window.State, more []Row, exact bool) {
	f, wall := t.rollLocked(w, v, now)
	v.Window.Roll(&other, f)
	for _, r := range more {
		if r.N != 0 {
			from, per := t.windowOf(v, f, wall, r)
			v.Window.Charge(&other, f, from, per, r.N)
		}
	}
	if exact {
		w.state = w.meet(other, f)
	} else {
		w.later(other, f)
	}
}

func (t *Table) mergeLog(s *shard, e *entry, v *version, now int64, saved *Saved, more []Row, exact bool) {
	var other window.Log
	for _, ev := range logSaved(saved) {
		v.Log.Charge(&other, now, ev.At, ev.N)
	}
	for _, r := range more {
		if r.N != 0 {
			v.Log.Charge(&other, now, t.startOf(r, now), r.N)
		}
	}
	log := s.ownLog(e)
	if exact || v.Log.Used(other, now) > v.Log.Used(*log, now) {
		*log = other
	}
}

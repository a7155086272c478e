package table

import "github.com/stint-go/stint/bucket"

// refreshLocked rewrites the entry in slot i for v, the definition in force, which has
// keys to count, if it was written for an older one. What is used stays used. What is
// unsent is told in the terms it was spent in: it stays where it is while these are the
// same, else it is left for the next drain.
func (t *Table) refreshLocked(s *shard, i int, l *Limit, v *version, now int64) {
	e := &s.entries[i]
	old := l.at(e.gen)
	switch {
	case old == v:
	case e.flags&unknown != 0:
		t.settle(s, e, v, now)
	case old.Kind != v.Kind:
		t.recast(s, e, l, old, v, now)
	case v.Kind == Bucket:
		e.rerate(old, v, now)
	case v.Kind == Window && !old.Window.SameCut(&v.Window):
		t.recast(s, e, l, old, v, now)
	}
	e.gen = v.gen
}

// rerate carries a bucket over to another rate or burst.
func (e *entry) rerate(old, v *version, now int64) {
	if e.state.At < now { // full since then, and that still counts for late news
		e.state = bucket.State{At: e.state.At}
	} else {
		e.state = old.Bucket.Convert(e.state, now, &v.Bucket)
	}
	if e.unsent.N != 0 {
		e.unsent.M = v.Bucket.RunFrom(e.unsent.N, old.Bucket.Start(e.unsent)).M
	}
}

// recast makes what is used of a key one amount of now, by another kind of limit or in
// other windows.
func (t *Table) recast(s *shard, e *entry, l *Limit, old, v *version, now int64) {
	used := t.usedLocked(s, e, old, now)
	for _, r := range e.rows(old) {
		if r.N != 0 {
			t.leaveLocked(s, row{l, e.hash, r})
		}
	}
	s.freeLog(e)
	e.blank(v)
	if used <= 0 {
		return
	}
	r := t.mark(v, now)
	r.N = used
	t.chargeEntry(s, e, v, now, r, bucket.Never)
}

// settle makes an entry of what peers told while the limit was unknown.
func (t *Table) settle(s *shard, e *entry, v *version, now int64) {
	u := *e.unknown()
	e.blank(v)
	if u.n != 0 {
		t.chargeEntry(s, e, v, now, Row{u.n, u.start, u.per}, v.staleDebt())
	}
	if u.old != 0 {
		t.chargeEntry(s, e, v, now, Row{u.old, u.before, u.start - u.before}, v.staleDebt())
	}
}

// staleDebt bounds the debt that amounts of a time without a definition can make.
func (v *version) staleDebt() int64 {
	if v.Kind == Bucket {
		return v.Bucket.DebtStale()
	}
	return 0
}

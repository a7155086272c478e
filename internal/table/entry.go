package table

import (
	"math"

	"github.com/stint-go/stint/bucket"
)

// entry is the state of one key: 64 bytes, one cache line, without pointers.
type entry struct {
	hash   uint64
	state  bucket.State // of an unknown limit: the latest start of a charge, and the events charged
	unsent bucket.Run   // what no drain has fetched yet; N = 0: nothing
	limit  uint32       // index of the limit, from 1; (limit, hash) is the entry's identity
	gen    uint16       // generation of the definition by which the above is to be read
	flags  flags
	slab   uint32 // reserved: handle of what does not fit; 0: none
	_      uint32
	_      uint64 // reserved for windows
}

type flags uint16

const (
	// unknown: the limit had no definition when this was written.
	unknown flags = 1 << iota
	// overflow: decides for keys that found no room; not counted, never a victim.
	overflow
	// pinned: TakeAll is at work on it.
	pinned
	// held and banned are reserved.
	held
	banned

	// keep is what an entry at rest does not have.
	keep = unknown | pinned | held | banned
)

// full is the state of an absent key, whatever the time.
var full = bucket.State{At: math.MinInt64}

// restsAt reports whether the entry, which must not be dirty, carries no information
// at now.
func (e *entry) restsAt(now int64) bool { return e.state.At < now && e.flags&keep == 0 }

// refresh rewrites the entry for v, the definition in force and a bucket, if it was
// written for an older one. What is used stays used, what is unsent stays unsent.
func (l *Limit) refresh(e *entry, v *version, now int64) {
	if e.gen == v.gen {
		return
	}
	state, forgiven := l.convert(e, v, now)
	l.table.forgiven.add(forgiven)
	e.state = state
	if e.unsent.N != 0 {
		start := l.at(e.gen).Bucket.Start(e.unsent)
		e.unsent.M = v.Bucket.RunFrom(e.unsent.N, start).M
	}
	e.flags &^= unknown
	e.gen = v.gen
}

// convert is the entry's state as v, the definition in force and a bucket, sees it,
// and what is forgiven if it becomes the entry's.
func (l *Limit) convert(e *entry, v *version, now int64) (_ bucket.State, forgiven int64) {
	b := &v.Bucket
	switch {
	case e.gen == v.gen:
		return e.state, 0
	case e.flags&unknown != 0:
		return b.Charge(full, now, b.RunFrom(int64(e.state.Rem), e.state.At), b.DebtStale())
	case e.state.At < now: // full since then, and that still counts for late news
		return bucket.State{At: e.state.At}, 0
	}
	return l.at(e.gen).Bucket.Convert(e.state, now, b), 0
}

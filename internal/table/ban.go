package table

import "errors"

var (
	// ErrTooManyBans means that as many keys are banned as a quarter of Config.MaxKeys.
	ErrTooManyBans = errors.New("too many bans: lift some, or raise MaxKeys")
	// ErrNoKeys means that a limit decides without looking at keys.
	ErrNoKeys = errors.New("an unlimited or blocked limit has no keys to ban")
)

// banID names a key, as in an entry.
type banID struct {
	hash  uint64
	limit uint32
}

// Ban has everything that is asked of a key refused until a time on the caller's clock;
// one that is not after now lifts the ban. What the key has used is another matter: takes
// and charges from before stay, and charges go on.
//
// A ban needs no entry, so there is always room for it, up to a quarter of
// Config.MaxKeys; beyond that Ban returns ErrTooManyBans. Of limits that have no keys it
// returns ErrNoKeys, but one whose definition is not known yet may have some.
func (t *Table) Ban(l *Limit, hash uint64, now, until int64) error {
	if k := l.current.Load().Kind; k == Unlimited || k == Blocked {
		return ErrNoKeys
	}
	s := t.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if until <= now {
		t.unbanLocked(s, banID{hash, l.index})
		return nil
	}
	return t.banLocked(s, banID{hash, l.index}, until)
}

func (t *Table) banLocked(s *shard, id banID, until int64) error {
	a := s.besides()
	if _, known := a.bans[id]; !known {
		if t.bans.Add(1) > max(t.maxKeys/4, 1) {
			t.bans.Add(-1)
			return ErrTooManyBans
		}
	}
	if a.bans == nil {
		a.bans = make(map[banID]int64)
	}
	a.bans[id] = until
	if i := s.find(id.hash, id.limit); i >= 0 {
		s.entries[i].flags |= banned
	}
	return nil
}

func (t *Table) unbanLocked(s *shard, id banID) {
	if s.aside == nil {
		return
	}
	if _, known := s.aside.bans[id]; !known {
		return
	}
	delete(s.aside.bans, id)
	t.bans.Add(-1)
	if i := s.find(id.hash, id.limit); i >= 0 {
		s.entries[i].flags &^= banned
	}
}

// banLeft is how long a key is still banned, in nanoseconds: 0 if it is not. A ban that
// is over goes.
func (t *Table) banLeft(s *shard, l *Limit, hash uint64, now int64) int64 {
	if s.aside == nil || len(s.aside.bans) == 0 {
		return 0
	}
	id := banID{hash, l.index}
	until, known := s.aside.bans[id]
	switch {
	case !known:
		return 0
	case until <= now:
		t.unbanLocked(s, id)
		return 0
	}
	return minus(until, now)
}

// ban makes r what a banned key is told.
func (r *Result) ban(left int64) {
	r.OK, r.Remaining = false, 0
	r.RetryAfter, r.ResetAfter = max(r.RetryAfter, left), max(r.ResetAfter, left)
}

// fewBans is how many bans of a shard a sweep looks at.
const fewBans = 256

// sweepBansLocked drops bans that are over: of so many, any.
func (t *Table) sweepBansLocked(s *shard, now int64) {
	if s.aside == nil {
		return
	}
	seen := 0
	for id, until := range s.aside.bans {
		if until <= now {
			t.unbanLocked(s, id)
		}
		if seen++; seen == fewBans {
			break
		}
	}
	if len(s.aside.bans) == 0 {
		s.aside.bans = nil
	}
}

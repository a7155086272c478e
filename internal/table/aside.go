package table

import (
	"github.com/stint-go/stint/window"
)

// aside is what a shard knows beside its entries: what does not fit them, or needs none.
type aside struct {
	bans map[banID]int64 // until when, on the node's clock
	left []row           // unsent amounts that their entries can no longer hold
	logs slab
}

// besides makes the aside of a shard that has none yet.
func (s *shard) besides() *aside {
	if s.aside == nil {
		s.aside = &aside{}
	}
	return s.aside
}

// leave keeps an unsent amount, which its entry can no longer hold, for the next drain of
// everything.
func (t *Table) leaveLocked(s *shard, r row) {
	a := s.besides()
	a.left = append(a.left, r)
	t.dirty.set(s.index)
}

// leftLocked is how many amounts were left for the next drain.
func (s *shard) leftLocked() int {
	if s.aside == nil {
		return 0
	}
	return len(s.aside.left)
}

// drop removes the entry in slot i, which is not dirty, with what it has aside.
func (s *shard) drop(i int) {
	s.freeLog(&s.entries[i])
	s.remove(i)
}

// slab is the logs of a shard, by handle − 1.
type slab struct {
	logs []window.Log
	free []uint32 // handles that no entry has
}

// logOf is the log of an entry: nil if it has none, and is empty.
func (s *shard) logOf(e *entry) *window.Log {
	if h := e.log().slab; h > 0 {
		return &s.aside.logs.logs[h-1]
	}
	return nil
}

// ownLog is the log of an entry, made if need be.
func (s *shard) ownLog(e *entry) *window.Log {
	body := e.log()
	if body.slab == 0 {
		body.slab = s.besides().logs.take()
	}
	return &s.aside.logs.logs[body.slab-1]
}

// events is what an entry's log has in it. It must not be changed.
func (s *shard) events(e *entry) window.Log {
	if log := s.logOf(e); log != nil {
		return *log
	}
	return nil
}

func (s *shard) freeLog(e *entry) {
	if e.flags&logged == 0 || e.log().slab == 0 {
		return
	}
	logs := &s.aside.logs
	logs.logs[e.log().slab-1] = nil
	logs.free = append(logs.free, e.log().slab)
	e.log().slab = 0
}

func (b *slab) take() uint32 {
	if n := len(b.free); n > 0 {
		h := b.free[n-1]
		b.free = b.free[:n-1]
		return h
	}
	b.logs = append(b.logs, nil)
	return uint32(len(b.logs))
}

// packLogs gives back the slab's free places where many are.
func (s *shard) packLogs() {
	if s.aside == nil || 2*len(s.aside.logs.free) <= len(s.aside.logs.logs) {
		return
	}
	old := s.aside.logs
	s.aside.logs = slab{logs: make([]window.Log, 0, len(old.logs)-len(old.free))}
	for i := range s.entries {
		if e := &s.entries[i]; e.flags&logged != 0 && e.log().slab > 0 {
			s.aside.logs.logs = append(s.aside.logs.logs, old.logs[e.log().slab-1])
			e.log().slab = uint32(len(s.aside.logs.logs))
		}
	}
}

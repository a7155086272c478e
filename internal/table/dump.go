package table

import (
	"math/bits"

	"github.com/stint-go/stint/window"
)

// Saved is one key's state, raw, under the definition in force. Times are the table's own:
// of a bucket and a log the caller's clock, of a window cluster time.
type Saved struct {
	Hash   uint64
	At     int64          // of a bucket: when it is full again; of a window: the start of the newest
	Rem    uint64         // of a bucket: what comes on top of At (bucket.State)
	Counts [3]int64       // of a window, and those before it (window.State)
	Log    []window.Event // of a log
}

// dumpKeys and dumpEvents are after how many keys, or events of logs, a dump lets go of
// the shard.
const (
	dumpKeys   = 128
	dumpEvents = 4096
)

// Dump calls emit for every key that is not at rest at now and whose limit counts, without
// a lock held. Each shard is locked for some ten microseconds at a time; so keys are seen
// at different moments, each once, or more often if its shard grows meanwhile. What emit
// gets is valid until it returns. Bans are not in it.
func (t *Table) Dump(now int64, emit func(l *Limit, s *Saved)) {
	d := dump{t: t, now: now, limits: make([]*Limit, 0, dumpKeys), saved: make([]Saved, dumpKeys)}
	for i := range t.shards {
		s := &t.shards[i]
		for from, groups := 0, -1; from >= 0; {
			s.mu.Lock()
			if groups != len(s.groups) { // it grew meanwhile, and its entries have moved
				from, groups = 0, len(s.groups)
			}
			from = d.copyLocked(s, from)
			s.mu.Unlock()
			for j, l := range d.limits {
				emit(l, &d.saved[j])
			}
		}
	}
}

// dump is what one Dump works with.
type dump struct {
	t      *Table
	now    int64
	limits []*Limit
	saved  []Saved // as many as limits, and then some
	events []window.Event
}

// copyLocked copies entries from a group on. It returns the group to go on from, -1 at
// the end.
func (d *dump) copyLocked(s *shard, from int) int {
	d.limits, d.events = d.limits[:0], d.events[:0]
	if s.used == 0 {
		return -1
	}
	limits := *d.t.limits.Load()
	for at := from; at < len(s.groups); at++ {
		if len(d.limits)+groupSlots > dumpKeys || len(d.events) > dumpEvents {
			return at
		}
		g := &s.groups[at]
		for m := g.occupied(); m != 0; m &= m - 1 {
			i := at*groupSlots + bits.TrailingZeros8(m)
			if g.dirty&slotBit(i) == 0 && d.t.restsAt(s, &s.entries[i], d.now) {
				continue
			}
			l := limits[s.entries[i].limit-1]
			if v := l.current.Load(); v.Kind.counts() {
				d.t.refreshLocked(s, i, l, v, d.now)
				d.saved[len(d.limits)] = d.save(s, &s.entries[i])
				d.limits = append(d.limits, l)
			}
		}
	}
	return -1
}

func (d *dump) save(s *shard, e *entry) Saved {
	switch k := (Saved{Hash: e.hash}); e.flags & shape {
	case windowed:
		k.At, k.Counts = e.window().state.From, e.window().state.Counts
		return k
	case logged:
		from := len(d.events)
		d.events = append(d.events, s.events(e)...)
		k.Log = d.events[from:len(d.events):len(d.events)]
		return k
	default:
		k.At, k.Rem = e.state.At, e.state.Rem
		return k
	}
}

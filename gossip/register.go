package gossip

import (
	"container/heap"
	"math"
	"slices"
)

// register is the newest version of every record that this node knows.
type register struct {
	known   map[RecordKey]*Record // never changed in place
	ends    ends                  // one of each known record
	tellers map[RecordKey]uint64  // whom we have a record from, unless we have told it
	newest  uint64                // highest version of any record
	memory  int64                 // how long after its life a record is remembered
	dropped uint64                // of peers, for want of room
	full    bool                  // that was noted
}

// maxVersion is more than honest nodes reach: a higher one concerns its own record alone.
const maxVersion = 1 << 48

// end says from when on to look whether a record can be forgotten.
type end struct {
	at  int64
	key RecordKey
}

type ends []end

func (h ends) Len() int           { return len(h) }
func (h ends) Less(i, j int) bool { return h[i].at < h[j].at }
func (h ends) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ends) Push(x any)        { *h = append(*h, x.(end)) }
func (h *ends) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

func (g *register) set(r *Record) {
	key := r.Key()
	if g.known[key] == nil {
		heap.Push(&g.ends, end{r.life, key})
	}
	g.known[key] = r
	if r.Version < maxVersion {
		g.newest = max(g.newest, r.Version)
	}
}

// forget drops the records that have been over for long enough and reports whether
// there were any.
func (g *register) forget(now int64) (any bool) {
	for len(g.ends) > 0 && subSat(now, g.ends[0].at) > g.memory {
		top := &g.ends[0]
		if r := g.known[top.key]; r.life > top.at {
			top.at = r.life
			heap.Fix(&g.ends, 0)
			continue
		}
		delete(g.known, top.key)
		delete(g.tellers, top.key)
		heap.Pop(&g.ends)
		any = true
	}
	return any
}

// sorted are those that match, in order of their keys.
func (g *register) sorted(match func(*Record) bool) (records []*Record) {
	for _, r := range g.known {
		if match(r) {
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b *Record) int { return a.Key().compare(b.Key()) })
	return records
}

// Put makes r the newest version of its record, by this node's word: it sets Version
// and Writer, keeps r and puts it into the log, as a drain of its own. Labels that are
// too long are cut. Version is above that of any record this node has seen: peers may
// remember one that it has forgotten. The record is remembered everywhere for as long as
// any version of it, or news that it is over, can matter to anyone, whatever Until
// becomes.
//
// Not accepted, and nothing changed, if r is no record (another kind, N or Per
// negative, a ban with a maker) or is a new one and there are Config.MaxRecords.
func (g *Ledger) Put(now int64, r Record) (accepted bool) {
	r.Label = r.Label[:min(len(r.Label), MaxLabel)]
	if !r.sound() {
		return false
	}
	old := g.register.known[r.Key()]
	if old == nil && !g.room(now) {
		return false
	}
	r.Version, r.Writer, r.life = g.register.newest+1, g.cfg.Incarnation, max(r.Until, now)
	if old != nil {
		r.Version, r.life = max(r.Version, old.Version+1), max(r.life, old.life)
	}
	if old != nil && old.Version == math.MaxUint64 {
		return false // nothing is newer
	}
	g.keep(&r)
	delete(g.register.tellers, r.Key())
	g.tellRecord(now, r.Key())
	return true
}

// Restore takes in a record that was kept on disk, as if a peer had told it: Version
// and Writer are its own, and peers hear of it when next a session opens. It reports
// whether it was newer than what this node had.
func (g *Ledger) Restore(now int64, r Record) (accepted bool) {
	n := len(g.out.Records)
	g.learn(now, 0, &r)
	accepted = len(g.out.Records) > n
	g.out.Records = g.out.Records[:n]
	return accepted
}

// learn takes in a record of a peer if it is newer than what this node has. One whose
// life has been over for PartitionMemory is ignored, and one that was known is remembered
// for twice as long: so what was forgotten never comes back, and is not applied twice.
func (g *Ledger) learn(now int64, origin uint64, r *Record) {
	if r.life = max(r.life, r.Until); !r.sound() || subSat(now, r.life) > g.cfg.PartitionMemory {
		return
	}
	old := g.register.known[r.Key()]
	switch {
	case old != nil && !r.newerThan(old):
		g.outlive(now, old, r)
		return
	case old == nil && !g.room(now):
		if g.register.dropped++; !g.register.full {
			g.register.full = true
			g.note(origin, "%d holds and bans are known, and there is room for no more: those of peers are dropped", len(g.register.known))
		}
		return
	}
	news := RecordNews{New: *r, Known: old != nil}
	if old != nil {
		news.Old = *old
	}
	g.keep(r)
	g.register.tellers[r.Key()] = origin
	g.out.Records = append(g.out.Records, news)
}

// outlive keeps what this node knows for as long as an older version matters that a peer
// has told. If it was over for so long that no START brings it any more, it is told
// again: whoever has the older version may not have heard of it.
func (g *Ledger) outlive(now int64, known, older *Record) {
	if !known.newerThan(older) || older.life <= known.life {
		return
	}
	longer := *known
	longer.life = older.life
	g.keep(&longer)
	if subSat(now, known.life) > g.cfg.PartitionMemory {
		g.tellRecord(now, known.Key())
	}
}

// tellRecord puts a record into the log.
func (g *Ledger) tellRecord(now int64, key RecordKey) {
	g.log.append(now, &segment{first: now, records: []RecordKey{key}})
	g.settle()
}

// room reports whether one more record may be known.
func (g *Ledger) room(now int64) bool {
	if len(g.register.known) >= g.cfg.MaxRecords {
		g.forgetRecords(now)
	}
	return len(g.register.known) < g.cfg.MaxRecords
}

func (g *Ledger) keep(r *Record) {
	g.register.set(r)
	g.opening = nil
}

func (g *Ledger) forgetRecords(now int64) {
	if g.register.forget(now) {
		g.opening, g.register.full = nil, false
	}
}

// Record is the newest version of a record that this node knows, over or not.
func (g *Ledger) Record(key RecordKey) (r Record, ok bool) {
	if known := g.register.known[key]; known != nil {
		return *known, true
	}
	return r, false
}

// Records are all of a kind that this node knows, those over, settled and lifted
// included, sorted by key.
func (g *Ledger) Records(kind RecordKind) []Record {
	known := g.register.sorted(func(r *Record) bool { return r.Kind == kind })
	records := make([]Record, len(known))
	for i, r := range known {
		records[i] = *r
	}
	return records
}

// RecordsDropped is how many records of peers found no room.
func (g *Ledger) RecordsDropped() uint64 { return g.register.dropped }

// named are the records that a segment names, as they stand, in order: what they were
// before matters to nobody.
func (g *Ledger) named(s *segment) (records []*Record) {
	for _, k := range s.records {
		if r := g.register.known[k]; r != nil {
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b *Record) int { return a.Key().compare(b.Key()) })
	return records
}

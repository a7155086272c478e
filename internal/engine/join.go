package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
	"github.com/stint-go/stint/window"
)

// cut takes chunks out of the table, from one on: most at most, or as many as have about
// Config.CutKeys keys. What is unsent of them goes into the log.
func (e *Engine) cut(now int64, from, most int, emit func(l *table.Limit, s *table.Saved)) (to int, first, last uint64) {
	keys := e.table.Stats().Keys
	to = from + min(max(e.cfg.CutKeys*gossip.Chunks/max(keys, 1), 1), most)
	first, last = gossip.Range(from, to)
	var entries []gossip.Entry
	e.table.Cut(now, first, last, func(l *table.Limit, hash uint64, r table.Row) {
		entries = append(entries, entryOf(now, l, hash, r))
	}, emit)
	if len(entries) > 0 {
		e.ledger.Append(now, now, entries)
	}
	return to, first, last
}

// serve gives a newcomer what it wants of the table. What is unsent of it goes into the
// log first, in the same step.
func (e *Engine) serve(now int64, w gossip.Want) {
	var rows []gossip.Row
	var defs []gossip.Definition
	to, first, last := e.cut(now, w.Chunk, w.Most, func(l *table.Limit, s *table.Saved) {
		if def := l.Def(); def.Shared || def.Kind == table.Unknown {
			rows = append(rows, rowOf(l, s))
		}
	})
	named := make(map[uint64]bool)
	for i := range rows {
		if id := rows[i].Limit; !named[id] {
			if named[id] = true; e.texts[id].ID == id {
				defs = append(defs, e.texts[id])
			}
		}
	}
	slices.SortFunc(defs, func(a, b gossip.Definition) int { return cmp.Compare(a.ID, b.ID) })
	e.ledger.Serve(now, e.table.Wall(now), w, to, defs, rows, e.holdsIn(first, last, false))
}

// holdsIn are the holds of the keys in a range, over or not, in order: all, or those of
// limits that are shared.
func (e *Engine) holdsIn(first, last uint64, all bool) (holds []gossip.Held) {
	for _, h := range e.holds {
		if (all || h.shared) && h.record.Hash >= first && h.record.Hash <= last {
			holds = append(holds, gossip.Held{Record: h.record, Charged: h.charged})
		}
	}
	slices.SortFunc(holds, func(a, b gossip.Held) int {
		return cmp.Or(cmp.Compare(a.Record.Maker, b.Record.Maker), cmp.Compare(a.Record.ID, b.Record.ID))
	})
	return holds
}

func entryOf(now int64, l *table.Limit, hash uint64, r table.Row) gossip.Entry {
	if r.Per == 0 {
		r.Start = min(r.Start, now)
	}
	return gossip.Entry{Limit: l.ID(), Hash: hash, N: r.N, Start: r.Start, Per: r.Per}
}

func rowOf(l *table.Limit, s *table.Saved) gossip.Row {
	r := gossip.Row{Limit: l.ID(), Hash: s.Hash, At: s.At, Rem: s.Rem, Counts: s.Counts}
	switch l.Def().Kind {
	case table.Bucket:
		r.Shape = gossip.RowBucket
	case table.Window:
		r.Shape = gossip.RowWindow
	case table.Log:
		r.Shape = gossip.RowLog
		for _, m := range s.Log {
			r.Moments = append(r.Moments, gossip.Moment(m))
		}
	default:
		r.Shape = gossip.RowUnknown
	}
	return r
}

// keyID is a key of a limit.
type keyID struct{ limit, hash uint64 }

func (k keyID) compare(o keyID) int {
	return cmp.Or(cmp.Compare(k.limit, o.limit), cmp.Compare(k.hash, o.hash))
}

// merge takes over what a donor has: on top of each row comes what this node has spent and
// the donor had not heard of.
func (e *Engine) merge(now int64, c *gossip.Chunk) {
	e.adopt(now, c.Wall)
	defs := make(map[uint64]table.Def, len(c.Definitions))
	for _, d := range c.Definitions {
		e.learn(d)
		defs[d.ID] = e.cfg.Parse(d.Text)
	}
	m := merger{more: make(map[keyID][]table.Row), lack: make(map[keyID][]table.Row)}
	for i := range c.Own {
		o := &c.Own[i]
		m.more.add(o.Limit, o.Hash, table.Row{N: o.N, Start: o.Start, Per: o.Per})
	}
	e.addHolds(c, &m)
	if c.Exact {
		e.clear(now, c, &m)
	}
	saved := &table.Saved{}
	for i := range c.Rows {
		r := &c.Rows[i]
		l := e.limitOf(r.Limit)
		if l == nil || l.Defined() && !l.Def().Shared {
			continue
		}
		as := table.Def{}
		if r.Shape != gossip.RowUnknown {
			if as = defs[r.Limit]; as.Kind != kinds[r.Shape] {
				e.cfg.Note(gossip.Note{Peer: c.Donor, Text: "counts of a limit were not taken over: its definition is not understood"})
				continue
			}
		}
		*saved = table.Saved{Hash: r.Hash, At: r.At, Rem: r.Rem, Counts: r.Counts, Log: saved.Log[:0]}
		for _, m := range r.Moments {
			saved.Log = append(saved.Log, window.Event(m))
		}
		id := keyID{r.Limit, r.Hash}
		e.table.Merge(l, now, table.Other{Saved: saved, As: &as, More: m.more[id], Lack: m.lack[id], Exact: c.Exact})
	}
}

// merger is what comes on top of rows: of a donor's what it lacks, of ours what we lack.
type merger struct{ more, lack rows }

type rows map[keyID][]table.Row

func (m rows) add(limit, hash uint64, r table.Row) {
	id := keyID{limit, hash}
	m[id] = append(m[id], r)
}

// clear has the keys that a donor has no rows of count what is this node's own, be it less
// than nothing.
func (e *Engine) clear(now int64, c *gossip.Chunk, m *merger) {
	given := make(map[keyID]struct{}, len(c.Rows))
	for i := range c.Rows {
		given[keyID{c.Rows[i].Limit, c.Rows[i].Hash}] = struct{}{}
	}
	first, last := gossip.Range(c.From, c.To)
	clear := func(l *table.Limit, hash uint64) {
		id := keyID{l.ID(), hash}
		if _, ok := given[id]; !ok && (l.Def().Shared || l.Def().Kind == table.Unknown) {
			given[id] = struct{}{}
			o := e.table.Nothing(l, hash, now)
			o.More, o.Exact = m.more[id], true
			e.table.Merge(l, now, o)
		}
	}
	e.table.Keys(first, last, clear)
	for _, id := range slices.SortedFunc(maps.Keys(m.more), keyID.compare) { // also what has come to nothing here
		if l := e.limitOf(id.limit); l != nil {
			clear(l, id.hash)
		}
	}
}

var kinds = [...]table.Kind{gossip.RowBucket: table.Bucket, gossip.RowWindow: table.Window, gossip.RowLog: table.Log}

// adopt has the node cut its windows as the donor does, from its first chunk on.
func (e *Engine) adopt(now, wall int64) {
	if e.adopted == never {
		e.adopted = now
		e.clock.Adopt(now, wall)
		e.table.SetWall(wall)
	}
}

// addHolds takes over the donor's holds as the rows count them. What this node counts of
// the others, or counts otherwise, comes on top.
func (e *Engine) addHolds(c *gossip.Chunk, m *merger) {
	counted := make(map[hold]int64, len(c.Holds))
	for i := range c.Holds {
		r, n := &c.Holds[i].Record, c.Holds[i].Charged
		name := hold{r.Maker, r.ID}
		if e.holds[name] == nil {
			e.remember(&held{record: *r, charged: n, shared: true})
			m.lack.add(r.Limit, r.Hash, table.Row{N: n, Start: r.Start, Per: r.Per})
		}
		counted[name] = n
	}
	first, last := gossip.Range(c.From, c.To)
	for name, h := range e.holds {
		r := &h.record
		if n := h.charged - counted[name]; n != 0 && h.shared && r.Hash >= first && r.Hash <= last {
			m.more.add(r.Limit, r.Hash, table.Row{N: n, Start: r.Start, Per: r.Per})
		}
	}
}

// Joining reports whether this node does not have its peers' counts yet.
func (e *Engine) Joining() bool { return e.ledger.Joining() }

// Missing is how many of gossip.Chunks parts of the counts it could not have in time.
func (e *Engine) Missing() int { return e.ledger.Missing() }

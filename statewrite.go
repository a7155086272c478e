package stint

import (
	"cmp"
	"slices"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/engine"
	"github.com/stint-go/stint/internal/statefile"
	"github.com/stint-go/stint/internal/table"
	"github.com/stint-go/stint/window"
)

// save writes the file, part by part. Takes go on: a shard of the table is locked for as
// long as it takes to copy some of it. Gossip waits for each part to be copied, so that it is
// known what is in it of whose news.
func (k *keeper) save() error {
	n, now := k.node, k.node.now()
	header := statefile.Header{Seed: fingerprint(n.cfg.HashSeed), Wall: n.table.Wall(now)}
	return statefile.Write(n.cfg.StateFile, header, func(w *statefile.Writer) error {
		for _, l := range k.read {
			w.Limit(l)
		}
		for from := 0; from < gossip.Chunks && w.Err() == nil; {
			from = k.part(w, from, now)
		}
		k.copied = copied{}
		n.mu.Lock()
		bans := n.engine.SavedBans()
		n.mu.Unlock()
		for i := range bans {
			r := registerOf(&bans[i], bans[i].Life(), now)
			w.Register(&r)
		}
		return w.Err()
	})
}

// part writes some ranges of hashes, with times from the moment of writing, and returns
// where to go on.
func (k *keeper) part(w *statefile.Writer, from int, moment int64) (next int) {
	n, c := k.node, &k.copied
	c.reset()
	n.mu.Lock()
	p := n.engine.Save(n.now(), from, c.add)
	texts := k.texts(c.limits)
	lives := make([]int64, len(p.Holds))
	for i := range p.Holds {
		lives[i] = n.engine.Life(&p.Holds[i].Record)
	}
	n.mu.Unlock()
	n.rouse() // what was unsent is in the log now

	part := partOf(&p)
	w.Part(&part)
	for _, l := range texts {
		w.Limit(l)
	}
	for i := range c.rows {
		row := rowOf(c.rows[i].limit, &c.rows[i].Saved, moment)
		w.Row(&row)
	}
	for i := range p.Holds {
		r := registerOf(&p.Holds[i].Record, lives[i], moment)
		r.Charged = p.Holds[i].Charged
		w.Register(&r)
	}
	return p.To
}

// texts is what limits are counted by: those in force, those of peers, and those read that
// are neither yet. One that nobody has explained has no name and no text. With n.mu held.
func (k *keeper) texts(limits []*table.Limit) (texts []statefile.Limit) {
	own := make(map[*table.Limit]*counted)
	for _, c := range k.node.limits.all() {
		own[c.table] = c
	}
	for _, l := range limits {
		d, known := k.node.engine.Definition(l.ID())
		switch c := own[l]; {
		case c != nil:
			texts = append(texts, statefile.Limit{ID: l.ID(), Name: c.name, Text: c.current.Load().String()})
		case known:
			texts = append(texts, statefile.Limit(d))
		case k.read[l].ID == 0:
			texts = append(texts, statefile.Limit{ID: l.ID()})
		}
	}
	return texts
}

// copied is some of the table.
type copied struct {
	rows   []copiedRow
	events []window.Event
	limits []*table.Limit // of the rows, each once
	seen   map[*table.Limit]struct{}
}

type copiedRow struct {
	limit *table.Limit
	table.Saved
}

func (c *copied) reset() {
	c.rows, c.events, c.limits = c.rows[:0], c.events[:0], c.limits[:0]
	c.seen = make(map[*table.Limit]struct{})
}

func (c *copied) add(l *table.Limit, s *table.Saved) {
	if n := len(c.rows); n == 0 || c.rows[n-1].limit != l {
		if _, ok := c.seen[l]; !ok {
			c.seen[l] = struct{}{}
			c.limits = append(c.limits, l)
		}
	}
	from := len(c.events)
	c.events = append(c.events, s.Log...)
	row := copiedRow{l, *s}
	row.Log = c.events[from:len(c.events):len(c.events)]
	c.rows = append(c.rows, row)
}

// partOf is a part as the file has it. Of more origins than there is room for, those that have
// been silent longest are left out.
func partOf(p *engine.Part) statefile.Part {
	part := statefile.Part{From: uint8(p.From), To: uint8(p.To)}
	for _, k := range p.Vector {
		part.Vector = append(part.Vector, statefile.Number(k))
	}
	if len(part.Vector) > statefile.MaxVector {
		slices.SortFunc(part.Vector, func(a, b statefile.Number) int { return cmp.Compare(a.Silent, b.Silent) })
		part.Vector = part.Vector[:statefile.MaxVector]
	}
	return part
}

func rowOf(l *table.Limit, s *table.Saved, now int64) statefile.Row {
	row := statefile.Row{Limit: l.ID(), Hash: s.Hash, At: s.At, Rem: s.Rem, Counts: s.Counts}
	if kind := l.Def().Kind; kind == table.Bucket || kind == table.Unknown && s.Rem == 0 {
		row.At -= now
	}
	for _, e := range s.Log {
		row.Log = append(row.Log, statefile.Event{At: e.At - now, N: e.N})
	}
	return row
}

func registerOf(r *gossip.Record, life, now int64) statefile.Register {
	reg := statefile.Register{
		Kind: uint8(r.Kind), Limit: r.Limit, Hash: r.Hash, Maker: r.Maker, ID: r.ID, Version: r.Version, Writer: r.Writer,
		Open: r.Open, N: r.N, Start: r.Start, Per: r.Per, Until: r.Until - now, Label: r.Label, Life: life - now,
	}
	if r.Per == 0 {
		reg.Start -= now
	}
	return reg
}

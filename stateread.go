package stint

import (
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/engine"
	"github.com/stint-go/stint/internal/statefile"
	"github.com/stint-go/stint/internal/table"
	"github.com/stint-go/stint/window"
)

// reader puts what a state file holds into the node's table.
type reader struct {
	node    *Node
	now     int64
	was     int64 // the moment of writing, in this node's time
	written int64 // the same in cluster time
	limits  map[uint64]readLimit
	parts   int
	keys    int
}

// readLimit is a limit that can be counted by, and the definition its rows go by.
type readLimit struct {
	*table.Limit
	def table.Def
}

// read reads the file. One that does not say what it has of whose news makes way for
// whatever a peer has.
func (r *reader) read() error {
	err := statefile.Read(r.node.cfg.StateFile, fingerprint(r.node.cfg.HashSeed), r)
	if r.keys > 0 && r.parts == 0 {
		r.node.engine.Know(r.now, r.written, engine.Part{From: 0, To: gossip.Chunks})
	}
	return err
}

// Header sets the clock: the time for which nobody ran is over, as far as the wall clock
// can be trusted. It is never less than none.
func (r *reader) Header(h statefile.Header) error {
	if away := r.node.table.Wall(r.now) - h.Wall; away > 0 {
		r.was = r.now - away
	}
	r.written = h.Wall
	return nil
}

// Limit makes room for rows. The node's own definition goes first.
func (r *reader) Limit(l statefile.Limit) error {
	def := definitionOf(l.Text)
	if unknown := l.Name == "" && l.Text == ""; !unknown && (def.Kind == table.Unknown || l.ID != table.ID(l.Name)) {
		return nil
	}
	limit, err := r.node.table.Learn(l.ID, def)
	if err != nil {
		return nil // no room: nothing to count by
	}
	r.limits[l.ID] = readLimit{limit, def}
	if def.Kind != table.Unknown {
		r.node.keeper.read[limit] = l
	}
	if def.Shared {
		r.node.engine.Remember(gossip.Definition(l))
	}
	return nil
}

// Part says what is known of what the rows after it hold.
func (r *reader) Part(p *statefile.Part) error {
	r.parts++
	part := engine.Part{From: int(p.From), To: int(p.To)}
	for _, n := range p.Vector {
		part.Vector = append(part.Vector, gossip.Known(n))
	}
	r.node.engine.Know(r.now, r.written, part)
	return nil
}

// Row counts what a key had used, under limits that can be counted by.
func (r *reader) Row(row *statefile.Row) error {
	limit := r.limits[row.Limit]
	if limit.Limit == nil {
		return nil
	}
	s := table.Saved{Hash: row.Hash, At: row.At, Rem: row.Rem, Counts: row.Counts}
	if kind := limit.def.Kind; kind == table.Bucket || kind == table.Unknown && row.Rem == 0 {
		s.At += r.was
	}
	for _, e := range row.Log {
		s.Log = append(s.Log, window.Event{At: e.At + r.was, N: e.N})
	}
	if limit.def.Kind == table.Unknown {
		r.node.table.Merge(limit.Limit, r.now, table.Other{Saved: &s, As: &limit.def})
	} else {
		r.node.table.Restore(limit.Limit, r.now, &s)
	}
	r.keys++
	return nil
}

// Register takes over a hold or a ban.
func (r *reader) Register(g *statefile.Register) error {
	record := gossip.Record{
		Kind: gossip.RecordKind(g.Kind), Limit: g.Limit, Hash: g.Hash, Maker: g.Maker, ID: g.ID, Version: g.Version, Writer: g.Writer,
		Open: g.Open, N: g.N, Start: g.Start, Per: g.Per, Until: g.Until + r.was, Label: g.Label,
	}
	if g.Per == 0 {
		record.Start += r.was
	}
	return r.node.engine.Recall(r.now, record, g.Charged, g.Life+r.was)
}

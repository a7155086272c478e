package stint

import (
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/statefile"
	"github.com/stint-go/stint/internal/table"
	"github.com/stint-go/stint/window"
)

// reader puts what a state file holds into the node's table.
type reader struct {
	node   *Node
	now    int64
	was    int64                   // the moment of writing, in this node's time
	limits map[uint64]*table.Limit // those that can be counted by
	keys   int
}

// Header sets the clock: the time for which nobody ran is over, as far as the wall clock
// can be trusted. It is never less than none.
func (r *reader) Header(h statefile.Header) error {
	if away := r.node.table.Wall(r.now) - h.Wall; away > 0 {
		r.was = r.now - away
	}
	return nil
}

// Limit makes room for rows. The node's own definition goes first.
func (r *reader) Limit(l statefile.Limit) error {
	def := definitionOf(l.Text)
	if def.Kind == table.Unknown || l.ID != table.ID(l.Name) {
		return nil
	}
	limit, err := r.node.table.Learn(l.ID, def)
	if err != nil {
		return nil // no room: nothing to count by
	}
	r.limits[l.ID], r.node.keeper.read[limit] = limit, l
	return nil
}

// Row counts what a key had used, under limits that can be counted by.
func (r *reader) Row(row *statefile.Row) error {
	limit := r.limits[row.Limit]
	if limit == nil {
		return nil
	}
	s := table.Saved{Hash: row.Hash, At: row.At, Rem: row.Rem, Counts: row.Counts}
	if limit.Def().Kind == table.Bucket {
		s.At += r.was
	}
	for _, e := range row.Log {
		s.Log = append(s.Log, window.Event{At: e.At + r.was, N: e.N})
	}
	r.node.table.Restore(limit, r.now, &s)
	r.keys++
	return nil
}

// Register takes over a hold or a ban.
func (r *reader) Register(g *statefile.Register) error {
	record := gossip.Record{
		Kind: gossip.RecordKind(g.Kind), Limit: g.Limit, Hash: g.Hash, Maker: g.Maker, ID: g.ID,
		Open: g.Open, N: g.N, Start: g.Start, Per: g.Per, Until: g.Until + r.was, Label: g.Label,
	}
	if g.Per == 0 {
		record.Start += r.was
	}
	return r.node.engine.Recall(r.now, record)
}

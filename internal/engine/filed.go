package engine

import (
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// Part is some chunks of a node's table, as a state file keeps them: whose news is in
// them, and what of their keys is held.
type Part struct {
	From, To int // chunks From … To − 1
	Vector   []gossip.Known
	Holds    []gossip.Held // over or not, also of limits that are not shared
}

// Save cuts chunks of the table from one on, as many as can be had at once. What is unsent
// of them goes into the log in the same step. What emit is given is valid until it returns.
func (e *Engine) Save(now int64, from int, emit func(l *table.Limit, s *table.Saved)) Part {
	to, first, last := e.cut(now, from, e.ledger.Alike(from), emit)
	return Part{From: from, To: to, Vector: e.ledger.Vector(now, from), Holds: e.holdsIn(first, last, true)}
}

// SavedBans are the bans to be saved, lifted ones too, for peers may not know yet; in no
// order.
func (e *Engine) SavedBans() []gossip.Record {
	bans := e.ledger.Records(gossip.RecordBan)
	for _, r := range e.bans {
		bans = append(bans, r)
	}
	return bans
}

// Life is until when a record of this node matters to anyone.
func (e *Engine) Life(r *gossip.Record) int64 {
	if known, ok := e.ledger.Record(r.Key()); ok {
		return known.Life()
	}
	return r.Life()
}

// Definition is what this node knows of a limit that is shared.
func (e *Engine) Definition(id uint64) (d gossip.Definition, ok bool) {
	d, ok = e.texts[id]
	return d, ok
}

// Remember takes over the definition of a shared limit from before a restart, to tell it
// newcomers. The table has learned it.
func (e *Engine) Remember(d gossip.Definition) { e.texts[d.ID] = d }

// Know says, before the first Up, whose news is in what was restored of some chunks: see
// [gossip.Ledger.Know].
func (e *Engine) Know(now, written int64, p Part) {
	e.ledger.Know(now, written, p.From, p.To, p.Vector)
}

// Recall takes over a hold or a ban from before a restart, with its life. charged is what
// has been restored of a hold; one that is over by now comes off with the next Step.
func (e *Engine) Recall(now int64, r gossip.Record, charged, life int64) error {
	l := e.limitOf(r.Limit)
	if l == nil {
		return nil
	}
	shared := l.Def().Shared || l.Def().Kind == table.Unknown
	if r.Kind == gossip.RecordBan {
		switch open := r.Open && r.Until > now; {
		case shared && !e.ledger.Recall(now, r, life), !open:
			return nil
		case !shared:
			e.banHere(r)
		}
		return e.table.Ban(l, r.Hash, now, r.Until)
	}
	h := &held{record: r, charged: charged, shared: shared}
	if shared && !e.ledger.Recall(now, r, life) {
		e.weigh(now, h) // so long over that nobody speaks of it any more
		return nil
	}
	e.remember(h)
	return nil
}

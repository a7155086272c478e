package engine

import (
	"errors"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

var (
	// ErrNoHold means that a hold is unknown: settled before, or forgotten.
	ErrNoHold = errors.New("no such hold: it was settled or released before, or it is forgotten")
	// ErrTooManyHolds means that no more holds and bans can be kept.
	ErrTooManyHolds = errors.New("too many holds and bans: settle holds, or give them a shorter life")
)

// maxLocal bounds the holds of limits that are not shared.
const maxLocal = 100_000

// hold names a hold in the cluster.
type hold struct{ maker, id uint64 }

// held is a hold as this node has applied it. An open one counts as what it holds until
// it expires, then as nothing; a settled one as what was spent, also if it had expired.
type held struct {
	record  gossip.Record
	charged int64 // events of it that the table counts now
	shared  bool
}

// due is what the hold counts as at now.
func (h *held) due(now int64) int64 {
	if h.record.Open && now >= h.record.Until {
		return 0
	}
	return h.record.N
}

// Hold makes a hold of n events, already taken by table.Hold where mark says, that
// expires at until. If it cannot be kept, the events are given back.
func (e *Engine) Hold(now int64, l *table.Limit, hash uint64, n int64, mark table.Row, until int64) (maker, id uint64, err error) {
	r := gossip.Record{
		Kind: gossip.RecordHold, Limit: l.ID(), Hash: hash, Maker: e.cfg.Ledger.Incarnation, ID: e.cfg.Ledger.Rand(),
		Open: true, N: n, Start: mark.Start, Per: mark.Per, Until: until,
	}
	h := &held{record: r, charged: n, shared: l.Def().Shared}
	if !e.put(now, h, r) {
		mark.N = -n
		e.table.Charge(l, hash, now, mark, 0)
		return 0, 0, ErrTooManyHolds
	}
	e.remember(h)
	e.settle(now)
	return r.Maker, r.ID, nil
}

// put tells the peers of a hold, if its limit is shared.
func (e *Engine) put(now int64, h *held, r gossip.Record) bool {
	if h.shared {
		if !e.ledger.Put(now, r) {
			return false
		}
		r, _ = e.ledger.Record(r.Key())
	} else if len(e.holds) >= maxLocal {
		return false
	}
	h.record = r
	return true
}

// Settle ends a hold: actual is what was spent of it, or beyond it. A hold that has
// expired can still be settled for a while: what was spent, was.
func (e *Engine) Settle(now int64, maker, id uint64, actual int64) error {
	h := e.holds[hold{maker, id}]
	if h == nil || !h.record.Open {
		return ErrNoHold
	}
	r := h.record
	r.Open, r.N = false, actual
	if !e.put(now, h, r) {
		return ErrTooManyHolds
	}
	e.weigh(now, h)
	e.settle(now)
	return nil
}

// weigh makes the table count a hold as what is due.
func (e *Engine) weigh(now int64, h *held) {
	r := &h.record
	delta := h.due(now) - h.charged
	h.charged += delta
	l := e.limitOf(r.Limit)
	if delta == 0 || l == nil {
		return
	}
	e.table.Charge(l, r.Hash, now, table.Row{N: delta, Start: r.Start, Per: r.Per}, e.debt(now, l.Def(), r.Start, r.Per))
	e.exceeded(now, l)
	if r.Writer != e.cfg.Ledger.Incarnation {
		e.note(now, &gossip.Charge{Origin: r.Writer, Entry: gossip.Entry{Limit: r.Limit, Hash: r.Hash, N: delta}})
	}
}

// remember keeps a hold and looks at it again when it expires.
func (e *Engine) remember(h *held) {
	e.holds[hold{h.record.Maker, h.record.ID}] = h
	e.watch(h.record.Until, hold{h.record.Maker, h.record.ID})
}

// expire applies what has come to its end.
func (e *Engine) expire(now int64) {
	for len(e.ends) > 0 && e.ends[0].at <= now {
		name := e.unwatch()
		h := e.holds[name]
		if h == nil {
			continue
		}
		e.weigh(now, h)
		if forget := h.record.Until + e.keep; forget > now {
			e.watch(forget, name)
		} else {
			delete(e.holds, name)
		}
	}
}

// Ban refuses everything asked of a key until a time, and has the peers do so if the
// limit is shared; a time that is over lifts the ban. label is for people.
func (e *Engine) Ban(now int64, l *table.Limit, hash uint64, label string, until int64) error {
	if err := e.table.Ban(l, hash, now, until); err != nil {
		return err
	}
	r := gossip.Record{Kind: gossip.RecordBan, Limit: l.ID(), Hash: hash, Open: until > now, Until: until, Label: label}
	if !l.Def().Shared {
		e.banHere(r)
		return nil
	}
	if old, known := e.ledger.Record(r.Key()); !r.Open {
		if !known || !old.Open {
			return nil
		}
		r.Until, r.Label = old.Until, old.Label
	}
	if !e.ledger.Put(now, r) {
		_ = e.table.Ban(l, hash, now, now)
		return ErrTooManyHolds
	}
	e.settle(now)
	return nil
}

// banHere keeps a ban that concerns no peer, for [Engine.Bans].
func (e *Engine) banHere(r gossip.Record) {
	if delete(e.bans, r.Key()); r.Open {
		e.bans[r.Key()] = r
	}
}

// Bans are the bans in force, in no order.
func (e *Engine) Bans(now int64) (bans []gossip.Record) {
	for _, r := range e.ledger.Records(gossip.RecordBan) {
		if r.Open && r.Until > now {
			bans = append(bans, r)
		}
	}
	for key, r := range e.bans {
		if r.Until <= now {
			delete(e.bans, key)
			continue
		}
		bans = append(bans, r)
	}
	return bans
}

// Holds are the open holds, in no order.
func (e *Engine) Holds(now int64) (open []gossip.Record) {
	for _, h := range e.holds {
		if h.record.Open && h.record.Until > now {
			open = append(open, h.record)
		}
	}
	return open
}

// heed applies a record of a peer.
func (e *Engine) heed(now int64, r gossip.Record) {
	l := e.limitOf(r.Limit)
	if l == nil || l.Defined() && !l.Def().Shared {
		return
	}
	switch r.Kind {
	case gossip.RecordBan:
		until := r.Until
		if !r.Open {
			until = now
		}
		if err := e.table.Ban(l, r.Hash, now, until); err != nil {
			e.complain(r.Writer, "ban of a peer not applied", err)
		}
	case gossip.RecordHold:
		h := e.holds[hold{r.Maker, r.ID}]
		if h == nil {
			h = &held{shared: true, record: r}
			e.remember(h)
		}
		h.record = r
		e.weigh(now, h)
	}
}

package sim

import (
	"errors"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/engine"
)

// Hold takes events of a key at a node until they are settled, or for so long.
func (w *World) Hold(place int, a Ask, ttl int64) *holding {
	n, k := w.nodes[place], w.key(a.Limit, a.Key)
	if n.gone || n.leaving {
		return nil
	}
	k.verbs = true
	l, before := n.limits[a.Limit], n.peek(k)
	hash, now := l.Hash(k.name), n.now()
	mark, take := n.table.Mark(l, now), n.table.Hold
	if w.opts.Mutant.Told {
		take = n.table.Take
	}
	r := take(l, hash, now, a.N)
	n.judge(k, a.N, before, r)
	if !r.OK {
		return nil
	}
	var id gossip.RecordKey
	var err error
	n.act(func(int64) {
		id = gossip.RecordKey{Kind: gossip.RecordHold, Limit: l.ID(), Hash: hash}
		id.Maker, id.ID, err = n.engine.Hold(now, l, hash, a.N, mark, now+ttl)
		if err != nil {
			w.failf("%v cannot hold: %v", n, err)
			return
		}
		record, _ := n.engine.Ledger().Record(id)
		h := w.begin(n, k, record, n.clock.when(now+ttl))
		if news := n.tallies[k.index].take(n, k, a.N) - a.N; news > 0 {
			n.tell(h.spot, news)
		}
		w.tracef("%v holds %d of %s %s for %d ms", n, a.N, k.Name, k.name, ttl/Millisecond)
		w.Stats.Holds++
		w.admitted(n, k, a.N, h.spot)
	})
	return w.holds[id]
}

// Settle ends a hold at a node that may not know it.
func (w *World) Settle(place int, h *holding, actual int64) {
	n := w.nodes[place]
	if n.gone || n.leaving {
		return
	}
	n.book.charged = n.book.charged[:0]
	n.act(func(now int64) {
		err := n.engine.Settle(now, h.Maker, h.ID, actual)
		w.tracef("%v settles %d of a hold of %d of key %d: %v", n, actual, h.N, h.key.index, err)
		if err != nil {
			if s := n.book.holds[h.Key()]; s != nil && s.Open && s.Until > now || !errors.Is(err, engine.ErrNoHold) {
				w.failf("%v cannot settle: %v", n, err)
			}
			return
		}
		record, _ := n.engine.Ledger().Record(h.Key())
		h.key.refunded += max(h.total, actual)
		w.newer(h, record)
		n.heeds(batch)
		n.balanced("a settlement")
		w.Stats.Settled++
	})
}

// Ban bans a key at a node for so long; not at all lifts the ban.
func (w *World) Ban(place, limit, kth int, d int64) {
	n, k := w.nodes[place], w.key(limit, kth)
	if n.gone || n.leaving {
		return
	}
	k.verbs = true
	l := n.limits[limit]
	n.act(func(now int64) {
		w.tracef("%v bans %s %s for %d ms", n, k.Name, k.name, d/Millisecond)
		if err := n.engine.Ban(now, l, l.Hash(k.name), k.name, now+d); err != nil {
			w.failf("%v cannot ban: %v", n, err)
		}
		id := gossip.RecordKey{Kind: gossip.RecordBan, Limit: l.ID(), Hash: l.Hash(k.name)}
		if r, ok := n.engine.Ledger().Record(id); ok {
			w.ban(k, r, n.clock.when(r.Until))
		}
		n.heeds(batch)
		w.Stats.Bans++
		n.peek(k)
	})
}

// ban takes in what somebody says of a ban.
func (w *World) ban(k *key, r gossip.Record, ends int64) {
	b := w.bans[r.Key()]
	if b == nil {
		b = &banning{key: k}
		w.bans[r.Key()] = b
		w.banned = append(w.banned, b)
	}
	b.last = max(b.last, ends)
	if r.Version > b.Version || r.Version == b.Version && r.Writer > b.Writer {
		b.Record, b.ends = r, ends
	}
}

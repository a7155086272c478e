package sim

import (
	"strings"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// seen is what one node has sent to one peer, as far as the counters need it.
type seen struct {
	session uint64            // the newest
	ends    map[uint64]uint64 // of batches, by where they began
}

func (n *Node) seen(peer *Node) *seen {
	s := n.book.seen[peer.id]
	if s == nil {
		s = &seen{ends: make(map[uint64]uint64)}
		n.book.seen[peer.id] = s
	}
	return s
}

func (w *World) observeSend(from, to *Node, data []byte) {
	switch f := readFrame(data); f.kind {
	case hello:
		from.seen(to).session = f.session
	case batch:
		s := from.seen(to)
		if end, ok := s.ends[f.from()]; ok && end != f.to() {
			w.Stats.Coalesced++
		}
		s.ends[f.from()] = f.to()
		if f.own[3] > 1 && f.own[2] == 0 {
			w.Stats.Parts++
		}
	}
}

func (w *World) observeDelivery(from, to *Node, data []byte) {
	w.Stats.Frames++
	if from.gone || to.gone {
		w.Stats.Crossed++
	}
	f := readFrame(data)
	switch origin, peer := w.byID[f.origin], w.byID[f.peer]; {
	case to.gone || origin == nil || peer == nil:
		return
	case f.session < origin.seen(peer).session:
		w.Stats.Stale++
	}
	switch f.kind {
	case batch:
		if number, ok := to.engine.Ledger().Number(f.origin); ok && f.to() <= number {
			w.Stats.Duplicates++
		}
	case ack:
		if f.gap() {
			w.Stats.Gaps++
		}
	}
}

func (w *World) observeNote(m gossip.Note) {
	switch {
	case strings.HasPrefix(m.Text, "log full"):
		w.Stats.Full++
	case strings.HasPrefix(m.Text, "joins though"), strings.HasPrefix(m.Text, "joined with what there is"):
		w.waive()
	}
}

// waive has drains be lost from here on, if they are counted: a newcomer was let in, or
// came in, before all held their logs for it, or was taken for dead by one who did.
func (w *World) waive() {
	w.opts.Lossy = true
	w.Stats.Waived++
}

// observeLanding notes where an amount of a window counts, or that it does not.
func (w *World) observeLanding(n *Node, k *key, r table.Row, start int64, ok bool) {
	l := n.limit(k)
	current := l.cut(n.cluster())
	least := current
	if l.Algorithm == SlidingWindow {
		least -= l.Per
	}
	if !ok || start != r.Start || r.Per != l.Per {
		w.foreign[w.spotOf(k.index, r.Start, r.Per)] = true
		w.foreign[w.spotOf(k.index, start, l.Per)] = true
	}
	switch {
	case r.Per == 0 || r.Per != l.Per:
	case r.Start < least:
		w.Stats.Late++
	case r.Start > current+l.Per:
		w.Stats.FarAhead++
	case r.Start > current:
		w.Stats.Ahead++
	}
	if r.N < 0 && start >= least && n.tallies[k.index].counts[start] < -r.N {
		w.Stats.EarlyRefunds++
	}
}

// observeWindows notes that one batch of several drains has a key in two windows.
func (w *World) observeWindows(want sums, drains uint64) {
	if drains < 2 {
		return
	}
	windows := make(map[int]int)
	for i, n := range want {
		if n != 0 && w.spots[i].per != 0 {
			if windows[w.spots[i].key]++; windows[w.spots[i].key] == 2 {
				w.Stats.Merged++
				return
			}
		}
	}
}

// observeRecord notes what kind of frame brought news of a record.
func (n *Node) observeRecord(by uint64, r *gossip.Record) {
	if by == start {
		n.w.Stats.Resent++
	}
	n.w.tracef("%v learns %+v", n, *r)
}

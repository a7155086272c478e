package sim

import (
	"strings"

	"github.com/stint-go/stint/gossip"
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
	if strings.HasPrefix(m.Text, "log full") {
		w.Stats.Full++
	}
}

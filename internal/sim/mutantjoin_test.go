package sim

import (
	"bytes"
	"encoding/binary"

	"github.com/stint-go/stint/internal/engine"
	"github.com/stint-go/stint/internal/table"
)

// forgetting leaves out of what a donor gives what the newcomer has spent itself.
type forgetting struct{ engine.Table }

func (t forgetting) Merge(l *table.Limit, now int64, o table.Other) {
	o.More = nil
	t.Table.Merge(l, now, o)
}

func ownLeftOut() Mutant {
	return Mutant{Table: func(_ *Node, t engine.Table) engine.Table { return forgetting{t} }}
}

// silent cuts a table without telling what was unsent of it.
type silent struct{ engine.Table }

func (t silent) Cut(now int64, first, last uint64, _ func(*table.Limit, uint64, table.Row), emit func(*table.Limit, *table.Saved)) {
	t.Table.Cut(now, first, last, func(*table.Limit, uint64, table.Row) {}, emit)
}

func unsentCut() Mutant {
	return Mutant{Table: func(_ *Node, t engine.Table) engine.Table { return silent{t} }}
}

// delivered alters frames of one kind as they arrive.
func delivered(kind uint64, alter func(w *World, f frame, data []byte) []byte) Mutant {
	return Mutant{Deliver: func(w *World, _, _ *Node, data []byte) []byte {
		if f := readFrame(data); f.kind == kind {
			return alter(w, f, bytes.Clone(data))
		}
		return data
	}}
}

// noneIsZero takes a peer that has no number for one that has applied nothing.
func noneIsZero() Mutant {
	return delivered(welcome, func(_ *World, f frame, data []byte) []byte {
		none, zero := []byte{0xc2, 0x91, 0x92, 0, 0}, []byte{0xc2, 0x91, 0x92, 1, 0}
		return bytes.Replace(data, none, zero, 1)
	})
}

// everybodyHolds has a newcomer say that all hold their logs for it.
func everybodyHolds() Mutant {
	return delivered(wants, func(w *World, f frame, _ []byte) []byte {
		f.count = 3 // the ask, the chunk, the parts that it has
		f.rest = []byte{0xc2, 0x90 | byte(len(w.nodes))}
		for _, n := range w.nodes {
			f.rest = binary.BigEndian.AppendUint64(append(f.rest, 0xcf), n.id)
		}
		return forge(f, 10)
	})
}

// vectorBefore has what a donor gives come with numbers of one drain before.
func vectorBefore() Mutant {
	return delivered(gives, func(_ *World, f frame, data []byte) []byte {
		at := bytes.Index(data, f.rest)
		if at < 0 || len(f.rest) == 0 || f.rest[0] < 0x90 || f.rest[0] > 0x9f {
			return data
		}
		for claims := data[at+1:]; len(claims) > 11 && claims[0] == 0x93 && claims[1] == 0xcf; {
			number := claims[10:]
			if number[0] > 0 && number[0] < 0x80 {
				number[0]--
			}
			next := bytes.Index(number, []byte{0x93, 0xcf})
			if next < 0 {
				break
			}
			claims = number[next:]
		}
		return data
	})
}

package sim

import (
	"slices"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/engine"
	"github.com/stint-go/stint/internal/table"
)

// summing makes one amount of what a key has unsent in two windows.
type summing struct{ engine.Table }

func (s summing) Drain(urgentOnly bool, emit func(l *table.Limit, hash uint64, r table.Row)) (int64, bool) {
	type held struct {
		l    *table.Limit
		hash uint64
		r    table.Row
	}
	var rows []held
	since, any := s.Table.Drain(urgentOnly, func(l *table.Limit, hash uint64, r table.Row) {
		for i := range rows {
			if x := &rows[i]; r.Per > 0 && x.l == l && x.hash == hash && x.r.Per == r.Per {
				x.r.N += r.N
				return
			}
		}
		rows = append(rows, held{l, hash, r})
	})
	for _, x := range rows {
		emit(x.l, x.hash, x.r)
	}
	return since, any
}

func oneWindow() Mutant {
	return Mutant{Table: func(_ *Node, t engine.Table) engine.Table { return summing{t} }}
}

// heldAndTold has what a hold takes told twice: by its record, and as an amount.
func heldAndTold() Mutant { return Mutant{Told: true} }

// lasting ignores what nobody told it to give back: holds that are over.
type lasting struct {
	engine.Table
	n *Node
}

func (t lasting) Charge(l *table.Limit, hash uint64, now int64, r table.Row, debt int64) {
	if !t.n.stepping {
		t.Table.Charge(l, hash, now, r, debt)
	}
}

func noExpiry() Mutant {
	return Mutant{Table: func(n *Node, t engine.Table) engine.Table { return lasting{t, n} }}
}

// lastToCome has of two versions of a ban the one stand that comes last: each that comes
// is made newer than all before it.
func lastToCome() Mutant {
	version := byte(64)
	return Mutant{Deliver: func(_ *World, _, _ *Node, data []byte) []byte {
		for i := range data {
			if at := i + 22; at < len(data) && isBan(data[i:]) && data[at] < 128 {
				data = slices.Clone(data)
				version = max(64, (version+1)%128)
				data[at] = version
			}
		}
		return data
	}}
}

// isBan reports whether the array of a ban's record begins here:
// limit and hash take nine bytes each, maker and number are 0.
func isBan(data []byte) bool {
	const u64 = 0xcf
	return data[0]&0xf0 == 0x90 && data[1] == byte(gossip.RecordBan) && data[2] == u64 && data[11] == u64 && data[20] == 0 && data[21] == 0
}

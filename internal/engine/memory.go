package engine

import (
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// memory is how long what is spent under a limit may matter to a peer that is away: until
// its window is over, or what it did to a bucket has come back twice: once for the events,
// once for the debt that late news may leave.
func memory(d *table.Def) int64 {
	switch {
	case !d.Shared:
		return 0
	case d.Kind == table.Bucket:
		return 2 * d.Bucket.DebtStale() // of at most 2^61 ns
	case d.Kind == table.Window:
		return d.Window.Memory()
	case d.Kind == table.Log:
		return d.Log.Per()
	}
	return 0
}

// remembers notes that a limit is in use. One that was stays so: it may have been
// lengthened or be another at a peer.
func (e *Engine) remembers(id uint64) {
	if l := e.table.Lookup(id); l != nil {
		e.longest = max(e.longest, memory(l.Def()))
	}
}

// stale reports whether an amount is so old that a peer which was away all the time can do
// without it. Amounts of windows expire instead.
func (e *Engine) stale(a gossip.Entry) bool {
	l := e.table.Lookup(a.Limit)
	if l == nil || a.Per != 0 {
		return false
	}
	last := a.Start
	switch d := l.Def(); d.Kind {
	case table.Bucket:
		last = d.Bucket.RunFrom(a.N, a.Start).M
	case table.Log:
	default:
		return false
	}
	return e.at-last > memory(l.Def())
}

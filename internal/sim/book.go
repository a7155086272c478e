package sim

import (
	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/internal/table"
)

// key is one key of one limit, everywhere.
type key struct {
	Limit
	index int
	limit int
	name  string
	def   table.Def

	total   int64 // admitted by anybody, ever
	central central

	asked   central // a bucket that decides on all asks itself, but those for two limits
	granted int64   // what it admits
}

func (k *key) bucket() *bucket.Limit { return &k.def.Bucket }

// take is one admission, in order of virtual time.
type take struct {
	at    int64
	by    *Node
	key   int
	n     int64
	drain uint64 // of the node's log; 0: unsent
}

// book is the oracle's own account of one incarnation: what it was admitted, in which
// drain of its log that went out, and what it has applied of others.
type book struct {
	admitted []int64 // by key
	applied  []int64 // by key, of all origins
	unsent   []int64 // by key: admitted and in no drain yet
	pending  [][]int // by key: indices of those takes
	drains   [][]amount
	drained  []amount // by the call that is under way
	charged  []amount // by the frame that is under way
	accounts map[uint64]*account
	seen     map[uint64]*seen
	history  [][]past // by key, where promise 3 is checked
	fullAt   []int64  // by key: when its bucket was last found full, -1: not yet
	forgiven int64    // events of charges, of all keys
}

type amount struct {
	key int
	n   int64
}

// account is what one incarnation has applied of one origin: the drains from start on
// up to number, but for those it counted as lost.
type account struct {
	start, number uint64
	lost          []stretch
	applied       []int64 // by key
}

type stretch struct{ from, to uint64 } // drains (from, to]

func newBook(keys int) book {
	b := book{
		admitted: make([]int64, keys), applied: make([]int64, keys), unsent: make([]int64, keys),
		pending: make([][]int, keys), history: make([][]past, keys),
		accounts: make(map[uint64]*account), seen: make(map[uint64]*seen),
		fullAt: make([]int64, keys),
	}
	for k := range b.fullAt {
		b.fullAt[k] = -1
	}
	return b
}

func (b *book) unsentEvents() (n int64) {
	for _, v := range b.unsent {
		n += v
	}
	return n
}

// covers reports whether drain d was applied.
func (a *account) covers(d uint64) bool {
	if d == 0 || d <= a.start || d > a.number {
		return false
	}
	for _, s := range a.lost {
		if d > s.from && d <= s.to {
			return false
		}
	}
	return true
}

// entriesOf is how many entries fit a frame, and so a drain: one takes 28 bytes at most.
func (w *World) entriesOf() int {
	if m := w.opts.Ledger.MaxFrame; m > 0 {
		return max(m/28, 1)
	}
	return 1 << 62
}

// seal books what the engine's last call has put into the log.
func (n *Node) seal() {
	b := &n.book
	room := n.w.entriesOf()
	for head := n.engine.Ledger().Head(); uint64(len(b.drains)) < head; {
		count := min(len(b.drained), room)
		d := b.drained[:count:count]
		b.drained = b.drained[count:]
		b.drains = append(b.drains, d)
		for _, a := range d {
			if a.n != b.unsent[a.key] {
				n.w.failf("%v drained %d of key %d, want %d", n, a.n, a.key, b.unsent[a.key])
			}
			for _, i := range b.pending[a.key] {
				n.w.takes[i].drain = uint64(len(b.drains))
			}
			b.unsent[a.key], b.pending[a.key] = 0, b.pending[a.key][:0]
		}
		if n.w.tracing() && count > 0 {
			n.w.tracef("%v drain %d: %v", n, len(b.drains), d)
		}
	}
	if len(b.drained) > 0 {
		n.w.failf("%v drained %v and did not log it", n, b.drained)
	}
	b.drained = nil
}

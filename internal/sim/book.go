package sim

import (
	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// key is one key of one limit, everywhere.
type key struct {
	Limit
	index int
	chunk int // of the table, once some node has defined the limit
	limit int
	name  string
	def   table.Def

	total    int64 // counted anywhere and not given back: takes, and what holds come to
	central  central
	trues    map[int64]*trueWindow // by start, of windows
	moments  moments               // of a log
	refunded int64                 // given back, by whatever verb; holds that may be
	verbs    bool                  // there was one
	changed  bool                  // its limit is not what it was on some node

	asked   central // a bucket that decides on all asks itself, but those for two limits
	granted int64   // what it admits
}

func (k *key) rated() *bucket.Limit { return &k.def.Bucket }

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
	admitted []int64 // by key: news of its own, what it gave back taken off
	applied  []int64 // by key, of all origins
	held     []int64 // by key: what holds count as
	active   []bool  // by key: it has news of its own
	known    sums    // by spot, all three
	unsent   sums    // by spot: in no drain yet
	pending  [][]int // by key: indices of those takes
	drains   [][]amount
	drained  []amount // by the call that is under way
	all      bool     // that drained everything
	charged  []amount // by the call that is under way
	accounts map[uint64]*account
	seen     map[uint64]*seen
	history  [][]past     // by key, where promise 3 is checked
	fullAt   []int64      // by key: when its bucket was last found full, -1: not yet
	moved    map[int]bool // keys whose windows a jump of the clock has moved since the last drain
	holds    map[gossip.RecordKey]*stake
	bans     map[gossip.RecordKey]gossip.Record
	forgiven int64 // events of charges, of all keys
	served   map[serving]*served
	vague    map[int]bool // keys of which two donors' counts were merged, each having something that the other had not
}

func newBook(keys int) book {
	b := book{
		admitted: make([]int64, keys), applied: make([]int64, keys), held: make([]int64, keys), active: make([]bool, keys),
		pending: make([][]int, keys), history: make([][]past, keys),
		accounts: make(map[uint64]*account), seen: make(map[uint64]*seen),
		fullAt: make([]int64, keys), moved: make(map[int]bool),
		holds: make(map[gossip.RecordKey]*stake), bans: make(map[gossip.RecordKey]gossip.Record),
		served: make(map[serving]*served), vague: make(map[int]bool),
	}
	for k := range b.fullAt {
		b.fullAt[k] = -1
	}
	return b
}

func (b *book) unsentEvents() (n int64) {
	for _, v := range b.unsent {
		n += max(v, -v)
	}
	return n
}

// tell books news of a node's own: what it was admitted, or gave back.
func (n *Node) tell(at int, events int64) {
	b, k := &n.book, n.w.keys[n.w.spots[at].key]
	b.active[k.index] = true
	b.admitted[k.index] += events
	b.known.add(at, events)
	b.unsent.add(at, events)
	n.w.total.add(at, events)
	k.total += events
}

package table

import (
	"sync/atomic"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

// Kind says how a limit decides.
type Kind uint8

const (
	// Unknown is a limit of which only peers' amounts are known: they are kept until a
	// definition arrives. Takes are refused; callers look at Def first.
	Unknown Kind = iota
	// Bucket is a token bucket.
	Bucket
	// Window is a fixed or a sliding window, cut from cluster time: see [Table.SetWall].
	Window
	// Log is a sliding log.
	Log
	// Unlimited admits everything and keeps no entries.
	Unlimited
	// Blocked refuses everything and keeps no entries.
	Blocked
)

// counts reports whether limits of this kind have keys to decide by.
func (k Kind) counts() bool { return k == Bucket || k == Window || k == Log }

// Def is the definition of a limit: comparable, never changed once handed over.
type Def struct {
	Kind   Kind
	Bucket bucket.Limit    // of a Bucket
	Window window.Limit    // of a Window
	Log    window.LogLimit // of a Log
	Shared bool            // takes are recorded for peers, if the table records
	Queue  bool            // a Bucket seen as a queue: a word to the caller, the table counts alike
}

// Limit is a limit's handle. It stays the same as long as the table lives, whatever
// becomes of the definition.
type Limit struct {
	current atomic.Pointer[version]
	key     hashKey
	index   uint32
	defined atomic.Bool

	table    *Table
	id       uint64
	overflow uint64                     // hash of the entry that decides for keys without room
	versions atomic.Pointer[[]*version] // by generation; entries convert lazily

	name string // once defined; guarded by registry.mu

	_               [64]byte // what is written below shares no cache line with the above
	allowed, denied counter
	beyond          atomic.Int64 // the most that a charge has left a key beyond the limit, until told
}

// version is one definition of a limit, past or present.
type version struct {
	gen    uint16
	record bool
	Def
	most   int64 // the most events that one take can get
	fixed  bool  // of a Window: nothing counts once it is over
	frames atomic.Pointer[frames]
}

func newVersion(d Def, gen int, record bool) *version {
	v := &version{gen: uint16(gen), record: record, Def: d}
	switch d.Kind {
	case Bucket:
		v.most = v.Bucket.Burst()
	case Window:
		v.most = v.Window.Events()
		v.fixed = v.Window.AtRest(window.State{From: v.Window.Frame(0).Before, Counts: [3]int64{1}}, 0)
	case Log:
		v.most = v.Log.Events()
	}
	return v
}

// ID is the number by which peers know the limit.
func (l *Limit) ID() uint64 { return l.id }

// Def is the definition in force. It must not be changed.
func (l *Limit) Def() *Def { return &l.current.Load().Def }

// Defined reports whether Define has named this limit, or peers only.
func (l *Limit) Defined() bool { return l.defined.Load() }

// Hash is the keyed hash of a key under this limit. Who does not know the seed cannot
// find two keys with the same hash.
func (l *Limit) Hash(key string) uint64 { return l.key.sum(key) }

func (l *Limit) at(gen uint16) *version { return (*l.versions.Load())[gen] }

// setLocked makes d the definition in force, with the registry locked.
func (l *Limit) setLocked(d Def) error {
	var versions []*version
	if p := l.versions.Load(); p != nil {
		versions = *p
		if versions[len(versions)-1].Def == d {
			return nil
		}
	}
	if len(versions) > maxGeneration {
		return ErrTooManyChanges
	}
	v := newVersion(d, len(versions), d.Shared && l.table.record)
	versions = append(versions, v) // readers of the old slice do not look past its end
	l.versions.Store(&versions)
	l.current.Store(v)
	return nil
}

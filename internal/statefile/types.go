package statefile

import "errors"

// Errors of [Read], for errors.Is, of a file that is there and is not taken. Nothing
// of it was handed out then. Write returns ErrForeign as well.
var (
	// ErrForeign means that it was not written by this package, or is no file.
	ErrForeign = errors.New("not a state file: give the name of another file, or move this one away")
	// ErrTorn means that the file is cut short or damaged.
	ErrTorn = errors.New("incomplete or damaged: restore it from a copy, or do without it")
	// ErrVersion means that the file is whole, and of an older or newer format.
	ErrVersion = errors.New("written by another version of Stint: use that one, or another file")
	// ErrSeed means that keys were hashed with another seed, so that no row could be
	// matched with a key.
	ErrSeed = errors.New("written with another hash seed: use the same seed, or another file")
)

// Header says where and when a file was written.
type Header struct {
	Seed uint64 // fingerprint of the hash seed
	Wall int64  // wall clock at the moment that all relative times count from, ns since the Unix epoch
}

// Limit is the definition that the rows of this ID after it were counted under.
type Limit struct {
	ID   uint64
	Name string
	Text string // canonical text form
}

// Row is the state of one key. The package keeps any values; by convention At of a
// bucket, and of the events of a log, is relative to the moment of [Header.Wall]
// (negative: before it), and At of a window is its start in cluster time.
type Row struct {
	Limit  uint64 // ID of a Limit
	Hash   uint64
	At     int64
	Rem    uint64   // bucket
	Counts [3]int64 // window: newest, the one before, the one before that
	Log    []Event  // log
}

// Part says that the rows and holds after it, up to the next Part, are of some ranges of
// hashes, and how much of whose news is in them.
type Part struct {
	From, To uint8 // ranges From … To − 1
	Vector   []Number
}

// Number is how much of an origin's log is in a Part.
type Number struct {
	Origin   uint64
	Number   uint64
	Doubtful bool  // perhaps more is
	Silent   int64 // ns since the origin had been heard of, ≥ 0
}

// Event is N events of a log at one time.
type Event struct{ At, N int64 }

// Register is a hold or a ban, a record of which the newest version counts. By
// convention Start is as Row's At for its kind of limit, and Until is the time left
// at the moment of [Header.Wall].
type Register struct {
	Kind            uint8
	Limit, Hash     uint64
	Maker, ID       uint64
	Version, Writer uint64
	Open            bool
	N               int64
	Start, Per      int64
	Until           int64
	Label           string
	Charged         int64 // of a hold, what the row of its key counts
	Life            int64 // as Until, and no earlier: until when some version of it matters
}

// A Visitor is handed what a file holds, in the order in which it was written. An error
// ends the reading, and Read returns it.
type Visitor interface {
	// Header comes first, and once.
	Header(Header) error
	// Limit comes before its rows, and again where the definition changed on the way.
	Limit(Limit) error
	// Part comes before the rows and holds that it is about; a file of an older format has
	// none. Its Vector is the reader's again when the call returns.
	Part(*Part) error
	// Row is a key's state, under the last Limit of that ID. It, and its Log, are the
	// reader's again when the call returns.
	Row(*Row) error
	// Register stands by itself: its limit may come before, later or not at all.
	Register(*Register) error
}

package table

import (
	"math"
	"unsafe"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

// entry is the state of one key: 64 bytes, one cache line, without pointers. Its body is
// read as one of four structs of the same size; which one, the flags say.
type entry struct {
	hash uint64
	bucketBody
	limit uint32 // index of the limit, from 1; (limit, hash) is the entry's identity
	gen   uint16 // generation of the definition by which the body is to be read
	flags flags
}

type flags uint16

const (
	// unknown: the limit had no definition when this was written.
	unknown flags = 1 << iota
	// windowed and logged: the body is a windowBody or a logBody.
	windowed
	logged
	// overflow: decides for keys that found no room; not counted, never a victim.
	overflow
	// pinned: TakeAll is at work on it.
	pinned
	// banned: the shard has a ban of the key. It may be over.
	banned

	// shape says what the body is; none of it: a bucketBody.
	shape = unknown | windowed | logged
)

// bucketBody is the body of a token bucket's entry.
type bucketBody struct {
	state  bucket.State
	unsent bucket.Run // what no drain has fetched yet; N = 0: nothing
	_      [2]uint64
}

// windowBody is the body of an entry of a fixed or sliding window.
type windowBody struct {
	state  window.State
	unsent [2]int64 // events of state's newest window and of the one before that no drain has fetched
}

// logBody is the body of an entry of a sliding log; the log itself is in the shard's slab.
type logBody struct {
	slab   uint32 // its handle; 0: none, and empty
	_      uint32
	unsent int64 // events that no drain has fetched yet
	first  int64 // when the first of them were taken
	last   int64 // when the last of them were
	_      [2]uint64
}

// unknownBody is the body of an entry of a limit without a definition: what peers told of
// it, in the newest window they named and in the one before, or without windows.
type unknownBody struct {
	start  int64 // of the newest window; without windows, the latest start
	per    int64 // its length; 0: without windows
	n      int64 // events in it
	before int64 // start of the window before
	old    int64 // events in that
	_      uint64
}

func (e *entry) window() *windowBody   { return (*windowBody)(unsafe.Pointer(&e.bucketBody)) }
func (e *entry) log() *logBody         { return (*logBody)(unsafe.Pointer(&e.bucketBody)) }
func (e *entry) unknown() *unknownBody { return (*unknownBody)(unsafe.Pointer(&e.bucketBody)) }

// full is the state of an absent key's bucket, whatever the time.
var full = bucket.State{At: math.MinInt64}

// shapeOf is how the body of a limit's entry is read.
func shapeOf(k Kind) flags {
	switch k {
	case Bucket:
		return 0
	case Window:
		return windowed
	case Log:
		return logged
	}
	return unknown
}

// blank makes the body that of an absent key of v, the definition in force.
func (e *entry) blank(v *version) {
	e.bucketBody = bucketBody{}
	e.flags = e.flags&^shape | shapeOf(v.Kind)
	e.gen = v.gen
	switch v.Kind {
	case Bucket:
		e.state = full
	case Unknown:
		e.unknown().start = math.MinInt64
	}
}

// pending is how many events of the entry are unsent; refunds count as well.
func (e *entry) pending() int64 {
	switch e.flags & shape {
	case 0:
		return e.unsent.N
	case windowed:
		w := e.window()
		if w.unsent[1] == 0 {
			return w.unsent[0]
		}
		return int64(min(abs(w.unsent[0])+abs(w.unsent[1]), math.MaxInt64))
	case logged:
		return e.log().unsent
	}
	return 0
}

// rows is what is unsent of an entry, written for v, as it is told.
func (e *entry) rows(v *version) (rows [2]Row) {
	switch e.flags & shape {
	case 0:
		rows[0] = Row{N: e.unsent.N, Start: v.Bucket.Start(e.unsent)}
	case windowed:
		w := e.window()
		if w.unsent != [2]int64{} {
			f := v.frameAt(w.state.From)
			rows[0] = Row{w.unsent[0], f.From, f.To - f.From}
			rows[1] = Row{w.unsent[1], f.Before, f.From - f.Before}
		}
	case logged:
		b := e.log()
		rows[0] = Row{N: b.unsent, Start: b.last}
	}
	return rows
}

// told forgets what is unsent.
func (e *entry) told() {
	switch e.flags & shape {
	case 0:
		e.unsent = bucket.Run{}
	case windowed:
		e.window().unsent = [2]int64{}
	case logged:
		e.log().unsent = 0
	}
}

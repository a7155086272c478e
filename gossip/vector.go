package gossip

import "slices"

// Chunks is into how many ranges the hashes of keys are cut, by their highest bits: what a
// newcomer takes over at a time, and what has a number of its own for each log. It is the
// same on all nodes.
const (
	Chunks    = 64
	chunkBits = 6
)

// ChunkOf is the chunk that a key's hash is in.
func ChunkOf(hash uint64) int { return int(hash >> (64 - chunkBits)) }

// Range is the hashes of the chunks from … to − 1: the first, and the last.
func Range(from, to int) (first, last uint64) {
	return uint64(from) << (64 - chunkBits), uint64(to)<<(64-chunkBits) - 1
}

// number is how much of a log a peer has of one chunk of the table.
type number struct {
	Kind uint8
	N    uint64
}

const (
	numberNone     = 0
	numberKnown    = 1
	numberDoubtful = 2 // of a table merged from two, of which one knew the log
)

func (n number) known() bool { return n.Kind == numberKnown }

// vector is how much of one log is in each chunk of the table. The chunks have one number
// but for a while after a node has joined.
type vector struct {
	all  number          // of all, where each is nil
	each *[Chunks]number // not all the same
}

func (v *vector) at(chunk int) number {
	if v.each != nil {
		return v.each[chunk]
	}
	return v.all
}

// set changes one chunk's number; pack once all are set.
func (v *vector) set(chunk int, n number) {
	if v.each == nil {
		if v.all == n {
			return
		}
		v.each = new([Chunks]number)
		for i := range v.each {
			v.each[i] = v.all
		}
	}
	v.each[chunk] = n
}

// pack gives up what is the same for all.
func (v *vector) pack() {
	if v.each != nil && !slices.ContainsFunc(v.each[1:], func(n number) bool { return n != v.each[0] }) {
		v.all, v.each = v.each[0], nil
	}
}

// raise has all chunks at n at least.
func (v *vector) raise(n uint64) {
	if v.each == nil {
		v.all.N = max(v.all.N, n)
		return
	}
	for c := range v.each {
		v.each[c].N = max(v.each[c].N, n)
	}
	v.pack()
}

// startOf is the number from which a START has a chunk told.
func startOf(starts []uint64, chunk int) uint64 { return starts[min(chunk, len(starts)-1)] }

// allows reports whether a log can be told from there: nowhere twice.
func (v *vector) allows(starts []uint64) bool {
	for c := range Chunks {
		if n := v.at(c); n.known() && startOf(starts, c) < n.N {
			return false
		}
	}
	return true
}

// begin has the chunks stand where a START says. It returns how many drains some of them
// miss; with all, also of what has no number: as far as anybody can tell, all before.
func (v *vector) begin(starts []uint64, all bool) (missed uint64) {
	var gaps []span
	for c := range Chunks {
		if n, at := v.at(c), startOf(starts, c); at > n.N && (all || n.Kind != numberNone) {
			gaps = append(gaps, span{n.N, at})
		}
	}
	for c := range Chunks {
		v.set(c, number{numberKnown, startOf(starts, c)})
	}
	v.pack()
	return covered(gaps)
}

// takes reports whether the drains (from, …] continue a chunk's number. It is false where
// the chunk has them already, and where it has some of them.
func (v *vector) takes(chunk int, from uint64) bool { return v.at(chunk).N <= from }

// straddled is how many of the drains (from, to] some chunk misses because it had some of
// them, and not all.
func (v *vector) straddled(from, to uint64) uint64 {
	var gaps []span
	if v.each != nil {
		for _, n := range v.each {
			if n.N > from && n.N < to {
				gaps = append(gaps, span{n.N, to})
			}
		}
	}
	return covered(gaps)
}

// list is the numbers as they are told: one, if all are the same.
func (v *vector) list() []number {
	if v.each != nil {
		return v.each[:]
	}
	return []number{v.all}
}

// known reports whether every chunk's number is.
func (v *vector) known() bool {
	return !slices.ContainsFunc(v.list(), func(n number) bool { return !n.known() })
}

// any reports whether some chunk has some of the log in it.
func (v *vector) any() bool {
	return slices.ContainsFunc(v.list(), func(n number) bool { return n.N > 0 })
}

// least is the lowest of the numbers.
func (v *vector) least() uint64 {
	least := v.at(0).N
	for _, n := range v.list() {
		least = min(least, n.N)
	}
	return least
}

// span is one stretch (from, to] of drains.
type span struct{ from, to uint64 }

// covered is how many drains are in any of the spans.
func covered(spans []span) (n uint64) {
	slices.SortFunc(spans, func(a, b span) int { return order(a.from, b.from) })
	end := uint64(0)
	for _, s := range spans {
		if from := max(s.from, end); s.to > from {
			n += s.to - from
		}
		end = max(end, s.to)
	}
	return n
}

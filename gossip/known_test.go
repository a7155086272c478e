package gossip

import (
	"math"
	"slices"
	"testing"
)

// reborn is a new incarnation of a node, with what a state file of the old one had: so much
// of key 0, and of whose log.
func (w *world) reborn(name string, change func(*Config), written, count int64, vector ...Known) *node {
	n := w.born(name, change)
	n.Know(n.time(), written, 0, Chunks, vector)
	n.given[0] = count
	return n
}

// stated are the numbers of a node for the log of another.
func (n *node) stated(of *node) number { return n.sources[of.id].numbers.at(0) }

// Rule 14. A node restarts with its state file while a peer's log still has all that it ever
// told. Nobody else answers; the peer continues from what the file names, and from there
// only. Were its rows cut after its vector, as the second run has it, the same events would
// come once more.
func TestPeersContinueFromAStateFile(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := newWorld(t)
		a, b, absent := w.born("a"), w.born("b"), w.born("c")
		b.up(absent) // for whom everything is kept
		meeting(a, b)
		vector := a.Vector(a.time(), 7)
		for range 3 {
			b.spend(1)
			w.pass(10 * ms)
		}
		if !late {
			vector = a.Vector(a.time(), 7)
		}
		count := a.count()
		b.spend(10) // which a never heard
		b.closed(a)
		b.down(a)
		w.crash(a)
		b.spend(100)
		heir := w.reborn("a", joins(true), w.now, count, vector...)
		heir.log.told = heir.log.head + 1 // it has served somebody: it takes over no counts
		heir.spend(1000)
		meeting(heir, b)
		w.pass(3000 * ms)
		want := int64(1113)
		if late {
			want += count
		}
		if got := heir.count(); got != want || heir.Lost() > 0 || len(heir.chunks) > 0 {
			t.Errorf("rows after the vector: %v: got %d, want %d; lost %d", late, got, want, heir.Lost())
		}
		if got := b.count(); got != 1113 {
			t.Errorf("the peer has %d, want 1113", got)
		}
	}
}

// A number of the file that is no boundary of the log any more moves up, which is loss and
// counted; of a log that the file does not name it lacks, as far as anybody can tell, all.
func TestPeersNoLongerHaveWhatAStateFileLacks(t *testing.T) {
	w := newWorld(t)
	b, c := w.born("b"), w.born("c")
	for range 5 {
		b.spend(1)
		c.spend(1)
	}
	heir := w.reborn("a", joins(true), w.now, 2, Known{Origin: b.id, Number: 2})
	heir.log.told = 1
	meeting(heir, b)
	meeting(heir, c)
	w.pass(3000 * ms)
	if got := heir.Lost(); got != 3+5 {
		t.Errorf("got %d drains lost, want 3 of b's and all 5 of c's", got)
	}
	for _, of := range []*node{b, c} {
		if got := heir.stated(of); got != (number{numberKnown, 5}) {
			t.Errorf("got the number %+v of %s, want 5", got, of.name)
		}
	}
}

// An old log begins past all that it ever told, for a peer in doubt: that is a loss, too.
func TestDoubtfulNumberOfAnOldLog(t *testing.T) {
	w := newWorld(t)
	b := w.born("b", func(c *Config) { c.PartitionMemory = 1000 * ms })
	for range 5 {
		b.spend(1)
	}
	b.log.told = 5
	w.skip(3000 * ms)
	heir := w.reborn("a", joins(true), w.now, 2, Known{Origin: b.id, Number: 2, Doubtful: true})
	heir.log.told = 1
	meeting(heir, b)
	w.pass(3000 * ms)
	if got := heir.count(); got != 2 || heir.Lost() != 3 {
		t.Errorf("got %d, %d drains lost; want 2 and 3", got, heir.Lost())
	}
}

// Numbers that a donor is in doubt about come as such.
func TestClaimsRoundTrip(t *testing.T) {
	want := []claim{{1, number{numberKnown, 7}, 3}, {math.MaxUint64, number{numberDoubtful, math.MaxUint64}, math.MaxInt64}, {3, number{numberKnown, 0}, 0}}
	m := &chunk{From: 3, To: 5, Parts: 1, Numbers: want}
	f, err := decodeFrame(encodeCarrier(header{kind: kindChunk}, m, nil))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.chunk.Numbers, want) {
		t.Errorf("got %+v, want %+v", f.chunk.Numbers, want)
	}
}

// A node that was ready by itself, with a file, meets a cluster, and takes over what that
// has: on top of what the file names and the others never heard, by maximum.
func TestFileAndSnapshotByMaximum(t *testing.T) {
	w := newWorld(t)
	const old, gone = 90, 91 // incarnations of before
	o, d := w.born("o", joins(true)), w.born("d", joins(false))
	o.spend(5)
	meeting(o, d)
	w.pass(3000 * ms)
	o.spend(1)
	w.pass(100 * ms)
	heir := w.reborn("a", joins(true), w.now, 20, Known{Origin: old, Number: 7}, Known{Origin: gone, Number: 3}, Known{Origin: o.id, Number: 1})
	heir.spend(100)
	meeting(o, d, heir)
	w.pass(3000 * ms)
	if got := heir.count(); got != 120 || heir.Joining() || len(heir.chunks) == 0 {
		t.Errorf("got %d, joining %v; want 120: of 20 and 6 the more, and its own", got, heir.Joining())
	}
	if got := o.count(); got != 106 {
		t.Errorf("o has %d, want 106", got)
	}
	if heir.Lost() == 0 {
		t.Error("nothing is counted as lost, and one of each key's two counts was taken")
	}
	if got := heir.stated(o); got != (number{numberKnown, 2}) {
		t.Errorf("got %+v of o, want the greater number, 2", got)
	}
	for _, origin := range []uint64{old, gone} {
		if got := heir.sources[origin].numbers.at(0); got.Kind != numberDoubtful {
			t.Errorf("got %+v of a log that the file alone names, want it doubtful", got)
		}
	}
	vector := heir.Vector(heir.time(), 0)
	if !slices.IsSortedFunc(vector, func(a, b Known) int { return order(a.Origin, b.Origin) }) || len(vector) != 5 {
		t.Errorf("got the vector %+v, want all five logs in order", vector)
	}
	o.spend(1000)
	w.pass(3000 * ms)
	if got := heir.count(); got != 1120 {
		t.Errorf("got %d, want 1120", got)
	}
}

// How what a donor has meets what a file has.
func TestCompareAndClaim(t *testing.T) {
	const self = 1
	known := func(origin, n uint64) claim { return claim{origin, number{numberKnown, n}, 0} }
	doubtful := func(origin, n uint64) claim { return claim{origin, number{numberDoubtful, n}, 0} }
	tests := []struct {
		name        string
		file, donor []claim
		partial     bool // something of our own has left the log, and the donor lacks it
		how         merging
		want        []claim
		lost        uint64
	}{
		{"the donor has as much", []claim{known(2, 5)}, []claim{known(2, 5)}, false, instead, []claim{known(2, 5)}, 0},
		{"the donor has more", []claim{known(2, 5), known(3, 1)}, []claim{known(2, 6), known(3, 1), known(4, 9)}, false, instead, []claim{known(2, 6), known(3, 1), known(4, 9)}, 0},
		{"the file has more", []claim{known(2, 5), known(3, 1)}, []claim{known(2, 4), known(4, 0)}, false, ignored, []claim{known(2, 5), known(3, 1)}, 0},
		{"each has more", []claim{known(2, 5), known(3, 1)}, []claim{known(2, 3), known(3, 4)}, false, byMaximum, []claim{known(2, 5), known(3, 4)}, 5},
		{"each names another", []claim{known(2, 5)}, []claim{known(3, 4)}, false, byMaximum, []claim{doubtful(2, 5), doubtful(3, 4)}, 0},
		{"the file is in doubt", []claim{doubtful(2, 5)}, []claim{known(2, 7)}, false, byMaximum, []claim{doubtful(2, 7)}, 2},
		{"the donor is in doubt", []claim{known(2, 5)}, []claim{doubtful(2, 7)}, false, byMaximum, []claim{doubtful(2, 7)}, 2},
		{"the file names nobody", []claim{}, []claim{known(2, 7)}, false, instead, []claim{known(2, 7)}, 0},
		{"a log of nothing", []claim{known(2, 0)}, []claim{known(3, 7)}, false, instead, []claim{known(3, 7)}, 0},
		{"what the donor has of our own log", []claim{}, []claim{known(self, 3)}, false, instead, []claim{known(self, 3)}, 0},
		{"our own is not whole", []claim{known(2, 5)}, []claim{known(2, 7)}, true, byMaximum, []claim{known(2, 7)}, 2},
		{"no file", nil, []claim{known(2, 7)}, false, instead, []claim{known(2, 7)}, 0},
		{"no file, our own is not whole", nil, []claim{known(2, 7)}, true, byMaximum, []claim{known(2, 7)}, 0},
	}
	for _, tt := range tests {
		j := newJoin(0)
		if tt.file != nil {
			j.claims[9] = make(map[uint64]claim)
			for _, c := range tt.file {
				j.claims[9][c.origin] = c
			}
		}
		how := j.compare(9, tt.donor, self, !tt.partial)
		j.claim(9, tt.donor, how)
		var got []claim
		for _, c := range j.claims[9] {
			got = append(got, c)
		}
		slices.SortFunc(got, func(a, b claim) int { return order(a.origin, b.origin) })
		if how != tt.how || !slices.Equal(got, tt.want) || j.lost() != tt.lost {
			t.Errorf("%s: got %d, %+v, %d lost; want %d, %+v, %d", tt.name, how, got, j.lost(), tt.how, tt.want, tt.lost)
		}
	}
}

// The same stretch of a log that is missing in many chunks is lost once.
func TestLossOfManyChunksIsOne(t *testing.T) {
	j := newJoin(0)
	for range Chunks {
		j.misses(2, 3, 8)
		j.misses(2, 5, 9)
		j.misses(4, 1, 2)
	}
	if got := j.lost(); got != 7 {
		t.Errorf("got %d drains lost, want 7", got)
	}
}

// Of nodes that all start again, the one with the newest file is ready by itself, whatever
// its name; without files, or with equally old ones, the one with the lowest name.
func TestNewestFileIsFirst(t *testing.T) {
	for _, tt := range []struct {
		written [3]int64
		want    int
	}{{[3]int64{5, 7, 6}, 1}, {[3]int64{0, 0, 1}, 2}, {[3]int64{}, 0}, {[3]int64{3, 9, 9}, 1}} {
		w := newWorld(t)
		var all []*node
		for i, name := range []string{"a", "b", "c"} {
			n := w.born(name, joins(false), func(c *Config) { c.Name = name })
			if at := tt.written[i]; at > 0 {
				n.Know(n.time(), at, 0, Chunks, []Known{{Origin: 99, Number: uint64(at)}})
				n.given[0] = at
			}
			all = append(all, n)
		}
		meeting(all...)
		w.pass(5000 * ms)
		for i, n := range all {
			if first := len(n.chunks) == 0; n.Joining() || first != (i == tt.want) || n.count() != tt.written[tt.want] || n.Lost() > 0 {
				t.Errorf("%v: %s: joining %v, took over %d chunks, has %d, lost %d", tt.written, n.name, n.Joining(), len(n.chunks), n.count(), n.Lost())
			}
		}
	}
}

// What is said of some chunks is of those alone, and of chunks that are joining is as the
// last merge left it.
func TestVectors(t *testing.T) {
	for _, first := range []bool{true, false} {
		w := newWorld(t)
		n := w.born("n", joins(first))
		n.spend(1)
		n.Know(n.time(), 1, 0, 16, []Known{{Origin: 50, Number: 7, Silent: 5}, {Origin: 60, Number: math.MaxUint64, Doubtful: true}, {Origin: n.id, Number: 9}})
		n.Know(n.time(), 1, 16, Chunks, nil)
		own := Known{Origin: n.id, Number: 1}
		if got, want := n.Vector(n.time(), 15), []Known{own, {50, 7, false, 5}, {60, math.MaxUint64, true, 0}}; !slices.Equal(got, want) {
			t.Errorf("first %v: got %+v, want %+v", first, got, want)
		}
		if got := n.Vector(n.time(), 16); !slices.Equal(got, []Known{own}) {
			t.Errorf("first %v: got %+v of the rest, want our own number", first, got)
		}
		if got := []int{n.Alike(0), n.Alike(3), n.Alike(16), n.Alike(63)}; !slices.Equal(got, []int{16, 13, 48, 1}) {
			t.Errorf("first %v: got %v chunks alike", first, got)
		}
	}
}

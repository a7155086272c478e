package gossip

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

const ms = 1_000_000

// world is a few ledgers and the frames between them. Time, order and loss are in the
// test's hands; chance comes from one seed. After every step an oracle compares what
// was applied with what was appended, drain by drain.
type world struct {
	t    testing.TB
	now  int64
	rand *rand.Rand
	live []*node // in order of birth
	wire []packet
	auto bool                   // a redial is obeyed at once
	puts map[version]Record     // times in the world's
	over func(e windowKey) bool // a window that nobody charges any more; nil: none is
}

// packet is a frame under way.
type packet struct {
	from, to *node
	data     []byte
}

func newWorld(t testing.TB) *world { return newWorldOf(t, 1) }

func newWorldOf(t testing.TB, seed uint64) *world {
	return &world{t: t, now: 1000 * ms, rand: rand.New(rand.NewPCG(seed, 1)), puts: make(map[version]Record)}
}

// node is one ledger and what it has told and heard, by its owner's own count.
type node struct {
	*Ledger
	w     *world
	id    uint64
	name  string
	clock int64                 // its clock is ahead of the world's by so much
	told  []map[windowKey]int64 // told[i] is drain i+1
	heard map[uint64]*hearing
	next  int64 // what Tick asked for

	charges []Charge
	chunks  []Chunk
	given   map[uint64]int64 // by key, by donors: what others had spent
	most    int              // chunks that it gives at a time; 0: as many as are asked for
	defs    []Definition
	notes   []Note
	redials []uint64
	news    []RecordNews
	knows   map[RecordKey]Record // the newest it had of each
}

// hearing is what a node has applied of one origin.
type hearing struct {
	start uint64         // where it first began
	high  [Chunks]uint64 // the highest numbers it ever had
	lost  uint64
	sums  map[windowKey]int64
}

// born adds a node whose ledger starts now. Its identity is its place in the order of birth.
func (w *world) born(name string, change ...func(*Config)) *node {
	n := &node{w: w, id: uint64(len(w.live) + 1), name: name, heard: make(map[uint64]*hearing), given: make(map[uint64]int64), knows: make(map[RecordKey]Record)}
	cfg := Config{Incarnation: n.id, Born: w.now, Seed: 7, Rand: w.rand.Uint64, Compose: addUp}
	for _, f := range change {
		f(&cfg)
	}
	n.Ledger = New(cfg)
	w.live = append(w.live, n)
	return n
}

// addUp composes as a counter does: amounts add, the later start stands.
func addUp(a, b Entry) Entry { a.N, a.Start = a.N+b.N, max(a.Start, b.Start); return a }

// about is what an entry of no window is about.
func about(limit, hash uint64) windowKey { return windowKey{entryKey: entryKey{limit, hash}} }

// keyOf is what an entry is about.
func keyOf(e Entry) windowKey {
	if e.Per == 0 {
		return about(e.Limit, e.Hash)
	}
	return e.window()
}

// pair is two nodes that know each other, a's link to b open.
func pair(t testing.TB, change ...func(*Config)) (w *world, a, b *node) {
	w = newWorld(t)
	a, b = w.born("a", change...), w.born("b", change...)
	a.up(b)
	b.up(a)
	a.open(b)
	w.settle()
	return w, a, b
}

func (n *node) time() int64 { return n.w.now + n.clock }

func (n *node) up(m *node)     { n.Up(n.time(), m.id, m.name); n.collect() }
func (n *node) down(m *node)   { n.Down(n.time(), m.id); n.collect() }
func (n *node) open(m *node)   { n.Open(n.time(), m.id); n.collect() }
func (n *node) closed(m *node) { n.Closed(m.id); n.collect() }
func (n *node) bye()           { n.Goodbye(); n.collect() }
func (n *node) define(d Definition) {
	n.Define(n.time(), d)
	n.record(nil)
	n.collect()
}

// spend appends one drain; amounts[i] goes to key i of limit 1.
func (n *node) spend(amounts ...int64) {
	var entries []Entry
	for i, amount := range amounts {
		if amount != 0 {
			entries = append(entries, Entry{Limit: 1, Hash: uint64(i), N: amount, Start: n.time()})
		}
	}
	n.append(entries)
}

func (n *node) append(entries []Entry) {
	n.Append(n.time(), n.time(), entries)
	n.record(entries)
	n.collect()
}

// record books the drains that the log has made of entries, in their order.
func (n *node) record(entries []Entry) {
	for drains := n.Head() - uint64(len(n.told)); drains > 0; drains-- {
		count := len(entries)
		if drains > 1 {
			count = min(count, max(n.cfg.MaxFrame/maxEntryBytes, 1))
		}
		sums := make(map[windowKey]int64)
		for _, e := range entries[:count] {
			sums[keyOf(e)] += e.N
		}
		n.told, entries = append(n.told, sums), entries[count:]
	}
}

func (n *node) tick() { n.next = n.Tick(n.time()); n.collect() }

// collect takes the ledger's output: frames go on the wire.
func (n *node) collect() {
	n.record(nil)
	out := n.Output()
	n.charges = append(n.charges, out.Charges...)
	n.defs = append(n.defs, out.Definitions...)
	n.notes = append(n.notes, out.Notes...)
	for _, news := range out.Records {
		n.news = append(n.news, news)
		n.auditNews(news)
	}
	for _, c := range out.Chunks {
		n.take(c)
	}
	for _, want := range out.Wants {
		n.serve(want)
		defer n.collect()
	}
	for _, f := range out.Frames {
		if to := n.w.node(f.To); to != nil {
			n.w.wire = append(n.w.wire, packet{n, to, f.Bytes()})
		}
	}
	for _, peer := range out.Redial {
		n.redials = append(n.redials, peer)
		if n.w.auto {
			n.Closed(peer)
			n.Open(n.time(), peer)
			n.collect()
		}
	}
	n.verify()
}

// node is the living node with that identity, nil if there is none.
func (w *world) node(id uint64) *node {
	if id == 0 || id > uint64(len(w.live)) {
		return nil
	}
	return w.live[id-1]
}

// crash removes a node; what is on its way to it is lost, what it sent may still come.
func (w *world) crash(n *node) {
	w.take(func(p packet) bool { return p.to == n })
	w.live[n.id-1] = nil
}

// hand delivers one frame and audits what it did.
func (w *world) hand(p packet) {
	w.t.Helper()
	if w.node(p.to.id) != p.to {
		return
	}
	before, lost, joined := p.to.vectorOf(p.from), p.to.Lost(), p.to.Joining()
	if err := p.to.Receive(p.to.time(), p.from.id, p.data); err != nil {
		w.t.Errorf("%v: %v", p, err)
	}
	charges := len(p.to.charges)
	p.to.collect()
	if joined { // what it has lost by then is of no one log
		before, lost = [Chunks]number{}, p.to.Lost()
	}
	p.to.audit(p.from, &before, p.to.Lost()-lost, p.to.charges[charges:])
}

// vectorOf is a node's numbers of an origin.
func (n *node) vectorOf(origin *node) (v [Chunks]number) {
	if s := n.sources[origin.id]; s != nil {
		for c := range v {
			v[c] = s.numbers.at(c)
		}
	}
	return v
}

// audit holds one receipt against the origin's own record: a chunk's number moves over
// drains that are then applied to it to the event, or over ones that are counted as lost.
func (n *node) audit(from *node, before *[Chunks]number, lost uint64, charges []Charge) {
	n.w.t.Helper()
	got := make(map[windowKey]int64)
	for _, c := range charges {
		if c.Origin != from.id {
			n.w.t.Fatalf("got a charge of %d in a frame of %d", c.Origin, from.id)
		}
		got[keyOf(c.Entry)] += c.N
	}
	h := n.heard[from.id]
	if h == nil {
		h = &hearing{sums: make(map[windowKey]int64)}
		n.heard[from.id] = h
	}
	if n.Joining() { // its numbers are claims; it applies nothing
		if len(charges) > 0 {
			n.w.t.Fatalf("%s applies %v while it joins", n.name, charges)
		}
		return
	}
	after := n.vectorOf(from)
	want, skipped, first := make(map[windowKey]int64), uint64(0), h.high == [Chunks]uint64{}
	var between span
	var told map[windowKey]int64 // there
	for c, now := range after {
		was := before[c]
		switch {
		case now == was:
			continue
		case now.N < h.high[c] || was.known() && now.N < was.N:
			n.w.t.Fatalf("%s begins %s at %d in chunk %d, having had %d: doubled", n.name, from.name, now.N, c, h.high[c])
		case !was.known():
			if first {
				h.start = max(h.start, now.N)
			}
		case lost > 0:
			skipped = max(skipped, now.N-was.N)
		default:
			if (span{was.N, now.N}) != between {
				between, told = span{was.N, now.N}, sumOf(from.told[was.N:now.N])
			}
			for k, v := range told {
				if ChunkOf(k.hash) == c {
					want[k] += v
				}
			}
		}
		h.high[c] = max(h.high[c], now.N)
	}
	h.lost += lost
	if skipped > lost {
		n.w.t.Fatalf("%s skipped %d drains of %s and counted %d", n.name, skipped, from.name, lost)
	}
	if !maps.Equal(n.w.counting(got), n.w.counting(want)) {
		n.w.t.Fatalf("%s went from %v to %v of %s and applied %v, want %v", n.name, before, after, from.name, got, want)
	}
	for k, v := range got {
		h.sums[k] += v
	}
}

func sumOf(drains []map[windowKey]int64) map[windowKey]int64 {
	sum := make(map[windowKey]int64)
	for _, d := range drains {
		for k, v := range d {
			sum[k] += v
		}
	}
	return sum
}

// counting is what still counts of m.
func (w *world) counting(m map[windowKey]int64) map[windowKey]int64 {
	maps.DeleteFunc(m, func(k windowKey, v int64) bool { return v == 0 || k.per != 0 && w.over != nil && w.over(k) })
	return m
}

// String is for failures: who to whom, and what.
func (p packet) String() string {
	f, err := decodeFrame(p.data)
	if err != nil {
		return fmt.Sprintf("%s→%s %v", p.from.name, p.to.name, err)
	}
	s := fmt.Sprintf("%s→%s kind %d session %d", p.from.name, p.to.name, f.header.kind, f.header.session)
	switch {
	case f.start != nil:
		s += fmt.Sprintf(" start %d", f.start.Numbers)
	case f.batch != nil:
		s += fmt.Sprintf(" (%d, %d] part %d of %d", f.batch.From, f.batch.To, f.batch.Part, f.batch.Parts)
	case f.ack != nil:
		s += fmt.Sprintf(" number %d gap %v", f.ack.Number, f.ack.Gap)
	}
	return s
}

// nodes are those alive.
func (w *world) nodes() []*node {
	return slices.DeleteFunc(slices.Clone(w.live), func(n *node) bool { return n == nil })
}

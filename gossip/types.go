package gossip

import "slices"

// Entry is what an origin spent on one key in one stretch of its log: N events, with
// the effective start of the run (see bucket.Run), in the origin's monotonic
// nanoseconds. N is negative where more was given back than taken; a run that begins
// with a refund may start effectively later than it ended.
//
// If Per is not 0 it is an amount of a window: Start is where that window starts, in
// cluster time, and Per > 0 its length. The window is part of what the entry is about:
// amounts of one window add, those of different windows never meet.
type Entry struct {
	Limit uint64 // hash of the limit's name
	Hash  uint64 // of the key
	N     int64
	Start int64
	Per   int64
}

// Charge is an entry as its receiver applies it. Start is in the receiver's time, and
// as far ahead of the moment of receipt as it was ahead of the drain, at most. Of a
// window, Start is in cluster time still.
type Charge struct {
	Origin uint64
	Entry
}

// Definition announces a limit: amounts name it by ID only. Text is the limit's text
// form. A node keeps its own definition where it has one.
type Definition struct {
	ID   uint64
	Name string
	Text string
}

// Output is what the machine wants done since the last call of [Ledger.Output], in the
// order of the fields: what it acknowledges in Frames counts as applied.
type Output struct {
	Definitions []Definition // of peers
	Chunks      []Chunk      // of a donor, to be merged
	Charges     []Charge
	Records     []RecordNews
	Frames      []Frame
	Wants       []Want   // of newcomers, to be answered by Serve
	Redial      []uint64 // drop the stream to these incarnations and dial again
	Notes       []Note   // for the log of the node
}

// Frame is bytes for one peer: Data, and Body after it, which frames for several peers
// may share. Nobody changes them any more.
type Frame struct {
	To   uint64 // incarnation
	Data []byte
	Body []byte // of what carries one, else nil
}

// Bytes is the frame in one piece.
func (f Frame) Bytes() []byte {
	if f.Body == nil {
		return f.Data
	}
	return slices.Concat(f.Data, f.Body)
}

// Note is something an operator should know.
type Note struct {
	Peer uint64 // incarnation
	Text string
}

// Output hands over what has gathered. The slices are valid until the next call of
// Output; the frames' bytes for ever.
func (g *Ledger) Output() Output {
	out := g.out
	clear(g.frames)
	g.out = Output{Charges: g.charges[:0], Frames: g.frames[:0]}
	g.charges, g.frames = out.Charges, out.Frames
	return out
}

// LinkStats is one peer as this node's log sees it.
type LinkStats struct {
	Peer       uint64
	Name       string
	Alive      bool
	InStep     bool   // its session is acknowledged
	Joining    bool   // it does not have the counts yet, and our log is held for it
	Behind     uint64 // drains it has not acknowledged
	Backlog    int    // entries it has not acknowledged
	InFlight   int    // frames of batches sent and not acknowledged
	Redials    int64
	RoundTrip  int64 // least seen in the last minute, ns; 0: none yet
	SilentFor  int64 // since it last acknowledged anything, ns; 0 if nothing is due
	SourceSeen bool  // its own log is in session with us
	Lag        int64 // age of the newest of its news when we applied it, or how long more is overdue, ns
	LagMax     int64 // the worst of the last 10 to 20 s
	Overdue    int64 // for how long news or a sign of life is, that we could apply; ns
	HeardAt    int64 // when its last frame came
	Lost       uint64
	Wall       int64 // the peer's wall clock minus ours at one instant, ns; see Ledger.SetWall
	WallKnown  bool  // Wall means something
}

// Links describes every peer whose cursor is kept, sorted by incarnation.
func (g *Ledger) Links(now int64) []LinkStats {
	stats := make([]LinkStats, 0, len(g.links))
	for _, l := range g.links {
		s := LinkStats{Peer: l.peer, Name: l.name, Alive: l.deadAt == 0, InStep: l.state == live, Joining: l.hold || l.state == waiting,
			Behind: g.log.head - l.cursor, Backlog: g.log.entriesAfter(l.cursor), InFlight: l.inFlight(),
			Redials: l.redials, RoundTrip: l.roundTrip.least(now)}
		if l.unanswered != 0 {
			s.SilentFor = now - l.unanswered
		}
		current := l.upAt
		if src := g.sources[l.peer]; src != nil {
			s.SourceSeen, s.HeardAt, s.Lost = src.started, src.heardAt, src.lost
			s.Wall, s.WallKnown = g.wallOf(now, l, src)
			s.Lag, s.LagMax = src.lag, src.worst.most(now)
			if src.currentAt != 0 {
				current = src.currentAt
			}
		}
		s.Overdue = max(now-current-g.cfg.Keepalive, 0)
		s.Lag, s.LagMax = addSat(max(s.Lag, s.Overdue), s.RoundTrip), addSat(max(s.LagMax, s.Overdue), s.RoundTrip)
		stats = append(stats, s)
	}
	return stats
}

// Quiet reports whether every living peer has acknowledged everything. One of another seed
// or protocol never will: it refuses us, as we do it.
func (g *Ledger) Quiet() bool {
	for _, l := range g.links {
		if l.deadAt == 0 && (l.state != live || l.cursor != g.log.head) && !g.foreign(l) {
			return false
		}
	}
	return true
}

// foreign reports whether a peer was refused and has not answered our HELLO.
func (g *Ledger) foreign(l *link) bool {
	s := g.sources[l.peer]
	return s != nil && s.refused && l.state <= greeting
}

// Heard reports whether every living peer's log is in session with us.
func (g *Ledger) Heard() bool {
	for _, l := range g.links {
		if s := g.sources[l.peer]; l.deadAt == 0 && (s == nil || !s.started) {
			return false
		}
	}
	return true
}

// Number is how much of an origin's log has been applied to every chunk; ok is false if
// none of it.
func (g *Ledger) Number(origin uint64) (n uint64, ok bool) {
	s := g.sources[origin]
	if s == nil || !s.numbers.known() {
		return 0, false
	}
	return s.numbers.least(), true
}

// NumberOf is the same of one chunk.
func (g *Ledger) NumberOf(origin uint64, chunk int) (n uint64, ok bool) {
	s := g.sources[origin]
	if s == nil {
		return 0, false
	}
	return s.numbers.at(chunk).N, s.numbers.at(chunk).known()
}

// Head is the number of the newest drain.
func (g *Ledger) Head() uint64 { return g.log.head }

// Size is the log's entries and their bytes in memory.
func (g *Ledger) Size() (entries, bytes int) { return g.log.entriesAfter(0), g.log.bytes }

// Lost is how many drains of peers this node skipped because they were no longer to
// be had.
func (g *Ledger) Lost() uint64 { return g.lost }

// Forgiven is how many events of this node peers were not told when they were back, or
// would not be: see Config.Stale.
func (g *Ledger) Forgiven() int64 { return g.log.forgiven }

// Gap is the least time between two batches on one link now, in nanoseconds.
func (g *Ledger) Gap() int64 { return g.gap() }

package gossip

import "slices"

// link is one peer as it hears us: a cursor into our log, and the session that moves
// it forward.
type link struct {
	peer   uint64 // incarnation
	name   string
	acked  bool   // it has acknowledged some session: it had a number
	cursor uint64 // drains up to this are acknowledged, or given up
	upAt   int64  // when it last came up
	deadAt int64  // when it was declared dead; 0: alive
	long   bool   // and that is longer ago than PartitionMemory

	metAt  int64 // when it last answered a hello; 0: never yet
	wordAt int64 // when it last gave a sign of life: was first seen, or said anything of our log

	ready   bool   // it has the counts, as it says
	written int64  // when its state file was, as it says; 0: it has none
	hold    bool   // it joins: the log is kept for it from the cursor on, and nothing coalesces
	wantsAt int64  // when it first asked for a chunk; 0: not yet
	asked   uint64 // the newest of its asks
	serving *serving

	failedAt int64 // when it last was a donor and failed us; 0: never

	state   linkState
	session uint64   // grows with each stream
	nonce   uint64   // of the peer, for this session
	starts  []uint64 // the numbers that opened the session: one, or one a chunk
	marks   []uint64 // those above the cursor, in order: boundaries until it has passed them
	askedAt int64    // when the session's last hello or start went out

	opening *opening // what the START of the session brings; nil once it is acknowledged
	held    int      // parts of it that are with the peer
	offered int      // parts of it that were sent, ≥ held

	flight     []flight // unacknowledged batches, oldest first; kept over sessions until the peer states its number
	sent       uint64   // end of the last batch of this session
	movedAt    int64    // when the peer last stated more than before
	resentAt   int64    // when all in flight was last sent again
	sentAt     int64    // when the last frame of this session went out
	batchAt    int64    // when the newest drain of the last batch was cut; 0: none went out
	unanswered int64    // when the first frame went out that no acknowledgement has followed; 0: none
	redials    int64
	roundTrip  leastOf
}

// flight is one batch on its way, in so many parts, of which 0 ≤ held ≤ sent ≤ parts.
type flight struct {
	from, to uint64
	parts    int
	weight   int   // of each part, in the window
	sent     int   // went out
	held     int   // are with the peer, which applies them when it has all
	firstAt  int64 // when the first of them went out
}

type linkState uint8

const (
	closed   linkState = iota // no stream
	greeting                  // hello sent, no welcome yet
	waiting                   // welcomed by a newcomer, that will state its numbers later
	starting                  // start sent, not acknowledged yet
	live
)

func newLink(peer, cursor uint64) *link { return &link{peer: peer, cursor: cursor, sent: cursor} }

func byIncarnation(l *link, peer uint64) int { return order(l.peer, peer) }

// close ends the session. What was in flight stays a boundary of the log.
func (l *link) close() {
	l.state, l.unanswered, l.opening, l.serving, l.ready = closed, 0, nil, nil, false
}

// precedes reports whether l is dead and heir, of the same name, lives in its place
// and has stated its numbers. It must have done so after l's last sign of life: the
// older incarnation may be the one still counted as alive.
func (l *link) precedes(heir *link) bool {
	return l.deadAt != 0 && heir.deadAt == 0 && heir.metAt != 0 && heir.metAt >= l.wordAt && l.name == heir.name && l.name != ""
}

// sentTo reports whether n ends a batch of which the peer may have stated nothing yet.
func (l *link) sentTo(n uint64) bool {
	for _, f := range l.flight {
		if f.to == n {
			return true
		}
	}
	return false
}

// fly adds a batch to those in flight.
func (l *link) fly(f flight) *flight {
	l.flight, l.sent = append(l.flight, f), f.to
	return &l.flight[len(l.flight)-1]
}

// inFlight is how many frames are.
func (l *link) inFlight() (n int) {
	for _, f := range l.flight {
		n += f.sent - f.held
	}
	return n
}

// load is what they come to in the window.
func (l *link) load() (n int) {
	for _, f := range l.flight {
		n += (f.sent - f.held) * f.weight
	}
	return n
}

// unfinished is the batch of which some parts have yet to be sent, or nil. It is the
// last.
func (l *link) unfinished() *flight {
	if n := len(l.flight); n > 0 && l.flight[n-1].sent < l.flight[n-1].parts {
		return &l.flight[n-1]
	}
	return nil
}

// waitsSince is the time from which the oldest batch in flight has waited for an answer
// of its own.
func (l *link) waitsSince() int64 { return max(l.flight[0].firstAt, l.movedAt, 1) }

func (l *link) resentOrMoved() int64 { return max(l.waitsSince(), l.resentAt) }

// stated moves the cursor to what the peer says it has: all up to n, and so many parts
// of the batch after it. It reports whether that was news.
func (l *link) stated(n uint64, parts int) bool {
	moved := n > l.cursor
	l.cursor = n
	for len(l.marks) > 0 && l.marks[0] <= n {
		l.marks = l.marks[1:]
	}
	i := 0
	for i < len(l.flight) && l.flight[i].to <= n {
		i++
	}
	l.flight = append(l.flight[:0], l.flight[i:]...)
	if len(l.flight) > 0 && l.flight[0].held < parts && parts <= l.flight[0].sent {
		l.flight[0].held, moved = parts, true
	}
	return moved
}

// skipTo gives up what lies before n.
func (l *link) skipTo(n uint64) {
	l.cursor, l.sent, l.flight, l.marks, l.hold = n, n, l.flight[:0], nil, false
}

// startAt has it begin at the lowest of the numbers; the others stay boundaries until it gets there.
func (l *link) startAt(starts []uint64) {
	l.skipTo(slices.Min(starts))
	l.starts = starts
	for _, n := range starts {
		if n > l.cursor {
			l.marks = append(l.marks, n)
		}
	}
	slices.Sort(l.marks)
	l.marks = slices.Compact(l.marks)
}

// worseThan says whose cursor goes first when the log is full: a newcomer's, who starts
// again; of the dead the one longest dead, then of the living the one furthest behind.
func (l *link) worseThan(m *link) bool {
	if l.hold != m.hold {
		return l.hold
	}
	if (l.deadAt != 0) != (m.deadAt != 0) {
		return l.deadAt != 0
	}
	if l.deadAt != m.deadAt {
		return l.deadAt < m.deadAt
	}
	return l.cursor < m.cursor
}

package sim

// Stats counts what a run has seen, so that a sweep can show that it saw everything.
type Stats struct {
	Frames     int // delivered
	Takes      int // admitted
	Refused    int
	Redials    int // asked for by an engine
	Duplicates int // batches delivered that were applied already
	Gaps       int // acknowledgements that asked for what is missing
	Coalesced  int // batches sent from where an earlier one began, to another end
	Parts      int // batches in more than one frame
	Stale      int // frames of an old session delivered
	Crossed    int // frames delivered from or to an incarnation that is no more
	Full       int // times a log gave something up
	Lost       int // drains that a receiver counted as lost
	Restarts   int
	Handovers  int // nodes that left when all had heard them
	Forgiven   int64
	Compared   int // balances found equal on all nodes
	Windows    int // counts of a window found equal on all nodes
	Logs       int // logs found equal on all nodes

	Late         int   // amounts that came when their window no longer counted
	Over         int   // amounts that their origin dropped because of that
	Untold       int   // amounts that it dropped as stale
	Ahead        int   // amounts of the window ahead
	FarAhead     int   // amounts of a window further ahead
	Merged       int   // batches with a key in two windows, of several drains
	Swallowed    int64 // events that a jump of the clock had told of another window, or none
	Given        int64 // events given back
	EarlyRefunds int   // refunds that came before what they give back
	Holds        int
	Settled      int
	LateSettles  int // holds that had expired where they were settled
	HoldsAlike   int // the same record on all nodes
	Bans         int // and their ends
	BansReplaced int // bans that took the place of one that was heard before
	BansAlike    int // in force on all nodes
	Resent       int // records that were news in a START
	Waived       int // deadlines that a newcomer has let pass, or a donor
	TakenOver    int // answers of donors that were merged
	Vague        int // keys of which two donors each had something that the other had not
	Changes      int // of definitions
	ChangedAlike int // windows found equal after one

	Excess  float64 // the largest, in events
	Bound   int64   // the largest, where promise 3 is checked
	Nearest float64 // the largest excess ÷ bound, where promise 3 is checked
}

// Add adds what another run has seen.
func (s *Stats) Add(o *Stats) {
	for sum, n := range map[*int]int{
		&s.Frames: o.Frames, &s.Takes: o.Takes, &s.Refused: o.Refused, &s.Redials: o.Redials,
		&s.Duplicates: o.Duplicates, &s.Gaps: o.Gaps, &s.Coalesced: o.Coalesced, &s.Parts: o.Parts,
		&s.Stale: o.Stale, &s.Crossed: o.Crossed, &s.Full: o.Full, &s.Lost: o.Lost,
		&s.Restarts: o.Restarts, &s.Handovers: o.Handovers, &s.Compared: o.Compared,
		&s.Windows: o.Windows, &s.Logs: o.Logs, &s.Late: o.Late, &s.Over: o.Over, &s.Untold: o.Untold, &s.Ahead: o.Ahead, &s.FarAhead: o.FarAhead,
		&s.Merged: o.Merged, &s.EarlyRefunds: o.EarlyRefunds, &s.Holds: o.Holds, &s.Settled: o.Settled,
		&s.LateSettles: o.LateSettles, &s.HoldsAlike: o.HoldsAlike, &s.Bans: o.Bans, &s.BansReplaced: o.BansReplaced,
		&s.BansAlike: o.BansAlike, &s.Resent: o.Resent, &s.Waived: o.Waived, &s.TakenOver: o.TakenOver, &s.Vague: o.Vague, &s.Changes: o.Changes, &s.ChangedAlike: o.ChangedAlike,
	} {
		*sum += n
	}
	s.Forgiven += o.Forgiven
	s.Swallowed += o.Swallowed
	s.Given += o.Given
	s.Bound = max(s.Bound, o.Bound)
	s.Excess, s.Nearest = max(s.Excess, o.Excess), max(s.Nearest, o.Nearest)
}

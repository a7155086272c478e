package load

// Outcome is what became of a take.
type Outcome uint8

const (
	Unsent   Outcome = iota // never went out: too many were waiting for that server, or it was away
	Failed                  // went out, but no proper answer came back
	Refused                 // answered: no
	Admitted                // answered: yes
)

// Take is the record of one take of one event. Times are nanoseconds of any one clock.
//
// The decision fell somewhere between From and To. A decider that stamps its answers
// makes that a few microseconds; else it is the time from sending to the answer.
type Take struct {
	Due      int64 // when the plan wanted it
	From, To int64 // the decision fell in here; answered takes only
	Done     int64 // when the answer came
	Server   int32
	Key      int32
	Outcome  Outcome
}

// Answered says whether somebody decided.
func (t *Take) Answered() bool { return t.Outcome >= Refused }

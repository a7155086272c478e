package cluster

import (
	"cmp"
	"fmt"
	"slices"
)

// State is what is known of a member's life.
type State uint8

const (
	Alive State = iota // answers probes, or others say so
	Dead               // stopped answering; still looked for
	Left               // said goodbye, and is forgotten soon
)

// String returns "alive", "dead" or "left".
func (s State) String() string {
	switch s {
	case Alive:
		return "alive"
	case Dead:
		return "dead"
	case Left:
		return "left"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Member is a process that is or was in the cluster.
type Member struct {
	Name        string
	Addr        string // host:port
	Incarnation uint64
	State       State
	Self        bool // it is this node
}

// EventKind says what an Event is about.
type EventKind uint8

const (
	// MemberUp: a member is there that was not, or was lost, or has moved to
	// another address. Never about this node itself.
	MemberUp EventKind = iota + 1

	// MemberDown: a member that was up died or left, as its State says.
	MemberDown

	// LinkUp: the outgoing stream to the member is open and empty.
	LinkUp

	// LinkDown: the outgoing stream broke. What was not read there is lost.
	LinkDown
)

// String returns the kind as in "member up".
func (k EventKind) String() string {
	switch k {
	case MemberUp:
		return "member up"
	case MemberDown:
		return "member down"
	case LinkUp:
		return "link up"
	case LinkDown:
		return "link down"
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}

// Event is a change of the cluster as this node sees it. For one member they
// come as MemberUp, then any number of LinkUp and LinkDown in turn, then
// MemberDown, then perhaps all again.
type Event struct {
	Kind   EventKind
	Member Member
}

// byNameThenIncarnation orders members for people and for repeatable events.
func byNameThenIncarnation(a, b Member) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Incarnation, b.Incarnation))
}

func sortMembers(ms []Member) { slices.SortFunc(ms, byNameThenIncarnation) }

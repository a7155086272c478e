package stint

import (
	"cmp"
	"slices"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// A Member is one node of the cluster as this node sees it.
type Member struct {
	Name        string
	Addr        string // host:port for peers; empty if it stands alone
	Incarnation uint64 // of the process: another after a restart
	Self        bool
	State       string // alive, dead or left
	Joining     bool   // it has not taken over the counts of its peers yet

	// InSession says that each of the two hears the other's log.
	InSession bool
	// Lag is how old the newest of the member's news was when it was applied here, and
	// LagMax how old the oldest in the last 10 to 20 s; or, if that is more, for how long
	// anything that could be applied is overdue. Upper bounds, for the round trip is counted
	// in. Connected is not in sync; these are.
	Lag, LagMax time.Duration
	Backlog     int // entries it has not acknowledged
	Unacked     int // batches it was sent and has not acknowledged
	BytesOut    int64
	BytesIn     int64
	Reconnects  int64
}

// Stats are a node's counters, since Open, and gauges.
type Stats struct {
	Name       string
	Nodes      int  // alive, this one included
	Joining    bool // the counts of the peers are not all here yet
	Missing    int  // of 64 parts of the keys, how many could not be had by JoinTimeout
	Keys       int  // remembered now
	MaxKeys    int
	Evicted    int64         // keys dropped for others although they carried something
	Overflowed int64         // takes of keys that found no room, decided on one count a limit
	Forgiven   int64         // events not charged, because they came late, or not told to peers away too long: promise 4
	Lost       int64         // drains of peers that could no longer be had
	Dropped    int64         // events of peers under limits that found no room in MaxLimits
	Unheld     int64         // holds and bans of peers that found no room
	Malformed  int64         // frames that could not be read
	LogEntries int           // kept for peers that have not acknowledged them
	LogBytes   int           // of memory that takes, about; within MaxLogBytes
	Gap        time.Duration // least time between two batches to a peer, now
	Holds      int           // open
	Bans       int           // in force
	Skew       time.Duration // this node's wall clock less cluster time, by which windows are cut
	Limits     []LimitStats
	Peers      []Member // without this node
}

// LimitStats are the figures of one limit.
type LimitStats struct {
	Name    string
	Limit   string // its text
	Allowed int64  // events
	Denied  int64  // events
	// Bound is an estimate from the last 10 to 20 s: by how many events any one key of the
	// limit may exceed Burst + rate·t, because of what the peers in touch have spent and
	// this node has not heard. It is the overshoot that docs/design.md derives, with the
	// measured age of their news and what they have told; a burst that strikes all nodes
	// at one instant counts once they have told of it. A peer whose news is overdue counts
	// with all that it may be spending.
	Bound float64
	// Excess is what came of it, as far as this node has heard: by how many events the key
	// that was overspent most stood beyond its limit in the last 10 to 20 s. Buckets repay
	// it, see promise 4.
	Excess int64
}

// Members is every node this one knows of, itself too, sorted by name.
func (n *Node) Members() []Member {
	if n.cluster == nil {
		return []Member{{Name: n.cfg.Name, Incarnation: n.self, Self: true, State: cluster.Alive.String()}}
	}
	links := make(map[uint64]gossip.LinkStats)
	n.mu.Lock()
	for _, l := range n.engine.Links(n.now()) {
		links[l.Peer] = l
	}
	joining := n.engine.Joining()
	n.mu.Unlock()
	traffic := make(map[uint64]cluster.LinkStats)
	for _, t := range n.cluster.Links() {
		traffic[t.Incarnation] = t
	}
	var members []Member
	for _, m := range n.cluster.Members() {
		l, t := links[m.Incarnation], traffic[m.Incarnation]
		members = append(members, Member{
			Name: m.Name, Addr: m.Addr, Incarnation: m.Incarnation, Self: m.Self, State: m.State.String(),
			InSession: l.InStep && l.SourceSeen, Joining: l.Joining || m.Self && joining,
			Lag: time.Duration(l.Lag), LagMax: time.Duration(l.LagMax), Backlog: l.Backlog, Unacked: l.InFlight,
			BytesOut: t.BytesOut, BytesIn: t.BytesIn, Reconnects: t.Reconnects,
		})
	}
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	return members
}

// Stats reads all counters. It takes no lock that a take could wait for longer than for
// another take.
func (n *Node) Stats() Stats {
	t := n.table.Stats()
	s := Stats{
		Name: n.cfg.Name, Keys: t.Keys, MaxKeys: t.MaxKeys,
		Evicted: t.Evicted, Overflowed: t.Overflowed, Forgiven: t.Forgiven,
		Malformed: n.malformed.Load(),
	}
	all := n.limits.all()
	n.mu.Lock()
	now := n.now()
	s.Nodes, s.Gap = n.engine.Nodes(), time.Duration(n.engine.Gap())
	s.Joining, s.Missing = n.engine.Joining(), n.engine.Missing()
	s.Lost, s.Dropped, s.Skew = n.engine.Lost(), n.engine.Dropped(), time.Duration(n.engine.Skew())
	s.Unheld = n.engine.RecordsDropped()
	s.Forgiven += n.engine.Forgiven()
	s.LogEntries, s.LogBytes = n.engine.LogSize()
	s.Holds, s.Bans = len(n.engine.Holds(now)), len(n.engine.Bans(now))
	for _, c := range all {
		s.Limits = append(s.Limits, LimitStats{Name: c.name, Limit: c.current.Load().String(), Bound: n.engine.Bound(now, c.table), Excess: n.engine.Excess(now, c.table)})
	}
	n.mu.Unlock()
	index := make(map[*table.Limit]int, len(all))
	for i, c := range all {
		index[c.table] = i
	}
	n.table.EachLimit(func(l *table.Limit, allowed, denied int64) {
		if i, ok := index[l]; ok {
			s.Limits[i].Allowed, s.Limits[i].Denied = allowed, denied
		}
	})
	for _, m := range n.Members() {
		if !m.Self {
			s.Peers = append(s.Peers, m)
		}
	}
	return s
}

package stint

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
	"github.com/stint-go/stint/window"
)

// limits is what a node knows of its own limits.
type limits struct {
	node *Node

	mu      sync.RWMutex
	byValue map[Limit]*Limiter  // every value seen, so that the second call is quick
	byName  map[string]*counted // what is in force
}

// counted is one name and the limit in force under it.
type counted struct {
	name    string
	table   *table.Limit
	current atomic.Pointer[Limit]
}

func (s *limits) init(n *Node) {
	s.node, s.byValue, s.byName = n, make(map[Limit]*Limiter), make(map[string]*counted)
}

// called is what a limit goes by: its name, or its text if it has none.
func (l Limit) called() string { return cmp.Or(l.Name, l.String()) }

// limiter is the Limiter for a value of Limit. A value that was not seen before
// defines its name anew.
func (s *limits) limiter(l Limit) *Limiter {
	s.mu.RLock()
	lim := s.byValue[l]
	s.mu.RUnlock()
	if lim != nil {
		return lim
	}
	c, err := s.define(l)
	if err != nil {
		return &Limiter{node: s.node, err: err, asked: l}
	}
	lim = &Limiter{node: s.node, counted: c}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byValue) < 2*s.node.cfg.MaxLimits {
		s.byValue[l] = lim
	}
	return lim
}

// define puts a limit in force under its name and tells the peers.
func (s *limits) define(l Limit) (*counted, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if err := supported(l); err != nil {
		return nil, err
	}
	l = l.withDefaults()
	c, err := s.enter(l, l.called(), definition(l))
	if err != nil {
		return nil, err
	}
	s.node.announce(c)
	return c, nil
}

// enter puts a valid limit, with its defaults, in force under its name.
func (s *limits) enter(l Limit, name string, d table.Def) (*counted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	handle, err := s.node.table.Define(name, d)
	if err != nil {
		return nil, err
	}
	c := s.byName[name]
	if c == nil {
		c = &counted{name: name, table: handle}
		s.byName[name] = c
	}
	c.current.Store(&l)
	return c, nil
}

// announce tells the peers the definition in force: of two changes at once, the last.
// Once Close has begun, this node's last news is out.
func (n *Node) announce(c *counted) {
	if n.cluster == nil {
		return
	}
	n.act(func(now int64) {
		if l := c.current.Load(); l.Mode == Shared && !n.retired {
			n.engine.Define(now, gossip.Definition{ID: c.table.ID(), Name: c.name, Text: l.String()})
		}
	})
}

// all is the limits in force, sorted by name.
func (s *limits) all() []*counted {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*counted, 0, len(s.byName))
	for _, c := range s.byName {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *counted) int { return cmp.Compare(a.name, b.name) })
	return all
}

func (s *limits) named(name string) *counted {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byName[name]
}

// definition is a valid limit, with its defaults, as the table counts by it.
func definition(l Limit) table.Def {
	d := table.Def{Shared: l.Mode == Shared}
	switch {
	case l.Algorithm == Unmetered:
		d.Kind = table.Unlimited
	case l.Events == 0:
		d.Kind = table.Blocked
	case l.Calendar != NoCalendar:
		d.Kind, d.Window = table.Window, calendarWindow(l)
	case l.Algorithm == FixedWindow:
		d.Kind, d.Window = table.Window, window.NewFixed(l.Events, int64(l.Per))
	case l.Algorithm == SlidingWindow:
		d.Kind, d.Window = table.Window, window.NewSliding(l.Events, int64(l.Per))
	case l.Algorithm == SlidingLog:
		d.Kind, d.Log = table.Log, window.NewLog(l.Events, int64(l.Per))
	default:
		d.Kind, d.Bucket = table.Bucket, bucket.New(l.Events, int64(l.Per), l.Burst)
		d.Queue = l.Algorithm == LeakyBucket
	}
	return d
}

// calendarWindow is the window of a limit by the calendar; its zone is known, since the
// limit is valid.
func calendarWindow(l Limit) window.Limit {
	place, err := zone(l.Zone)
	if err != nil {
		place = time.UTC
	}
	return window.NewCalendar(l.Events, window.Calendar(l.Calendar), place)
}

// definitionOf is a peer's limit, unknown if this version cannot count by it.
func definitionOf(text string) table.Def {
	l, err := ParseLimit(text)
	if err != nil || supported(l) != nil {
		return table.Def{}
	}
	return definition(l.withDefaults())
}

// SetLimit puts a limit in force under its name, or changes the one that is: from the
// next take on, on this node. What a key has used stays used. It returns
// ErrTooManyLimits past Config.MaxLimits, ErrNotSupported, or the faults of l.
func (n *Node) SetLimit(l Limit) error {
	_, err := n.limits.define(l)
	return err
}

// Limit is the limit in force under a name, by SetLimit, Limiter or a take.
func (n *Node) Limit(name string) (Limit, bool) {
	if c := n.limits.named(name); c != nil {
		return *c.current.Load(), true
	}
	return Limit{}, false
}

// Limits is every limit in force, sorted by name. One without a name goes by its text.
func (n *Node) Limits() []Limit {
	all := n.limits.all()
	limits := make([]Limit, len(all))
	for i, c := range all {
		limits[i] = *c.current.Load()
	}
	return limits
}

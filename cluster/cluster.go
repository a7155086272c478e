package cluster

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
)

// Cluster is this node's membership and its links. Open makes one, Close ends
// it. All methods are safe for concurrent use, also after Close, when nobody
// is there any more to send to.
type Cluster struct {
	cfg      Config // with defaults
	self     Member
	wire     *wire
	list     *memberlist.Memberlist
	delegate *delegate
	mail     *mailbox // to the control goroutine
	seeker   *seeker
	faults   *faults
	ring     *atomic.Pointer[ring] // of cluster keys; to nil: there are none
	keyring  *memberlist.Keyring   // the same for memberlist; nil: there are none

	ctx    context.Context // ends when everything has to stop
	cancel context.CancelFunc
	wg     sync.WaitGroup // control, search and links; the wire has its own
	closed chan struct{}  // closed when nothing runs any more
	ended  error          // of Close; set before closed is

	mu      sync.RWMutex // also: who stores to ring and changes keyring
	roster  *roster      // changed by the control goroutine alone
	peers   map[uint64]*peer
	closing bool // no new links either way
}

// Open starts listening, announces this node to the seeds and returns without
// waiting for them. Its error is about the configuration or the port.
func Open(cfg Config) (*Cluster, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ln, pc, err := listen(cfg.Transport, cfg.Bind)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	bound, err := addrPortOf(ln.Addr())
	var addr netip.AddrPort
	if err == nil {
		addr, err = advertised(cfg.Resolver, cfg.Advertise, bound)
	}
	var keys *ring
	if err == nil && len(cfg.Keys) > 0 {
		keys, err = newRing(cfg.Keys)
	}
	if err != nil {
		ln.Close()
		pc.Close()
		return nil, fmt.Errorf("cluster: %w", err)
	}
	c := assemble(cfg, newWire(cfg.Transport, ln, pc, addr), time.Now())
	c.seal(keys)
	c.list, err = memberlist.Create(memberlistConfig(&c.cfg, c.wire, c.delegate, c.keyring))
	if err != nil {
		c.wire.shut()
		return nil, fmt.Errorf("cluster: starting memberlist: %w", err)
	}
	c.wire.serve()
	c.wg.Go(func() { c.mail.run(c.ctx) })
	c.wg.Go(c.seek)
	return c, nil
}

func assemble(cfg Config, w *wire, now time.Time) *Cluster {
	self := Member{Name: cfg.Name, Addr: w.advertise.String(), Incarnation: cfg.Incarnation, Self: true}
	me := meta{incarnation: cfg.Incarnation, start: startOf(now), name: cfg.Name}
	c := &Cluster{
		cfg: cfg, self: self, wire: w,
		mail:   newMailbox(),
		seeker: newSeeker(cfg.Join, now),
		faults: newFaults(cfg.Logger),
		ring:   new(atomic.Pointer[ring]),
		closed: make(chan struct{}),
		roster: newRoster(self, me.start),
		peers:  make(map[uint64]*peer),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	w.onLink, w.faults = c.receive, c.faults
	c.delegate = &delegate{id: me.id(), meta: me.encode(), post: c.post, known: make(map[string]struct{})}
	c.delegate.seen = func(s sighting) {
		c.update(func(now time.Time) []Event { return c.roster.seen(s, now) })
	}
	c.delegate.lost = func(incarnation uint64) {
		c.update(func(now time.Time) []Event { return c.roster.lost(incarnation, now) })
	}
	return c
}

// seal sets how streams and packets are sealed, and says so if they are not.
func (c *Cluster) seal(keys *ring) {
	remedy := []any{"remedy", "give every node the same cluster key of 32 random bytes, which stint keygen makes"}
	if keys != nil {
		c.ring.Store(keys)
		c.keyring = new(memberlist.Keyring)
		install(c.keyring, keys.membership)
		c.wire.members = &sealer{proto: membershipProto, ring: c.ring}
		c.wire.links = &sealer{proto: linkProto, ring: c.ring}
	}
	if c.cfg.TLS != nil {
		c.wire.links = &sealer{proto: linkProto, own: c.cfg.TLS.Clone()}
	}
	switch {
	case c.wire.links == nil:
		c.cfg.Logger.Warn("no cluster key: whoever reaches the port can read, forge and join", remedy...)
	case keys == nil:
		c.cfg.Logger.Warn("no cluster key: links are sealed, but whoever reaches the port can be a member", remedy...)
	}
}

// Addr returns the host:port that the others are told, with the port in use.
func (c *Cluster) Addr() string { return c.self.Addr }

// Incarnation returns the number of this process.
func (c *Cluster) Incarnation() uint64 { return c.self.Incarnation }

// Members returns copies of all members, this node among them, by name: those
// alive, those lost that are still looked for, and those that left a moment ago.
func (c *Cluster) Members() []Member {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.roster.members()
}

// post has the control goroutine call f.
func (c *Cluster) post(f func()) { c.mail.post(f) }

// update changes the roster and acts on what follows. Control goroutine only.
func (c *Cluster) update(change func(now time.Time) []Event) {
	now := time.Now()
	c.mu.Lock()
	events := change(now)
	if len(c.roster.records) > maxMembers+2*maxLost {
		c.roster.sweep(now, c.cfg.Forget)
	}
	c.mu.Unlock()
	for _, e := range events {
		c.act(e)
	}
}

func (c *Cluster) act(e Event) {
	m := e.Member
	args := []any{"name", m.Name, "addr", m.Addr, "incarnation", fmt.Sprintf("%016x", m.Incarnation)}
	c.dropLink(m)
	if e.Kind == MemberDown {
		c.cfg.Logger.Info(e.Kind.String(), append(args, "state", m.State.String())...)
		c.cfg.Change(e)
		if m.State == Dead {
			c.seeker.hurry()
		}
		return
	}
	c.cfg.Logger.Info(e.Kind.String(), args...)
	c.cfg.Change(e)
	c.startLink(m)
}

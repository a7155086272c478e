package cluster

import (
	"fmt"
	"log"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
)

const maxProbeScale = 4 // by how much an overloaded node slows its probes

// memberlistConfig is memberlist tuned to find a dead node in one or two
// seconds and to spread a join in less than one, for up to some hundred nodes.
func memberlistConfig(cfg *Config, w *wire, d *delegate, keys *memberlist.Keyring) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	c.Name = d.id
	c.Label = cfg.Label
	c.Transport = w
	c.BindPort = int(w.advertise.Port())
	c.AdvertiseAddr = w.advertise.Addr().String()
	c.AdvertisePort = int(w.advertise.Port())
	c.Delegate, c.Events, c.Alive = d, d, d
	c.Logger = log.New(&logWriter{cfg.Logger, w.faults, &d.closed}, "", 0)
	c.Keyring = keys

	c.EnableCompression = false // costs ten times what the message does
	c.ProbeInterval = cfg.ProbeInterval
	c.ProbeTimeout = cfg.ProbeInterval / 2
	c.SuspicionMult = 3
	c.SuspicionMaxTimeoutMult = 3
	c.AwarenessMaxMultiplier = maxProbeScale
	c.GossipInterval = 50 * time.Millisecond
	c.RetransmitMult = 8
	c.PushPullInterval = 5 * time.Second
	c.TCPTimeout = 3 * time.Second
	c.DeadNodeReclaimTime = time.Second
	return c
}

// delegate takes memberlist's callbacks, which come under memberlist's own lock:
// they copy, post and return.
type delegate struct {
	id   string // of this node in memberlist
	meta []byte
	post func(func())
	seen func(sighting)
	lost func(incarnation uint64)

	met    atomic.Bool // there ever was another
	closed atomic.Bool // the logger must not be used any more

	mu    sync.Mutex
	known map[string]struct{} // others that memberlist holds alive, by its name
}

func (d *delegate) NodeMeta(limit int) []byte              { return d.meta }
func (d *delegate) NotifyMsg([]byte)                       {}
func (d *delegate) GetBroadcasts(int, int) [][]byte        { return nil }
func (d *delegate) LocalState(bool) []byte                 { return nil }
func (d *delegate) MergeRemoteState(buf []byte, join bool) {}

// NotifyAlive keeps out nodes that are not of this kind, and more than the
// bound on members.
func (d *delegate) NotifyAlive(n *memberlist.Node) error {
	m, err := decodeMeta(n.Meta)
	if err != nil {
		return err
	}
	if m.id() != n.Name {
		return fmt.Errorf("%w: %q is not named %q", errMeta, n.Name, m.id())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.known[n.Name]; !ok && n.Name != d.id && len(d.known) >= maxMembers {
		return fmt.Errorf("there are %d members already", maxMembers)
	}
	return nil
}

func (d *delegate) NotifyJoin(n *memberlist.Node) {
	if n.Name == d.id {
		return
	}
	d.mu.Lock()
	d.known[n.Name] = struct{}{}
	d.mu.Unlock()
	d.met.Store(true)
	d.report(n)
}

func (d *delegate) NotifyUpdate(n *memberlist.Node) {
	if n.Name != d.id {
		d.report(n)
	}
}

func (d *delegate) NotifyLeave(n *memberlist.Node) {
	if n.Name == d.id {
		return
	}
	d.mu.Lock()
	delete(d.known, n.Name)
	d.mu.Unlock()
	if m, err := decodeMeta(n.Meta); err == nil {
		d.post(func() { d.lost(m.incarnation) })
	}
}

func (d *delegate) report(n *memberlist.Node) {
	m, err := decodeMeta(n.Meta)
	if err != nil {
		return // NotifyAlive let none such in
	}
	s := sighting{m, n.Address()}
	d.post(func() { d.seen(s) })
}

var levelPrefix = regexp.MustCompile(`^\[[A-Z]+\] (memberlist: )?`)

const noKeyOpens = "refused packets that no cluster key of ours opens"

// strangers are memberlist's lines about those who do not belong here, by how
// they begin, and what we say instead.
var strangers = map[string]string{
	"Decrypt packet failed": noKeyOpens,
	"discarding packet":     "refused packets of a cluster with another label",
	"discarding stream":     "refused a stream of a cluster with another label",
}

// logWriter turns memberlist's lines into records at debug: most of its errors
// are what a network does on any day.
type logWriter struct {
	logger *slog.Logger
	faults *faults
	closed *atomic.Bool
}

func (w *logWriter) Write(b []byte) (int, error) {
	if w.closed.Load() {
		return len(b), nil
	}
	line := levelPrefix.ReplaceAllString(strings.TrimSpace(string(b)), "")
	for start, cause := range strangers {
		if at := strings.LastIndex(line, " from="); at >= 0 && strings.HasPrefix(line, start) {
			w.faults.log(hostIn(line[at+len(" from="):]), cause, "err", strings.TrimSuffix(line[:at], ":"))
			return len(b), nil
		}
	}
	w.logger.Debug(line, "from", "memberlist")
	return len(b), nil
}

package stint

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"time"

	"github.com/stint-go/stint/cluster"
)

// A Config says how a Node counts and whom it counts with. The zero Config is a node
// that stands alone and listens nowhere.
type Config struct {
	// Name is what people call the node, unique in its cluster; at most 128 bytes.
	// Default: the host's name and some random digits.
	Name string

	// Bind is the host:port to listen on for peers, TCP and UDP; port 0 picks a free
	// one, see Node.Addr. Empty: the node stands alone.
	Bind string
	// Advertise is the host or host:port by which peers reach the node. Default: where
	// it listens.
	Advertise string
	// Join names peers to meet; one that answers is enough, and names are looked up for
	// every attempt. "host:port" tries some of the addresses of a host, "dns+host:port"
	// all of them (A and AAAA, as of a headless service), "dnssrv+name" the hosts and
	// ports of SRV records. Open does not wait for them, and a node that finds nobody
	// serves alone and keeps looking.
	Join []string
	// JoinTimeout is how long Ready waits for the first peer if Join names any; and, from
	// then on, for the counts of all keys, which the node takes over from one that is
	// ready. When it is over the node is ready with what it has, says so in the log, and
	// Stats.Missing shows it. Default 10 s; PartitionMemory if that is less.
	JoinTimeout time.Duration
	// Label keeps clusters apart: nodes with another label are refused. It travels in
	// clear and guards against mistakes only.
	Label string
	// HashSeed is the secret that keeps outsiders from choosing two keys that share a
	// count: 16 bytes, the same on all nodes, never changed. Without one it follows
	// from Label, and anybody can compute such keys.
	HashSeed []byte

	// ClusterKeys seal all that nodes say to each other: 32 random bytes each, the same on
	// all nodes; the first seals, all open. Who has none of them can neither read, forge
	// nor replay what is spent, nor be a member. See Node.SetClusterKeys for how to change
	// them. None: all is in clear, and a warning is logged.
	ClusterKeys [][]byte
	// TLS seals the links instead, with certificates of your own; membership stays as
	// ClusterKeys say. It serves both sides of a link: it needs a certificate, RootCAs,
	// ClientCAs and ClientAuth tls.RequireAndVerifyClientCert. Without ServerName,
	// certificates must be for the IP addresses of their nodes.
	TLS *tls.Config

	// SyncInterval is how long what was spent may wait before peers are told, far from
	// the limit; near it they are told within milliseconds. Default 100 ms; 10 ms to 2 s.
	SyncInterval time.Duration
	// PartitionMemory is how long the log is kept for a peer that was declared dead,
	// whatever is in it. What still counts is kept for longer, within MaxLogBytes: as long
	// as the longest window of any limit, or twice what the largest burst takes to come
	// back, 32 days at most. Default 10 min; the same on all nodes.
	PartitionMemory time.Duration

	// MaxKeys bounds the keys remembered at a time. Default 1,000,000, of about 80
	// bytes each.
	MaxKeys int
	// MaxLimits bounds the limits known at a time, those of peers included. Default
	// 10,000.
	MaxLimits int
	// MaxLogBytes bounds what is kept for peers that have not acknowledged it. Default
	// 64 MiB.
	MaxLogBytes int

	// StateFile names a file that keeps the counts over a restart: it is read by Open, and
	// written every few seconds and by Close. Each node needs its own. A file that is
	// damaged or not Stint's is refused, with a word in the log, and the node starts
	// empty. Default: none.
	StateFile string

	// Transport is the network. Default: real sockets. Package cluster/memnet has one
	// for tests.
	Transport cluster.Transport
	// Logger hears of members that come and go and of what an operator should mend;
	// never of single decisions. Default: nothing is logged.
	Logger *slog.Logger
}

// withDefaults returns a copy of c with every field filled in, or all faults of c.
func (c Config) withDefaults() (Config, error) {
	var f faults
	c.checkNames(&f)
	c.checkBounds(&f)
	if err := f.err("config"); err != nil {
		return c, err
	}
	if c.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "node"
		}
		c.Name = fmt.Sprintf("%.100s-%06d", host, rand.IntN(1_000_000))
	}
	fill(&c.JoinTimeout, 10*time.Second)
	fill(&c.SyncInterval, 100*time.Millisecond)
	fill(&c.PartitionMemory, 10*time.Minute)
	fill(&c.MaxKeys, 1_000_000)
	fill(&c.MaxLimits, 10_000)
	fill(&c.MaxLogBytes, 64<<20)
	if c.HashSeed == nil {
		sum := sha256.Sum256([]byte("stint: no hash seed, label " + c.Label))
		c.HashSeed = sum[:16]
	}
	c.HashSeed = slices.Clone(c.HashSeed)
	c.Join = slices.Clone(c.Join)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func fill[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

func (c *Config) checkNames(f *faults) {
	if len(c.Name) > maxName {
		f.add("Name has %d bytes: use at most %d", len(c.Name), maxName)
	}
	if c.HashSeed != nil && len(c.HashSeed) != 16 {
		f.add("HashSeed has %d bytes: use 16, the same on all nodes", len(c.HashSeed))
	}
	if c.Bind == "" {
		if len(c.Join) > 0 || c.Advertise != "" {
			f.add("Join and Advertise need Bind: say on which host:port to listen, such as \":7946\"")
		}
		return
	}
	if _, _, err := net.SplitHostPort(c.Bind); err != nil {
		f.add("Bind is %q: use host:port, such as \":7946\" or \"10.0.0.1:0\"", c.Bind)
	}
	for _, seed := range c.Join {
		if err := cluster.CheckSeed(seed); err != nil {
			f.add("Join has %w", err)
		}
	}
	if err := cluster.CheckKeys(c.ClusterKeys); err != nil {
		f.add("ClusterKeys: %w", err)
	}
	if c.TLS != nil {
		if err := cluster.CheckTLS(c.TLS); err != nil {
			f.add("TLS: %w", err)
		}
	}
}

func (c *Config) checkBounds(f *faults) {
	if c.JoinTimeout < 0 {
		f.add("JoinTimeout is %v: use a positive duration, or 0 for 10s", c.JoinTimeout)
	}
	if c.SyncInterval != 0 && (c.SyncInterval < 10*time.Millisecond || c.SyncInterval > 2*time.Second) {
		f.add("SyncInterval is %v: use 10ms to 2s, or 0 for 100ms", c.SyncInterval)
	}
	if c.PartitionMemory != 0 && (c.PartitionMemory < time.Second || c.PartitionMemory > 30*day) {
		f.add("PartitionMemory is %v: use 1s to 30 days, or 0 for 10m", c.PartitionMemory)
	}
	bounds := []struct {
		name    string
		n, most int
	}{{"MaxKeys", c.MaxKeys, 1 << 28}, {"MaxLimits", c.MaxLimits, 1 << 24}, {"MaxLogBytes", c.MaxLogBytes, 1 << 30}}
	for _, b := range bounds {
		if b.n < 0 || b.n > b.most {
			f.add("%s is %d: use 1 to %d, or 0 for the default", b.name, b.n, b.most)
		}
	}
}

package cluster

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"
)

const (
	// MaxFrame is the largest frame in bytes that Send takes and a peer may send.
	MaxFrame = 1 << 20

	maxName  = 128
	maxLabel = 255
)

// Config says who this node is and where it meets the others. Name is
// required; the zero value of every other field is a default.
type Config struct {
	// Name is how people call this node, unique in the cluster, at most 128
	// bytes. Two live nodes of one name both stay members, and an error is logged.
	Name string

	// Incarnation tells this process from every other, also from earlier ones
	// of the same name. Zero: a random one.
	Incarnation uint64

	// Label keeps clusters apart: nodes with another label are refused. At most
	// 255 bytes. It is sent in clear and protects against mistakes only.
	Label string

	// Keys are the cluster keys, of 32 random bytes each, the same on all nodes:
	// who has none of them can neither read, forge nor replay frames, nor be a
	// member. The first seals, all open; see Cluster.SetKeys for how to change
	// them. None: all is in clear, which is warned of.
	Keys [][]byte

	// TLS seals the links instead of Keys; membership stays as Keys say. The same
	// configuration serves the side that dials and the other: it needs a
	// certificate, RootCAs, ClientCAs and a ClientAuth that verifies. Without
	// ServerName, certificates must be for the IP addresses of their nodes. The
	// version is 1.3, and no session is resumed.
	TLS *tls.Config

	// Bind is the host:port, for TCP and UDP alike, to listen on. Port 0 picks a
	// free one, see Cluster.Addr. Default ":7946".
	Bind string

	// Advertise is the host or host:port by which the others reach this node. A
	// name is resolved once, at the start. Default: the address bound, or if
	// that is unspecified, the machine's first private address.
	Advertise string

	// Join holds seeds, of which one that answers is enough; all are asked again
	// and again. Names are resolved for every attempt.
	//
	//	host:port      some of the addresses of a host, by chance
	//	dns+host:port  all of its addresses (A and AAAA), as of a headless service
	//	dnssrv+name    all hosts and ports in the SRV records of a name
	//
	// A headless service of Kubernetes must have publishNotReadyAddresses, or pods
	// that start together do not find each other.
	Join []string

	// Resolver looks up names. Default: net.DefaultResolver.
	Resolver Resolver

	// Transport is the network. Default: real sockets.
	Transport Transport

	// Logger gets members' comings and goings at info and faults of peers at
	// warn, one line per cause and peer; memberlist's own lines at debug.
	// Default: none.
	Logger *slog.Logger

	// Frame is called with each frame that arrives and the incarnation of its
	// sender, in order and one at a time per sender, from that link's own
	// goroutine. The frame is the callee's to keep. It may block: that holds up
	// its sender alone. It must return before Close can.
	Frame func(from uint64, frame []byte)

	// Change is called with each event, in order and one at a time. It must
	// not block, and must not call Close.
	Change func(Event)

	// ProbeInterval is the time between two probes, of one member each; half of
	// it is the time to answer. A dead member is found after three to nine
	// intervals. Choose at least twice the slowest round trip. Default 200 ms.
	ProbeInterval time.Duration

	// Forget is how long a lost member is looked for. Default 24 hours.
	Forget time.Duration
}

// withDefaults returns a copy with defaults filled in, or every fault found.
func (c Config) withDefaults() (Config, error) {
	if c.Bind == "" {
		c.Bind = ":7946"
	}
	if c.Transport == nil {
		c.Transport = sockets{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Frame == nil {
		c.Frame = func(uint64, []byte) {}
	}
	if c.Change == nil {
		c.Change = func(Event) {}
	}
	if c.ProbeInterval == 0 {
		c.ProbeInterval = 200 * time.Millisecond
	}
	if c.Forget == 0 {
		c.Forget = 24 * time.Hour
	}
	for c.Incarnation == 0 {
		var b [8]byte
		rand.Read(b[:])
		c.Incarnation = binary.BigEndian.Uint64(b[:])
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	c.Join = slices.Clone(c.Join)
	return c, c.validate()
}

func (c *Config) validate() error {
	var errs []error
	fault := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("cluster: "+format, args...))
	}
	if c.Name == "" || len(c.Name) > maxName {
		fault("Name %q must have 1 to %d bytes", c.Name, maxName)
	}
	if len(c.Label) > maxLabel {
		fault("Label has %d bytes, at most %d are allowed", len(c.Label), maxLabel)
	}
	if _, _, err := net.SplitHostPort(c.Bind); err != nil {
		fault("Bind %q must be host:port: %v", c.Bind, err)
	}
	for _, seed := range c.Join {
		if err := CheckSeed(seed); err != nil {
			fault("Join %w", err)
		}
	}
	if err := CheckKeys(c.Keys); err != nil {
		fault("Keys: %w", err)
	}
	if c.TLS != nil {
		if err := CheckTLS(c.TLS); err != nil {
			fault("TLS: %w", err)
		}
	}
	if c.ProbeInterval < 10*time.Millisecond {
		fault("ProbeInterval %v must be at least 10ms", c.ProbeInterval)
	}
	if c.Forget < 0 {
		fault("Forget %v must not be negative", c.Forget)
	}
	return errors.Join(errs...)
}

package stint

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/engine"
	"github.com/stint-go/stint/internal/table"
)

// A Node counts the events of keys in its own memory and decides from there. Nodes that
// know each other tell what they have spent and together hold one limit a key.
//
// Make one with Open, a process, and end it with Close. All methods are safe for
// concurrent use.
type Node struct {
	cfg     Config
	base    time.Time // 0 of the node's time; its monotonic part counts
	table   *table.Table
	limits  limits
	queues  queues
	keeper  *keeper          // nil: no state file
	cluster *cluster.Cluster // nil: alone
	self    uint64           // incarnation

	wake     chan struct{} // the loop looks again
	ready    chan struct{} // closed when the node is ready
	leaving  chan struct{} // closed when Close begins
	stop     chan struct{} // ends the loop
	stopped  chan struct{} // closed when nothing runs any more
	closing  sync.Once
	closeErr error

	malformed atomic.Int64 // frames that could not be read

	mu      sync.Mutex // guards engine; taken before any lock of table or cluster
	engine  *engine.Engine
	wakeAt  int64         // when the loop looks again by itself
	retired bool          // nothing is drained any more
	quiet   chan struct{} // closed when all is acknowledged; nil before Close
	notes   []gossip.Note // to be logged once mu is free
}

// Open starts a node. It does not wait for peers: see Ready. Its error lists every
// fault of cfg, or says why the port cannot be had.
func Open(cfg Config) (*Node, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	n := &Node{
		cfg:  cfg,
		base: time.Now(),
		wake: make(chan struct{}, 1), ready: make(chan struct{}), leaving: make(chan struct{}),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	n.self = random()
	n.table = table.New(table.Config{
		MaxKeys: cfg.MaxKeys, MaxLimits: cfg.MaxLimits, Seed: [16]byte(cfg.HashSeed),
		Record: cfg.Bind != "", Poke: n.poke,
	})
	n.limits.init(n)
	n.engine = engine.New(n.now(), engine.Config{
		Table: n.table, Sync: int64(cfg.SyncInterval), Parse: definitionOf,
		Wall: n.wall,
		Ledger: gossip.Config{
			Incarnation: n.self, Name: cfg.Name, Seed: fingerprint(cfg.HashSeed), Rand: random,
			Joins: cfg.Bind != "", First: len(cfg.Join) == 0, JoinTimeout: int64(cfg.JoinTimeout),
			PartitionMemory: int64(cfg.PartitionMemory), MaxBytes: cfg.MaxLogBytes,
		},
		Send: n.send, Redial: n.redial, Note: n.note,
	})
	n.openState()
	if err := n.meet(); err != nil {
		return nil, err
	}
	go n.loop()
	if n.keeper != nil {
		go n.keeper.keep()
	}
	return n, nil
}

// meet opens the cluster, if there is to be one.
func (n *Node) meet() (err error) {
	if n.cfg.Bind == "" {
		return nil
	}
	n.mu.Lock() // until the cluster is there, nothing of it may come in
	defer n.mu.Unlock()
	n.cluster, err = cluster.Open(cluster.Config{
		Name: n.cfg.Name, Incarnation: n.self, Label: n.cfg.Label,
		Bind: n.cfg.Bind, Advertise: n.cfg.Advertise, Join: n.cfg.Join, Keys: n.cfg.ClusterKeys, TLS: n.cfg.TLS,
		Transport: n.cfg.Transport, Logger: n.cfg.Logger,
		Frame: n.receive, Change: n.change,
	})
	return err
}

// Name is Config.Name, or what stands in for it.
func (n *Node) Name() string { return n.cfg.Name }

// Addr is the host:port by which peers reach the node, empty if it stands alone.
func (n *Node) Addr() string {
	if n.cluster == nil {
		return ""
	}
	return n.cluster.Addr()
}

// Ready waits until the node knows what its peers have spent, and spend: until it has
// taken over the count of every key from one of them, if Config.Join names any, and is in
// session with every member it sees. Config.JoinTimeout bounds the first part: a node that
// finds nobody serves alone, and one that cannot have all counts with those it has. It
// returns the context's error, or ErrClosed, from the moment that Close is called. Decisions
// can be had before, from what is known.
func (n *Node) Ready(ctx context.Context) error {
	select {
	case <-n.leaving:
		return ErrClosed
	default:
	}
	select {
	case <-n.ready: // also for a context that has ended
		return nil
	default:
	}
	select {
	case <-n.ready:
		return nil
	case <-n.leaving:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("waiting for peers: %w", ctx.Err())
	}
}

// Close tells the peers what they have not heard yet, says goodbye and stops
// everything. The node is not ready any more. A newcomer that joins is waited for, too: it
// may have a table from before this node's last takes. The context bounds the courtesy, not the stopping: when Close returns,
// nothing runs. Its error says what the peers may have missed. Decisions can still be
// had, from this node's count alone, so that a server that drains goes on limiting.
func (n *Node) Close(ctx context.Context) error {
	n.closing.Do(func() { n.closeErr = n.shut(ctx) })
	<-n.stopped
	return n.closeErr
}

func (n *Node) shut(ctx context.Context) (err error) {
	close(n.leaving)
	if n.cluster != nil {
		err = n.handOver(ctx)
		if cerr := n.cluster.Close(ctx); err == nil {
			err = cerr
		}
	}
	close(n.stop)
	<-n.stopped
	if k := n.keeper; k != nil {
		<-k.done
		if serr := k.save(); err == nil && serr != nil {
			err = fmt.Errorf("writing the state file: %w", serr)
		}
	}
	return err
}

// handOver drains the last takes and waits until every living peer has them.
func (n *Node) handOver(ctx context.Context) error {
	n.mu.Lock()
	quiet := make(chan struct{})
	n.engine.Drain(n.now())
	n.quiet, n.retired = quiet, true
	n.stepLocked()
	n.unlock()
	var err error
	select {
	case <-quiet:
	case <-ctx.Done():
		err = fmt.Errorf("closing: some peers have not acknowledged the last takes: %w", ctx.Err())
	}
	n.mu.Lock()
	n.engine.Goodbye(n.now())
	n.unlock()
	return err
}

func random() uint64 {
	var b [8]byte
	for {
		rand.Read(b[:])
		if v := binary.LittleEndian.Uint64(b[:]); v != 0 {
			return v
		}
	}
}

// fingerprint tells two seeds apart without giving them away.
func fingerprint(seed []byte) uint64 {
	sum := sha256.Sum256(append([]byte("stint: fingerprint of a hash seed "), seed...))
	return binary.LittleEndian.Uint64(sum[:])
}

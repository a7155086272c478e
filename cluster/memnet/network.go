package memnet

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

// Faults says how one direction between two hosts misbehaves. The zero value
// is a perfect network: nothing lost, no delay. Probabilities are from 0 to 1.
type Faults struct {
	Loss      float64       // chance that a packet is lost, or a segment of a stream late
	Duplicate float64       // chance that a packet arrives twice
	Reorder   float64       // chance that a packet is held back for about twice the delay, so that later ones overtake it
	Delay     time.Duration // one-way
	Jitter    time.Duration // added to Delay, uniform from 0 to Jitter
}

// resend is what a lost segment costs a stream.
const resend = 200 * time.Millisecond

type pair struct{ from, to netip.Addr }

// Network is a set of hosts and the state of the wires between them. Make one
// with New.
type Network struct {
	seed uint64

	// mu guards everything in the network: hosts, sockets, buffers and faults.
	mu    sync.Mutex
	hosts map[netip.Addr]*Host
	all   Faults
	pairs map[pair]Faults
	cuts  map[pair]time.Time // since when nothing passes
	dice  map[pair]*rand.Rand
	moved chan struct{} // closed and replaced when hosts or cuts change
}

// New returns a network without hosts or faults whose chances derive from seed.
func New(seed uint64) *Network {
	return &Network{
		seed:  seed,
		hosts: make(map[netip.Addr]*Host),
		pairs: make(map[pair]Faults),
		cuts:  make(map[pair]time.Time),
		dice:  make(map[pair]*rand.Rand),
		moved: make(chan struct{}),
	}
}

// SetFaults sets the faults of every direction that has none of its own.
func (n *Network) SetFaults(f Faults) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = f
}

// SetFaultsBetween sets the faults of the direction between two hosts, instead
// of those of the whole network. It panics if an address is not an IP.
func (n *Network) SetFaultsBetween(from, to string, f Faults) {
	p := pair{mustIP(from), mustIP(to)}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pairs[p] = f
}

// Cut lets nothing through from one host to the other; packets the other way
// still pass, streams need both ways. It panics if an address is not an IP.
func (n *Network) Cut(from, to string) {
	p := pair{mustIP(from), mustIP(to)}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cutLocked(p)
	n.moveLocked()
}

// Split cuts the named hosts off from all others that exist now, both ways.
// Among themselves, and among the others, hosts still talk. Cuts add up until
// Heal. It panics if an address is not an IP.
func (n *Network) Split(side ...string) {
	inside := make(map[netip.Addr]bool)
	for _, s := range side {
		inside[mustIP(s)] = true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for ip := range n.hosts {
		if inside[ip] {
			continue
		}
		for in := range inside {
			n.cutLocked(pair{in, ip})
			n.cutLocked(pair{ip, in})
		}
	}
	n.moveLocked()
}

// Heal ends all cuts. Faults stay.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cuts)
	n.moveLocked()
}

// BreakStreams resets every stream between two hosts; both ends see an error
// at once. It panics if an address is not an IP.
func (n *Network) BreakStreams(a, b string) {
	from, to := mustIP(a), mustIP(b)
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hosts[from]
	if h == nil {
		return
	}
	for c := range h.conns {
		if c.out.to == to {
			c.breakLocked()
			c.peer.breakLocked()
		}
	}
}

func (n *Network) cutLocked(p pair) {
	if _, ok := n.cuts[p]; !ok {
		n.cuts[p] = time.Now()
	}
}

func (n *Network) moveLocked() {
	close(n.moved)
	n.moved = make(chan struct{})
}

// cutSinceLocked tells since when a stream between the pair stands still; ok
// is false if it moves.
func (n *Network) cutSinceLocked(p pair) (since time.Time, ok bool) {
	there, a := n.cuts[p]
	back, b := n.cuts[pair{p.to, p.from}]
	if a && (!b || there.Before(back)) {
		return there, true
	}
	return back, b
}

func (n *Network) faultsLocked(p pair) Faults {
	if f, ok := n.pairs[p]; ok {
		return f
	}
	return n.all
}

func (n *Network) diceLocked(p pair) *rand.Rand {
	if d, ok := n.dice[p]; ok {
		return d
	}
	h := fnv.New64a()
	from, to := p.from.As16(), p.to.As16()
	h.Write(from[:])
	h.Write(to[:])
	d := rand.New(rand.NewPCG(n.seed, h.Sum64()))
	n.dice[p] = d
	return d
}

// transitLocked draws how long a segment of a stream takes.
func (n *Network) transitLocked(p pair) time.Duration {
	f, dice := n.faultsLocked(p), n.diceLocked(p)
	d := f.flight(dice)
	for tries := 0; tries < 5 && chance(dice, f.Loss); tries++ {
		d += resend
	}
	return d
}

func (f Faults) flight(dice *rand.Rand) time.Duration {
	d := f.Delay
	if f.Jitter > 0 {
		d += time.Duration(dice.Int64N(int64(f.Jitter)))
	}
	return d
}

func chance(dice *rand.Rand, p float64) bool {
	return p > 0 && dice.Float64() < p
}

func mustIP(s string) netip.Addr {
	ip, err := netip.ParseAddr(s)
	if err != nil {
		panic(fmt.Sprintf("memnet: %q is not an IP address", s))
	}
	return ip.Unmap()
}

// pause waits until one of the channels is closed or the time has come; a
// zero time never comes.
func pause(a, b <-chan struct{}, until time.Time) {
	if until.IsZero() {
		select {
		case <-a:
		case <-b:
		}
		return
	}
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-a:
	case <-b:
	case <-t.C:
	}
}

// sooner returns the earlier of two times, of which zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func passed(deadline time.Time) bool {
	return !deadline.IsZero() && !time.Now().Before(deadline)
}

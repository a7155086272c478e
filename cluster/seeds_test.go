package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestCheckSeed(t *testing.T) {
	for _, good := range []string{
		"10.0.0.1:7946", "host:7946", "[fd00::1]:7946", "host:http", "dns+host:7946", "dns+[fd00::1]:7946",
		"dnssrv+_gossip._tcp.stint.default.svc.cluster.local", "dnssrv+stint.",
	} {
		if err := CheckSeed(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "host", ":7946", "host:", "fd00::1:7946", "dns+host", "dns+:1", "dnssrv+", "dnssrv+host:7946", "srv+host:1", "http://host:1"} {
		if err := CheckSeed(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

// zone is a Resolver with names of its own.
type zone struct {
	mu    sync.Mutex
	hosts map[string][]netip.Addr
	srv   map[string][]*net.SRV
	stuck bool
	asked int
}

func (z *zone) set(host string, ips ...string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.hosts == nil {
		z.hosts = map[string][]netip.Addr{}
	}
	z.hosts[host] = nil
	for _, ip := range ips {
		z.hosts[host] = append(z.hosts[host], netip.MustParseAddr(ip))
	}
}

func (z *zone) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	z.mu.Lock()
	z.asked++
	ips, ok, stuck := slices.Clone(z.hosts[host]), z.hosts[host] != nil, z.stuck
	z.mu.Unlock()
	if stuck {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return ips, nil
}

func (z *zone) LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if service+proto != "" {
		return "", nil, errors.New("the name was to be asked for as it is")
	}
	return name, slices.Clone(z.srv[name]), nil
}

func TestLookUp(t *testing.T) {
	z := &zone{srv: map[string][]*net.SRV{
		"svc":   {{Target: "b.", Port: 1}, {Target: "many.", Port: 2}, {Target: "gone.", Port: 3}, {Target: "10.0.0.9", Port: 4}, {Target: "b.", Port: 1}},
		"ghost": {{Target: "gone.", Port: 1}},
	}}
	z.set("b", "10.0.0.2")
	z.set("many", "10.0.0.3", "fd00::4", "::ffff:10.0.0.5", "10.0.0.6")
	c := &Cluster{cfg: Config{Resolver: z}, ctx: t.Context()}
	for _, tt := range []struct {
		seed string
		want string // sorted
	}{
		{"10.0.0.1:7946", "10.0.0.1:7946"},
		{"[fd00::1]:http", "[fd00::1]:80"},
		{"b:7946", "10.0.0.2:7946"},
		{"dns+many:7946", "10.0.0.3:7946 10.0.0.5:7946 10.0.0.6:7946 [fd00::4]:7946"},
		{"dnssrv+svc", "10.0.0.2:1 10.0.0.3:2 10.0.0.5:2 10.0.0.6:2 10.0.0.9:4 [fd00::4]:2"},
		{"gone:7946", "error: no such host"},
		{"b:no-such-port", "error: unknown port"},
		{"dnssrv+ghost", "error: no such host"},
		{"dnssrv+none", "error: none has no SRV record"},
	} {
		found, err := c.lookUp(tt.seed)
		slices.Sort(found)
		if want, bad := strings.CutPrefix(tt.want, "error: "); bad && (err == nil || !strings.Contains(err.Error(), want)) ||
			!bad && (err != nil || strings.Join(found, " ") != want) {
			t.Errorf("%s: got %v, %v, want %s", tt.seed, found, err, tt.want)
		}
	}
	if found, err := c.lookUp("many:7946"); len(found) != maxSome || err != nil {
		t.Errorf("some addresses: got %v, %v", found, err)
	}
}

// A node finds the others by names that have no address at first, then that of
// a host that is gone, then theirs too.
func TestJoinByNames(t *testing.T) {
	for _, seed := range []string{"seed:7946", "dns+seed:7946", "dnssrv+svc"} {
		t.Run(seed, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				z := &zone{srv: map[string][]*net.SRV{"svc": {{Target: "seed.", Port: 7946}}}}
				a := &node{host: r.net.Host("10.0.0.1"), log: &lines{}}
				r.open(a, Config{
					Name: "a", Incarnation: 1, Bind: ":7946", Label: "test", Join: []string{seed}, Resolver: z,
					Transport: a.host, Logger: a.log.logger(), Change: a.change,
				})
				b := r.start("b", "fd00::2", 2)
				r.start("c", "10.0.0.3", 3, "fd00::2")
				time.Sleep(time.Minute)
				z.set("seed", "10.0.0.1", "10.0.0.99")
				time.Sleep(time.Minute)
				if len(a.Members()) != 1 {
					r.Fatalf("got %v", a.Members())
				}
				for _, word := range []string{"cannot be resolved", "does not let us join"} {
					if n := a.log.warnings(word, "peer="+seed); n != 1 || a.log.warnings() != 2 {
						r.Errorf("got %d warnings of %q:\n%s", n, word, a.log)
					}
				}
				z.set("seed", "10.0.0.1", "10.0.0.99", "fd00::2")
				r.within(30*time.Second, "they meet", func() bool { return a.linked(2, 3) && b.linked(1, 3) })
			})
		})
	}
}

// All addresses of a name are asked, so that clusters that it lists become one;
// names that are this node's own do not count as an answer.
func TestAllAddressesAreAsked(t *testing.T) {
	inBubble(t, func(r *rig) {
		z := &zone{}
		z.set("pods", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6")
		b := r.start("b", "10.0.0.2", 2)
		for i, ip := range []string{"10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"} {
			r.start("n", ip, uint64(3+i))
		}
		a := &node{host: r.net.Host("10.0.0.1"), log: &lines{}}
		r.open(a, Config{
			Name: "a", Incarnation: 1, Bind: ":7946", Label: "test", Join: []string{"dns+pods:7946"}, Resolver: z,
			Transport: a.host, Logger: a.log.logger(), Change: a.change,
		})
		r.within(time.Second, "all are one", func() bool { return a.linked(2, 3, 4, 5, 6) && b.linked(1, 3, 4, 5, 6) })
		z.mu.Lock()
		asked := z.asked
		z.mu.Unlock()
		time.Sleep(10 * time.Minute)
		z.mu.Lock()
		defer z.mu.Unlock()
		if more := z.asked - asked; more < 10 || more > 30 {
			r.Errorf("asked %d times in ten quiet minutes", more)
		}
	})
}

// A resolver that does not answer holds up nothing, Close included.
func TestStuckResolver(t *testing.T) {
	inBubble(t, func(r *rig) {
		a := &node{host: r.net.Host("10.0.0.1"), log: &lines{}}
		r.open(a, Config{
			Name: "a", Incarnation: 1, Bind: ":7946", Label: "test", Join: []string{"dns+pods:7946"}, Resolver: &zone{stuck: true},
			Transport: a.host, Logger: a.log.logger(), Change: a.change,
		})
		time.Sleep(time.Minute)
		if n := a.log.warnings("cannot be resolved", "deadline"); n != 1 || a.log.warnings() != 1 {
			r.Errorf("got the log\n%s", a.log)
		}
		b := r.start("b", "10.0.0.2", 2, "10.0.0.1")
		r.within(time.Second, "they meet", func() bool { return a.linked(2) && b.linked(1) })
		start := time.Now()
		a.Close(r.Context())
		if d := time.Since(start); d > 2*time.Second {
			r.Errorf("Close took %v", d)
		}
	})
}

// Pods behind one name are replaced, one by one and twice over, each at an address of its
// own; the name is all that any of them is told. In the end it is one cluster of the new,
// also after half of it was cut off while the pods of both halves were replaced.
func TestPodsAreReplaced(t *testing.T) {
	inBubble(t, func(r *rig) {
		z := &zone{}
		pods, next := map[string]*node{}, uint64(0)
		publish := func() { z.set("pods", slices.Sorted(maps.Keys(pods))...) }
		start := func(name string) (ip string) {
			next++
			ip = fmt.Sprintf("10.0.0.%d", next)
			n := &node{host: r.net.Host(ip), ip: ip, log: &lines{}}
			pods[ip] = n
			publish() // before it is ready: else the first two would never meet
			return r.open(n, Config{
				Name: name, Incarnation: next, Label: "test", Bind: ":7946", Join: []string{"dns+pods:7946"}, Resolver: z,
				Transport: n.host, Logger: n.log.logger(), Change: n.change,
			}).ip
		}
		one := func() bool {
			for _, n := range pods {
				var others []uint64
				for _, o := range pods {
					if o != n {
						others = append(others, o.Incarnation())
					}
				}
				if !n.linked(others...) {
					return false
				}
			}
			return true
		}
		names := []string{"p0", "p1", "p2", "p3"}
		at := map[string]string{}
		for _, name := range names {
			at[name] = start(name)
		}
		r.within(10*time.Second, "the pods have met", one)
		replace := func(name string, inOrder bool) {
			old := pods[at[name]]
			delete(pods, at[name])
			publish()
			if inOrder {
				old.Close(r.Context())
			} else {
				old.kill()
			}
			at[name] = start(name)
		}
		for round := range 2 {
			for _, name := range names {
				replace(name, round == 0)
				r.within(30*time.Second, "the new pod is in", one)
			}
		}
		r.net.Split(at["p0"], at["p1"])
		time.Sleep(time.Minute)
		for _, name := range names {
			replace(name, false)
			r.net.Split(at["p0"], at["p1"]) // those who are new, too
		}
		time.Sleep(time.Minute)
		if one() {
			r.Error("the halves met over a cut")
		}
		r.net.Heal()
		r.within(time.Minute, "the halves have met", one)
		for ip, n := range pods {
			if w := n.log.warnings(); w > 1+len(names) {
				r.Errorf("%s: %d warnings\n%s", ip, w, n.log)
			}
		}
	})
}

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	lookupLimit = 3 * time.Second // for all names of a seed
	maxSome     = 3               // addresses of host:port tried at a time
	maxTargets  = 256             // addresses of any seed tried at a time
	maxHosts    = 64              // of SRV records, looked up at a time

	dnsPrefix = "dns+"
	srvPrefix = "dnssrv+"
)

// Resolver looks up names. A *net.Resolver is one. It must be safe for
// concurrent use.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

// CheckSeed says what is wrong with an entry of Config.Join, if anything.
func CheckSeed(seed string) error {
	if name, ok := strings.CutPrefix(seed, srvPrefix); ok {
		if name == "" || strings.ContainsAny(name, ":/ ") {
			return fmt.Errorf("%q: after dnssrv+ comes the name of SRV records, without a port", seed)
		}
		return nil
	}
	host, port, err := net.SplitHostPort(strings.TrimPrefix(seed, dnsPrefix))
	if err != nil || host == "" || port == "" || strings.ContainsAny(host, "+/ ") {
		return fmt.Errorf("%q: use host:port, dns+host:port or dnssrv+name", seed)
	}
	return nil
}

// lookUp returns the addresses that a seed, or an address, stands for now, in an
// order of chance.
func (c *Cluster) lookUp(seed string) ([]string, error) {
	ctx, cancel := context.WithTimeout(c.ctx, lookupLimit)
	defer cancel()
	look, most := hosts, maxSome
	name, ok := strings.CutPrefix(seed, srvPrefix)
	if ok {
		look, most = services, maxTargets
	} else if name, ok = strings.CutPrefix(seed, dnsPrefix); ok {
		most = maxTargets
	}
	found, err := look(ctx, c.cfg.Resolver, name)
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	return found[:min(len(found), most)], err
}

// hosts returns all addresses of host:port.
func hosts(ctx context.Context, names Resolver, hostport string) (found []string, err error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	n, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return nil, err
	}
	ips, err := resolve(ctx, names, host)
	for _, ip := range ips {
		found = append(found, netip.AddrPortFrom(ip, uint16(n)).String())
	}
	return found, err
}

// services returns all addresses of the hosts in the SRV records of a name. Its
// error is that of the last host, if none had an address.
func services(ctx context.Context, names Resolver, name string) (found []string, err error) {
	_, records, err := names.LookupSRV(ctx, "", "", name)
	if len(records) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("%s has no SRV record", name))
	}
	rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	for _, r := range records[:min(len(records), maxHosts)] {
		more, e := hosts(ctx, names, net.JoinHostPort(strings.TrimSuffix(r.Target, "."), strconv.Itoa(int(r.Port))))
		found, err = append(found, more...), e
	}
	if len(found) > 0 {
		err = nil
	}
	slices.Sort(found)
	return slices.Compact(found), err
}

// resolve returns the addresses of a host, which may be an IP literal.
func resolve(ctx context.Context, names Resolver, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip.Unmap()}, nil
	}
	ips, err := names.LookupNetIP(ctx, "ip", host)
	if len(ips) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("%s has no address", host))
	}
	for i := range ips {
		ips[i] = ips[i].Unmap()
	}
	return ips, nil
}

package cluster

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// listen opens one port for streams and packets. When the port is ours to
// choose, it is chosen for the streams, and again if packets cannot have it.
func listen(t Transport, bind string) (net.Listener, net.PacketConn, error) {
	host, port, err := net.SplitHostPort(bind)
	if err != nil {
		return nil, nil, err
	}
	tries := 1
	if port == "0" || port == "" {
		tries = 20
	}
	for ; ; tries-- {
		ln, err := t.Listen(net.JoinHostPort(host, port))
		if err != nil {
			return nil, nil, fmt.Errorf("listening for streams on %s: %w", bind, err)
		}
		at, err := addrPortOf(ln.Addr())
		if err != nil {
			ln.Close()
			return nil, nil, err
		}
		pc, err := t.ListenPacket(net.JoinHostPort(host, fmt.Sprint(at.Port())))
		if err == nil {
			return ln, pc, nil
		}
		ln.Close()
		if tries <= 1 {
			return nil, nil, fmt.Errorf("listening for packets on %s, port %d: %w", bind, at.Port(), err)
		}
	}
}

// advertised returns the address that peers are told: what the configuration
// says, or where the listener is, as an IP literal that is not unspecified.
func advertised(names Resolver, configured string, bound netip.AddrPort) (netip.AddrPort, error) {
	host, port := "", bound.Port()
	if configured != "" {
		host = configured
		if h, p, err := net.SplitHostPort(configured); err == nil {
			n, err := net.DefaultResolver.LookupPort(context.Background(), "tcp", p)
			if err != nil {
				return netip.AddrPort{}, fmt.Errorf("Advertise %q: %w", configured, err)
			}
			host = h
			if n != 0 {
				port = uint16(n)
			}
		}
	}
	var ip netip.Addr
	switch {
	case host != "":
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		ips, err := resolve(ctx, names, host)
		if err != nil {
			return netip.AddrPort{}, fmt.Errorf("Advertise %q: %w", configured, err)
		}
		ip = ips[0]
	case bound.Addr().IsUnspecified():
		ip = ownAddress()
	default:
		ip = bound.Addr()
	}
	if ip.IsUnspecified() || ip.Zone() != "" {
		return netip.AddrPort{}, fmt.Errorf("Advertise %s is no address that others can reach: name one", ip)
	}
	return netip.AddrPortFrom(ip, port), nil
}

// ownAddress picks the address of an interface: a private one if there is,
// else a global one, IPv4 before IPv6, else the loopback.
func ownAddress() netip.Addr {
	best, rank := netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		ip, ok := netip.AddrFromSlice(n.IP)
		ip = ip.Unmap()
		if !ok || !ip.IsGlobalUnicast() {
			continue
		}
		r := 1
		if ip.IsPrivate() {
			r += 2
		}
		if ip.Is4() {
			r++
		}
		if r > rank {
			best, rank = ip, r
		}
	}
	return best
}

func addrPortOf(a net.Addr) (netip.AddrPort, error) {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return ap, fmt.Errorf("the transport's address %s is not ip:port: %w", a, err)
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
}

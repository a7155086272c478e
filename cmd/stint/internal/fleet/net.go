//go:build unix

package fleet

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
)

// Net is a bridge, in a network namespace of its own, with a namespace at each of its ports:
// 1 to Slots. This process has a port, too, on a second bridge that all namespaces are on.
// Close takes everything away.
type Net struct {
	Slots  int
	prefix string       // of the namespaces' names
	here   string       // our port
	subnet netip.Prefix // of the second bridge, as this process sees it

	mu     sync.Mutex
	faults faults
}

// nets are those of this process.
var nets struct {
	sync.Mutex
	made int
}

// name gives a Net names of its own. With nets locked.
func (n *Net) name() {
	nets.made++
	n.faults = faults{cut: make(map[int]bool), block: make(map[[2]int]bool)}
	n.prefix = fmt.Sprintf("stint-%d-%d-", os.Getpid(), nets.made)
	n.here = fmt.Sprintf("st%dn%d", os.Getpid(), nets.made) // 15 bytes at most
}

const inner = "10.77.0." // of the first bridge, seen in the namespaces only

// ErrImpossible means that this process can make no Net on this machine.
var ErrImpossible = errors.New("no network namespaces")

// NewNet makes one. Only an error that is ErrImpossible is a reason to do without.
func NewNet(slots int) (*Net, error) {
	if err := possible(); err != nil {
		return nil, err
	}
	return makeNet(slots)
}

// possible says once why there can be no Net. In CI on Linux, root lacks a tool by mistake.
var possible = sync.OnceValue(func() error {
	switch {
	case runtime.GOOS != "linux":
		return fmt.Errorf("%w but on Linux", ErrImpossible)
	case os.Geteuid() != 0:
		return fmt.Errorf("%w but for root", ErrImpossible)
	}
	for _, tool := range []string{"ip", "tc", "nft"} {
		_, err := exec.LookPath(tool)
		switch {
		case err == nil:
		case os.Getenv("CI") != "":
			return fmt.Errorf("no %s although this is CI: .ci/net was to install it", tool)
		default:
			return fmt.Errorf("%w without %s: install iproute2 and nftables", ErrImpossible, tool)
		}
	}
	// In a container, root may not have the right to, nor the kernel the modules.
	n, err := makeNet(1)
	if err == nil {
		err = errors.Join(n.Cut(1), n.Lose(1, 1), n.Slow(1, 1000), n.Close())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	return nil
})

func makeNet(slots int) (n *Net, err error) {
	nets.Lock()
	defer nets.Unlock()
	n = &Net{Slots: slots}
	n.name()
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if n.subnet, err = free(); err != nil {
		return nil, err
	}
	bridge, here := n.space(0), n.here
	err = ips(
		"netns add "+bridge,
		"-n "+bridge+" link add br0 type bridge",
		"-n "+bridge+" link add br1 type bridge",
		"-n "+bridge+" link set br0 up",
		"-n "+bridge+" link set br1 up",
		"link add "+here+" type veth peer name c0 netns "+bridge,
		"-n "+bridge+" link set c0 master br1 up",
		"addr add "+n.outer(254)+"/24 dev "+here,
		"link set "+here+" up",
	)
	for slot := 1; slot <= slots && err == nil; slot++ {
		err = n.plug(slot)
	}
	return n, err
}

// plug makes the namespace of a slot: eth0 on the first bridge, eth1 on the second.
func (n *Net) plug(slot int) error {
	space, bridge := n.space(slot), n.space(0)
	return ips(
		"netns add "+space,
		"-n "+space+" link set lo up",
		fmt.Sprintf("-n %s link add eth0 type veth peer name p%d netns %s", space, slot, bridge),
		fmt.Sprintf("-n %s link add eth1 type veth peer name c%d netns %s", space, slot, bridge),
		fmt.Sprintf("-n %s link set p%d master br0 up", bridge, slot),
		fmt.Sprintf("-n %s link set c%d master br1 up", bridge, slot),
		"-n "+space+" addr add "+n.Inner(slot)+"/24 dev eth0",
		"-n "+space+" addr add "+n.outer(slot)+"/24 dev eth1",
		"-n "+space+" link set eth0 up",
		"-n "+space+" link set eth1 up",
	)
}

// Close takes the namespaces away, and with them all links. No process must be left in them.
func (n *Net) Close() error {
	var errs []error
	for slot := range n.Slots + 1 {
		if _, err := os.Stat("/run/netns/" + n.space(slot)); err == nil {
			errs = append(errs, ip("netns del "+n.space(slot)))
		}
	}
	return errors.Join(errs...)
}

func (n *Net) space(slot int) string { return fmt.Sprintf("%s%d", n.prefix, slot) }

// Inner is the address of a slot among the others, which faults befall; outer the one where
// this process reaches it.
func (n *Net) Inner(slot int) string { return fmt.Sprintf("%s%d", inner, slot) }

func (n *Net) outer(slot int) string {
	a := n.subnet.Addr().As4()
	a[3] = byte(slot)
	return netip.AddrFrom4(a).String()
}

// free is a network of 198.18.0.0/15, which RFC 2544 sets aside for tests, that no
// interface here is on.
func free() (netip.Prefix, error) {
	out, err := exec.Command("ip", "-4", "-o", "route").Output()
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("ip route: %w", err)
	}
	for i := range 512 {
		i = (i + os.Getpid()) % 512
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, byte(18 + i/256), byte(i)}), 24)
		if !strings.Contains(string(out), p.String()) {
			return p, nil
		}
	}
	return netip.Prefix{}, errors.New("all of 198.18.0.0/15 is taken")
}

// in runs a command in the namespace of a slot.
func (n *Net) in(slot int, command ...string) error {
	return run(append([]string{"ip", "netns", "exec", n.space(slot)}, command...)...)
}

func ips(lines ...string) error {
	for _, line := range lines {
		if err := ip(line); err != nil {
			return err
		}
	}
	return nil
}

func ip(line string) error { return run(append([]string{"ip"}, strings.Fields(line)...)...) }

func run(command ...string) error {
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, out)
	}
	return nil
}

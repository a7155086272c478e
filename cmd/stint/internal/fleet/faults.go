//go:build unix

package fleet

import (
	"fmt"
	"strings"
)

// The faults of a Net. Each befalls what a slot has to do with the other slots, never its
// clients; it lasts until it is mended, and can be asked for again meanwhile.

// faults is what the bridge drops. Guarded by Net.mu.
type faults struct {
	cut   map[int]bool
	block map[[2]int]bool // from, to
}

// Cut drops all that comes from a slot or goes to it.
func (n *Net) Cut(slot int) error { return n.change(func(f *faults) { f.cut[slot] = true }) }

// Heal ends Cut.
func (n *Net) Heal(slot int) error { return n.change(func(f *faults) { delete(f.cut, slot) }) }

// Block drops what one slot sends to another, and not what comes from there.
func (n *Net) Block(from, to int) error {
	return n.change(func(f *faults) { f.block[[2]int{from, to}] = true })
}

// Unblock ends Block.
func (n *Net) Unblock(from, to int) error {
	return n.change(func(f *faults) { delete(f.block, [2]int{from, to}) })
}

func (n *Net) change(what func(*faults)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	what(&n.faults)
	rules := chain("bridge", "forward")
	for slot := range n.faults.cut {
		rules += fmt.Sprintf("; add rule bridge faults f iifname p%d drop; add rule bridge faults f oifname p%d drop", slot, slot)
	}
	for b := range n.faults.block {
		rules += fmt.Sprintf("; add rule bridge faults f iifname p%d oifname p%d drop", b[0], b[1])
	}
	return n.in(0, "nft", rules)
}

// chain makes nft's chain of faults in a family, or empties it.
func chain(family, hook string) string {
	return strings.NewReplacer("FAMILY", family, "HOOK", hook).Replace(
		"add table FAMILY faults; add chain FAMILY faults f { type filter hook HOOK priority 0; }; flush chain FAMILY faults f")
}

// Unplug takes the link of a slot down. The kernel may need a second for this, and for Plug.
func (n *Net) Unplug(slot int) error {
	return ip(fmt.Sprintf("-n %s link set p%d down", n.space(0), slot))
}

// Plug ends Unplug.
func (n *Net) Plug(slot int) error { return ip(fmt.Sprintf("-n %s link set p%d up", n.space(0), slot)) }

// Lose drops each packet that comes to a slot with this chance, in percent. 0 mends it.
func (n *Net) Lose(slot, percent int) error {
	rules := chain("inet", "input")
	if percent > 0 {
		rules += fmt.Sprintf("; add rule inet faults f iifname eth0 numgen random mod 100 < %d drop", percent)
	}
	return n.in(slot, "nft", rules)
}

// Slow lets a slot send so many kilobits a second; what is more waits for up to a second
// and is lost beyond.
func (n *Net) Slow(slot, kilobits int) error {
	return n.qdisc(slot, fmt.Sprintf("replace dev eth0 root tbf rate %dkbit burst 2kb latency 1s", kilobits))
}

// Quicken ends Slow.
func (n *Net) Quicken(slot int) error { return n.qdisc(slot, "del dev eth0 root") }

func (n *Net) qdisc(slot int, what string) error {
	return run(append([]string{"tc", "-n", n.space(slot), "qdisc"}, strings.Fields(what)...)...)
}

package stint_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"

	"time"
)

// attack tries all there is at node 0.
func (v *victims) attack(node string) {
	streams, packets := v.tap.recordings()
	longest := map[string][]byte{}
	for _, s := range streams {
		if k := kind(s.said); s.to == seed(0) && len(s.said) > len(longest[k]) {
			longest[k] = s.said
		}
	}
	for _, what := range []string{"link", "membership"} {
		v.group(node, what, "whole", func(x *row) {
			for _, s := range streams {
				if kind(s.said) == what {
					v.say(x, s.said)
				}
			}
		})
		v.group(node, what, "doubled", func(x *row) {
			for _, s := range streams {
				if kind(s.said) == what && s.to == seed(0) {
					v.say(x, s.said, s.said)
				}
			}
		})
		v.mangle(node, what, longest[what])
	}
	v.packets(node, packets)
}

// mangle tries one stream in all ways.
func (v *victims) mangle(node, what string, said []byte) {
	pieces := parts(said)
	if pieces = pieces[:min(len(pieces), 24)]; !soaking() {
		said = bytes.Join(pieces, nil) // the handshake, and some of the rest
	}
	v.group(node, what, "without a part", func(x *row) {
		for i := range pieces {
			v.say(x, bytes.Join(pieces[:i], nil), bytes.Join(pieces[i+1:], nil))
		}
	})
	v.group(node, what, "in another order", func(x *row) {
		dice := rand.New(rand.NewPCG(3, 4))
		for range pieces {
			mixed := slices.Clone(pieces[1:])
			dice.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			v.say(x, pieces[0], bytes.Join(mixed, nil))
		}
	})
	v.group(node, what, "cut", func(x *row) {
		for _, at := range v.places(pieces) {
			v.say(x, said[:at])
		}
	})
	if !v.sealed {
		return // who flips bits in clear is a member that lies
	}
	v.group(node, what, "a bit flipped", func(x *row) {
		for _, at := range v.places(pieces) {
			bad := bytes.Clone(said)
			bad[at] ^= 1 << (at % 8)
			v.say(x, bad)
		}
	})
}

// places are every byte of the head of every part, and some of the rest; or every byte.
func (v *victims) places(pieces [][]byte) (all []int) {
	at, step := 0, 97
	if soaking() {
		step = 1
	}
	for _, p := range pieces {
		for i := range p {
			if i < 5 || i%step == 0 {
				all = append(all, at+i)
			}
		}
		at += len(p)
	}
	return all
}

// soaking says that time does not matter.
func soaking() bool { return os.Getenv("STINT_SOAK") != "" }

// packets tries what was overheard of them.
func (v *victims) packets(node string, packets []overheardPacket) {
	stranger, err := v.net.Host("10.9.9.9").ListenPacket(":0")
	if err != nil {
		v.Fatal(err)
	}
	defer stranger.Close()
	to := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(seed(0)))
	send := func(x *row, b []byte) {
		x.tries++
		x.bytes += len(b)
		stranger.WriteTo(b, to)
		if x.tries%8 == 0 {
			time.Sleep(time.Millisecond) // the node's queue is short
		}
	}
	dice := rand.New(rand.NewPCG(5, 6))
	most := 1500
	if soaking() {
		most = 10_000
	}
	kept := packets[max(0, len(packets)-most):]
	v.group(node, "packet", "whole", func(x *row) {
		for _, p := range kept {
			send(x, p.data)
		}
	})
	v.group(node, "packet", "mixed and doubled", func(x *row) {
		for _, i := range dice.Perm(len(kept)) {
			send(x, kept[i].data)
			send(x, kept[i].data)
		}
	})
	some := kept[:min(10, len(kept))]
	v.group(node, "packet", "cut", func(x *row) {
		for _, p := range some {
			for n := range p.data {
				send(x, p.data[:n])
			}
		}
	})
	if !v.sealed {
		return
	}
	v.group(node, "packet", "a bit flipped", func(x *row) {
		for _, p := range some {
			for i := range p.data {
				bad := bytes.Clone(p.data)
				bad[i] ^= 1 << (i % 8)
				send(x, bad)
			}
		}
	})
}

// impostor takes the place of a node that has died, and answers those who look for it with
// what it was heard to answer.
func (v *victims) impostor() {
	streams, _ := v.tap.recordings()
	v.kill(1, v.nodes[1])
	v.within(30*time.Second, "the loss is noticed", func() bool { return v.nodes[0].Stats().Nodes == 2 && v.nodes[2].Stats().Nodes == 2 })
	v.group("impostor", "stream", "answered", func(x *row) {
		ln, err := v.net.Host(ip(1)).Listen(":7946")
		if err != nil {
			v.Fatal(err)
		}
		time.AfterFunc(time.Minute, func() { ln.Close() })
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			first := make([]byte, 1)
			conn.SetReadDeadline(time.Now().Add(time.Second))
			if n, _ := conn.Read(first); n == 0 {
				conn.Close()
				continue
			}
			for try := len(streams); try > 0; try-- {
				s := streams[x.tries%len(streams)]
				if x.tries++; s.to == seed(1) && s.said[0] == first[0] {
					n, _ := conn.Write(s.heard)
					x.bytes += n
					break
				}
			}
			n, _ := io.Copy(io.Discard, conn)
			x.answered += int(n)
			conn.Close()
		}
	})
	v.nodes[1] = v.open(v.config(1))
	v.settle()
}

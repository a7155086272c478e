package memnet

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// ends opens port 1 for packets on two hosts.
func ends(t *testing.T, n *Network) (a, b net.PacketConn) {
	t.Helper()
	open := func(ip string) net.PacketConn {
		c, err := n.Host(ip).ListenPacket(":1")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	return open("10.0.0.1"), open("10.0.0.2")
}

// drain reads the numbers that arrive until nothing has for a second.
func drain(c net.PacketConn) (got []int) {
	b := make([]byte, 100)
	for {
		c.SetReadDeadline(time.Now().Add(time.Second))
		n, _, err := c.ReadFrom(b)
		if err != nil {
			return got
		}
		i, _ := strconv.Atoi(string(b[:n]))
		got = append(got, i)
	}
}

func sendMany(c, to net.PacketConn, count int) {
	for i := range count {
		c.WriteTo(fmt.Append(nil, i), to.LocalAddr())
	}
}

func TestPacketFaults(t *testing.T) {
	const sent = 2000
	for _, tt := range []struct {
		name             string
		faults           Faults
		least, most      int // that arrive
		sorted, distinct bool
	}{
		{"none", Faults{}, sent, sent, true, true},
		{"delay", Faults{Delay: 50 * time.Millisecond}, sent, sent, true, true},
		{"loss", Faults{Loss: 0.25}, sent * 70 / 100, sent * 80 / 100, true, true},
		{"all lost", Faults{Loss: 1}, 0, 0, true, true},
		{"duplicates", Faults{Duplicate: 0.25}, sent * 120 / 100, sent * 130 / 100, true, false},
		{"jitter", Faults{Jitter: 50 * time.Millisecond}, sent, sent, false, true},
		{"reordering", Faults{Reorder: 0.1}, sent, sent, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := New(7)
				a, b := ends(t, n)
				n.SetFaults(tt.faults)
				sendMany(a, b, sent)
				got := drain(b)
				if len(got) < tt.least || len(got) > tt.most {
					t.Errorf("got %d packets, want %d to %d", len(got), tt.least, tt.most)
				}
				if sorted := slices.IsSorted(got); sorted != tt.sorted {
					t.Errorf("in order: got %v, want %v", sorted, tt.sorted)
				}
				slices.Sort(got)
				if distinct := len(slices.Compact(got)) == len(got); distinct != tt.distinct {
					t.Errorf("distinct: got %v, want %v", distinct, tt.distinct)
				}
			})
		})
	}
}

func TestPacketDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		a, b := ends(t, n)
		n.SetFaultsBetween("10.0.0.1", "10.0.0.2", Faults{Delay: 70 * time.Millisecond})
		start := time.Now()
		a.WriteTo([]byte("x"), b.LocalAddr())
		_, from, err := b.ReadFrom(make([]byte, 9))
		if d := time.Since(start); d != 70*time.Millisecond || err != nil || from.String() != "10.0.0.1:1" {
			t.Errorf("got it after %v from %v, %v", d, from, err)
		}
		start = time.Now()
		b.WriteTo([]byte("x"), a.LocalAddr())
		a.ReadFrom(make([]byte, 9))
		if d := time.Since(start); d != 0 {
			t.Errorf("the way back took %v", d)
		}
	})
}

// The same seed gives the same fate, whatever others send in between.
func TestSameSeedSameFate(t *testing.T) {
	fate := func(seed uint64, noise bool) (got []int) {
		synctest.Test(t, func(t *testing.T) {
			n := New(seed)
			n.SetFaults(Faults{Loss: 0.3, Duplicate: 0.3, Reorder: 0.3, Delay: time.Millisecond, Jitter: 20 * time.Millisecond})
			a, b := ends(t, n)
			c, _ := n.Host("10.0.0.3").ListenPacket(":1")
			for i := range 300 {
				a.WriteTo(fmt.Append(nil, i), b.LocalAddr())
				if noise {
					a.WriteTo([]byte("noise"), c.LocalAddr())
					c.WriteTo([]byte("noise"), a.LocalAddr())
				}
				time.Sleep(time.Millisecond)
			}
			got = drain(b)
		})
		return got
	}
	want := fate(1, false)
	if got := fate(1, true); !slices.Equal(got, want) {
		t.Error("noise changed the fate")
	}
	if got := fate(2, false); slices.Equal(got, want) {
		t.Error("another seed did not")
	}
}

func TestPacketCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		a, b := ends(t, n)
		for _, tt := range []struct {
			name        string
			do          func()
			there, back int
		}{
			{"whole", func() {}, 1, 1},
			{"one way", func() { n.Cut("10.0.0.1", "10.0.0.2") }, 0, 1},
			{"healed", n.Heal, 1, 1},
			{"split", func() { n.Split("10.0.0.2") }, 0, 0},
			{"healed again", n.Heal, 1, 1},
		} {
			tt.do()
			sendMany(a, b, 1)
			sendMany(b, a, 1)
			if there, back := len(drain(b)), len(drain(a)); there != tt.there || back != tt.back {
				t.Errorf("%s: got %d there and %d back", tt.name, there, back)
			}
		}
	})
}

func TestPacketErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		a, b := ends(t, n)
		sendMany(a, b, maxUnread+10)
		if got := len(drain(b)); got != maxUnread {
			t.Errorf("got %d packets, want %d", got, maxUnread)
		}
		nowhere := &net.UDPAddr{IP: net.IPv4(10, 0, 0, 9), Port: 1}
		if _, err := a.WriteTo([]byte("x"), nowhere); err != nil {
			t.Errorf("to an address that no host has: %v", err)
		}
		if _, err := a.WriteTo(make([]byte, maxPacket+1), b.LocalAddr()); err == nil {
			t.Error("a packet too long was sent")
		}
		a.SetDeadline(time.Now().Add(time.Second))
		if _, _, err := a.ReadFrom(nil); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := n.Host("10.0.0.1").ListenPacket(":1"); err == nil {
			t.Error("a port in use was given out")
		}
		a.SetDeadline(time.Time{})
		go func() {
			time.Sleep(time.Second)
			a.Close()
		}()
		if _, _, err := a.ReadFrom(nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
		if _, err := a.WriteTo(nil, b.LocalAddr()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
		if err := a.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

package cluster

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster/memnet"
)

func TestThreeNodesMeet(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, _, _ := r.three()
		want := []Member{
			{Name: "a", Addr: "10.0.0.1:7946", Incarnation: 1, Self: true},
			{Name: "b", Addr: "10.0.0.2:7946", Incarnation: 2},
			{Name: "c", Addr: "10.0.0.3:7946", Incarnation: 3},
		}
		if got := a.Members(); !slices.Equal(got, want) {
			r.Errorf("got %v, want %v", got, want)
		}
		got := a.told()
		slices.Sort(got)
		if want := []string{"link up b/2", "link up c/3", "member up b/2", "member up c/3"}; !slices.Equal(got, want) {
			r.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestLoneNodeKeepsLooking(t *testing.T) {
	inBubble(t, func(r *rig) {
		b := r.start("b", "10.0.0.2", 2, "10.0.0.1")
		time.Sleep(time.Hour)
		a := r.start("a", "10.0.0.1", 1)
		r.within(6*time.Second, "they meet", func() bool { return a.linked(2) && b.linked(1) })
	})
}

func TestFramesArriveInOrder(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.net.SetFaults(memnet.Faults{Delay: time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.1})
		a, b, _ := r.three()
		var want []string
		for i := range 500 {
			f := fmt.Sprint(i)
			if !a.Send(2, []byte(f)) {
				r.Fatalf("frame %d was not taken", i)
			}
			want = append(want, "1:"+f)
			if i%50 == 0 {
				time.Sleep(7 * time.Millisecond)
			}
		}
		r.within(30*time.Second, "all frames are there", func() bool { return len(b.got()) == 500 })
		if got := b.got(); !slices.Equal(got, want) {
			r.Errorf("got %v, want %v", got, want)
		}
		s := a.Links()[0]
		if s.Name != "b" || !s.Open || s.FramesOut != 500 || s.BytesOut != 500*4+10+90*2+400*3 || s.Reconnects != 0 {
			r.Errorf("got %+v", s)
		}
		if s := b.Links()[0]; s.Name != "a" || s.FramesIn != 500 || s.BytesIn != 500*4+10+90*2+400*3 {
			r.Errorf("got %+v", s)
		}
	})
}

func TestLargestFrame(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, _ := r.three()
		big := make([]byte, MaxFrame)
		for i := range big {
			big[i] = byte(i * 7)
		}
		if !a.Send(2, big) {
			r.Fatal("a frame of MaxFrame bytes was not taken")
		}
		for _, bad := range [][]byte{nil, {}, make([]byte, MaxFrame+1)} {
			if a.Send(2, bad) {
				r.Errorf("a frame of %d bytes was taken", len(bad))
			}
		}
		r.within(time.Second, "it is there", func() bool { return len(b.got()) == 1 })
		if got := b.got()[0]; got != "1:"+string(big) {
			r.Error("it is not what was sent")
		}
	})
}

func TestDeadMember(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, c := r.three()
		a.hush()
		c.kill()
		r.within(3*time.Second, "the dead is noticed", func() bool { return a.state(3) == "dead" && b.state(3) == "dead" })
		if got, want := a.told(), []string{"link down c/3", "member down c/3"}; !slices.Equal(got, want) {
			r.Errorf("got %v, want %v", got, want)
		}
		if a.Send(3, []byte("x")) {
			r.Error("a frame for the dead was taken")
		}
		if n := a.log.count("member down", "name=c", "state=dead"); n != 1 {
			r.Errorf("got %d lines in the log", n)
		}
	})
}

func TestGoodbye(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, c := r.three()
		a.hush()
		c.Send(1, []byte("last"))
		start := time.Now()
		if err := c.Close(r.Context()); err != nil {
			r.Errorf("Close: %v", err)
		}
		if d := time.Since(start); d > 2*time.Second {
			r.Errorf("Close took %v", d)
		}
		if got, want := a.got(), []string{"3:last"}; !slices.Equal(got, want) {
			r.Errorf("got %v, want %v", got, want)
		}
		if got, want := a.told(), []string{"link down c/3", "member down c/3"}; !slices.Equal(got, want) {
			r.Errorf("got %v, want %v", got, want)
		}
		if a.state(3) != "left" || b.state(3) != "left" {
			r.Errorf("got %s, %s, want left", a.state(3), b.state(3))
		}
		if err := c.Close(context.Background()); err != nil {
			r.Errorf("second Close: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if got := a.state(3); got != "unknown" {
			r.Errorf("two minutes later it is %s", got)
		}
	})
}

// A process killed and started again under its name and address is a member
// again at once, whether it knows the others or they have to find it.
func TestRestart(t *testing.T) {
	for _, tt := range []struct {
		name  string
		seeds []string
		after time.Duration
		limit time.Duration
	}{
		{"at once, it has seeds", []string{"10.0.0.1"}, 0, time.Second},
		{"at once, it is the seed", nil, 0, time.Second}, // refused links tell, before probes do
		{"half a second later, it is the seed", nil, 500 * time.Millisecond, 5 * time.Second},
		{"a minute later, it has seeds", []string{"10.0.0.1"}, time.Minute, time.Second},
		{"a minute later, it is the seed", nil, time.Minute, 6 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				a, b, c := r.three()
				time.Sleep(10 * time.Second) // until gossip about them is over
				a.hush()
				b.hush()
				c.host.Crash()
				time.Sleep(tt.after)
				c2 := r.start("c", "10.0.0.3", 33, tt.seeds...)
				r.within(tt.limit, "it is back", func() bool {
					return slices.Contains(a.told(), "link up c/33") && slices.Contains(b.told(), "link up c/33") &&
						slices.Contains(c2.told(), "link up a/1")
				})
				if got, want := slices.Compact(a.told()), []string{"link down c/3", "member down c/3", "member up c/33", "link up c/33"}; !inOrder(got, want) {
					r.Errorf("got %v, want %v", got, want)
				}
				c2.Send(1, []byte("hello"))
				r.within(time.Second, "its frames count", func() bool { return slices.Equal(a.got(), []string{"33:hello"}) })
				r.within(10*time.Second, "the old one is forgotten", func() bool { return a.state(3) == "unknown" })
			})
		})
	}
}

func TestPartitionHeals(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, c := r.three()
		d := r.start("d", "10.0.0.4", 4, "10.0.0.3")
		r.within(5*time.Second, "the fourth is there", func() bool { return a.linked(2, 3, 4) && d.linked(1, 2, 3) })
		r.net.Split("10.0.0.1", "10.0.0.2")
		time.Sleep(10 * time.Minute)
		if !a.linked(2) || !b.linked(1) || !c.linked(4) || !d.linked(3) {
			r.Errorf("apart: %v", a.told())
		}
		r.net.Heal()
		r.within(8*time.Second, "all are together", func() bool {
			return a.linked(2, 3, 4) && b.linked(1, 3, 4) && c.linked(1, 2, 4) && d.linked(1, 2, 3)
		})
		if got := a.Links()[1].Reconnects; got != 1 {
			r.Errorf("got %d reconnects of c", got)
		}
	})
}

// A node whose seeds are gone is found, and finds, by the addresses of those
// that were lost.
func TestPartitionHealsWithoutSeeds(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, c := r.three()
		d := r.start("d", "10.0.0.4", 4, "10.0.0.3")
		r.within(5*time.Second, "the fourth is there", func() bool { return d.linked(1, 2, 3) })
		c.kill()
		r.within(5*time.Second, "the third is gone", func() bool { return d.linked(1, 2) })
		r.net.Split("10.0.0.4")
		time.Sleep(10 * time.Minute)
		r.net.Heal()
		r.within(20*time.Second, "the rest are together", func() bool {
			return a.linked(2, 4) && b.linked(1, 4) && d.linked(1, 2)
		})
	})
}

// Membership goes on while packets cannot reach one node from another.
func TestOneWayCut(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, c := r.three()
		r.net.Cut("10.0.0.1", "10.0.0.2")
		time.Sleep(time.Minute)
		r.net.Heal()
		r.within(8*time.Second, "all are together", func() bool {
			return a.linked(2, 3) && b.linked(1, 3) && c.linked(1, 2)
		})
	})
}

func TestSameNameTwice(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, _, _ := r.three()
		twin := r.start("b", "10.0.0.9", 9, "10.0.0.1")
		time.Sleep(time.Minute)
		if a.state(2) != "alive" || a.state(9) != "alive" || !a.linked(2, 3, 9) || !twin.linked(1, 2, 3) {
			r.Errorf("got %v", a.Members())
		}
		if n := a.log.count("level=ERROR", "one name"); n != 2 {
			r.Errorf("got %d lines in the log, want one for each:\n%s", n, a.log)
		}
		if n := twin.log.count("level=ERROR", "one name"); n != 1 {
			r.Errorf("got %d lines in the twin's log:\n%s", n, twin.log)
		}
	})
}

func TestAnotherLabelIsRefused(t *testing.T) {
	for name, keys := range map[string][][]byte{"in clear": nil, "sealed": {key(1)}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.keys = keys
				a, _, _ := r.three()
				n := &node{host: r.net.Host("10.0.0.4"), log: &lines{}}
				r.open(n, Config{
					Name: "x", Label: "other", Bind: ":7946", Transport: n.host, Logger: n.log.logger(), Keys: keys,
					Join: []string{"10.0.0.1:7946"}, Change: n.change,
				})
				time.Sleep(time.Minute)
				if len(n.Members()) != 1 || len(a.Members()) != 3 {
					r.Errorf("got %v and %v", n.Members(), a.Members())
				}
				if got := n.log.warnings("peer=10.0.0.1:7946", "its label"); got != 1 || n.log.warnings() != 1 {
					r.Errorf("got %d warnings:\n%s", got, n.log)
				}
				if got := a.log.warnings("peer=10.0.0.4", "another label"); got != 1 || a.log.warnings() != 1 {
					r.Errorf("got %d warnings:\n%s", got, a.log)
				}
			})
		})
	}
}

func TestIPv6(t *testing.T) {
	inBubble(t, func(r *rig) {
		open := func(name, ip string, incarnation uint64, seed string) *node {
			n := &node{host: r.net.Host(ip), log: &lines{}}
			return r.open(n, Config{
				Name: name, Incarnation: incarnation, Bind: "[" + ip + "]:0", Transport: n.host,
				Join: []string{seed}, Change: n.change,
			})
		}
		a := open("a", "fd00::1", 1, "[fd00::9]:7946")
		b := open("b", "fd00::2", 2, a.Addr())
		r.within(5*time.Second, "they meet", func() bool { return a.linked(2) && b.linked(1) })
		if got, want := a.Addr(), "[fd00::1]:40000"; got != want {
			r.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestCloseIsBounded(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, _ := r.three()
		b.mu.Lock()
		b.stall = make(chan struct{})
		b.mu.Unlock()
		a.Send(2, []byte("stuck"))
		a.Send(2, []byte("behind it"))
		ctx, cancel := context.WithTimeout(r.Context(), 300*time.Millisecond)
		defer cancel()
		start := time.Now()
		if err := a.Close(ctx); err == nil {
			r.Error("a goodbye that was not heard is no error")
		}
		if d := time.Since(start); d > 1500*time.Millisecond {
			r.Errorf("Close took %v", d)
		}
		if a.Send(2, []byte("late")) {
			r.Error("a closed cluster took a frame")
		}
		a.Redial(2)
	})
}

func inOrder(got, want []string) bool {
	for _, g := range got {
		if len(want) > 0 && g == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

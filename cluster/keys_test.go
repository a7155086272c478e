package cluster

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/memberlist"
)

func TestCheckKeys(t *testing.T) {
	many := make([][]byte, maxKeys+1)
	for i := range many {
		many[i] = key(byte(i))
	}
	for _, tt := range []struct {
		keys [][]byte
		word string // "": none is wrong
	}{
		{nil, ""},
		{many[:maxKeys], ""},
		{many, "too many"},
		{[][]byte{key(1), key(1)[:31]}, "cluster key 2 has 31 bytes"},
		{[][]byte{nil}, "cluster key 1 has 0 bytes"},
		{[][]byte{key(1), key(2), key(1)}, "cluster keys 1 and 3 are the same"},
	} {
		err := CheckKeys(tt.keys)
		if tt.word == "" && err != nil || tt.word != "" && (err == nil || !strings.Contains(err.Error(), tt.word)) {
			t.Errorf("%d keys: got %v, want %q", len(tt.keys), err, tt.word)
		}
	}
}

// What is derived of a key is a wire form: it must not change.
func TestRing(t *testing.T) {
	r, err := newRing([][]byte{key(1), key(2)})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%x %x", r.membership[0][:8], r.pins[0][:8])
	if want := "0e9e0f1c474a7925 4edb29127ef8a8eb"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if other, _ := newRing([][]byte{key(2)}); !r.has(other.first()) || other.has(r.first()) || !r.has(r.first()) || r.has(nil) {
		t.Error("a ring does not have its keys and no others")
	}
}

// Whoever reads the keys of memberlist's ring while they change sees no slice
// change under him: the race detector looks on.
func TestInstall(t *testing.T) {
	k := func(names string) (keys [][]byte) {
		for _, n := range names {
			keys = append(keys, key(byte(n)))
		}
		return keys
	}
	r := new(memberlist.Keyring)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			for _, key := range r.GetKeys() {
				n += int(key[0])
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for _, names := range []string{"a", "ab", "ba", "b", "bcde", "bde", "edb", "d", "fg", "gf", "abcdefg", "g"} {
		install(r, k(names))
		got, want := r.GetKeys(), k(names)
		if !bytes.Equal(got[0], want[0]) {
			t.Errorf("%s: %c seals", names, got[0][0])
		}
		less := func(a, b []byte) int { return bytes.Compare(a, b) }
		if got := slices.SortedFunc(slices.Values(got), less); !slices.EqualFunc(got, slices.SortedFunc(slices.Values(want), less), bytes.Equal) {
			t.Errorf("%s: got %d keys", names, len(got))
		}
	}
	close(stop)
	wg.Wait()
}

func TestSetKeysFaults(t *testing.T) {
	inBubble(t, func(r *rig) {
		a := r.start("a", "10.0.0.1", 1)
		if a.SetKeys([][]byte{key(1)}) == nil {
			r.Error("a node in clear took a key")
		}
		r.keys = [][]byte{key(1)}
		b := r.start("b", "10.0.0.2", 2)
		for _, keys := range [][][]byte{nil, {}, {key(2)[1:]}, {key(2), key(2)}} {
			if b.SetKeys(keys) == nil {
				r.Errorf("%d keys were taken", len(keys))
			}
		}
		if !b.ring.Load().pins[0].Equal(mustRing(r, key(1)).first()) {
			r.Error("keys that were refused count")
		}
		late := &inbound{conn: &sealed{pin: mustRing(r, key(9)).first()}}
		if _, ok := b.admit(9, late); ok {
			r.Error("a stream is admitted whose key was dropped since its handshake")
		}
		if a.log.warnings() != 0 || a.log.count("level=WARN", "no cluster key", "stint keygen") != 1 || b.log.count("level=WARN") != 0 {
			r.Errorf("got the logs\n%s\n%s", a.log, b.log)
		}
	})
}

func mustRing(t interface{ Fatal(...any) }, keys ...[]byte) *ring {
	r, err := newRing(keys)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A key is replaced on three nodes while frames flow from each to each other:
// all arrive, in order, and nobody notices. In the end the old key is worth nothing.
func TestRotation(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.keys = [][]byte{key(1)}
		a, b, c := r.three()
		nodes := []*node{a, b, c}
		for _, n := range nodes {
			n.hush()
		}
		stop := make(chan struct{})
		sent := make(map[string]int) // "from>to": frames
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ; ; time.Sleep(time.Millisecond) {
				select {
				case <-stop:
					return
				default:
				}
				for _, from := range nodes {
					for _, to := range nodes {
						if from == to {
							continue
						}
						pair := fmt.Sprint(from.Incarnation(), ">", to.Incarnation())
						if !from.Send(to.Incarnation(), fmt.Append(nil, pair, " ", sent[pair])) {
							r.Errorf("%s: frame %d was not taken", pair, sent[pair])
						}
						sent[pair]++
					}
				}
			}
		}()
		for step, keys := range [][][]byte{{key(1), key(2)}, {key(2), key(1)}, {key(2)}} {
			for _, n := range nodes {
				if err := n.SetKeys(keys); err != nil {
					r.Error(err)
				}
				time.Sleep(time.Second)
			}
			if a.Links()[0].Reconnects == 0 && step > 0 {
				r.Errorf("step %d: the links still use the old key", step)
			}
		}
		close(stop)
		<-done
		synctest.Wait()
		for _, to := range nodes {
			got := map[string]int{}
			for _, f := range to.got() {
				_, f, _ = strings.Cut(f, ":")
				pair, n, _ := strings.Cut(f, " ")
				if n != fmt.Sprint(got[pair]) {
					r.Fatalf("%s: got frame %s, want %d", pair, n, got[pair])
				}
				got[pair]++
			}
			for pair, n := range got {
				if n != sent[pair] {
					r.Errorf("%s: got %d frames, want %d", pair, n, sent[pair])
				}
			}
			if len(got) != 2 || to.log.warnings() != 0 || len(to.told()) != 0 {
				r.Errorf("%s: frames of %d peers, events %v, log\n%s", to.cfg.Name, len(got), to.told(), to.log)
			}
		}
		r.keys = [][]byte{key(1)}
		r.start("late", "10.0.0.4", 4, "10.0.0.1")
		time.Sleep(10 * time.Second)
		if len(a.Members()) != 3 {
			r.Errorf("the old key is still good: %v", a.Members())
		}
		r.keys = [][]byte{key(2)}
		r.start("new", "10.0.0.5", 5, "10.0.0.1")
		r.within(10*time.Second, "the new key is good", func() bool { return a.linked(5) || len(a.Members()) == 4 })
	})
}

// A node that lags behind is shut out, streams that live included, and let in
// again when it follows.
func TestRotationThatLeavesOneBehind(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.keys = [][]byte{key(1)}
		a, b, c := r.three()
		for _, keys := range [][][]byte{{key(1), key(2)}, {key(2), key(1)}, {key(2)}} {
			a.SetKeys(keys)
			b.SetKeys(keys)
			time.Sleep(time.Second)
		}
		r.within(10*time.Second, "c is out", func() bool { return a.linked(2) && b.linked(1) })
		c.Send(1, []byte("of yesterday"))
		time.Sleep(time.Minute)
		if len(a.got()) != 0 || a.log.warnings("does not accept our cluster key") == 0 || a.log.warnings() > 4 {
			r.Errorf("got %v and the log\n%s", a.got(), a.log)
		}
		c.SetKeys([][]byte{key(2)})
		r.within(10*time.Second, "c is back", func() bool { return a.linked(2, 3) && b.linked(1, 3) && c.linked(1, 2) })
	})
}

// Keys change while a link is being dialled, broken and closed.
func TestRotationAmidRedials(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.keys = [][]byte{key(1), key(2)}
		a, b, _ := r.three()
		for i := range 50 {
			keys := [][]byte{key(byte(1 + i%2)), key(byte(2 - i%2))}
			a.SetKeys(keys)
			if i%3 == 0 {
				a.Redial(2)
			}
			if i%5 == 0 {
				b.SetKeys(keys)
				r.net.BreakStreams(a.ip, b.ip)
			}
			time.Sleep(time.Duration(i) * time.Millisecond)
		}
		r.within(10*time.Second, "the links are open", func() bool { return a.linked(2, 3) && b.linked(1, 3) })
		a.hush()
		b.hush()
		a.Send(2, []byte("x"))
		r.within(time.Second, "frames go on", func() bool { return slices.Equal(b.got(), []string{"1:x"}) })
		a.SetKeys([][]byte{key(2), key(1)})
		a.SetKeys([][]byte{key(1), key(2)})
		a.Close(r.Context())
		r.within(time.Second, "the goodbye is heard", func() bool { return b.state(1) == "left" })
	})
}

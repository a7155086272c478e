package cluster

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRedial(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, _ := r.three()
		a.hush()
		for i := range 9 {
			a.Redial(2)
			r.within(2*firstBackoff, "a new stream is open", func() bool { return a.Links()[0].Reconnects == int64(i+1) && a.linked(2) })
			time.Sleep(time.Millisecond)
		}
		want := strings.Repeat("link down b/2,link up b/2,", 9)
		if got := strings.Join(a.told(), ",") + ","; got != want {
			r.Errorf("got %s, want %s", got, want)
		}
		a.Redial(99)
		a.Send(2, []byte("x"))
		r.within(time.Second, "frames go on", func() bool { return slices.Equal(b.got(), []string{"1:x"}) })
	})
}

func TestBrokenStreamIsRedialled(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, _ := r.three()
		a.hush()
		r.net.BreakStreams(a.ip, b.ip)
		r.within(time.Second, "both are open again", func() bool {
			return a.linked(2) && a.Links()[0].Reconnects == 1 && b.Links()[0].Reconnects == 1
		})
		if got, want := a.told(), []string{"link down b/2", "link up b/2"}; !slices.Equal(got, want) {
			r.Errorf("got %v, want %v", got, want)
		}
	})
}

// A peer whose Frame does not return fills its own link only; the sender
// redials after the write time-out, and goes on when the peer does.
func TestSlowReader(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, c := r.three()
		stall := make(chan struct{})
		b.mu.Lock()
		b.stall = stall
		b.mu.Unlock()
		frame := make([]byte, 64<<10)
		start, taken := time.Now(), 0
		for a.Send(2, frame) {
			if taken++; taken > 1000 {
				r.Fatal("the queue has no bound")
			}
		}
		if d := time.Since(start); d != 0 {
			r.Errorf("Send blocked for %v", d)
		}
		if s := a.Links()[0]; s.QueuedBytes > maxQueueBytes || s.Queued == 0 {
			r.Errorf("got %+v", s)
		}
		a.Send(3, []byte("free"))
		r.within(time.Second, "another link is free", func() bool { return slices.Equal(c.got(), []string{"1:free"}) })
		r.within(writeTimeout+5*time.Second, "the stream is given up", func() bool { return slices.Contains(a.told(), "link down b/2") })
		if n := a.log.count("level=WARN", "does not take what we send", "peer=b"); n != 1 {
			r.Errorf("got %d warnings", n)
		}
		time.Sleep(time.Minute)
		b.mu.Lock()
		b.stall = nil
		b.mu.Unlock()
		close(stall)
		b.hush()
		r.within(5*time.Second, "it is open again", func() bool { return a.linked(2, 3) && a.Send(2, []byte("on")) })
		r.within(time.Second, "frames go on", func() bool { return slices.Contains(b.got(), "1:on") })
	})
}

// Frames in the hands of a slow callback come before those of a newer stream,
// and one at a time.
func TestOneFrameAtATime(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, _ := r.three()
		stall := make(chan struct{})
		b.mu.Lock()
		b.stall = stall
		b.mu.Unlock()
		a.Send(2, []byte("1"))
		synctest.Wait()
		a.Redial(2)
		time.Sleep(time.Second)
		if got, want := b.got(), []string{"1:1"}; !slices.Equal(got, want) {
			r.Errorf("got %v, want %v", got, want)
		}
		b.mu.Lock()
		b.stall = nil
		b.mu.Unlock()
		close(stall)
		r.within(5*time.Second, "the new stream is open", func() bool { return a.linked(2, 3) })
		a.Send(2, []byte("2"))
		synctest.Wait()
		if got, want := b.got(), []string{"1:1", "1:2"}; !slices.Equal(got, want) {
			r.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestGarbage(t *testing.T) {
	hello := preamble{from: 77, to: 1, label: "test", name: "x"}
	edit := func(f func(p *preamble)) string {
		p := hello
		f(&p)
		return string(p.encode())
	}
	length := func(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }
	for _, tt := range []struct {
		name   string
		send   string
		answer answer // 0: none
		log    string // of the one warning
		frames []string
	}{
		{"nothing", "", 0, "", nil},
		{"a sealed link", "\xD2\x16\x03\x01", 0, "it is sealed", nil},
		{"sealed membership", "\xD3\x16\x03\x01", 0, "it is sealed", nil},
		{"a web browser", "GET / HTTP/1.1\r\n\r\n", 0, "another label", nil},
		{"half a preamble", string(hello.encode()[:9]), 0, "malformed", nil},
		{"version 0", "\xD1\x00\x00\x20", answerVersion, "malformed", nil},
		{"a preamble too short", "\xD1\x01\x00\x05aaaaa", answerMalformed, "malformed", nil},
		{"a preamble too long", "\xD1\x01\xff\xff", answerMalformed, "malformed", nil},
		{"strings longer than the preamble", "\xD1\x01\x00\x12" + strings.Repeat("\xff", 18), answerMalformed, "malformed", nil},
		{"no name", edit(func(p *preamble) { p.name = "" }), answerMalformed, "malformed", nil},
		{"no incarnation", edit(func(p *preamble) { p.from = 0 }), answerMalformed, "malformed", nil},
		{"our own incarnation", edit(func(p *preamble) { p.from = 1 }), answerStranger, "", nil},
		{"for another", edit(func(p *preamble) { p.to = 5 }), answerStranger, "", nil},
		{"another label", edit(func(p *preamble) { p.label = "x" }), answerLabel, "another label", nil},
		{"a huge frame", string(hello.encode()) + length(1<<31), answerWelcome, "too large", nil},
		{"half a frame", string(hello.encode()) + length(9) + "abc", answerWelcome, "", nil},
		{"a frame, then half a length", string(hello.encode()) + length(3) + "abc" + "\x00", answerWelcome, "", []string{"77:abc"}},
		{"a handover of a stranger", string(hello.encode()) + length(handover), answerWelcome, "", nil},
		{"a goodbye of a stranger", string(hello.encode()) + length(0), answerWelcome, "", nil},
		{"a later protocol", "\xD1\x02\x00\x1c" + string(hello.encode()[4:]) + "later", answerWelcome, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				a := r.start("a", "10.0.0.1", 1)
				for range 2 {
					got, err := say(r, a.Addr(), tt.send)
					if err != nil {
						r.Error(err)
					}
					want := answers(tt.answer)
					switch {
					case tt.name == "a handover of a stranger":
						want += answers(answerTaken)
					case strings.Contains(tt.name, "sealed"):
						want = noHandshake
					}
					if got != want {
						r.Errorf("got answer %q, want %q", got, want)
					}
				}
				warnings := 0
				if tt.log != "" {
					warnings = 1
				}
				if a.log.warnings() != warnings || a.log.warnings(tt.log) != warnings {
					r.Errorf("got the log\n%s", a.log)
				}
				if got, want := a.got(), append(tt.frames, tt.frames...); !slices.Equal(got, want) {
					r.Errorf("got %v, want %v", got, want)
				}
				if peers, streams := a.held(); peers != 0 || streams != 0 {
					r.Errorf("%d peers and %d streams stay", peers, streams)
				}
			})
		})
	}
}

// held counts what strangers make a node keep.
func (n *node) held() (peers, streams int) {
	n.Cluster.mu.Lock()
	defer n.Cluster.mu.Unlock()
	n.wire.mu.Lock()
	defer n.wire.mu.Unlock()
	return len(n.peers), n.wire.accepted
}

func answers(a answer) string {
	if a == 0 {
		return ""
	}
	return string([]byte{byte(a)})
}

// say writes to a node, ends its side and returns what came back.
func say(r *rig, addr, what string) (string, error) {
	conn, err := r.net.Host("10.9.9.9").Dial(context.Background(), addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(what)); err != nil {
		return "", err
	}
	conn.(interface{ CloseWrite() error }).CloseWrite()
	b, err := io.ReadAll(conn)
	synctest.Wait()
	return string(b), err
}

// Whoever connects and says nothing, or half a preamble, is dropped, and is not
// let in without bound meanwhile.
func TestSilentStreamsEnd(t *testing.T) {
	for _, tt := range []struct {
		name  string
		keys  [][]byte
		says  string
		hosts int
		want  int
	}{
		{"silence, from one address", nil, "", 1, maxFreshHost},
		{"silence, from many", nil, "", 20, maxFresh},
		{"half a preamble", nil, "\xD1\x01", 20, maxStreams},
		{"half a handshake, from one address", [][]byte{key(1)}, "\xD2\x16\x03\x01\x10\x00", 1, maxFreshHost},
		{"half a handshake, from many", [][]byte{key(1)}, "\xD3\x16\x03\x01\x10\x00", 20, maxFresh},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.keys = tt.keys
				a := r.start("a", "10.0.0.1", 1)
				for i := range maxStreams + 10 {
					c, err := r.net.Host(fmt.Sprint("10.9.9.", 1+i%tt.hosts)).Dial(r.Context(), a.Addr())
					if err != nil {
						r.Fatal(err)
					}
					defer c.Close()
					c.Write([]byte(tt.says))
					synctest.Wait()
				}
				if _, got := a.held(); got != tt.want {
					r.Errorf("got %d streams, want %d", got, tt.want)
				}
				time.Sleep(firstTimeout + time.Second)
				if _, got := a.held(); got != 0 || a.wire.fresh != 0 || len(a.wire.hosts) != 0 {
					r.Errorf("got %d streams, %d of them fresh, from %v, want none", got, a.wire.fresh, a.wire.hosts)
				}
			})
		})
	}
}

// A peer that speaks where it should listen is cut off.
func TestPeerThatSpeaks(t *testing.T) {
	near, far := net.Pipe()
	l := &link{count: &counters{}, wake: make(chan struct{}, 1), ctx: t.Context()}
	go far.Write([]byte("x"))
	if err := l.pump(near); err != errSpoke {
		t.Errorf("got %v, want %v", err, errSpoke)
	}
	far.Close()
}

func TestBackoff(t *testing.T) {
	for tries := range 100 {
		d := backoff(tries)
		if d < firstBackoff/2 || d > maxBackoff || tries > 6 && d < maxBackoff/2 {
			t.Errorf("pause %d is %v", tries, d)
		}
	}
}

func TestAnswersHaveWords(t *testing.T) {
	for _, a := range []answer{1, 2, 3, 4, 5, 6, 7, answerTaken} {
		if strings.HasPrefix(a.String(), "answer") {
			t.Errorf("answer %d has none", a)
		}
	}
	if got, want := (refused{answer(99)}).Error(), "link refused: answer 99"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := fmt.Sprint(EventKind(99), State(99)), "EventKind(99) State(99)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

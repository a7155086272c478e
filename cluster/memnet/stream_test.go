package memnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// connect gives both ends of a stream from 10.0.0.1 to 10.0.0.2.
func connect(t *testing.T, n *Network) (near, far net.Conn) {
	t.Helper()
	l, err := n.Host("10.0.0.2").Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err = n.Host("10.0.0.1").Dial(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return near, far
}

func TestStreamKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(3)
		n.SetFaults(Faults{Loss: 0.1, Delay: 5 * time.Millisecond, Jitter: 50 * time.Millisecond})
		near, far := connect(t, n)
		want := make([]byte, 3*window)
		for i := range want {
			want[i] = byte(i * 31 >> 3)
		}
		go func() {
			for b := want; len(b) > 0; b = b[min(len(b), 1000):] {
				near.Write(b[:min(len(b), 1000)])
			}
			near.Close()
		}()
		got, err := io.ReadAll(far)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
		}
	})
}

func TestStreamDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		n.SetFaults(Faults{Delay: 30 * time.Millisecond})
		start := time.Now()
		near, far := connect(t, n)
		if d := time.Since(start); d != 60*time.Millisecond {
			t.Errorf("dialling took %v", d)
		}
		start = time.Now()
		near.Write([]byte("x"))
		far.Read(make([]byte, 1))
		if d := time.Since(start); d != 30*time.Millisecond {
			t.Errorf("a byte took %v", d)
		}
	})
}

func TestStreamAcrossACut(t *testing.T) {
	for _, tt := range []struct {
		name string
		cut  func(n *Network)
	}{
		{"both ways", func(n *Network) { n.Split("10.0.0.1") }},
		{"there", func(n *Network) { n.Cut("10.0.0.1", "10.0.0.2") }},
		{"back", func(n *Network) { n.Cut("10.0.0.2", "10.0.0.1") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := New(1)
				near, far := connect(t, n)
				near.Write([]byte("before"))
				time.Sleep(time.Second)
				tt.cut(n)
				time.Sleep(time.Second)
				near.Write([]byte(" and after"))
				near.Close()
				b := make([]byte, 100)
				if n, err := far.Read(b); string(b[:n]) != "before" {
					t.Errorf("got %q, %v", b[:n], err)
				}
				far.SetReadDeadline(time.Now().Add(time.Hour))
				if _, err := far.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("got %v", err)
				}
				far.SetReadDeadline(time.Time{})
				start := time.Now()
				time.AfterFunc(time.Minute, n.Heal)
				rest, err := io.ReadAll(far)
				if string(rest) != " and after" || err != nil || time.Since(start) != time.Minute {
					t.Errorf("got %q, %v after %v", rest, err, time.Since(start))
				}
			})
		})
	}
}

func TestWriteBlocksWithoutReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		near, far := connect(t, n)
		near.SetWriteDeadline(time.Now().Add(time.Second))
		k, err := near.Write(make([]byte, 2*window))
		var timeout net.Error
		if k != window || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("wrote %d, %v", k, err)
		}
		near.SetWriteDeadline(time.Time{})
		go io.CopyN(io.Discard, far, window+10)
		if _, err := near.Write(make([]byte, 10)); err != nil {
			t.Errorf("with a reader: %v", err)
		}
	})
}

func TestStreamEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(n *Network, far net.Conn)
		read error // of the near side
		far  error // of the far side's read
	}{
		{"close", func(n *Network, far net.Conn) { far.Close() }, io.EOF, net.ErrClosed},
		{"break", func(n *Network, far net.Conn) { n.BreakStreams("10.0.0.2", "10.0.0.1") }, syscall.ECONNRESET, syscall.ECONNRESET},
		{"crash", func(n *Network, far net.Conn) { n.Host("10.0.0.2").Crash() }, syscall.ECONNRESET, syscall.ECONNRESET},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := New(1)
				near, far := connect(t, n)
				time.AfterFunc(time.Second, func() { tt.end(n, far) })
				if _, err := near.Read(make([]byte, 1)); !errors.Is(err, tt.read) {
					t.Errorf("near read: got %v, want %v", err, tt.read)
				}
				if _, err := near.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("near write: got %v", err)
				}
				if _, err := far.Read(make([]byte, 1)); !errors.Is(err, tt.far) {
					t.Errorf("far read: got %v, want %v", err, tt.far)
				}
				near.Close()
				if err := near.Close(); !errors.Is(err, net.ErrClosed) {
					t.Errorf("second close: %v", err)
				}
				for ip, h := range n.hosts {
					if len(h.conns)+len(h.listeners)+len(h.packets) > 1 {
						t.Errorf("%s keeps %d streams", ip, len(h.conns))
					}
				}
			})
		})
	}
}

func TestHalfClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := connect(t, New(1))
		near.Write([]byte("ask"))
		near.(interface{ CloseWrite() error }).CloseWrite()
		if _, err := near.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("got %v", err)
		}
		if got, err := io.ReadAll(far); string(got) != "ask" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		far.Write([]byte("answer"))
		far.Close()
		if got, err := io.ReadAll(near); string(got) != "answer" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestDial(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(n *Network)
		addr string
		want error
		took time.Duration
	}{
		{"somebody", func(*Network) {}, "10.0.0.2:1", nil, 2 * time.Second},
		{"nobody at the port", func(*Network) {}, "10.0.0.2:2", syscall.ECONNREFUSED, 2 * time.Second},
		{"no such host", func(*Network) {}, "10.0.0.3:1", context.DeadlineExceeded, time.Minute},
		{"a crashed host", func(n *Network) { n.Host("10.0.0.2").Crash() }, "10.0.0.2:1", syscall.ECONNREFUSED, 2 * time.Second},
		{"across a cut", func(n *Network) { n.Cut("10.0.0.2", "10.0.0.1") }, "10.0.0.2:1", context.DeadlineExceeded, time.Minute},
		{"across a cut that heals", func(n *Network) {
			n.Split("10.0.0.2")
			time.AfterFunc(10*time.Second, n.Heal)
		}, "10.0.0.2:1", nil, 12 * time.Second},
		{"a cut on the way", func(n *Network) {
			time.AfterFunc(time.Second, func() { n.Split("10.0.0.2") })
		}, "10.0.0.2:1", context.DeadlineExceeded, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := New(1)
				n.SetFaults(Faults{Delay: time.Second})
				n.Host("10.0.0.2").Listen("10.0.0.2:1")
				near := n.Host("10.0.0.1")
				tt.do(n)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				start := time.Now()
				_, err := near.Dial(ctx, tt.addr)
				if !errors.Is(err, tt.want) || time.Since(start) != tt.took {
					t.Errorf("got %v after %v, want %v after %v", err, time.Since(start), tt.want, tt.took)
				}
			})
		})
	}
}

func TestListenErrors(t *testing.T) {
	h := New(1).Host("10.0.0.1")
	for _, tt := range []struct {
		addr string
		ok   bool
	}{
		{":1", true}, {":1", false}, {"0.0.0.0:2", true}, {"10.0.0.1:3", true}, {"10.0.0.2:4", false},
		{"host:5", false}, {":x", false}, {"6", false}, {":0", true}, {":0", true},
	} {
		if _, err := h.Listen(tt.addr); (err == nil) != tt.ok {
			t.Errorf("%s: got %v", tt.addr, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a host without an IP address was made")
		}
	}()
	h.net.Host("name")
}

func TestBacklogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		l, _ := n.Host("10.0.0.2").Listen(":1")
		for i := range maxBacklog + 1 {
			_, err := n.Host("10.0.0.1").Dial(t.Context(), "10.0.0.2:1")
			if i < maxBacklog && err != nil || i == maxBacklog && !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("stream %d: %v", i, err)
			}
		}
		l.Close()
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

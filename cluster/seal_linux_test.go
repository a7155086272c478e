package cluster

import (
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSeal sends what 10,000 entries take, a frame of 120,000 bytes, over the
// loopback in clear and sealed, in turn, every 5 ms. The metrics are CPU time of the thread
// that sends and of the one that receives, kernel included, and the ratios.
func BenchmarkSeal(b *testing.B) {
	clear, sealed := newCourse(b, nil), newCourse(b, linkSealer(mustRing(b, key(1))))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	frame := make([]byte, 120_000)
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for b.Loop() {
		clear.run(b, frame)
		<-pause.C
		sealed.run(b, frame)
		<-pause.C
	}
	micros := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) }
	b.ReportMetric(micros(clear.sending), "µs-send-clear")
	b.ReportMetric(micros(clear.receiving), "µs-recv-clear")
	b.ReportMetric(float64(sealed.sending)/float64(clear.sending), "sealed/clear-send")
	b.ReportMetric(float64(sealed.receiving)/float64(clear.receiving), "sealed/clear-recv")
}

// course is a stream with a reader on a thread of its own.
type course struct {
	w                  *frameWriter
	read               chan time.Duration // of the thread, after each frame
	sending, receiving time.Duration
	before             time.Duration
}

func newCourse(b *testing.B, s *sealer) *course {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	accepted := make(chan net.Conn)
	go func() {
		conn, err := ln.Accept()
		if err == nil && s != nil {
			conn, err = s.seal(conn, false)
		}
		if err != nil {
			b.Error(err)
		}
		accepted <- conn
	}()
	near, err := net.Dial("tcp", ln.Addr().String())
	if err == nil && s != nil {
		near, err = s.seal(near, true)
	}
	if err != nil {
		b.Fatal(err)
	}
	far := <-accepted
	b.Cleanup(func() {
		near.Close()
		far.Close()
	})
	c := &course{w: newFrameWriter(near, writeTimeout), read: make(chan time.Duration)}
	go c.receive(far)
	c.before = <-c.read
	return c
}

func (c *course) receive(conn net.Conn) {
	runtime.LockOSThread()
	defer close(c.read)
	r := newFrameReader(conn)
	for {
		c.read <- threadTime()
		if _, err := r.next(); err != nil {
			return
		}
	}
}

func (c *course) run(b *testing.B, data []byte) {
	start := threadTime()
	if err := c.w.write([]frame{{data}}); err != nil {
		b.Fatal(err)
	}
	c.sending += threadTime() - start
	now := <-c.read
	c.receiving += now - c.before
	c.before = now
}

func threadTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

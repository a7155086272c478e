//go:build linux

package stint_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// fanOutPeers says to a process of this test that it is to be the peers of
// BenchmarkFanOut, of the node at that address, and fanOutSealed that links are sealed.
const (
	fanOutPeers  = "STINT_FAN_OUT_PEERS_OF"
	fanOutSealed = "STINT_FAN_OUT_SEALED"
)

const (
	peersOfFanOut    = 9
	intervalOfFanOut = 50 * time.Millisecond
	youth            = 11 * time.Second // gossip.Config.Grace, and a little
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(fanOutPeers); addr != "" {
		bePeers(addr, os.Getenv(fanOutSealed) != "")
		return
	}
	if addr := os.Getenv(newcomerOf); addr != "" {
		beNewcomer(addr)
		return
	}
	os.Exit(m.Run())
}

// BenchmarkFanOut is a node that spends on 10,000 keys in every 50 ms, out of 100,000,
// and tells nine peers, over real sockets on the loopback; and one that does the same over
// links that a cluster key seals with TLS, in turns of half a second. An operation is a
// turn of each. The peers of each share a process of their own, so that the kernel's
// accounts tell both sides apart. The metrics are CPU time as a share of one core: of the
// sender, all it does but the takes; of one receiver, a ninth of all that its process does.
// sealed/clear is the median of all pairs of turns. They mean something if the machine
// kept up: an operation took little more than a second, and no link was redialled.
// It begins when the senders are no longer young: till then a node keeps its log for those
// who may come, which costs it half as much again.
func BenchmarkFanOut(b *testing.B) {
	born := time.Now()
	clear, sealed := openFanOut(b, false), openFanOut(b, true)
	time.Sleep(time.Until(born.Add(youth)))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var sending, receiving []float64
	for b.Loop() {
		sent, received := clear.turn(b)
		sentSealed, receivedSealed := sealed.turn(b)
		sending = append(sending, float64(sentSealed)/float64(sent))
		receiving = append(receiving, float64(receivedSealed)/float64(received))
	}
	b.ReportMetric(median(sending), "sealed/clear-sender")
	b.ReportMetric(median(receiving), "sealed/clear-receiver")
	clear.report(b, "")
	sealed.report(b, "-sealed")
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// fanOut is one sender of BenchmarkFanOut, and its accounts.
type fanOut struct {
	node                   *stint.Node
	limiter                *stint.Limiter
	keys                   []string
	peers                  func() time.Duration // CPU time of their process
	next, intervals        int
	sent, received, taking time.Duration
}

func openFanOut(b *testing.B, sealed bool) *fanOut {
	const keys = 100_000
	n, err := stint.Open(fanOutConfig("sender", sealed))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { n.Close(gone()) })
	f := &fanOut{node: n, limiter: n.Limiter(stint.PerDay(1_000_000).WithName("user")), keys: make([]string, keys)}
	for i := range f.keys {
		f.keys[i] = fmt.Sprint("user:", i)
	}
	f.peers = startPeers(b, n.Addr(), sealed)
	f.peers()
	return f
}

// turn spends for half a second and waits until all is acknowledged. It returns the CPU
// time of sender and receivers.
func (f *fanOut) turn(b *testing.B) (sent, received time.Duration) {
	const entries, turn = 10_000, 10
	sent, received = used(syscall.RUSAGE_SELF), f.peers()
	tick := time.NewTicker(intervalOfFanOut)
	defer tick.Stop()
	taking := time.Duration(0)
	for range turn {
		start := used(syscall.RUSAGE_THREAD)
		for range entries {
			f.limiter.Allow(f.keys[f.next])
			f.next = (f.next + 1) % len(f.keys)
		}
		taking += used(syscall.RUSAGE_THREAD) - start
		<-tick.C
	}
	<-tick.C // what was taken last is drained by now
	await(b, 10*time.Second, "all is told", func() bool { return inStep(f.node) })
	sent, received = used(syscall.RUSAGE_SELF)-sent-taking, f.peers()-received
	f.intervals += turn
	f.sent, f.received, f.taking = f.sent+sent, f.received+received, f.taking+taking
	return sent, received
}

func (f *fanOut) report(b *testing.B, kind string) {
	percent := func(d time.Duration) float64 {
		return 100 * float64(d) / float64(time.Duration(f.intervals)*intervalOfFanOut)
	}
	b.ReportMetric(percent(f.sent), "%sender"+kind)
	b.ReportMetric(percent(f.received)/peersOfFanOut, "%receiver"+kind)
	b.ReportMetric(percent(f.taking), "%takes"+kind)
	redials := int64(0)
	for _, m := range f.node.Members() {
		redials += m.Reconnects
	}
	b.ReportMetric(float64(redials), "redials"+kind)
}

func fanOutConfig(name string, sealed bool) stint.Config {
	cfg := stint.Config{Name: name, Bind: "127.0.0.1:0", SyncInterval: intervalOfFanOut}
	if sealed {
		cfg.ClusterKeys = [][]byte{bytes.Repeat([]byte{7}, 32)}
	}
	return cfg
}

// startPeers runs the peers in a process and waits until all know each other. It
// returns how to ask for the CPU time of that process.
func startPeers(b *testing.B, addr string, sealed bool) func() time.Duration {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fanOutPeers+"="+addr)
	if sealed {
		cmd.Env = append(cmd.Env, fanOutSealed+"=1")
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	lines := bufio.NewReader(out)
	return func() (cpu time.Duration) {
		fmt.Fprintln(in, "?")
		line, err := lines.ReadString('\n')
		if err == nil {
			cpu, err = time.ParseDuration(strings.TrimSpace(line))
		}
		if err != nil {
			b.Fatalf("asking the peers: %v", err)
		}
		return cpu
	}
}

// bePeers is the process of the peers: it answers each line with the CPU time that it
// has used, the first once all have met.
func bePeers(addr string, sealed bool) {
	var nodes []*stint.Node
	for i := range peersOfFanOut {
		cfg := fanOutConfig(fmt.Sprint("peer-", i), sealed)
		cfg.Join = []string{addr}
		n, err := stint.Open(cfg)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer n.Close(gone())
		nodes = append(nodes, n)
	}
	asked := bufio.NewReader(os.Stdin)
	for {
		if _, err := asked.ReadString('\n'); err != nil {
			if err != io.EOF {
				fmt.Fprintln(os.Stderr, err)
			}
			return
		}
		for _, n := range nodes {
			for n.Stats().Nodes <= peersOfFanOut {
				if err := n.Ready(context.Background()); err != nil {
					return
				}
				runtime.Gosched()
			}
		}
		fmt.Println(used(syscall.RUSAGE_SELF))
	}
}

// used is CPU time, of this process or thread.
func used(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

//go:build linux

package stint_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// fanOutPeers says to a process of this test that it is to be the peers of
// BenchmarkFanOut, of the node at that address.
const fanOutPeers = "STINT_FAN_OUT_PEERS_OF"

const (
	peersOfFanOut = 9
	youth         = 11 * time.Second // gossip.Config.Grace, and a little
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(fanOutPeers); addr != "" {
		bePeers(addr)
		return
	}
	os.Exit(m.Run())
}

// BenchmarkFanOut is a node that spends on 10,000 keys in every 50 ms, out of 100,000,
// and tells nine peers, over real sockets on the loopback. The peers share a process of
// their own, so that the kernel's accounts tell both sides apart. An operation is 50 ms.
// The metrics are CPU time as a share of one core: of the sender, all it does but the
// takes; of one receiver, a ninth of all that its process does. They mean something if
// the machine kept up: an operation took little more than 50 ms, and no link was redialled.
// It begins when the sender is no longer young: till then a node keeps its log for those
// who may come, which costs it half as much again.
func BenchmarkFanOut(b *testing.B) {
	const entries, keys, interval = 10_000, 100_000, 50 * time.Millisecond
	n, err := stint.Open(stint.Config{Name: "sender", Bind: "127.0.0.1:0", SyncInterval: interval})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close(gone())
	l := n.Limiter(stint.PerDay(1_000_000).WithName("user"))
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprint("user:", i)
	}
	born := time.Now()
	receivers := startPeers(b, n.Addr())
	time.Sleep(time.Until(born.Add(youth)))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	intervals, taking := 0, time.Duration(0)
	sent, received := used(syscall.RUSAGE_SELF), receivers()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for b.Loop() {
		start := used(syscall.RUSAGE_THREAD)
		for i := range entries {
			l.Allow(names[(intervals*entries+i)%keys])
		}
		taking += used(syscall.RUSAGE_THREAD) - start
		intervals++
		<-tick.C
	}
	sent, received = used(syscall.RUSAGE_SELF)-sent-taking, receivers()-received
	percent := func(d time.Duration) float64 { return 100 * float64(d) / float64(time.Duration(intervals)*interval) }
	b.ReportMetric(percent(sent), "%sender")
	b.ReportMetric(percent(received)/peersOfFanOut, "%receiver")
	b.ReportMetric(percent(taking), "%takes")
	redials := int64(0)
	for _, m := range n.Members() {
		redials += m.Reconnects
	}
	b.ReportMetric(float64(redials), "redials")
}

// startPeers runs the peers in a process and waits until all know each other. It
// returns how to ask for the CPU time of that process.
func startPeers(b *testing.B, addr string) func() time.Duration {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fanOutPeers+"="+addr)
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
func bePeers(addr string) {
	var nodes []*stint.Node
	for i := range peersOfFanOut {
		n, err := stint.Open(stint.Config{Name: fmt.Sprint("peer-", i), Bind: "127.0.0.1:0", Join: []string{addr}, SyncInterval: 50 * time.Millisecond})
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

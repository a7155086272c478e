//go:build unix

package fleet

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestMain lets this test binary listen in a namespace.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "hear" {
		hear(os.Args[2])
	}
	os.Exit(m.Run())
}

// hear prints the number that each datagram says.
func hear(addr string) {
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("listening")
	for b := make([]byte, size); ; {
		if n, _, err := conn.ReadFrom(b); err == nil {
			fmt.Println(string(b[:n]))
		}
	}
}

func needNet(t *testing.T, slots int) *Net {
	t.Helper()
	n, err := NewNet(slots)
	if errors.Is(err, ErrImpossible) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// ear listens in a slot.
type ear struct {
	net  *Net
	slot int
	said chan string
	runs int // of say
}

const (
	said = 40  // datagrams at a time
	size = 500 // bytes of each
)

func listen(t *testing.T, n *Net, slot int) *ear {
	t.Helper()
	cmd := exec.Command("ip", "netns", "exec", n.space(slot), os.Args[0], "hear", n.Inner(slot)+":9999")
	cmd.SysProcAttr = dieWithUs()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &ear{net: n, slot: slot, said: make(chan string, 1000)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			e.said <- lines.Text()
		}
		cmd.Wait()
	}()
	t.Cleanup(func() { cmd.Process.Kill(); <-done })
	if first := <-e.said; first != "listening" {
		t.Fatal(first)
	}
	return e
}

// hears is how many of 40 datagrams arrive that a slot sends now. It waits for those that
// are wanted, however slow this machine is, and a little longer.
func (e *ear) hears(t *testing.T, from, wanted int) (n int) {
	t.Helper()
	e.runs++
	this := fmt.Sprintf("%0*d", size, e.runs)
	script := fmt.Sprintf("exec 3>/dev/udp/%s/9999; for i in {1..%d}; do printf %s >&3; done", e.net.Inner(e.slot), said, this)
	e.net.in(from, "bash", "-c", script) // an error is that nobody is there
	for limit := time.After(5 * time.Second); ; {
		if n >= wanted {
			limit = time.After(30 * time.Millisecond)
			wanted = said + 1
		}
		select {
		case line := <-e.said:
			if line == this {
				n++
			}
		case <-limit:
			return n
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Each fault does what it says, and no more, and can be mended.
func TestFaults(t *testing.T) {
	t.Parallel()
	n := needNet(t, 3)
	one, two := listen(t, n, 1), listen(t, n, 2)
	hears := func(what string, e *ear, from, least, most int) {
		t.Helper()
		if got := e.hears(t, from, least); got < least || got > most {
			t.Errorf("%s: %d heard %d of %d from %d, want %d to %d", what, e.slot, got, said, from, least, most)
		}
	}
	const most = said * 9 / 10 // the first wait for an answer to ARP, not all of them
	awaits := func(what string, e *ear, from int) {
		t.Helper()
		if _, err := Await(10*time.Second, func() bool { return e.hears(t, from, 1) > 0 }); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	awaits("at first", two, 1)
	awaits("at first", two, 3)
	hears("at first", one, 2, most, said)

	must(t, n.Cut(1))
	hears("cut", two, 1, 0, 0)
	hears("cut", one, 2, 0, 0)
	hears("1 is cut", two, 3, most, said)
	must(t, n.Heal(1))
	hears("healed", two, 1, most, said)

	must(t, n.Block(1, 2))
	hears("blocked", two, 1, 0, 0)
	hears("blocked the other way", one, 2, most, said)
	must(t, n.Block(3, 2))
	hears("1 is still blocked", two, 1, 0, 0)
	must(t, n.Unblock(1, 2))
	hears("3 is still blocked", two, 3, 0, 0)
	must(t, n.Unblock(3, 2))
	hears("unblocked", two, 3, most, said)

	must(t, n.Lose(2, 50))
	hears("lossy", two, 1, 5, said-5)
	hears("2 is lossy", one, 2, most, said)
	must(t, n.Lose(2, 0))

	must(t, n.Slow(1, 8))
	hears("8 kbit/s", two, 1, 1, said/2)
	must(t, n.Quicken(1))
	hears("fast again", two, 1, most, said)

	must(t, n.Unplug(1))
	hears("unplugged", two, 1, 0, 0)
	must(t, n.Plug(1))
	awaits("plugged", two, 1)
}

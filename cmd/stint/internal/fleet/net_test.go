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

// TestMain lets this test binary run in a namespace, to say hello there or to listen for it.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "hear" {
		hear(os.Args[2])
	} else if len(os.Args) == 3 && os.Args[1] == "say" {
		say(os.Args[2])
	} else {
		os.Exit(m.Run())
	}
}

// hear prints a line for each datagram that comes.
func hear(addr string) {
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("listening")
	for b := make([]byte, 10); ; {
		if n, _, err := conn.ReadFrom(b); err == nil {
			fmt.Println(string(b[:n]))
		}
	}
}

// say sends a hundred datagrams within a tenth of a second.
func say(addr string) {
	conn, err := net.Dial("udp", addr)
	if err != nil {
		os.Exit(1)
	}
	for i := range 100 {
		fmt.Fprint(conn, i)
		time.Sleep(time.Millisecond)
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
}

const port = ":9999"

func listen(t *testing.T, n *Net, slot int) *ear {
	t.Helper()
	cmd := exec.Command("ip", "netns", "exec", n.space(slot), os.Args[0], "hear", n.Inner(slot)+port)
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

// hears is how many of a hundred datagrams from a slot arrive. What is under way when the
// last was sent arrives within microseconds.
func (e *ear) hears(t *testing.T, from int) (n int) {
	t.Helper()
	for len(e.said) > 0 {
		<-e.said
	}
	e.net.in(from, os.Args[0], "say", e.net.Inner(e.slot)+port) // an error is that nobody is there
	for last := time.After(50 * time.Millisecond); ; {
		select {
		case <-e.said:
			n++
		case <-last:
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

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if _, err := Await(10*time.Second, ok); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Each fault does what it says, and no more, and can be mended.
func TestFaults(t *testing.T) {
	t.Parallel()
	n := needNet(t, 3)
	one, two := listen(t, n, 1), listen(t, n, 2)
	hears := func(what string, e *ear, from, least, most int) {
		t.Helper()
		if got := e.hears(t, from); got < least || got > most {
			t.Errorf("%s: %d heard %d of 100 from %d, want %d to %d", what, e.slot, got, from, least, most)
		}
	}
	hears("at first", two, 1, 99, 100) // the first may wait for an answer to ARP

	must(t, n.Cut(1))
	hears("cut", two, 1, 0, 0)
	hears("cut", one, 2, 0, 0)
	hears("1 is cut", two, 3, 99, 100)
	must(t, n.Heal(1))
	hears("healed", two, 1, 90, 100)
	hears("healed", one, 2, 90, 100)

	must(t, n.Block(1, 2))
	hears("blocked", two, 1, 0, 0)
	hears("blocked the other way", one, 2, 90, 100)
	hears("1 is blocked", two, 3, 90, 100)
	must(t, n.Block(3, 2))
	hears("1 is still blocked", two, 1, 0, 0)
	must(t, n.Unblock(1, 2))
	hears("3 is still blocked", two, 3, 0, 0)
	must(t, n.Unblock(3, 2))
	hears("unblocked", two, 1, 90, 100)

	must(t, n.Lose(2, 50))
	hears("lossy", two, 1, 20, 80)
	hears("2 is lossy", one, 2, 90, 100)
	must(t, n.Lose(2, 0))
	hears("mended", two, 1, 90, 100)

	must(t, n.Slow(1, 8))
	hears("8 kbit/s", two, 1, 1, 60)
	eventually(t, "of 3 all, once the last of 1 has come", func() bool { n := two.hears(t, 3); return n > 90 && n <= 100 })
	must(t, n.Quicken(1))
	hears("fast again", two, 1, 90, 100)

	must(t, n.Unplug(1))
	eventually(t, "unplugged", func() bool { return two.hears(t, 1) == 0 })
	must(t, n.Plug(1))
	eventually(t, "plugged", func() bool { return two.hears(t, 1) > 90 })
}

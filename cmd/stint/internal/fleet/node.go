//go:build unix

package fleet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Node is one process of stint serve, from its start to its end. One that is started again
// under the same name is another Node.
type Node struct {
	Name   string
	Slot   int    // on the Net; from 1 on
	HTTP   string // where it answers clients
	Gossip string // where it answers others
	ID     int32  // of all Nodes of the Fleet there were, from 0 on

	cmd    *exec.Cmd
	client *http.Client
	exited chan struct{} // closed when it has ended, then err is valid
	err    error
}

const startLimit = 30 * time.Second // for a process to say where it serves, on a busy machine

// start runs a command, and waits until it has said where it listens.
func (n *Node) start(command []string, log func(line string)) error {
	n.cmd = exec.Command(command[0], command[1:]...)
	n.cmd.SysProcAttr = dieWithUs()
	n.exited = make(chan struct{})
	n.client = &http.Client{
		// Clients come on a link without a proxy, and keep a connection each.
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
		Timeout:   answerLimit,
	}
	stderr, err := n.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := n.cmd.Start(); err != nil {
		return err
	}
	serving := make(chan struct{})
	go n.follow(bufio.NewScanner(stderr), serving, log)
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	select {
	case <-serving:
		return nil
	case <-n.exited:
		return fmt.Errorf("%s ended before it served: %w", n.Name, n.err)
	case <-limit.C:
		n.Kill()
		return fmt.Errorf("%s did not serve within %v", n.Name, startLimit)
	}
}

// follow hands on what the process logs, until it ends.
func (n *Node) follow(lines *bufio.Scanner, serving chan<- struct{}, log func(string)) {
	for lines.Scan() {
		var line struct{ Msg, HTTP, Gossip string }
		json.Unmarshal(lines.Bytes(), &line) // what is no JSON is not the line we look for
		if line.Msg == "serving" {
			n.HTTP, n.Gossip = line.HTTP, line.Gossip
			close(serving)
		}
		log(n.Name + ": " + lines.Text())
	}
	n.err = n.cmd.Wait()
	close(n.exited)
	n.client.CloseIdleConnections()
}

// Pid is that of the process.
func (n *Node) Pid() int { return n.cmd.Process.Pid }

// Kill ends the process without a chance to say goodbye.
func (n *Node) Kill() {
	n.cmd.Process.Kill()
	<-n.exited
}

// Terminate asks the process to end in order, waits for that, and returns how it went.
func (n *Node) Terminate() error {
	n.cmd.Process.Signal(syscall.SIGTERM)
	<-n.exited
	return n.err
}

// Pause stops the process where it stands.
func (n *Node) Pause() { n.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a process go on that was paused.
func (n *Node) Resume() { n.cmd.Process.Signal(syscall.SIGCONT) }

// Running says whether the process has not ended.
func (n *Node) Running() bool {
	select {
	case <-n.exited:
		return false
	default:
		return true
	}
}

// Get reads an answer of the node, whatever its status.
func (n *Node) Get(path string, into any) (status int, err error) {
	resp, err := n.client.Get("http://" + n.HTTP + path)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return resp.StatusCode, json.NewDecoder(resp.Body).Decode(into)
}

// Ready says whether the node calls itself ready.
func (n *Node) Ready() bool {
	var body struct{}
	status, err := n.Get("/readyz", &body)
	return err == nil && status == http.StatusOK
}

// Remaining is what the node has left of a key.
func (n *Node) Remaining(limit, key string) (int64, error) {
	var body struct{ Remaining int64 }
	status, err := n.Get("/v1/peek?"+url.Values{"limit": {limit}, "key": {key}}.Encode(), &body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s: peek %s/%s: status %d", n.Name, limit, key, status)
	}
	return body.Remaining, err
}

// A Peer is another member, as a node sees it.
type Peer struct {
	Name      string
	State     string
	InSession bool    `json:"in_session"`
	LagMax    float64 `json:"lag_max_ms"`
	Backlog   int
	Unacked   int
}

// Stats are those figures of a node that are looked at here.
type Stats struct {
	Nodes                            int
	Lost, Dropped, Forgiven, Evicted int64
	Overflowed, Malformed            int64
	Keys                             int
	Gap                              float64 `json:"gap_ms"`
	Limits                           []struct {
		Name  string
		Bound float64
	}
	Peers []Peer
}

// Stats asks the node for them.
func (n *Node) Stats() (s Stats, err error) {
	_, err = n.Get("/v1/stats", &s)
	return s, err
}

// Settled says whether the node, in touch with so many others, has nothing that any of them
// has not acknowledged.
func (s *Stats) Settled(others int) bool {
	alive := 0
	for _, p := range s.Peers {
		if p.State != "alive" {
			continue
		}
		if !p.InSession || p.Backlog != 0 || p.Unacked != 0 {
			return false
		}
		alive++
	}
	return alive == others
}

// Memory is how many bytes of the process are resident.
func (n *Node) Memory() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", n.Pid()))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, errors.New("statm is not as it should be: " + strings.TrimSpace(string(text)))
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}

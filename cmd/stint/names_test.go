package main

import (
	"syscall"
	"testing"
	"time"
)

// Two processes of one name and a third hold one limit; each says what is wrong, once for
// each of the two; and all end in order, and in good time, when they are told to. An early
// build hung there.
func TestTwoProcessesOfOneName(t *testing.T) {
	t.Parallel() // it waits most of the time
	flags := []string{"--gossip", "127.0.0.1:0", "--limit", "hourly=100/h"}
	one := serveProcess(t, "twin", flags...)
	flags = append(flags, "--join", one.gossip)
	all := []*process{one, serveProcess(t, "twin", flags...), serveProcess(t, "other", flags...)}
	eventually(t, 20*time.Second, "the name is complained of", func() bool {
		return one.said(`"level":"ERROR"`, "one name") == 1 && all[1].said(`"level":"ERROR"`, "one name") == 1 && all[2].said(`"level":"ERROR"`, "one name") == 2
	})
	for i, p := range all {
		var d struct{ OK bool }
		p.post(t, "/v1/take", map[string]any{"limit": "hourly", "key": "k", "n": 10 * (i + 1)}, &d)
	}
	agree(t, all, "hourly", "k", 40, 41, 1)
	for _, p := range all {
		p.cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, p := range all {
		select {
		case err := <-p.exited:
			if err != nil {
				t.Errorf("%s: %v, want exit code 0", p.name, err)
			}
		case <-time.After(drainWait + goodbyeWait):
			t.Errorf("%s does not end", p.name)
		}
	}
}

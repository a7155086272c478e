package stint_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// stateful is a node alone with a state file, and what it logs.
func (r *rig) stateful(file string) (*stint.Node, *bytes.Buffer) {
	r.Helper()
	log := new(bytes.Buffer)
	return r.open(stint.Config{MaxKeys: fewKeys, StateFile: file, Logger: slog.New(slog.NewTextHandler(log, nil))}), log
}

// A restart of the only node keeps what is used, less what came back meanwhile.
func TestStateFileOutlivesTheNode(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		file := filepath.Join(r.TempDir(), "state")
		n, _ := r.stateful(file)
		local := stint.PerHour(100).WithAlgorithm(l.Algorithm).WithMode(stint.Local).WithName("local")
		n.AllowN("ann", l, 70)
		n.AllowN("ann", local, 20)
		n.AllowN("bob", l, 100)
		if err := n.Ban(bg, "eve", l, time.Hour); err != nil {
			r.Fatal(err)
		}
		h, err := n.Hold(bg, "ann", l, 20, time.Hour)
		if err != nil {
			r.Fatal(err)
		}
		n.Close(bg)

		n, _ = r.stateful(file)
		r.checkRemaining(10, "ann", l, n)
		r.checkRemaining(80, "ann", local, n)
		r.checkRemaining(0, "bob", l, n)
		if d := n.Allow("eve", l); d.OK || len(n.Bans()) != 1 {
			r.Errorf("the ban is gone: %+v, %v", d, n.Bans())
		}
		if err := n.Settle(bg, h.ID(), 5); err != nil {
			r.Fatal(err)
		}
		r.checkRemaining(25, "ann", l, n)
		n.Close(bg)

		time.Sleep(2 * time.Hour)
		n, _ = r.stateful(file)
		r.checkRemaining(100, "ann", l, n)
		r.checkRemaining(100, "eve", l, n)
	})
}

// kill -9 loses what was spent since the file was last written.
func TestStateFileIsWrittenMeanwhile(t *testing.T) {
	each(t, func(r *rig, l stint.Limit) {
		file := filepath.Join(r.TempDir(), "state")
		n, _ := r.stateful(file)
		n.AllowN("ann", l, 50)
		time.Sleep(6 * time.Second)
		n.AllowN("ann", l, 50)
		saved, err := os.ReadFile(file)
		if err != nil {
			r.Fatal(err)
		}
		n.Close(bg)
		if err := os.WriteFile(file, saved, 0o600); err != nil {
			r.Fatal(err)
		}
		n, _ = r.stateful(file)
		if got := n.Peek("ann", l).Remaining; got != 50 {
			r.Errorf("%d remain, want 50", got)
		}
	})
}

// A limit that nobody has asked for again yet is kept over a second restart.
func TestStateFileKeepsWhatIsNotInForce(t *testing.T) {
	inBubble(t, func(r *rig) {
		file := filepath.Join(r.TempDir(), "state")
		l := stint.PerHour(100).WithName("api")
		n, _ := r.stateful(file)
		n.AllowN("ann", l, 70)
		n.Close(bg)
		n, _ = r.stateful(file)
		n.Close(bg)
		n, _ = r.stateful(file)
		r.checkRemaining(30, "ann", l, n)
	})
}

func TestStateFileRefused(t *testing.T) {
	inBubble(t, func(r *rig) {
		dir := r.TempDir()
		whole := filepath.Join(dir, "whole")
		l := stint.PerHour(100).WithName("api")
		n, _ := r.stateful(whole)
		n.AllowN("ann", l, 70)
		n.Close(bg)
		data, err := os.ReadFile(whole)
		if err != nil {
			r.Fatal(err)
		}
		tests := []struct {
			name, want string
			data       []byte
			kept       string // where what was refused is then
		}{
			{"torn", "incomplete", data[:len(data)-3], "torn.refused"},
			{"foreign", "not a state file", []byte("root:x:0:0::/root:/bin/sh\n"), "foreign"},
		}
		for _, tt := range tests {
			file := filepath.Join(dir, tt.name)
			if err := os.WriteFile(file, tt.data, 0o600); err != nil {
				r.Fatal(err)
			}
			n, log := r.stateful(file)
			r.checkRemaining(100, "ann", l, n)
			n.Close(bg)
			if !strings.Contains(log.String(), tt.want) || strings.Count(log.String(), "refused") == 0 {
				r.Errorf("%s: logged %s", tt.name, log)
			}
			if got, err := os.ReadFile(filepath.Join(dir, tt.kept)); !bytes.Equal(got, tt.data) {
				r.Errorf("%s: what was refused is lost: %v", tt.name, err)
			}
		}
		other := r.open(stint.Config{StateFile: whole, HashSeed: []byte("0123456789abcdef")})
		r.checkRemaining(100, "ann", l, other)
	})
}

// A file that cannot be written is said once, and Close says it.
func TestStateFileCannotBeWritten(t *testing.T) {
	inBubble(t, func(r *rig) {
		n, log := r.stateful(filepath.Join(r.TempDir(), "no such folder", "state"))
		time.Sleep(31 * time.Second)
		synctest.Wait() // nothing is being logged now
		if got := strings.Count(log.String(), "state file not written"); got != 1 {
			r.Errorf("said %d times: %s", got, log)
		}
		if err := n.Close(bg); err == nil || !strings.Contains(err.Error(), "state file") {
			r.Errorf("got %v", err)
		}
	})
}

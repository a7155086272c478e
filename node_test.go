package stint_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

func TestConfigFaults(t *testing.T) {
	bad := stint.Config{
		Name: strings.Repeat("n", 129), Bind: "7946", Join: []string{"a:1", "b", ":1"}, JoinTimeout: -1,
		HashSeed: []byte("short"), SyncInterval: time.Millisecond, PartitionMemory: time.Millisecond,
		MaxKeys: -1, MaxLimits: -1, MaxLogBytes: 1 << 31,
	}
	want := []string{
		"Name has 129 bytes", "HashSeed has 5 bytes", `Bind is "7946"`, `Join has "b"`, `Join has ":1"`, "JoinTimeout is -1ns",
		"SyncInterval is 1ms", "PartitionMemory is 1ms", "MaxKeys is -1", "MaxLimits is -1", "MaxLogBytes is 2147483648",
	}
	n, err := stint.Open(bad)
	if n != nil || err == nil {
		t.Fatalf("got %v, %v", n, err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Errorf("got %d faults, want %d:\n%v", len(lines), len(want), err)
	}
	for _, w := range want {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "config: "+w) }) {
			t.Errorf("got no fault that says %q:\n%v", w, err)
		}
	}
	for _, cfg := range []stint.Config{{Join: []string{"a:1"}}, {Advertise: "a:1"}} {
		if n, err := stint.Open(cfg); n != nil || err == nil || !strings.Contains(err.Error(), "need Bind") {
			t.Errorf("%+v: got %v, %v", cfg, n, err)
		}
	}
}

func TestConfigIsTheCallersOwn(t *testing.T) {
	inBubble(t, func(r *rig) {
		seed := bytes.Repeat([]byte{1}, 16)
		cfg := stint.Config{HashSeed: seed}
		n := r.open(cfg)
		if cfg.Name != "" || cfg.MaxKeys != 0 || cfg.Logger != nil {
			t.Errorf("Open wrote into it: %+v", cfg)
		}
		ten := stint.PerHour(10).WithName("ten")
		n.Allow("ann", ten)
		clear(seed)
		r.checkRemaining(9, "ann", ten, n)
	})
}

func TestPortTaken(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.open(r.config(0))
		if n, err := stint.Open(r.config(0)); n != nil || err == nil || !strings.Contains(err.Error(), "7946") {
			t.Errorf("got %v, %v, want an error that names the port", n, err)
		}
	})
}

func TestZeroConfigStandsAlone(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.open(stint.Config{})
		if n.Addr() != "" || n.Name() == "" {
			t.Errorf("got address %q and name %q", n.Addr(), n.Name())
		}
		if err := n.Ready(context.Background()); err != nil {
			t.Errorf("not ready at once: %v", err)
		}
		m := n.Members()
		if len(m) != 1 || !m[0].Self || m[0].Name != n.Name() || m[0].State != "alive" || m[0].Incarnation == 0 {
			t.Errorf("got members %+v", m)
		}
		s := n.Stats()
		if s.Nodes != 1 || len(s.Peers) != 0 || len(s.Limits) != 0 || s.MaxKeys != 1_000_000 || s.Name != n.Name() {
			t.Errorf("got %+v", s)
		}
		if other := r.alone(); other.Name() == n.Name() {
			t.Errorf("got the name %q twice", n.Name())
		}
	})
}

func TestNamesAndAddresses(t *testing.T) {
	inBubble(t, func(r *rig) {
		cfg := r.config(0)
		cfg.Bind = ":0"
		n := r.open(cfg)
		if n.Name() != "n0" || !strings.HasPrefix(n.Addr(), "10.0.0.1:") || strings.HasSuffix(n.Addr(), ":0") {
			t.Errorf("got %q at %q", n.Name(), n.Addr())
		}
		cfg = r.config(1)
		cfg.Join = []string{n.Addr()}
		nodes := []*stint.Node{n, r.open(cfg)}
		r.met(nodes...)
		got := nodes[1].Members()
		if len(got) != 2 || got[0].Name != "n0" || got[0].Addr != n.Addr() || got[0].Self || !got[1].Self {
			t.Errorf("got members %+v", got)
		}
	})
}

// case 13: a monotonic clock goes neither back nor forward with the wall's; and a
// process that sleeps for years wakes with full buckets and no overflow (case 7).
func TestYearsPass(t *testing.T) {
	inBubble(t, func(r *rig) {
		n := r.open(stint.Config{SyncInterval: 2 * time.Second})
		slow, fast := stint.Limit{Name: "slow", Events: 1, Per: 3000 * 24 * time.Hour}, stint.PerSecond(1<<62).WithName("fast")
		n.Allow("ann", slow)
		n.AllowN("ann", fast, 1<<62)
		time.Sleep(24 * time.Hour)
		if d := n.Allow("ann", slow); d.OK || d.RetryAfter != 2999*24*time.Hour {
			t.Errorf("got %+v after a day of 3000", d)
		}
		if d := n.AllowN("ann", fast, 1<<62); !d.OK {
			t.Errorf("got %+v after a day", d)
		}
		n.Close(context.Background()) // nothing ticks any more
		time.Sleep(10 * 365 * 24 * time.Hour)
		if d := n.Allow("ann", slow); !d.OK {
			t.Errorf("got %+v after ten years", d)
		}
		if d := n.AllowN("ann", fast, 1<<62); !d.OK || d.Remaining != 0 {
			t.Errorf("got %+v after ten years", d)
		}
	})
}

func TestLogs(t *testing.T) {
	inBubble(t, func(r *rig) {
		var log bytes.Buffer
		cfg := stint.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		n := r.open(cfg)
		n.Limiter(stint.PerSecond(-1).WithName("bad"))
		if text := log.String(); !strings.Contains(text, "limit=bad") || !strings.Contains(text, "Events is -1") {
			t.Errorf("got the log %q of binding a bad limit", text)
		}
		log.Reset()
		n.AllowN("a secret", stint.PerHour(5).WithName("five"), 6)
		n.Allow("a secret", stint.PerSecond(-1).WithName("bad"))
		n.Close(context.Background())
		if log.Len() != 0 {
			t.Errorf("got the log %q of refusals", log.String())
		}
	})
}

func TestErrorsAreTold(t *testing.T) {
	all := []error{stint.ErrTooManyLimits, stint.ErrClosed, stint.ErrUnknownLimit, stint.ErrNotSupported}
	for i, a := range all {
		for j, b := range all {
			if errors.Is(a, b) != (i == j) {
				t.Errorf("%v and %v", a, b)
			}
		}
	}
}

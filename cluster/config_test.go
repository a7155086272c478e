package cluster

import (
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-go/stint/cluster/memnet"
)

func TestConfigFaults(t *testing.T) {
	_, err := Open(Config{
		Name: strings.Repeat("x", maxName+1), Label: strings.Repeat("x", maxLabel+1), Bind: "nowhere",
		Join: []string{"seed", ":1"}, ProbeInterval: time.Microsecond, Forget: -1,
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range []string{"Name", "Label", "Bind", `Join "seed"`, `Join ":1"`, "ProbeInterval", "Forget"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s is not in: %v", word, err)
		}
	}
}

func TestConfigIsNotWrittenTo(t *testing.T) {
	cfg := Config{Name: "a", Join: []string{"10.0.0.1:1"}}
	got, err := cfg.withDefaults()
	if err != nil || got.Incarnation == 0 || got.Bind != ":7946" || cfg.Bind != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	got.Join[0] = "x"
	if cfg.Join[0] != "10.0.0.1:1" {
		t.Error("the caller's slice was shared")
	}
}

func TestAdvertised(t *testing.T) {
	for _, tt := range []struct{ configured, bound, want string }{
		{"", "10.0.0.1:7946", "10.0.0.1:7946"},
		{"", "[fd00::1]:7946", "[fd00::1]:7946"},
		{"192.0.2.1", "0.0.0.0:7946", "192.0.2.1:7946"},
		{"192.0.2.1:80", "0.0.0.0:7946", "192.0.2.1:80"},
		{"192.0.2.1:0", "0.0.0.0:7946", "192.0.2.1:7946"},
		{"fd00::2", "[::]:7946", "[fd00::2]:7946"},
		{"[fd00::2]:80", "[::]:7946", "[fd00::2]:80"},
		{"::ffff:192.0.2.1", "[::]:7946", "192.0.2.1:7946"},
		{":80", "10.0.0.1:7946", "10.0.0.1:80"},
		{"0.0.0.0", "10.0.0.1:7946", ""},
		{"fe80::1%eth0", "10.0.0.1:7946", ""},
		{"192.0.2.1:99999", "10.0.0.1:7946", ""},
	} {
		got, err := advertised(net.DefaultResolver, tt.configured, netip.MustParseAddrPort(tt.bound))
		if tt.want == "" && err == nil || tt.want != "" && (err != nil || got.String() != tt.want) {
			t.Errorf("%q bound to %s: got %v, %v, want %s", tt.configured, tt.bound, got, err, tt.want)
		}
	}
	got, err := advertised(net.DefaultResolver, "", netip.MustParseAddrPort("[::]:7946"))
	if err != nil || got.Addr().IsUnspecified() || got.Port() != 7946 {
		t.Errorf("bound to all addresses: got %v, %v", got, err)
	}
}

// taken is a transport on which the first packet ports are in use.
type taken struct {
	*memnet.Host
	times int
}

func (t *taken) ListenPacket(addr string) (net.PacketConn, error) {
	if t.times > 0 {
		t.times--
		return nil, syscall.EADDRINUSE
	}
	return t.Host.ListenPacket(addr)
}

func TestListenFindsOnePort(t *testing.T) {
	host := memnet.New(1).Host("10.0.0.1")
	ln, pc, err := listen(&taken{host, 3}, ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	defer pc.Close()
	if got, want := pc.LocalAddr().String(), ln.Addr().String(); got != want {
		t.Errorf("packets on %s, streams on %s", got, want)
	}
	if _, _, err := listen(&taken{host, 1}, ":5000"); err == nil {
		t.Error("a port in use is no error")
	}
	if ln, err := host.Listen(":5000"); err != nil {
		t.Errorf("the other half stayed open: %v", err)
	} else {
		ln.Close()
	}
}

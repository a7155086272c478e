package cluster

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// Nodes that share no key, in pairs: the second knows the first. Neither learns
// anything of the other, each has one line about it for each cause, and the
// cluster of the first is as before.
func TestStrangersStayOut(t *testing.T) {
	for _, tt := range []struct {
		name         string
		ours, theirs [][]byte
		we, they     []string // words of the warnings
	}{
		{"a wrong key", [][]byte{key(1)}, [][]byte{key(2)}, []string{"does not accept our cluster key"}, []string{"none of ours"}},
		{"a key that is only second with us", [][]byte{key(1), key(2)}, [][]byte{key(2)}, []string{"does not accept our cluster key"}, []string{"none of ours"}},
		{"a key that is only second with them", [][]byte{key(1)}, [][]byte{key(2), key(1)}, []string{"none of ours"}, []string{"does not accept our cluster key"}},
		{"in clear, to one with a key", [][]byte{key(1)}, nil, []string{"it is in clear"}, []string{"it has a cluster key, and this node has none"}},
		{"with a key, to one in clear", nil, [][]byte{key(1)}, []string{"it is sealed"}, []string{"does not accept our cluster key"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.keys = tt.ours
				a, b, _ := r.three()
				r.keys = tt.theirs
				x := r.start("x", "10.9.9.9", 9, "10.0.0.1")
				time.Sleep(time.Minute)
				if len(a.Members()) != 3 || len(x.Members()) != 1 {
					r.Errorf("got %v and %v", a.Members(), x.Members())
				}
				for n, words := range map[*node][]string{a: tt.we, x: tt.they} {
					for _, w := range words {
						if n.log.warnings(w) != 1 {
							r.Errorf("got not one warning of %q:\n%s", w, n.log)
						}
					}
					if n.log.warnings() != len(words) {
						r.Errorf("got the log\n%s", n.log)
					}
				}
				a.Send(2, []byte("x"))
				r.within(time.Second, "the cluster is unharmed", func() bool { return a.linked(2, 3) && slices.Equal(b.got(), []string{"1:x"}) })
			})
		})
	}
}

// Nodes whose rings overlap and whose first keys differ are one cluster.
func TestRingOfSeveralKeys(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.keys = [][]byte{key(1), key(2), key(3)}
		a := r.start("a", "10.0.0.1", 1)
		r.keys = [][]byte{key(3), key(1)}
		b := r.start("b", "10.0.0.2", 2, "10.0.0.1")
		r.within(5*time.Second, "they meet", func() bool { return a.linked(2) && b.linked(1) })
		time.Sleep(time.Minute)
		if n := a.log.warnings() + b.log.warnings(); n != 0 || !a.linked(2) {
			r.Errorf("got %d warnings and %v", n, a.told())
		}
	})
}

// What is said to a node with a key, by those who have none: no frame gets in,
// no goodbye, and the stream of a peer is not displaced.
func TestGarbageToSealed(t *testing.T) {
	hello := string(preamble{from: 2, to: 1, label: "test", name: "b"}.encode())
	for _, tt := range []struct {
		name, send, answer, log string
	}{
		{"nothing", "", "", ""},
		{"a browser", "GET / HTTP/1.1\r\n\r\n", "", "in clear"},
		{"membership in clear", "\x06abc", notInClear, "in clear"},
		{"membership in clear, with a label", "\xF4\x04test\x06abc", notInClear, "in clear"},
		{"a link in clear, with a frame", hello + "\x00\x00\x00\x01x", "\x07", "in clear"},
		{"a link in clear, with a goodbye", hello + "\x00\x00\x00\x00", "\x07", "in clear"},
		{"a link in clear, behind the byte of a sealed one", "\xD2" + hello[1:] + "\x00\x00\x00\x00", "", "does not speak TLS"},
		{"a record that never ends", "\xD2\x16\x03\x01\x40\x00\x01\x00\xff\x00" + strings.Repeat("x", 16<<10-4) + "\x16\x03\x01\x40\x00" + strings.Repeat("x", 16<<10), "", "does not speak TLS"},
		{"another byte", "\x77", "", "in clear"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.keys = [][]byte{key(1)}
				a, b, _ := r.three()
				a.hush()
				b.hush()
				for range 2 {
					got, err := say(r, a.Addr(), tt.send)
					if err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
						r.Error(err)
					}
					if tt.answer != "" && got != tt.answer {
						r.Errorf("got answer %q, want %q", got, tt.answer)
					}
				}
				want := 1
				if tt.log == "" {
					want = 0
				}
				if a.log.warnings() != want || a.log.warnings(tt.log) != want {
					r.Errorf("got the log\n%s", a.log)
				}
				if len(a.got()) != 0 || len(a.told()) != 0 || len(b.told()) != 0 || a.wire.fresh != 0 {
					r.Errorf("got %v, %v, %v, %d fresh streams", a.got(), a.told(), b.told(), a.wire.fresh)
				}
			})
		})
	}
}

// authority issues certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  ed25519.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &authority{key: key, pool: x509.NewCertPool()}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err == nil {
		ca.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	ca.pool.AddCert(ca.cert)
	return ca
}

// config is for a node of this address that trusts this authority.
func (ca *authority) config(t *testing.T, ip string, trusts *authority) *tls.Config {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.ParseIP(ip)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, ca.cert, key.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:   tls.RequireAndVerifyClientCert, RootCAs: trusts.pool, ClientCAs: trusts.pool,
	}
}

// Links under the user's own TLS: with his authority's certificates they are
// open, with another's or in clear they are not, and each side says why once.
func TestOwnTLS(t *testing.T) {
	inBubble(t, func(r *rig) {
		ours, theirs := newAuthority(t), newAuthority(t)
		open := func(name, ip string, incarnation uint64, cfg *tls.Config) *node {
			n := &node{host: r.net.Host(ip), ip: ip, log: &lines{}}
			return r.open(n, Config{
				Name: name, Incarnation: incarnation, Bind: ":7946", Join: []string{"10.0.0.1:7946"}, TLS: cfg, Keys: r.keys,
				Transport: n.host, Logger: n.log.logger(), Change: n.change, Frame: n.frame,
			})
		}
		a := open("a", "10.0.0.1", 1, ours.config(t, "10.0.0.1", ours))
		reloaded := ours.config(t, "10.0.0.2", ours)
		reloaded.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return ours.config(t, "10.0.0.2", ours), nil }
		b := open("b", "10.0.0.2", 2, reloaded)
		r.within(5*time.Second, "they meet", func() bool { return a.linked(2) && b.linked(1) })
		a.Send(2, []byte("x"))
		r.within(time.Second, "frames flow", func() bool { return slices.Equal(b.got(), []string{"1:x"}) })
		if a.log.count("level=WARN", "no cluster key: links are sealed, but") != 1 {
			r.Errorf("got the log\n%s", a.log)
		}
		c := open("c", "10.0.0.3", 3, theirs.config(t, "10.0.0.3", ours))
		d := open("d", "10.0.0.4", 4, nil)
		open("e", "10.0.0.5", 5, ours.config(t, "10.9.9.9", ours)) // for another address
		r.within(5*time.Second, "they are members", func() bool { return len(a.Members()) == 5 && len(d.Members()) == 5 })
		time.Sleep(time.Minute)
		for _, n := range []*node{a, b} {
			if n.linked(1, 2, 3) || len(n.got()) > 1 {
				r.Errorf("%s has links with strangers", n.cfg.Name)
			}
			for _, l := range n.Links() {
				if l.Open != (l.Incarnation < 3) {
					r.Errorf("the link of %s to %s is open: %v", n.cfg.Name, l.Name, l.Open)
				}
			}
		}
		if a.log.warnings("peer=c", "its certificate does not hold") != 1 || a.log.warnings("peer=e", "its certificate does not hold") != 1 ||
			d.log.warnings("peer=a", "it wants links sealed") != 1 || c.log.warnings("peer=a", "does not accept our") != 1 {
			r.Errorf("got the logs\n%s\n%s\n%s", a.log, c.log, d.log)
		}
		if got := a.log.warnings(); got > 9 {
			r.Errorf("got %d warnings:\n%s", got, a.log)
		}
	})
}

func TestCheckTLS(t *testing.T) {
	ca := newAuthority(t)
	good := ca.config(t, "10.0.0.1", ca)
	if err := CheckTLS(good); err != nil {
		t.Error(err)
	}
	for word, spoil := range map[string]func(c *tls.Config){
		"no certificate": func(c *tls.Config) { c.Certificates = nil },
		"lets anybody":   func(c *tls.Config) { c.ClientAuth = tls.VerifyClientCertIfGiven },
		"set ClientAuth": func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert },
		"1.3":            func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 },
	} {
		bad := good.Clone()
		spoil(bad)
		if _, err := Open(Config{Name: "a", TLS: bad}); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got %v, want %q", err, word)
		}
	}
}

// Redial of a link whose peer does not read does not wait for the write that is
// stuck in it.
func TestRedialSealedDoesNotWait(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.keys = [][]byte{key(1)}
		a, b, _ := r.three()
		b.mu.Lock()
		b.stall = make(chan struct{})
		b.mu.Unlock()
		for a.Send(2, make([]byte, 64<<10)) {
		}
		time.Sleep(time.Second)
		start := time.Now()
		a.Redial(2)
		if d := time.Since(start); d != 0 {
			r.Errorf("Redial took %v", d)
		}
		r.within(time.Second, "the stream is broken", func() bool { return slices.Contains(a.told(), "link down b/2") })
	})
}

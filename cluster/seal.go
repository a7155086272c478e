package cluster

import (
	"bufio"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
)

// A sealed stream is, after its first byte, TLS 1.3. Both sides show a
// certificate; ALPN binds the stream to its kind. Nothing is resumed.
const (
	linkProto       = "stint-link"
	membershipProto = "stint-membership"

	heldBytes   = 32 << 10 // of records that go out in one write
	recordSize  = 16 << 10 // bytes that one TLS record holds
	maxHello    = 16 << 10 // that the other side of a handshake may say, with cluster keys
	maxOwnHello = 64 << 10 // and with a configuration of the user's
)

// Why a stream is not sealed as it should be, of the other side.
var (
	errStrangeKey     = errors.New("its cluster key is none of ours")
	errRefusedKey     = errors.New("it does not accept our cluster key or certificate")
	errBadCertificate = errors.New("its certificate does not hold")
	errNoTLS          = errors.New("it does not speak TLS as this cluster does")
	errInClear        = errors.New("it is in clear, and this node seals")
	errSealed         = errors.New("it is sealed, and this node has no cluster key")

	sealFaults = []error{errStrangeKey, errRefusedKey, errBadCertificate, errNoTLS, errInClear, errSealed}
)

// sealer seals the streams of one kind. It does not change but for the ring.
type sealer struct {
	proto string
	own   *tls.Config // the user's; nil: as the ring says
	ring  *atomic.Pointer[ring]
}

// sealed is a stream under TLS.
type sealed struct {
	*tls.Conn
	shown, pin ed25519.PublicKey // what this side and the other have shown; nil under a configuration of the user's
}

// Close breaks the stream below. It says nothing and waits for nobody, not even
// for a Write that is stuck.
func (s *sealed) Close() error { return s.NetConn().Close() }

// seal runs the handshake, as the dialling side or the other. The deadline is
// the caller's to set. The stream belongs to the caller if there is an error.
func (s *sealer) seal(conn net.Conn, dialled bool) (*sealed, error) {
	cfg, under := s.own, &network{Conn: conn, left: maxOwnHello}
	out := &sealed{}
	if cfg == nil {
		r := s.ring.Load()
		cfg, under.left, out.shown = r.config(), maxHello, r.first()
	}
	cfg = harden(cfg, s.proto)
	if dialled {
		if cfg.ServerName == "" {
			cfg.ServerName = hostOf(conn)
		}
		out.Conn = tls.Client(under, cfg)
	} else {
		out.Conn = tls.Server(under, cfg)
	}
	if err := out.Handshake(); err != nil {
		return nil, explainHandshake(err)
	}
	state := out.ConnectionState()
	if state.NegotiatedProtocol != s.proto {
		return nil, errNoTLS
	}
	if s.own == nil {
		out.pin = pinOf(state)
	}
	under.left = math.MaxInt
	return out, nil
}

// dial seals a stream just opened, of which the first byte says what it is.
func (s *sealer) dial(conn net.Conn, first byte) (*sealed, error) {
	if _, err := conn.Write([]byte{first}); err != nil {
		return nil, err
	}
	return s.seal(conn, true)
}

// harden returns a copy of a configuration, with what our streams need.
func harden(c *tls.Config, proto string) *tls.Config {
	c = c.Clone()
	c.MinVersion = tls.VersionTLS13
	c.NextProtos = []string{proto}
	c.SessionTicketsDisabled, c.ClientSessionCache = true, nil // each handshake verifies
	c.DynamicRecordSizingDisabled = true                       // for batches, not for pages
	if choose := c.GetConfigForClient; choose != nil {
		c.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := choose(h)
			if chosen == nil || err != nil {
				return nil, err
			}
			return harden(chosen, proto), nil
		}
	}
	return c
}

// CheckTLS says what a configuration for Config.TLS lacks, if anything.
func CheckTLS(c *tls.Config) error {
	var errs []error
	if c.MaxVersion != 0 && c.MaxVersion < tls.VersionTLS13 {
		errs = append(errs, errors.New("version 1.3 is needed: leave MaxVersion 0"))
	}
	if c.GetConfigForClient != nil {
		return errors.Join(errs...) // the rest is what that returns
	}
	if len(c.Certificates) == 0 && c.GetCertificate == nil {
		errs = append(errs, errors.New("there is no certificate: set Certificates, for the side that dials and the other"))
	}
	custom := c.ClientAuth == tls.RequireAnyClientCert && (c.VerifyConnection != nil || c.VerifyPeerCertificate != nil)
	if c.ClientAuth != tls.RequireAndVerifyClientCert && !custom {
		errs = append(errs, errors.New("it lets anybody in: set ClientAuth to tls.RequireAndVerifyClientCert, and ClientCAs"))
	}
	return errors.Join(errs...)
}

// explain wraps one of the errors above around an error that means it.
func explain(err error) error {
	var op *net.OpError
	var verify *tls.CertificateVerificationError
	switch {
	case sealFault(err) != nil:
		return err
	case errors.As(err, &op) && op.Op == "remote error": // an alert
		return fmt.Errorf("%w: %w", errRefusedKey, err)
	case errors.As(err, &verify):
		return fmt.Errorf("%w: %w", errBadCertificate, err)
	}
	return err
}

// explainHandshake does so for any error but those of a network.
func explainHandshake(err error) error {
	err = explain(err)
	var op *net.OpError
	switch {
	case sealFault(err) != nil, isTimeout(err), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.As(err, &op) && op.Op != "local error":
		return err
	}
	return fmt.Errorf("%w: %w", errNoTLS, err)
}

// sealFault returns the one of the errors above that is in err, or nil.
func sealFault(err error) error {
	for _, f := range sealFaults {
		if errors.Is(err, f) {
			return f
		}
	}
	return nil
}

// fromStranger tells whether whoever is at the other side showed a key that is
// not in the ring.
func fromStranger(conn net.Conn, r *ring) bool {
	s, ok := conn.(*sealed)
	return ok && s.pin != nil && !r.has(s.pin)
}

// stale tells whether a stream that this node dialled has to be made again.
func stale(conn net.Conn, r *ring) bool {
	s, ok := conn.(*sealed)
	return ok && s.shown != nil && (!s.shown.Equal(r.first()) || !r.has(s.pin))
}

// network is what is below TLS. It can be read only so far, and gathers records
// once frames are written.
type network struct {
	net.Conn
	left int // to be read

	mu   sync.Mutex
	held *bufio.Writer // nil: what is written goes at once
}

func (n *network) Read(p []byte) (int, error) {
	if n.left <= 0 {
		return 0, errNoTLS
	}
	got, err := n.Conn.Read(p[:min(len(p), n.left)])
	n.left -= got
	return got, err
}

func (n *network) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held == nil {
		return n.Conn.Write(p)
	}
	return n.held.Write(p)
}

// hold has records gathered until flush.
func (s *sealed) hold() {
	n := s.NetConn().(*network)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = bufio.NewWriterSize(n.Conn, heldBytes)
}

func (s *sealed) flush() error {
	n := s.NetConn().(*network)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.held.Flush()
}

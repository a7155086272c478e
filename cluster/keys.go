package cluster

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/hashicorp/memberlist"
)

const (
	// KeySize is the length of a cluster key in bytes.
	KeySize = 32

	maxKeys = 16 // in a ring: each is tried on a packet that no other opens
)

// CheckKeys says what is wrong with a ring of cluster keys, if anything: there
// may be none or up to 16, of KeySize bytes each, and no two alike.
func CheckKeys(keys [][]byte) error {
	if len(keys) > maxKeys {
		return fmt.Errorf("%d cluster keys are too many: use at most %d", len(keys), maxKeys)
	}
	for i, k := range keys {
		if len(k) != KeySize {
			return fmt.Errorf("cluster key %d has %d bytes: use %d, all random", i+1, len(k), KeySize)
		}
		for j := range i {
			if bytes.Equal(keys[j], k) {
				return fmt.Errorf("cluster keys %d and %d are the same: use each once", j+1, i+1)
			}
		}
	}
	return nil
}

// ring is a ring of cluster keys in the forms they are used in: HKDF makes of
// each one for memberlist and an Ed25519 pair for TLS. It does not change.
type ring struct {
	membership [][]byte
	pins       []ed25519.PublicKey // of the certificates that are accepted
	cert       tls.Certificate     // of the first key
}

// newRing is for keys that CheckKeys has found good, at least one.
func newRing(keys [][]byte) (*ring, error) {
	r := &ring{}
	for i, k := range keys {
		m, err := hkdf.Key(sha256.New, k, nil, "stint cluster membership 1", KeySize)
		if err != nil {
			return nil, fmt.Errorf("deriving from a key: %w", err)
		}
		seed, err := hkdf.Key(sha256.New, k, nil, "stint cluster streams 1", ed25519.SeedSize)
		if err != nil {
			return nil, fmt.Errorf("deriving from a key: %w", err)
		}
		private := ed25519.NewKeyFromSeed(seed)
		r.membership = append(r.membership, m)
		r.pins = append(r.pins, private.Public().(ed25519.PublicKey))
		if i > 0 {
			continue
		}
		if r.cert, err = selfSigned(private); err != nil {
			return nil, fmt.Errorf("making a certificate: %w", err)
		}
	}
	return r, nil
}

// selfSigned wraps a key as TLS wants it. Nobody looks at more of it than the
// public key, so that neither names nor clocks matter.
func selfSigned(key ed25519.PrivateKey) (tls.Certificate, error) {
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func (r *ring) first() ed25519.PublicKey { return r.pins[0] }

func (r *ring) has(pin ed25519.PublicKey) bool {
	return slices.ContainsFunc(r.pins, func(p ed25519.PublicKey) bool { return p.Equal(pin) })
}

// config is that of a TLS side, either, that shows the certificate of the first
// key and accepts those of all keys, and no other.
func (r *ring) config() *tls.Config {
	return &tls.Config{
		Certificates:       []tls.Certificate{r.cert},
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true, // VerifyConnection is stricter
		VerifyConnection: func(s tls.ConnectionState) error {
			if !r.has(pinOf(s)) {
				return errStrangeKey
			}
			return nil
		},
	}
}

// pinOf returns the public key that the other side has shown, nil if it is of
// another kind than ours.
func pinOf(s tls.ConnectionState) ed25519.PublicKey {
	if len(s.PeerCertificates) == 0 {
		return nil
	}
	pin, _ := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	return pin
}

// SetKeys puts another ring of cluster keys in force, as Config.Keys describes
// it. Streams that the first key has not made are made again, streams of peers
// that showed a key no longer in the ring are broken; what is made again in
// time loses no frame. To change a key with no downtime, take three steps, each
// on every node before the next: add the new key as the last, make it the
// first, drop the old one. A cluster opened without Keys gets none later, and
// one with Keys keeps at least one: that is the error, or that the keys are bad.
func (c *Cluster) SetKeys(keys [][]byte) error {
	if c.keyring == nil || len(keys) == 0 {
		return errors.New("cluster: keys cannot be set or unset while the node runs, only changed")
	}
	if err := CheckKeys(keys); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	r, err := newRing(keys)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	c.mu.Lock()
	c.ring.Store(r)
	install(c.keyring, r.membership)
	var links []*link
	var strangers []*inbound
	for _, p := range c.peers {
		if p.link != nil {
			links = append(links, p.link)
		}
		if p.in != nil && fromStranger(p.in.conn, r) {
			strangers = append(strangers, p.in)
		}
	}
	c.mu.Unlock()
	for _, l := range links {
		l.refresh()
	}
	for _, in := range strangers {
		in.conn.Close()
	}
	return nil
}

// install gives a memberlist ring these keys. Every moment the first key of
// either list seals. RemoveKey moves what comes behind the key in a slice that
// readers may hold, so keys are taken off from the end only.
func install(r *memberlist.Keyring, keys [][]byte) {
	r.AddKey(keys[0])
	r.UseKey(keys[0])
	have := r.GetKeys()
	keep := slices.IndexFunc(have, func(k []byte) bool {
		return !slices.ContainsFunc(keys, func(w []byte) bool { return bytes.Equal(w, k) })
	})
	if keep > 0 {
		for i := len(have) - 1; i >= keep; i-- {
			r.RemoveKey(have[i])
		}
	}
	for _, k := range keys {
		r.AddKey(k)
	}
}

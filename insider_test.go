package stint_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// liar is a member that has the key, follows the protocol, and tells what it likes.
type liar struct {
	*rig
	log    events
	honest []*stint.Node
	hashes *table.Table // as the honest nodes hash
	base   time.Time

	mu     sync.Mutex
	ledger *gossip.Ledger
	links  *cluster.Cluster
	closed bool
}

var (
	lieBucket = stint.PerSecond(10).WithName("bucket").WithBurst(100)
	lieWindow = stint.Limit{Name: "window", Events: 100, Per: 24 * time.Hour, Algorithm: stint.FixedWindow}
	lieLog    = stint.Limit{Name: "log", Events: 100, Per: time.Hour, Algorithm: stint.SlidingLog}
)

func newLiar(r *rig) *liar {
	r.Helper()
	l := &liar{rig: r, base: time.Now()}
	var seed [16]byte
	l.hashes = table.New(table.Config{Seed: seed})
	for i := range 2 {
		cfg := r.config(i)
		cfg.ClusterKeys, cfg.HashSeed, cfg.MaxLimits, cfg.Logger = [][]byte{clusterKey(1)}, seed[:], 500, slog.New(&l.log)
		n := r.open(cfg)
		for _, limit := range []stint.Limit{lieBucket, lieWindow, lieLog} {
			if err := n.SetLimit(limit); err != nil {
				r.Fatal(err)
			}
		}
		l.honest = append(l.honest, n)
	}
	r.met(l.honest...)
	print := sha256.Sum256(append([]byte("stint: fingerprint of a hash seed "), seed[:]...))
	l.ledger = gossip.New(gossip.Config{Incarnation: 666, Name: "liar", Seed: binary.LittleEndian.Uint64(print[:]), Rand: rand.Uint64, MaxRecords: 1 << 20, MaxBytes: 1 << 30})
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	l.links, err = cluster.Open(cluster.Config{
		Name: "liar", Incarnation: 666, Bind: ":7946", Join: []string{"10.0.0.1:7946"}, Keys: [][]byte{clusterKey(1)}, Transport: r.net.Host("10.6.6.6"),
		Frame: func(from uint64, f []byte) { l.act(func(now int64) { l.ledger.Receive(now, from, f) }) },
		Change: func(e cluster.Event) {
			l.act(func(now int64) {
				switch peer := e.Member.Incarnation; e.Kind {
				case cluster.MemberUp:
					l.ledger.Up(now, peer, e.Member.Name)
				case cluster.MemberDown:
					l.ledger.Down(now, peer)
				case cluster.LinkUp:
					l.ledger.Open(now, peer)
				case cluster.LinkDown:
					l.ledger.Closed(peer)
				}
			})
		},
	})
	if err != nil {
		r.Fatal(err)
	}
	go func() {
		for ; ; time.Sleep(5 * time.Millisecond) {
			l.mu.Lock()
			closed := l.closed
			l.mu.Unlock()
			if closed {
				return
			}
			l.act(func(now int64) { l.ledger.Tick(now) })
		}
	}()
	return l
}

func (l *liar) now() int64 { return int64(time.Since(l.base)) }

// act has the ledger do something, and sends what comes of it.
func (l *liar) act(f func(now int64)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l.now())
	out := l.ledger.Output()
	for _, f := range out.Frames {
		l.links.Send(f.To, f.Data, f.Body)
	}
	for _, peer := range out.Redial {
		l.links.Redial(peer)
	}
}

func (l *liar) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.links.Close(gone())
	time.Sleep(time.Second)
}

// hash is what a key goes by.
func (l *liar) hash(limit stint.Limit, key string) (id, hash uint64) {
	l.Helper()
	h, err := l.hashes.Define(limit.Name, table.Def{Kind: table.Unlimited})
	if err != nil {
		l.Fatal(err)
	}
	return h.ID(), h.Hash(key)
}

// tell lies about a key, and waits until everybody has heard.
func (l *liar) tell(limit stint.Limit, key string, n, start, per int64) {
	l.Helper()
	id, hash := l.hash(limit, key)
	l.act(func(now int64) {
		l.ledger.Append(now, now, []gossip.Entry{{Limit: id, Hash: hash, N: n, Start: start, Per: per}})
	})
	l.heard()
}

// heard waits until the honest nodes have acknowledged all.
func (l *liar) heard() {
	l.Helper()
	l.within(10*time.Minute, "the lies are heard", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.ledger.Quiet() && len(l.ledger.Links(l.now())) == 2
	})
}

// waits is how long each honest node has a key wait.
func (l *liar) waits(limit stint.Limit, key string) (longest time.Duration) {
	for _, n := range l.honest {
		d := n.PeekN(key, limit, 1)
		if d.Remaining < 0 || d.Remaining > 100 {
			l.Errorf("%s has %d left of %s", n.Name(), d.Remaining, key)
		}
		if !d.OK {
			longest = max(longest, d.RetryAfter)
		}
	}
	return longest
}

// Who has the key lies about amounts, times, limits and records, as much as the protocol
// lets him. No key is in debt beyond promise 4, none has more than its limit, memory keeps
// its bounds, the log is not flooded, and when he is gone the others count on. With
// STINT_SOAK his records are more than a node keeps.
func TestInsiderWhoLies(t *testing.T) {
	inBubble(t, func(r *rig) {
		l := newLiar(r)
		r.within(20*time.Second, "the liar is a member", func() bool { return l.honest[0].Stats().Nodes == 3 && l.honest[1].Stats().Nodes == 3 })
		l.heard()
		l.amounts()
		l.times()
		l.floods()
		l.noise()
		l.close()
		time.Sleep(3 * time.Minute)
		r.met(l.honest...)
		for _, limit := range []stint.Limit{lieBucket, lieWindow, lieLog} {
			for _, n := range l.honest {
				n.AllowN("afterwards", limit, 10)
			}
		}
		r.sync()
		r.checkRemaining(80, "afterwards", lieWindow, l.honest...)
		r.checkRemaining(80, "afterwards", lieLog, l.honest...)
		if n := l.log.count(slog.LevelWarn, ""); n > 16 {
			r.Errorf("%d warnings: %q", n, l.log.lines)
		}
	})
}

// amounts are of any size, fresh and old, to take and to give.
func (l *liar) amounts() {
	// Promise 4, (N−1)·(B + 5 s·R) events, and the one that is asked for.
	rate := bucket.New(10, int64(time.Second), 100)
	fresh := time.Duration(rate.Debt(3)) + 100*time.Millisecond
	if most := 30*time.Second + 100*time.Millisecond; fresh > most {
		l.Errorf("fresh debt may be %v, promise 4 says %v", fresh, most)
	}
	for i := range 20 {
		l.tell(lieBucket, "huge", math.MaxInt64>>(i%3), l.now(), 0)
		if got := l.waits(lieBucket, "huge"); got > fresh || got < fresh-5*time.Second {
			l.Errorf("after lie %d the key waits for %v, want %v", i, got, fresh)
		}
	}
	time.Sleep(fresh)
	if got := l.waits(lieBucket, "huge"); got > 0 {
		l.Errorf("once the lies are over the key still waits for %v", got)
	}
	for range 3 {
		l.tell(lieBucket, "old", math.MaxInt64, l.now()-int64(time.Hour), 0)
		if got, most := l.waits(lieBucket, "old"), 10*time.Second+100*time.Millisecond; got > most {
			l.Errorf("old lies make the key wait for %v, want %v at most", got, most)
		}
	}
	for _, limit := range []stint.Limit{lieBucket, lieWindow, lieLog} {
		for _, n := range []int64{-1, -1000, math.MinInt64, math.MinInt64 + 1, -math.MaxInt64 / 2} {
			l.tell(limit, "minted", n, l.now(), 0)
			if l.waits(limit, "minted") > 0 || l.honest[0].AllowN("minted", limit, 101).OK {
				l.Errorf("after %d events of %s given back", n, limit.Name)
			}
		}
	}
}

// times are of any age, and windows of any place and length.
func (l *liar) times() {
	odd := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64, l.now() + int64(time.Hour)}
	for _, limit := range []stint.Limit{lieBucket, lieWindow, lieLog} {
		for i, start := range odd {
			for _, per := range []int64{0, 1, int64(24 * time.Hour), math.MaxInt64} {
				for _, n := range []int64{1, math.MaxInt64, math.MinInt64} {
					key := fmt.Sprint(limit.Name, i, per, n)
					id, hash := l.hash(limit, key)
					l.act(func(now int64) {
						l.ledger.Append(now, now, []gossip.Entry{{Limit: id, Hash: hash, N: n, Start: start, Per: per}})
					})
					l.waits(limit, key)
				}
			}
		}
	}
	l.heard()
}

// floods are of keys, limits and records, each more than a node keeps.
func (l *liar) floods() {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	id, _ := l.hash(lieBucket, "")
	for part := range uint64(15) {
		var entries []gossip.Entry
		for i := range uint64(1000) {
			entries = append(entries, gossip.Entry{Limit: id, Hash: (part<<32 | i) * 0x9E3779B97F4A7C15, N: 200, Start: l.now()})
		}
		l.act(func(now int64) { l.ledger.Append(now, now, entries) })
	}
	l.heard()
	for i := range 600 {
		name := fmt.Sprintf("limit %d %s", i, strings.Repeat("x", []int{1, 500, 5000, 20_000}[min(i%100, 3)]))
		l.act(func(now int64) {
			l.ledger.Define(now, gossip.Definition{ID: table.ID(name), Name: name, Text: "10/s" + strings.Repeat(" ", i%2*100)})
		})
		if i%100 == 99 {
			l.heard()
		}
	}
	_, hash := l.hash(lieBucket, "held")
	holds := 2000
	if soaking() {
		holds = 110_000 // more than a node keeps
	}
	for i := range holds {
		l.act(func(now int64) {
			l.ledger.Put(now, gossip.Record{Kind: gossip.RecordHold, Limit: id, Hash: hash, Maker: 666, ID: uint64(i), Open: true, N: math.MaxInt64, Start: now, Until: now + int64(time.Minute)})
		})
		if i%1000 == 999 {
			l.heard()
		}
	}
	l.heard()
	runtime.GC()
	runtime.ReadMemStats(&after)
	for _, n := range l.honest {
		s := n.Stats()
		if s.Keys > s.MaxKeys || s.Holds > 100_000 || s.Holds < min(holds, 100_000) || holds > 100_000 && s.Unheld == 0 || len(s.Limits) != 3 {
			l.Errorf("%s keeps %d keys, %d holds and %d limits, and has no room for %d holds", n.Name(), s.Keys, s.Holds, len(s.Limits), s.Unheld)
		}
	}
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	l.Logf("the heap grows by %d MiB, the liar's own part included", grown>>20)
	if grown > 64<<20 && !soaking() || grown > 512<<20 {
		l.Errorf("the heap grew by %d bytes", grown)
	}
}

// noise is frames that are none.
func (l *liar) noise() {
	dice := rand.New(rand.NewPCG(6, 6))
	for i := range 500 {
		frame := make([]byte, 1+dice.IntN(2000))
		for j := range frame {
			frame[j] = byte(dice.Uint32())
		}
		if i%2 == 0 {
			copy(frame, []byte{0x9b, byte(1 + dice.IntN(14)), 0xcd, 0x02, 0x9a})
		}
		for _, m := range l.links.Members() {
			if !m.Self {
				l.links.Send(m.Incarnation, frame, nil)
			}
		}
		time.Sleep(time.Millisecond)
	}
	for _, n := range l.honest {
		if n.Stats().Malformed < 120 {
			l.Errorf("%s read %d malformed frames", n.Name(), n.Stats().Malformed)
		}
	}
}

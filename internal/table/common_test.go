package table

import (
	"slices"
	"testing"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

const (
	second = int64(1e9)
	hour   = 3600 * second
)

// def is a shared token bucket of so many events per so many nanoseconds.
func def(events, per, burst int64) Def {
	return Def{Kind: Bucket, Bucket: bucket.New(events, per, burst), Shared: true}
}

// kinds are shared limits of each kind that keeps entries, of so many events per so many
// nanoseconds.
func kinds(events, per int64) map[string]Def {
	return map[string]Def{"bucket": def(events, per, events), "fixed": fixed(events, per), "sliding": sliding(events, per), "log": logging(events, per)}
}

func fixed(events, per int64) Def {
	return Def{Kind: Window, Window: window.NewFixed(events, per), Shared: true}
}

func sliding(events, per int64) Def {
	return Def{Kind: Window, Window: window.NewSliding(events, per), Shared: true}
}

func logging(events, per int64) Def {
	return Def{Kind: Log, Log: window.NewLog(events, per), Shared: true}
}

func define(t testing.TB, tab *Table, name string, d Def) *Limit {
	t.Helper()
	l, err := tab.Define(name, d)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func learn(t testing.TB, tab *Table, id uint64, d Def) *Limit {
	t.Helper()
	l, err := tab.Learn(id, d)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// charge applies an amount without a window.
func charge(tab *Table, l *Limit, hash uint64, now, n, start, debt int64) {
	tab.Charge(l, hash, now, Row{N: n, Start: start}, debt)
}

// news is one emitted entry.
type news struct {
	limit    *Limit
	hash     uint64
	n, start int64
}

// told is what a drain of everything emits, by key and by where it lies.
func told(tab *Table) map[modelID]map[Row]int64 {
	all := map[modelID]map[Row]int64{}
	tab.Drain(false, func(l *Limit, hash uint64, r Row) {
		at := all[modelID{l, hash}]
		if at == nil {
			at = map[Row]int64{}
			all[modelID{l, hash}] = at
		}
		at[Row{Start: r.Start, Per: r.Per}] += r.N
	})
	return all
}

func drain(tab *Table, urgentOnly bool) (all []news, since int64, any bool) {
	since, any = tab.Drain(urgentOnly, func(l *Limit, hash uint64, r Row) {
		all = append(all, news{l, hash, r.N, r.Start})
	})
	return all, since, any
}

// check verifies what must hold of a table at rest.
func check(t testing.TB, tab *Table) {
	t.Helper()
	keys, bans := 0, 0
	for i := range tab.shards {
		s := &tab.shards[i]
		used, dirty, urgent, logs := 0, 0, 0, map[uint32]bool{}
		passed := make([]uint32, len(s.groups))
		for j := range s.entries {
			g, bit := &s.groups[j/groupSlots], slotBit(j)
			e := &s.entries[j]
			if g.occupied()&bit == 0 {
				if g.dirty&bit != 0 || g.urgent&bit != 0 || *e != (entry{}) {
					t.Fatalf("shard %d slot %d: a free slot with marks or contents", i, j)
				}
				continue
			}
			used++
			if e.flags&overflow == 0 {
				keys++
			}
			if g.dirty&bit != 0 {
				dirty++
			} else if e.pending() != 0 {
				t.Fatalf("shard %d slot %d: something unsent without a mark", i, j)
			}
			if g.urgent&bit != 0 {
				urgent++
				if g.dirty&bit == 0 {
					t.Fatalf("shard %d slot %d: urgent and not dirty", i, j)
				}
			}
			if e.flags&logged != 0 && e.log().slab > 0 {
				if h := e.log().slab; logs[h] || int(h) > len(s.aside.logs.logs) || slices.Contains(s.aside.logs.free, h) {
					t.Fatalf("shard %d slot %d: handle %d of a log is another's, or free", i, j, h)
				}
				logs[e.log().slab] = true
			}
			if e.flags&pinned != 0 {
				t.Fatalf("shard %d slot %d: still pinned", i, j)
			}
			if got := s.find(e.hash, e.limit); got != j {
				t.Fatalf("shard %d slot %d: found at %d", i, j, got)
			}
			for at := home(e.hash, len(s.groups)); at != j/groupSlots; at = (at + 1) % len(s.groups) {
				passed[at]++
			}
		}
		if used != int(s.used) || dirty != int(s.dirtyCount) || urgent != int(s.urgentCount) {
			t.Fatalf("shard %d: counted %d used, %d dirty, %d urgent; it says %d, %d, %d",
				i, used, dirty, urgent, s.used, s.dirtyCount, s.urgentCount)
		}
		if a := s.aside; a != nil {
			if len(logs)+len(a.logs.free) != len(a.logs.logs) {
				t.Fatalf("shard %d: %d logs in use and %d free, of %d", i, len(logs), len(a.logs.free), len(a.logs.logs))
			}
			if len(a.left) > 0 && tab.dirty[i/64].Load()>>(i%64)&1 == 0 {
				t.Fatalf("shard %d: something left to tell, but no mark", i)
			}
			bans += len(a.bans)
		}
		for at := range s.groups {
			if s.groups[at].passed != passed[at] {
				t.Fatalf("shard %d group %d: passed %d, want %d", i, at, s.groups[at].passed, passed[at])
			}
		}
		for _, c := range []struct {
			marks bitmap
			n     int
		}{{tab.dirty, dirty}, {tab.urgent, urgent}} {
			if c.n > 0 && c.marks[i/64].Load()>>(i%64)&1 == 0 {
				t.Fatalf("shard %d: %d marked entries, but the shard is not", i, c.n)
			}
		}
	}
	if bans != tab.Stats().Bans {
		t.Fatalf("counted %d bans, Stats says %d", bans, tab.Stats().Bans)
	}
	if keys != tab.Stats().Keys {
		t.Fatalf("counted %d keys, Stats says %d", keys, tab.Stats().Keys)
	}
	if keys > tab.Stats().MaxKeys {
		t.Fatalf("%d keys, more than MaxKeys %d", keys, tab.Stats().MaxKeys)
	}
}

package table

import (
	"testing"

	"github.com/stint-go/stint/bucket"
)

const (
	second = int64(1e9)
	hour   = 3600 * second
)

// def is a shared token bucket of so many events per so many nanoseconds.
func def(events, per, burst int64) Def {
	return Def{Kind: Bucket, Bucket: bucket.New(events, per, burst), Shared: true}
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

// news is one emitted entry.
type news struct {
	limit    *Limit
	hash     uint64
	n, start int64
}

func drain(tab *Table, urgentOnly bool) (all []news, since int64, any bool) {
	since, any = tab.Drain(urgentOnly, func(l *Limit, hash uint64, n, start int64) {
		all = append(all, news{l, hash, n, start})
	})
	return all, since, any
}

// check verifies what must hold of a table at rest.
func check(t testing.TB, tab *Table) {
	t.Helper()
	keys := 0
	for i := range tab.shards {
		s := &tab.shards[i]
		used, dirty, urgent := 0, 0, 0
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
			} else if e.unsent.N != 0 {
				t.Fatalf("shard %d slot %d: something unsent without a mark", i, j)
			}
			if g.urgent&bit != 0 {
				urgent++
				if g.dirty&bit == 0 {
					t.Fatalf("shard %d slot %d: urgent and not dirty", i, j)
				}
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
	if keys != tab.Stats().Keys {
		t.Fatalf("counted %d keys, Stats says %d", keys, tab.Stats().Keys)
	}
	if keys > tab.Stats().MaxKeys {
		t.Fatalf("%d keys, more than MaxKeys %d", keys, tab.Stats().MaxKeys)
	}
}

package table

import (
	"math/rand/v2"
	"testing"
)

// cluster is a few tables that tell each other what they spend, late and out of order.
type cluster struct {
	tables []*Table
	limits [][]*Limit
	mail   []letter
	rnd    *rand.Rand
	now    int64
}

type letter struct {
	to, limit int
	hash      uint64
	Row
	due int64
}

// send puts every table's news, or an amount that a record carries, on its way to the
// others.
func (c *cluster) send(from, limit int, hash uint64, r Row) {
	for to := range c.tables {
		if to != from {
			c.mail = append(c.mail, letter{to, limit, hash, r, c.now + c.rnd.Int64N(2*second)})
		}
	}
}

func (c *cluster) drain(from int) {
	c.tables[from].Drain(c.rnd.IntN(2) == 0, func(l *Limit, hash uint64, r Row) {
		for i := range c.limits[from] {
			if c.limits[from][i] == l {
				c.send(from, i, hash, r)
			}
		}
	})
}

func (c *cluster) deliver() {
	kept := c.mail[:0]
	for _, m := range c.mail {
		if m.due > c.now {
			kept = append(kept, m)
			continue
		}
		c.tables[m.to].Charge(c.limits[m.to][m.limit], m.hash, c.now, m.Row, 0)
	}
	c.mail = kept
}

// TestTablesAgree is promise 2 for windows, and case 19: whatever is taken, held, given
// back and reset where, in whatever order the news comes, in the end all count alike.
func TestTablesAgree(t *testing.T) {
	for seed := range uint64(6) {
		c := &cluster{rnd: rand.New(rand.NewPCG(seed, 11)), now: 1000 * second}
		rnd := c.rnd
		defs := []Def{fixed(30, 10*second), sliding(40, 15*second), fixed(1000, 60*second)}
		for i := range 3 {
			tab := New(Config{Record: true})
			tab.SetWall(1_700_000_000*second + int64(i)*second/4) // clocks differ a little
			var limits []*Limit
			for j, d := range defs {
				limits = append(limits, define(t, tab, string(rune('a'+j)), d))
			}
			c.tables, c.limits = append(c.tables, tab), append(c.limits, limits)
		}
		type taken struct {
			table, limit int
			hash         uint64
			mark         Row
		}
		var done []taken
		refunded := int64(0)
		for range 300 {
			for range 40 {
				c.now += rnd.Int64N(second / 20)
				i, j, hash := rnd.IntN(3), rnd.IntN(len(defs)), mix(rnd.IntN(4))
				tab, l := c.tables[i], c.limits[i][j]
				n := 1 + rnd.Int64N(3)
				mark := tab.Mark(l, c.now)
				switch op := rnd.IntN(20); {
				case op < 13:
					if tab.Take(l, hash, c.now, n).OK {
						mark.N = n
						done = append(done, taken{i, j, hash, mark})
					}
				case op < 15:
					if tab.Hold(l, hash, c.now, n).OK {
						mark.N = n
						c.send(i, j, hash, mark)
					}
				case op < 18 && len(done) > 0:
					k := done[rnd.IntN(len(done))]
					refunded += c.tables[k.table].Refund(c.limits[k.table][k.limit], k.hash, c.now, k.mark.N, k.mark)
				case op < 19:
					refunded += tab.Reset(l, hash, c.now)
				default:
					tab.Sweep(c.now, 1)
				}
				c.deliver()
				if rnd.IntN(4) == 0 {
					c.drain(rnd.IntN(3))
				}
			}
			if rnd.IntN(10) > 0 {
				continue
			}
			c.settle(t, seed)
			done = done[:0]
		}
		if refunded < 100 {
			t.Errorf("seed %d: only %d events came back", seed, refunded)
		}
	}
}

// settle lets all news arrive, and compares.
func (c *cluster) settle(t *testing.T, seed uint64) {
	t.Helper()
	for range c.tables {
		for i, tab := range c.tables {
			tab.Drain(false, func(l *Limit, hash uint64, r Row) {
				for j := range c.limits[i] {
					if c.limits[i][j] == l {
						c.send(i, j, hash, r)
					}
				}
			})
		}
		c.now += 2 * second
		c.deliver()
	}
	for j := range c.limits[0] {
		for k := range 4 {
			want := c.tables[0].windowed(c.limits[0][j], mix(k), c.now)
			for i, tab := range c.tables[1:] {
				if got := tab.windowed(c.limits[i+1][j], mix(k), c.now-int64(i+1)*second/4); got != want {
					t.Fatalf("seed %d: limit %d key %d: table %d says %v, table 0 %v", seed, j, k, i+1, got, want)
				}
			}
		}
	}
	for _, tab := range c.tables {
		check(t, tab)
	}
}

// windowed is what a table has counted of a key in the window of now, and what remains.
func (t *Table) windowed(l *Limit, hash uint64, now int64) [2]int64 {
	left := t.Peek(l, hash, now, 0).Remaining
	s := t.shard(hash)
	i := s.find(hash, l.index)
	if i < 0 {
		return [2]int64{0, left}
	}
	w := s.entries[i].window()
	return [2]int64{max(w.state.Counts[w.where(l.current.Load().frameAt(t.Wall(now)))], 0), left}
}

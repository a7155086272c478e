package engine

import (
	"fmt"
	"testing"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

const (
	ms   = int64(1e6)
	hour = 3600 * int64(second)
)

// crowd is some engines that know each other, one virtual clock, and wires with a
// delay between them. It steps every engine when it asked to be.
type crowd struct {
	testing.TB
	now   int64
	delay int64
	sync  int64
	cut   bool // no frame gets through
	nodes []*node
	wire  []parcel // in order of arrival: the delay is constant
	notes []string
}

type node struct {
	*Engine
	table  *table.Table
	id     uint64
	next   int64 // when the engine wants to be stepped
	steps  int
	sent   int // frames
	poke   bool
	redial []uint64
}

type parcel struct {
	at       int64
	from, to *node
	frame    []byte
}

// crowdOf makes so many engines, all in session with each other.
func crowdOf(t testing.TB, size int) *crowd {
	c := &crowd{TB: t, now: second, delay: ms}
	c.meet(size)
	return c
}

func (c *crowd) meet(size int) {
	c.Helper()
	for range size {
		c.add(table.Config{})
	}
	for _, n := range c.nodes {
		for _, m := range c.nodes {
			if n != m {
				n.Up(c.now, m.id, fmt.Sprint("n", m.id))
				n.Open(c.now, m.id)
			}
		}
	}
	c.run(3 * second / 2)
	for _, n := range c.nodes {
		if !n.Heard() || !n.Quiet() {
			c.Fatalf("n%d: not in session", n.id)
		}
	}
}

func (c *crowd) add(cfg table.Config) *node {
	n := &node{id: uint64(len(c.nodes) + 1), next: c.now}
	cfg.Record = true
	cfg.Poke = func() { n.poke = n.Poke() || n.poke }
	n.table = table.New(cfg)
	nonce := n.id << 32
	n.Engine = New(c.now, Config{
		Table: n.table, Parse: parse, Sync: c.sync,
		Ledger: gossip.Config{Incarnation: n.id, Rand: func() uint64 { nonce++; return nonce }},
		Send: func(f gossip.Frame) {
			n.sent++
			if !c.cut {
				c.wire = append(c.wire, parcel{c.now + c.delay, n, c.nodes[f.To-1], f.Bytes()})
			}
		},
		Redial: func(to uint64) { n.redial = append(n.redial, to) },
		Note:   func(note gossip.Note) { c.notes = append(c.notes, note.Text) },
	})
	c.nodes = append(c.nodes, n)
	return n
}

// run lets so much time pass.
func (c *crowd) run(for_ int64) {
	end := c.now + for_
	for c.turn(end) {
	}
	c.now = end
}

// turn does what is due first, unless that is after the end.
func (c *crowd) turn(end int64) bool {
	due := end + 1
	if len(c.wire) > 0 {
		due = c.wire[0].at
	}
	var who *node
	for _, n := range c.nodes {
		at := n.next
		if n.poke {
			at = c.now
		}
		if at < due {
			due, who = at, n
		}
	}
	if due > end {
		return false
	}
	c.now = max(c.now, due)
	if who == nil {
		p := c.wire[0]
		c.wire = c.wire[1:]
		if err := p.to.Receive(c.now, p.from.id, p.frame); err != nil {
			c.Fatal(err)
		}
		who = p.to
	}
	who.step(c.now)
	return true
}

func (n *node) step(now int64) {
	n.poke = false
	n.next = n.Step(now)
	n.steps++
}

// parse reads the texts that tests give to limits: events per hour, with a burst of as
// many, or anything else.
func parse(text string) table.Def {
	var events int64
	if _, err := fmt.Sscanf(text, "%d/h", &events); err != nil {
		return table.Def{}
	}
	return perHour(events)
}

func perHour(events int64) table.Def {
	return table.Def{Kind: table.Bucket, Bucket: bucket.New(events, hour, events), Shared: true}
}

// define puts a limit in force at a node and tells the others.
func (c *crowd) define(n *node, name string, d table.Def, text string) *table.Limit {
	c.Helper()
	l, err := n.table.Define(name, d)
	if err != nil {
		c.Fatal(err)
	}
	n.Define(c.now, gossip.Definition{ID: l.ID(), Name: name, Text: text})
	return l
}

// everywhere defines a limit at all nodes.
func (c *crowd) everywhere(name string, events int64) (all []*table.Limit) {
	c.Helper()
	for _, n := range c.nodes {
		all = append(all, c.define(n, name, perHour(events), fmt.Sprintf("%d/h", events)))
	}
	return all
}

func (c *crowd) left(n *node, l *table.Limit, key string) int64 {
	return n.table.Peek(l, l.Hash(key), c.now, 1).Remaining
}

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
)

// Names and texts of limits that are longer than any node of ours makes are not kept: of
// some thousand limits they came to gigabytes. And what is wrong with them is said once,
// for peers repeat it each time that they connect.
func TestLimitsOfPeersAreBounded(t *testing.T) {
	c := crowdOf(t, 2)
	a, b := c.nodes[0], c.nodes[1]
	for i := range 50 {
		long := fmt.Sprint(i, strings.Repeat("x", maxText))
		a.Define(c.now, gossip.Definition{ID: table.ID(long), Name: long, Text: "10"})
		short := fmt.Sprint("short", i)
		a.Define(c.now, gossip.Definition{ID: table.ID(short), Name: short, Text: "10" + long})
	}
	c.run(second)
	if len(b.texts) > 0 {
		t.Errorf("got %d texts kept", len(b.texts))
	}
	if n := len(c.notes); n != 1 || !strings.Contains(c.notes[0], "longer than any can be") {
		t.Errorf("got %d notes: %.300q", n, c.notes)
	}
}

package engine

import (
	"math"
	"testing"
	"time"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/gossip"
	"github.com/stint-go/stint/internal/table"
	"github.com/stint-go/stint/window"
)

func TestMemory(t *testing.T) {
	const day = 24 * 3600 * second
	for name, test := range map[string]struct {
		def  table.Def
		want int64
	}{
		"bucket":       {table.Def{Kind: table.Bucket, Bucket: bucket.New(10, second, 100)}, 20 * second},
		"slow bucket":  {table.Def{Kind: table.Bucket, Bucket: bucket.New(1, math.MaxInt64, 1)}, 1 << 62},
		"fixed":        {table.Def{Kind: table.Window, Window: window.NewFixed(5, 60*second)}, 60 * second},
		"sliding":      {table.Def{Kind: table.Window, Window: window.NewSliding(5, 60*second)}, 120 * second},
		"longest":      {table.Def{Kind: table.Window, Window: window.NewSliding(5, math.MaxInt64)}, 1 << 62},
		"day":          {table.Def{Kind: table.Window, Window: window.NewCalendar(5, window.Day, time.UTC)}, day + day/24},
		"week":         {table.Def{Kind: table.Window, Window: window.NewCalendar(5, window.Week, time.UTC)}, 7*day + day/24},
		"month":        {table.Def{Kind: table.Window, Window: window.NewCalendar(5, window.Month, time.UTC)}, 31*day + day/24},
		"log":          {table.Def{Kind: table.Log, Log: window.NewLog(5, 60*second)}, 60 * second},
		"unlimited":    {table.Def{Kind: table.Unlimited}, 0},
		"not a shared": {table.Def{Kind: table.Unknown}, 0},
	} {
		test.def.Shared = name != "not a shared"
		if got := memory(&test.def); got < test.want-test.want/1000 || got > test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
		test.def.Shared = false
		if got := memory(&test.def); got != 0 {
			t.Errorf("%s, not shared: got %d, want 0", name, got)
		}
	}
}

// A bucket's run is stale when all of it has come back twice since its last take, a log's
// when it has expired; what is of a window, or of an unknown limit, never is.
func TestStale(t *testing.T) {
	tab := table.New(table.Config{MaxKeys: 100, Record: true})
	e := New(0, Config{Table: tab, Ledger: gossip.Config{Incarnation: 1, Rand: func() uint64 { return 1 }}, Parse: func(string) table.Def { return table.Def{} }})
	for name, d := range map[string]table.Def{
		"bucket": {Kind: table.Bucket, Shared: true, Bucket: bucket.New(10, second, 100)},
		"log":    {Kind: table.Log, Shared: true, Log: window.NewLog(5, 30*second)},
		"window": {Kind: table.Window, Shared: true, Window: window.NewFixed(5, 60*second)},
	} {
		if _, err := tab.Define(name, d); err != nil {
			t.Fatal(err)
		}
		e.Define(0, gossip.Definition{ID: table.ID(name), Name: name})
	}
	if e.longest != 60*second {
		t.Errorf("got a memory of %d for all limits, want 60 s", e.longest)
	}
	e.at = 100 * second
	for _, test := range []struct {
		limit string
		entry gossip.Entry
		want  bool
	}{
		{"bucket", gossip.Entry{N: 10, Start: 79*second - 1}, true}, // full again at 80 s, less 1 ns
		{"bucket", gossip.Entry{N: 10, Start: 79 * second}, false},
		{"bucket", gossip.Entry{N: 600, Start: 20*second + 1}, false},
		{"log", gossip.Entry{N: 1, Start: 70*second - 1}, true},
		{"log", gossip.Entry{N: 1, Start: 70 * second}, false},
		{"window", gossip.Entry{N: 1, Start: 0, Per: 60 * second}, false},
		{"unknown", gossip.Entry{N: 1, Start: 0}, false},
	} {
		test.entry.Limit = table.ID(test.limit)
		if got := e.stale(test.entry); got != test.want {
			t.Errorf("%s: %+v is stale: %v, want %v", test.limit, test.entry, got, test.want)
		}
	}
}

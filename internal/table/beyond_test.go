package table

import (
	"testing"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/window"
)

// By how much peers and this node have overspent a key is known to its limit, once.
func TestExceeded(t *testing.T) {
	const minute = 60 * 1_000_000_000
	for name, d := range map[string]Def{
		"bucket":  {Kind: Bucket, Shared: true, Bucket: bucket.New(10, 10*minute, 10)},
		"fixed":   {Kind: Window, Shared: true, Window: window.NewFixed(10, 10*minute)},
		"sliding": {Kind: Window, Shared: true, Window: window.NewSliding(10, 10*minute)},
		"log":     {Kind: Log, Shared: true, Log: window.NewLog(10, 10*minute)},
	} {
		tab := New(Config{MaxKeys: 100, Record: true})
		l, err := tab.Define(name, d)
		if err != nil {
			t.Fatal(err)
		}
		now := int64(minute)
		charge := func(key string, n int64) {
			r := Row{N: n, Start: now}
			if d.Kind == Window {
				r.Start, r.Per = 0, 10*minute
			}
			tab.Charge(l, l.Hash(key), now, r, bucket.Never)
		}
		tab.Take(l, l.Hash("ann"), now, 10)
		charge("bob", 10)
		if got := l.Exceeded(); got != 0 {
			t.Errorf("%s: got %d beyond of two keys at the limit", name, got)
		}
		charge("ann", 7)
		charge("ann", 2)
		charge("bob", 3)
		if got := l.Exceeded(); got != 9 {
			t.Errorf("%s: got %d beyond, want 9", name, got)
		}
		if got := l.Exceeded(); got != 0 {
			t.Errorf("%s: got %d beyond, told before", name, got)
		}
	}
}

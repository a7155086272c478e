//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/fleet"
)

// Ten million different keys, or a hundred thousand in the short form, come to a daemon
// that remembers few of them. Its memory stays where it was when its table had become full,
// and a key at its limit stays refused (case 14).
func TestChaosKeys(t *testing.T) {
	t.Parallel()
	total, room := 100_000, "10000"
	if soaking() {
		total, room = 10_000_000, "100000"
	}
	const lot, mostGrowth = 1000, 8 << 20
	f := fleet.New(fleet.Config{
		Command: []string{"stint"}, Alone: true, Log: func(line string) { t.Log(line) },
		Flags: []string{"--limit", "day=5/24h", "--max-keys", room},
	})
	t.Cleanup(f.Close)
	n, err := f.Start(1)
	if err != nil {
		t.Fatal(err)
	}
	book := fleet.NewBook(fleet.Key{Limit: "day", Key: "limited"})
	taker := &fleet.Load{Book: book}
	if got := taker.Take(n, 0, 5); got != fleet.Admitted {
		t.Fatalf("the whole limit at once: %v", got)
	}
	var early int64
	for i := 0; i < total; i += lot {
		takeLot(t, n, i, lot)
		if i%(total/20) == 0 {
			if got := taker.Take(n, 0, 1); got != fleet.Refused {
				t.Fatalf("after %d keys: outcome %d for a key at its limit", i, got)
			}
		}
		if i == total/5 {
			early = memory(t, f.Nodes())[0]
		}
	}
	late := memory(t, f.Nodes())[0]
	s, err := n.Stats()
	t.Logf("%d MB after a fifth of %d keys, %d MB at the end: %+v (%v)", early>>20, total, late>>20, s, err)
	if late-early > mostGrowth {
		t.Errorf("memory grew from %d to %d bytes", early, late)
	}
	if err != nil || s.Keys == 0 || s.Evicted+s.Overflowed == 0 {
		t.Errorf("%+v (%v): want a full table", s, err)
	}
}

// takeLot takes one event each of so many keys that nobody has used.
func takeLot(t *testing.T, n *fleet.Node, from, lot int) {
	t.Helper()
	type take struct {
		Limit string `json:"limit"`
		Key   string `json:"key"`
	}
	takes := make([]take, lot)
	for i := range takes {
		takes[i] = take{"day", fmt.Sprintf("fresh%d", from+i)}
	}
	body, err := json.Marshal(map[string]any{"takes": takes})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+n.HTTP+"/v1/take", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	// Where no key can be forgotten, fresh ones share a bucket, and it may be empty.
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusTooManyRequests {
		t.Fatalf("status %d", resp.StatusCode)
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/load"
)

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lines is a key file of these keys, each a digit, and of a seed.
func lines(keys, seed string) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "key %s\n", strings.Repeat(string(k), 2*keyBytes))
	}
	if seed != "" {
		fmt.Fprintf(&b, "seed %s\n", strings.Repeat(seed, 2*seedBytes))
	}
	return b.String()
}

// A file that changed is taken as a whole or not at all; what is wrong with it is said once,
// with the line and what to do.
func TestKeyReload(t *testing.T) {
	refuses := func([][]byte) error { return errors.New("not now") }
	for _, tt := range []struct {
		name, before, after string
		set                 func([][]byte) error
		keys                string // in force afterwards
		log                 []string
	}{
		{"the next key", lines("1", "a"), lines("12", "a"), nil, "12", []string{"level=INFO", "keys=2", "changed=true", "the same key as before"}},
		{"the next key first", lines("12", "a"), lines("21", "a"), nil, "21", []string{"level=INFO", "changed=true", "another key than before"}},
		{"the same", lines("12", "a"), "# moved\n" + lines("12", "a"), refuses, "12", []string{"level=INFO", "changed=false"}},
		{"no step between", lines("1", "a"), lines("2", "a"), nil, "2", []string{"level=WARN", "no key of before is left"}},
		{"a bad line", lines("1", "a"), lines("12", "a") + "key 12", nil, "1", []string{"level=ERROR", "keys: line 4: a key is 64", "the keys stay"}},
		{"another seed", lines("1", "a"), lines("12", "b"), nil, "1", []string{"level=ERROR", "keys: line 3: the seed is not the one", "put that back", "the keys stay"}},
		{"no seed any more", lines("1", "a"), lines("12", ""), nil, "1", []string{"level=ERROR", "keys: the seed is not the one"}},
		{"a first seed", lines("1", ""), lines("12", "a"), nil, "1", []string{"level=ERROR", "keys: line 3: the seed"}},
		{"a first key", lines("", "a"), lines("1", "a"), nil, "", []string{"level=ERROR", "keys: line 1: a first key", "start them again"}},
		{"no key left", lines("1", "a"), lines("", "a"), nil, "1", []string{"level=ERROR", "keys: no key is left: keep one"}},
		{"a seed alone", lines("", "a"), lines("", "a"), nil, "", []string{"level=INFO", "keys=0", "changed=false"}},
		{"empty", lines("1", "a"), "", nil, "1", []string{"level=ERROR", "keys: no key and no seed", "stint keygen"}},
		{"refused by the node", lines("1", "a"), lines("12", "a"), refuses, "1", []string{"level=ERROR", "not now"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "keys")
			writeFile(t, name, tt.before)
			f, err := readKeyFile(name)
			if err != nil {
				t.Fatal(err)
			}
			k := &keyReload{file: name, keys: f.keys, seed: f.seed}
			set := tt.set
			if set == nil {
				set = func([][]byte) error { return nil }
			}
			var log bytes.Buffer
			writeFile(t, name, tt.after)
			k.reload(set, slog.New(slog.NewTextHandler(&log, nil)))
			var got string
			for _, key := range k.keys {
				got += fmt.Sprintf("%x", key)[:1]
			}
			if got != tt.keys || strings.Count(log.String(), "level=ERROR") > 1 {
				t.Errorf("got keys %s and the log\n%s", got, &log)
			}
			for _, word := range tt.log {
				if !strings.Contains(log.String(), word) {
					t.Errorf("got no %q in the log\n%s", word, &log)
				}
			}
			for _, secret := range append(strings.Fields(tt.before), strings.Fields(tt.after)...) {
				if len(secret) > 8 && strings.Contains(log.String(), secret) {
					t.Errorf("the log tells a secret:\n%s", &log)
				}
			}
		})
	}
	t.Run("gone, or no file", func(t *testing.T) {
		dir := t.TempDir()
		for name, word := range map[string]string{filepath.Join(dir, "gone"): "stint keygen", dir: "no regular file"} {
			var log bytes.Buffer
			k := &keyReload{file: name}
			k.reload(refuses, slog.New(slog.NewTextHandler(&log, nil)))
			if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), word) {
				t.Errorf("%s: got the log\n%s", name, &log)
			}
		}
	})
}

// Three processes change their key in the documented steps, by file and SIGHUP, under load:
// at the end each has counted every event that a client was told it may. Files that will
// not do change nothing. The old key is worth nothing afterwards.
func TestRotationUnderLoad(t *testing.T) {
	t.Parallel() // it waits most of the time
	const quota = 1_000_000
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name+".keys") }
	limit := []string{"--limit", fmt.Sprintf("quota=%d/%v algorithm=fixed-window", quota, period())}
	start := func(name string, more ...string) *process {
		writeFile(t, file(name), lines("1", "a"))
		flags := append([]string{"--gossip", "127.0.0.1:0", "--key-file", file(name)}, limit...)
		return serveProcess(t, name, append(flags, more...)...)
	}
	one := start("one")
	all := []*process{one, start("two", "--join", one.gossip), start("three", "--join", one.gossip)}
	eventually(t, 10*time.Second, "three in session", func() bool { return inSession(all, 3) })

	progress, second := newSeconds()
	reports := make(chan *load.Report, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		defer close(reports)
		r, err := load.Run(ctx, load.Config{
			Plan:  load.Plan{Rate: 600, For: 5 * time.Minute},
			Addrs: []string{all[0].http, all[1].http, all[2].http}, Limit: "quota", KeyName: "k", Progress: progress,
		})
		if err != nil {
			t.Error(err)
		}
		reports <- r
	}()

	hangUp := func(p *process, text string, words ...string) {
		t.Helper()
		before := p.said(words...)
		writeFile(t, file(p.name), text)
		p.cmd.Process.Signal(syscall.SIGHUP)
		eventually(t, 10*time.Second, p.name+" has read its file", func() bool { return p.said(words...) == before+1 })
	}
	for _, keys := range []string{"12", "21", "2"} {
		<-second
		for _, p := range all {
			hangUp(p, lines(keys, "a"), `"msg":"key file reread"`, fmt.Sprintf(`"keys":%d`, len(keys)))
		}
		hangUp(one, lines(keys, "b"), `"level":"ERROR"`, "line", "the seed is not the one")
		hangUp(one, lines(keys, "a")+"key", `"level":"ERROR"`, "one.keys: line", "write key HEX")
		eventually(t, 10*time.Second, "all in session", func() bool { return inSession(all, 3) })
	}
	<-second
	stop()
	r := <-reports
	if r == nil {
		return
	}
	if r.Failed+r.Refused > 0 || r.Admitted < 100 {
		t.Errorf("of %d takes %d were admitted, %d refused, %d failed", r.Asked, r.Admitted, r.Refused, r.Failed)
	}
	agree(t, all, "quota", "k", quota-r.Admitted, quota-r.Admitted, 0)
	for _, p := range all {
		if n := p.said("member down"); n > 0 {
			t.Errorf("%s saw %d members go", p.name, n)
		}
	}

	late := start("late", "--join", one.gossip)
	eventually(t, 20*time.Second, "the old key is refused, and both sides say so", func() bool {
		return late.said(`"level":"WARN"`, "its cluster key is none of ours") == 1 && one.said(`"level":"WARN"`, "does not accept our cluster key") == 1
	})
	if !inSession(all, 3) || len(late.alive()) != 1 {
		t.Errorf("one sees %v, late %v", one.alive(), late.alive())
	}
	for _, p := range append(all, late) {
		p.cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, p := range append(all, late) {
		p.left(t)
	}
}

// inSession says whether all are members at each, as many as there should be, and in session.
func inSession(all []*process, size int) bool {
	for _, p := range all {
		if len(p.alive()) != size || !p.hears() {
			return false
		}
	}
	return true
}

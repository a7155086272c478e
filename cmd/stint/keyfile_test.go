package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// manyKeys is a key file of so many, all different.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key %0*x\n", 2*keyBytes, i)
	}
	return b.String()
}

func TestParseKeyFile(t *testing.T) {
	key, seed := strings.Repeat("ab", keyBytes), strings.Repeat("cd", seedBytes)
	next := strings.Repeat("ef", keyBytes)
	f, err := parseKeyFile("# comment\n\nkey " + key + "\r\nkey " + strings.ToUpper(next) + "\n seed\t" + seed)
	if err != nil || len(f.keys) != 2 || len(f.seed) != seedBytes {
		t.Errorf("got %d keys and a seed of %d bytes, %v", len(f.keys), len(f.seed), err)
	}
	if f, err := parseKeyFile(newKeyFile()); err != nil || len(f.keys) != 1 || len(f.seed) != seedBytes {
		t.Errorf("a new key file: %+v, %v", f, err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "no key and no seed"},
		{"only comments", "# key " + key, "no key and no seed"},
		{"short key", "\nkey " + key[2:], "line 2: a key is 64 hexadecimal digits"},
		{"not hex", "seed " + strings.Repeat("xy", seedBytes), "line 1: a seed is 32 hexadecimal digits"},
		{"second seed", "seed " + seed + "\nseed " + seed, "line 2: a second seed, after that on line 1"},
		{"a key twice", "key " + key + "\n\nkey " + strings.ToUpper(key), "line 3: the key of line 1 once more"},
		{"many keys", manyKeys(maxFileKeys + 1), "line 17: one key more than the 16"},
		{"no value", "key", "line 1: write key HEX or seed HEX"},
		{"more values", "key " + key + " " + key, "line 1: write key HEX or seed HEX"},
		{"unknown word", "sed " + seed, "line 1: unknown word"},
		{"all at once", "sed " + seed + "\nkey ab", "line 2: a key is"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseKeyFile(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want one with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), seed) || strings.Contains(err.Error(), key[2:]) {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

// A file that is no key file is not read to its end.
func TestKeyFileIsShort(t *testing.T) {
	name := filepath.Join(t.TempDir(), "keys")
	writeFile(t, name, "# "+strings.Repeat("x", maxKeyFileSize)+"\n"+newKeyFile())
	if _, err := readKeyFile(name); err == nil || !strings.Contains(err.Error(), "over 65536 bytes") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(os.DevNull); err == nil {
		if _, err := readKeyFile(os.DevNull); err == nil || !strings.Contains(err.Error(), "no key and no seed") {
			t.Errorf("got %v", err)
		}
	}
}

// What is read from a file is in order, and no error tells a secret.
func FuzzKeyFile(f *testing.F) {
	f.Add(newKeyFile())
	f.Add(manyKeys(maxFileKeys))
	f.Add("key\nseed 00\n#\n\x00key " + strings.Repeat("g", 64))
	f.Fuzz(func(t *testing.T, text string) {
		k, err := parseKeyFile(text)
		if err != nil {
			for _, word := range strings.Fields(text) {
				if secret, e := hex.DecodeString(word); e == nil && len(secret) >= seedBytes && strings.Contains(err.Error(), word) {
					t.Errorf("the error tells a secret: %v", err)
				}
			}
			return
		}
		if len(k.keys) == 0 && k.seed == nil || len(k.keys) != len(k.at) {
			t.Errorf("got %d keys, %d lines, a seed of %d bytes", len(k.keys), len(k.at), len(k.seed))
		}
		if err := cluster.CheckKeys(k.keys); err != nil {
			t.Errorf("a node would not take them: %v", err)
		}
	})
}

package main

import (
	"strings"
	"testing"
)

func TestParseKeyFile(t *testing.T) {
	key, seed := strings.Repeat("ab", keyBytes), strings.Repeat("cd", seedBytes)
	f, err := parseKeyFile("# comment\n\nkey " + key + "\r\nkey " + strings.ToUpper(key) + "\n seed\t" + seed)
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
		{"second seed", "seed " + seed + "\nseed " + seed, "line 2: a second seed"},
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

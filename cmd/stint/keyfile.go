package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	keyBytes  = 32
	seedBytes = 16

	maxFileKeys    = 16       // as many as a node takes
	maxKeyFileSize = 64 << 10 // room for as many, and for much comment
)

// keyFile is what serve reads from --key-file: lines "key HEX", the first of which seals,
// and one line "seed HEX". Empty lines and those that start with # say nothing.
type keyFile struct {
	keys [][]byte
	seed []byte

	at     []int // line of each key
	seedAt int
}

func readKeyFile(name string) (*keyFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: make one with stint keygen", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("%w: make one with stint keygen", err)
	}
	if len(text) > maxKeyFileSize {
		return nil, fmt.Errorf("%s: over %d bytes: name a file as stint keygen makes it", name, maxKeyFileSize)
	}
	keys, err := parseKeyFile(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return keys, nil
}

// parseKeyFile reports every faulty line, and never what is on it: it is secret.
func parseKeyFile(text string) (*keyFile, error) {
	f := &keyFile{}
	var errs []error
	number := 0
	for line := range strings.Lines(text) {
		number++
		if err := f.line(number, strings.Fields(line)); err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", number, err))
		}
	}
	if len(errs) == 0 && f.seed == nil && len(f.keys) == 0 {
		errs = append(errs, errors.New("no key and no seed: make a file with stint keygen"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *keyFile) line(number int, words []string) error {
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return nil
	}
	if len(words) != 2 {
		return errors.New("write key HEX or seed HEX")
	}
	secret, err := hex.DecodeString(words[1])
	switch words[0] {
	case "key":
		if err != nil || len(secret) != keyBytes {
			return fmt.Errorf("a key is %d hexadecimal digits", 2*keyBytes)
		}
		return f.addKey(number, secret)
	case "seed":
		if err != nil || len(secret) != seedBytes {
			return fmt.Errorf("a seed is %d hexadecimal digits", 2*seedBytes)
		}
		if f.seed != nil {
			return fmt.Errorf("a second seed, after that on line %d: all keys are hashed with one", f.seedAt)
		}
		f.seed, f.seedAt = secret, number
	default:
		return errors.New("unknown word: write key HEX or seed HEX")
	}
	return nil
}

func (f *keyFile) addKey(number int, key []byte) error {
	for i, k := range f.keys {
		if bytes.Equal(k, key) {
			return fmt.Errorf("the key of line %d once more: give each key once", f.at[i])
		}
	}
	if len(f.keys) == maxFileKeys {
		return fmt.Errorf("one key more than the %d that a node takes: drop old ones", maxFileKeys)
	}
	f.keys, f.at = append(f.keys, key), append(f.at, number)
	return nil
}

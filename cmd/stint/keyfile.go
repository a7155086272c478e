package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
)

const (
	keyBytes  = 32
	seedBytes = 16
)

// keyFile is what serve reads from --key-file: lines "key HEX", the first of which seals,
// and one line "seed HEX". Empty lines and those that start with # say nothing.
type keyFile struct {
	keys [][]byte
	seed []byte
}

func readKeyFile(name string) (*keyFile, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: make one with stint keygen", err)
	}
	f, err := parseKeyFile(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// parseKeyFile reports every faulty line, and never what is on it: it is secret.
func parseKeyFile(text string) (*keyFile, error) {
	f := &keyFile{}
	var errs []error
	number := 0
	for line := range strings.Lines(text) {
		number++
		if err := f.line(strings.Fields(line)); err != nil {
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

func (f *keyFile) line(words []string) error {
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
		f.keys = append(f.keys, secret)
	case "seed":
		if err != nil || len(secret) != seedBytes {
			return fmt.Errorf("a seed is %d hexadecimal digits", 2*seedBytes)
		}
		if f.seed != nil {
			return errors.New("a second seed: all keys are hashed with one")
		}
		f.seed = secret
	default:
		return errors.New("unknown word: write key HEX or seed HEX")
	}
	return nil
}

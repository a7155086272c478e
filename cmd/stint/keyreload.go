package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// keyReload has a key file read again at every SIGHUP. What is in force changes only if
// the whole file is in order.
type keyReload struct {
	file  string
	asked chan os.Signal // gets nothing without a file
	keys  [][]byte       // in force
	seed  []byte         // of the whole life of the process
}

// newKeyReload begins to catch SIGHUP, before the file is read for the first time: a signal
// that comes early is not lost, and does not end the process. Without a file SIGHUP does
// what it does to any program.
func newKeyReload(file string) *keyReload {
	k := &keyReload{file: file, asked: make(chan os.Signal, 1)}
	if file != "" {
		signal.Notify(k.asked, syscall.SIGHUP)
	}
	return k
}

func (k *keyReload) stop() { signal.Stop(k.asked) }

// reload puts the keys of the file in force, and logs what became of it.
func (k *keyReload) reload(set func(keys [][]byte) error, log *slog.Logger) {
	keys, err := k.read()
	if err == nil && !slices.EqualFunc(keys, k.keys, bytes.Equal) {
		err = set(keys)
	}
	if err != nil {
		log.Error("key file not taken: the keys stay as they were", "err", err)
		return
	}
	log.Info("key file reread", "file", k.file, "keys", len(keys),
		"changed", !slices.EqualFunc(keys, k.keys, bytes.Equal), "seals", sameOrNew(keys, k.keys))
	if len(keys) > 0 && !slices.ContainsFunc(keys, k.has) {
		log.Warn("no key of before is left: nodes that do not have the new ones are shut out until they do")
	}
	k.keys = keys
}

// sameOrNew says which key seals now, without telling anything of it.
func sameOrNew(keys, before [][]byte) string {
	switch {
	case len(keys) == 0:
		return "none"
	case bytes.Equal(keys[0], before[0]):
		return "the same key as before"
	}
	return "another key than before"
}

func (k *keyReload) has(key []byte) bool {
	return slices.ContainsFunc(k.keys, func(have []byte) bool { return bytes.Equal(have, key) })
}

// read returns the keys that the file has now, if they can follow those in force.
func (k *keyReload) read() ([][]byte, error) {
	if info, err := os.Stat(k.file); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file, and cannot be read twice: name one with --key-file", k.file)
	}
	f, err := readKeyFile(k.file)
	if err != nil {
		return nil, err
	}
	fault := func(line int, text string) error {
		if line > 0 {
			return fmt.Errorf("%s: line %d: %s", k.file, line, text)
		}
		return fmt.Errorf("%s: %s", k.file, text)
	}
	var errs []error
	if !bytes.Equal(f.seed, k.seed) {
		errs = append(errs, fault(f.seedAt, "the seed is not the one that this node started with: put that back, for it never changes"))
	}
	switch {
	case len(k.keys) == 0 && len(f.keys) > 0:
		errs = append(errs, fault(f.at[0], "a first key: stop all nodes and start them again, for those with a key and those without do not speak to each other"))
	case len(k.keys) > 0 && len(f.keys) == 0:
		errs = append(errs, fault(0, "no key is left: keep one, or stop all nodes to go on in clear"))
	}
	return f.keys, errors.Join(errs...)
}

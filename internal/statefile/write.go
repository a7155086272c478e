package statefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

var errShared = errors.New("another process writes this state file: give each node a file of its own")

// Write replaces the file at path, readable by its owner alone, by what fill gives the
// Writer. Whatever happens, power cuts included, the file at path is either the old one
// or the whole new one: it is written to path + ".tmp" first, which a crash may leave
// behind and the next Write replaces. The new one is on the disk when Write returns nil.
// If fill returns an error, Write does too, and the old file stays.
//
// Links are followed. A file that is no state file is not overwritten: [ErrForeign].
// One Write at a time for each path; fill may take its time.
func Write(path string, h Header, fill func(*Writer) error) error {
	at, err := target(path)
	if err == nil {
		err = replace(at, h, fill)
	}
	if err != nil {
		return fmt.Errorf("write state file %s: %w", path, err)
	}
	return nil
}

// target is where path leads, if nothing of somebody else's is there.
func target(path string) (string, error) {
	at, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	} else if err != nil {
		return "", err
	}
	f, _, err := open(at)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return at, ours(f)
}

// ours looks at the magic; a file cut short within it, an empty one too, passes.
func ours(r io.ReaderAt) error {
	var head [len(magic)]byte
	n, err := r.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	if !strings.HasPrefix(magic, string(head[:n])) {
		return ErrForeign
	}
	return nil
}

// open opens a regular file. It looks before it opens, for opening a pipe would block.
func open(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, ErrForeign
	}
	f, err := os.Open(path)
	return f, info.Size(), err
}

func replace(path string, h Header, fill func(*Writer) error) error {
	temp := path + ".tmp"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	own, err := f.Stat()
	defer func() { // also if fill panics
		f.Close()
		if is(own, temp) { // not renamed
			os.Remove(temp)
		}
	}()
	if err != nil {
		return err
	}
	w := newWriter(f, h)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if !is(own, temp) {
		return errShared
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// is reports whether path names that file.
func is(file fs.FileInfo, path string) bool {
	info, err := os.Lstat(path)
	return err == nil && os.SameFile(file, info)
}

// syncFolder puts a rename on the disk, where folders can be synced.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

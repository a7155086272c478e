package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// folder returns the names of what is beside path.
func folder(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// holds checks that the file at path is whole and has these items.
func holds(t *testing.T, path string, want []any) {
	t.Helper()
	var v record
	if err := Read(path, seed, &v); err != nil {
		t.Fatal(err)
	}
	check(t, v.items, want)
}

func write(t *testing.T, path string, items []any) {
	t.Helper()
	if err := Write(path, items[0].(Header), play(items)); err != nil {
		t.Fatal(err)
	}
}

// The old file can be read until the new one is whole, which then takes its place; only
// its owner may read it.
func TestWriteReplaces(t *testing.T) {
	path, empty := path(t), []any{Header{Seed: seed}}
	write(t, path, empty)
	err := Write(path, sample()[0].(Header), func(w *Writer) error {
		holds(t, path, empty)
		err := play(sample())(w)
		holds(t, path, empty)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, path, sample())
	if names := folder(t, path); len(names) != 1 {
		t.Errorf("got %q in the folder, want one file", names)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("got mode %v (%v), want -rw-------", info.Mode(), err)
	}
}

// A fill that fails or panics leaves the old file and nothing beside it.
func TestFillFails(t *testing.T) {
	path := path(t)
	write(t, path, sample())
	fills := map[string]func(*Writer) error{
		"error":   func(w *Writer) error { play(sample())(w); return errStop },
		"writer":  func(w *Writer) error { w.Row(&Row{}); return nil },
		"panic":   func(*Writer) error { panic(errStop) },
		"no temp": func(*Writer) error { return os.Remove(path + ".tmp") },
	}
	for name, fill := range fills {
		func() {
			defer func() { recover() }()
			if err := Write(path, Header{Seed: seed}, fill); err == nil {
				t.Errorf("%s: got no error", name)
			}
		}()
		holds(t, path, sample())
		if names := folder(t, path); len(names) != 1 {
			t.Errorf("%s: got %q in the folder, want one file", name, names)
		}
	}
}

// What a crash in the middle of a write left is in nobody's way.
func TestLeftoverIsReplaced(t *testing.T) {
	path := path(t)
	write(t, path, sample())
	save(t, path+".tmp", encode(t, sample())[:50])
	holds(t, path, sample())
	write(t, path, sample()[:3])
	holds(t, path, sample()[:3])
	if names := folder(t, path); len(names) != 1 {
		t.Errorf("got %q in the folder, want one file", names)
	}
}

// Two processes with one file: one of them is told, and the file stays whole.
func TestTwoWriters(t *testing.T) {
	path := path(t)
	err := Write(path, Header{Seed: seed}, func(w *Writer) error {
		write(t, path, sample())
		return nil
	})
	if !errors.Is(err, errShared) {
		t.Errorf("got %v, want %v", err, errShared)
	}
	holds(t, path, sample())

	err = Write(path, Header{Seed: seed}, func(w *Writer) error {
		os.Remove(path + ".tmp")
		save(t, path+".tmp", []byte("theirs"))
		return nil
	})
	if !errors.Is(err, errShared) {
		t.Errorf("got %v, want %v", err, errShared)
	}
	if theirs, err := os.ReadFile(path + ".tmp"); string(theirs) != "theirs" {
		t.Errorf("got %q (%v) where the other writes", theirs, err)
	}
	holds(t, path, sample())
}

// A file that is somebody else's is never replaced; one that was ours, torn or of
// another seed, is.
func TestWriteSparesOthers(t *testing.T) {
	path, data := path(t), encode(t, sample())
	for name, c := range map[string]struct {
		there []byte
		want  error
	}{
		"text":       {[]byte("root:x:0:0\n"), ErrForeign},
		"letter":     {[]byte("r"), ErrForeign},
		"empty":      {nil, nil},
		"torn":       {data[:100], nil},
		"very short": {data[:3], nil},
	} {
		save(t, path, c.there)
		err := Write(path, sample()[0].(Header), play(sample()))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		want := string(data)
		if c.want != nil {
			want = string(c.there)
		}
		if got, err := os.ReadFile(path); string(got) != want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, want)
		}
	}
	for _, path := range []string{t.TempDir(), socket(t)} {
		if err := Write(path, Header{}, play(sample())); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: got %v, want %v", path, err, ErrForeign)
		}
	}
}

// A link stays one, and the file that it leads to is replaced.
func TestLink(t *testing.T) {
	path := path(t)
	link := filepath.Join(t.TempDir(), "link")
	write(t, path, sample()[:2])
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	write(t, link, sample())
	holds(t, path, sample())
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("got mode %v (%v), want a link", info.Mode(), err)
	}
}

func TestNoFolder(t *testing.T) {
	path := filepath.Join(path(t), "state")
	called := false
	err := Write(path, Header{}, func(*Writer) error { called = true; return nil })
	if !errors.Is(err, fs.ErrNotExist) || called {
		t.Errorf("got %v, called %v; want fs.ErrNotExist, not called", err, called)
	}
}

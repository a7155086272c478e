package statefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// A file cut short anywhere is torn, and nothing of it is handed out.
func TestTruncated(t *testing.T) {
	data, path := encode(t, sample()), path(t)
	for n := range data {
		save(t, path, data[:n])
		refused(t, "cut", onDisk(path), ErrTorn)
	}
}

// Cuts of a file of several chunks, some of them between two chunks.
func TestTruncatedBetweenChunks(t *testing.T) {
	items := []any{Header{Seed: seed}, Limit{}}
	for i := range 20_000 {
		items = append(items, Row{Hash: uint64(i), At: int64(i)})
	}
	data, cuts := encode(t, items), 0
	for at := len(magic) + 17; at < len(data)-36; at += 4 + int(binary.LittleEndian.Uint32(data[at:])) {
		refused(t, "cut", inMemory(data[:at]), ErrTorn)
		refused(t, "sealed anew", inMemory(sealed(data[:at])), ErrTorn)
		cuts++
	}
	if cuts < 3 {
		t.Fatalf("got %d chunks, want several", cuts)
	}
}

// Each bit counts.
func TestFlipped(t *testing.T) {
	data := encode(t, sample())
	for i := range data {
		want := ErrTorn
		if i < len(magic) {
			want = ErrForeign
		}
		for bit := range 8 {
			data[i] ^= 1 << bit
			refused(t, "flip", inMemory(data), want)
			data[i] ^= 1 << bit
		}
	}
	if err := decode(data, &record{}); err != nil {
		t.Fatalf("as it was: %v", err)
	}
}

func TestRefused(t *testing.T) {
	good := encode(t, sample())
	body := good[:len(good)-32]
	at := func(i int, b byte) []byte {
		c := bytes.Clone(body)
		c[i] = b
		return c
	}
	other := sample()
	other[0] = Header{Seed: seed + 1}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"empty":                       {nil, ErrTorn},
		"another program's":           {[]byte("package stint\n"), ErrForeign},
		"a letter":                    {[]byte("s"), ErrForeign},
		"zeros":                       {make([]byte, 500), ErrForeign},
		"long, of another program":    {bytes.Repeat([]byte("stint"), 50_000), ErrForeign},
		"magic alone":                 {[]byte(magic), ErrTorn},
		"magic and sum alone":         {sealed([]byte(magic)), ErrTorn},
		"half zeros":                  {append(bytes.Clone(good[:len(good)/2]), make([]byte, len(good)/2)...), ErrTorn},
		"a tail":                      {append(bytes.Clone(good), 0), ErrTorn},
		"twice":                       {append(bytes.Clone(good), good...), ErrTorn},
		"sent as text":                {bytes.ReplaceAll(good, []byte("\r\n"), []byte("\n")), ErrForeign},
		"older format":                {sealed(at(len(magic), 0)), ErrVersion},
		"newer format":                {sealed(at(len(magic), format+1)), ErrVersion},
		"newer format, torn":          {at(len(magic), format+1), ErrTorn},
		"parts in an older format":    {sealed(at(len(magic), 1)), ErrTorn},
		"other seed":                  {encode(t, other), ErrSeed},
		"other seed, torn":            {encode(t, other)[:100], ErrTorn},
		"no end, right sum":           {sealed(body[:len(body)-4]), ErrTorn},
		"bytes after the end":         {sealed(append(bytes.Clone(body), 0)), ErrTorn},
		"chunk of 4 GB":               {sealed(append(bytes.Clone(body[:len(body)-4]), 255, 255, 255, 255)), ErrTorn},
		"chunk longer than the file":  {sealed(append(bytes.Clone(body[:len(body)-4]), 255, 255, 0, 0)), ErrTorn},
		"vector longer than its file": {chunks([]byte{itemPart, 0, 1, 255, 255, 255, 255, 15}), ErrTorn},
		"vector of 2^60 numbers":      {chunks([]byte{itemPart, 0, 1, 128, 128, 128, 128, 128, 128, 128, 128, 16}), ErrTorn},
		"vector cut short":            {chunks([]byte{itemPart, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 7}), ErrTorn},
		"part of nothing":             {chunks([]byte{itemPart, 3, 3, 0}), ErrTorn},
		"older, vector too long":      {sealedOlder([]byte{255, 255, 255, 255, 15}), ErrTorn},
		"chunk over its length":       {chunks(appendLimit(nil, Limit{Name: strings.Repeat("x", maxChunk)})), ErrTorn},
		"unknown item":                {chunks([]byte{5}), ErrTorn},
		"row without limit":           {chunks([]byte{itemRow, 1, 2, 3, 4, 5, 6, 7, 8}), ErrTorn},
		"log of 2^60 events":          {chunks(limitThen(itemRow|hasLog, 0, 0, 0, 0, 0, 0, 0, 0, 128, 128, 128, 128, 128, 128, 128, 128, 16)), ErrTorn},
		"text of 2^60 bytes":          {chunks([]byte{itemLimit, 0, 0, 0, 0, 0, 0, 0, 0, 128, 128, 128, 128, 128, 128, 128, 128, 16}), ErrTorn},
		"number of 11 bytes":          {chunks(limitThen(itemRow|hasRem, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1)), ErrTorn},
		"limit that is not there":     {chunks(limitThen(itemRow|hasLimit, 0, 0, 0, 0, 0, 0, 0, 0, 1)), ErrTorn},
	} {
		refused(t, name, inMemory(c.data), c.want)
		path := path(t)
		save(t, path, c.data)
		refused(t, name+", on disk", onDisk(path), c.want)
		if err := Read(path, seed, &record{}); !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %q, want the path in it", name, err)
		}
	}
}

// chunks is a file with a right sum, of these chunks.
func chunks(of ...[]byte) []byte {
	var data bytes.Buffer
	w := newWriter(&data, Header{Seed: seed})
	for _, c := range of {
		w.buf = append(w.buf[:0], c...)
		w.flush(0)
	}
	w.finish()
	return data.Bytes()
}

// limitThen is a chunk of one limit and this item.
func limitThen(item ...byte) []byte {
	return append(appendLimit(nil, Limit{}), item...)
}

// sealedOlder is a file of format 1 with a right sum, of one chunk.
func sealedOlder(chunk []byte) []byte {
	data := chunks(chunk)
	data[len(magic)] = 1
	return sealed(data[:len(data)-32])
}

// The parts that the table above is made of are fine by themselves.
func TestHandmade(t *testing.T) {
	row := limitThen(itemRow|hasRem|hasLimit, 1, 0, 0, 0, 0, 0, 0, 0, 0, 5)
	part := []byte{itemPart, 3, 5, 1, 9, 0, 0, 0, 0, 0, 0, 0, 7, 5}
	want := []any{Header{Seed: seed}, Limit{}, Row{Hash: 1, Rem: 5}, Part{3, 5, []Number{{9, 7, true, 2}}}}
	var v record
	if err := decode(chunks(row, part), &v); err != nil {
		t.Fatal(err)
	}
	check(t, v.items, want)
	var old record
	if err := decode(sealedOlder(append([]byte{2, 1, 2, 3, 4}, row...)), &old); err != nil {
		t.Fatal(err)
	}
	check(t, old.items, want[:3])
}

func TestNoFile(t *testing.T) {
	refused(t, "absent", onDisk(path(t)), fs.ErrNotExist)
	refused(t, "folder", onDisk(t.TempDir()), ErrForeign)
	refused(t, "socket", onDisk(socket(t)), ErrForeign)
}

// A visitor's error ends the reading at once.
func TestVisitorStops(t *testing.T) {
	for n := range sample() {
		v := record{stop: n + 1}
		if err := decode(encode(t, sample()), &v); !errors.Is(err, errStop) || len(v.items) != n+1 {
			t.Errorf("stop at item %d: got %v after %d", n+1, err, len(v.items))
		}
	}
}

// faulty cannot read one byte.
type faulty struct {
	*bytes.Reader
	bad int64
}

func (r faulty) ReadAt(data []byte, at int64) (int, error) {
	if at <= r.bad && r.bad < at+int64(len(data)) {
		return 0, errStop
	}
	return r.Reader.ReadAt(data, at)
}

// A disk that fails is not taken for a torn file.
func TestDiskFails(t *testing.T) {
	faulty := func(data []byte, bad int64) func(Visitor) error {
		return func(v Visitor) error { return read(faulty{bytes.NewReader(data), bad}, int64(len(data)), seed, v) }
	}
	data := encode(t, sample())
	for bad := range int64(len(data)) {
		refused(t, "faulty", faulty(data, bad), errStop)
	}
	newer := append([]byte(magic), format+1)
	newer = sealed(append(newer, make([]byte, 10*chunkSize)...))
	refused(t, "faulty, of another format", faulty(newer, 5*chunkSize), errStop)
}

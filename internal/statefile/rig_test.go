package statefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

const seed = 0x1122334455667788

var errStop = errors.New("stop")

// record is a Visitor that keeps all that it is handed, by value; it stops at the item
// of number stop, counted from 1.
type record struct {
	items []any
	stop  int
}

func (v *record) add(item any) error {
	if v.items = append(v.items, item); len(v.items) == v.stop {
		return errStop
	}
	return nil
}

func (v *record) Header(h Header) error      { return v.add(h) }
func (v *record) Limit(l Limit) error        { return v.add(l) }
func (v *record) Register(r *Register) error { return v.add(*r) }
func (v *record) Part(p *Part) error {
	c := *p
	if c.Vector = slices.Clone(p.Vector); len(c.Vector) == 0 {
		c.Vector = nil
	}
	return v.add(c)
}
func (v *record) Row(r *Row) error {
	c := *r
	if c.Log = slices.Clone(r.Log); len(c.Log) == 0 {
		c.Log = nil
	}
	return v.add(c)
}

// play writes items, the first of which is the header.
func play(items []any) func(*Writer) error {
	return func(w *Writer) error {
		for _, item := range items[1:] {
			switch item := item.(type) {
			case Limit:
				w.Limit(item)
			case Row:
				w.Row(&item)
			case Register:
				w.Register(&item)
			case Part:
				w.Part(&item)
			default:
				return fmt.Errorf("item %T", item)
			}
		}
		return w.Err()
	}
}

// encode is the file of items.
func encode(t testing.TB, items []any) []byte {
	t.Helper()
	var data bytes.Buffer
	w := newWriter(&data, items[0].(Header))
	if err := play(items)(w); err != nil {
		t.Fatal(err)
	}
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// decode reads a file in memory.
func decode(data []byte, v Visitor) error {
	return read(bytes.NewReader(data), int64(len(data)), seed, v)
}

// older is the file of items without parts in format 1, in one chunk.
func older(t testing.TB, items []any) []byte {
	t.Helper()
	data := []byte{0}
	w := newWriter(io.Discard, items[0].(Header))
	for _, item := range items[1:] {
		start := len(w.buf)
		play([]any{nil, item})(w)
		if r, ok := item.(Register); ok { // its last two numbers did not exist
			last := len(binary.AppendVarint(nil, r.Charged)) + len(binary.AppendVarint(nil, r.Life-r.Until))
			w.buf = w.buf[:len(w.buf)-last]
		}
		data = append(data, w.buf[start:]...)
	}
	h := encode(t, items[:1])
	h = h[:len(h)-36]
	h[len(magic)] = 1
	h = append(binary.LittleEndian.AppendUint32(h, uint32(len(data))), data...)
	return sealed(append(h, 0, 0, 0, 0))
}

// sealed is data with the right sum behind it.
func sealed(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(bytes.Clone(data), sum[:]...)
}

// sample is a little of everything.
func sample() []any {
	return []any{
		Header{seed, 1_700_000_000_000_000_000},
		Limit{1, "api", "100/min"},
		Part{0, 32, []Number{{1 << 63, 700, false, 12}, {9, 0, true, 1<<63 - 1}}},
		Row{Limit: 1, Hash: 1 << 63, At: 30_000_000_000, Rem: 2},
		Row{Limit: 1, Hash: 7, At: -5},
		Register{Kind: 2, Limit: 1, Hash: 9, Version: 3, Writer: 1 << 62, Open: true, Until: 3_600_000_000_000, Label: "mallory"},
		Limit{2, "day", "1000/day calendar=day zone=Europe/Paris"},
		Row{Limit: 2, Hash: 7, At: 1_699_999_000_000_000_000, Counts: [3]int64{500, 0, -1}},
		Limit{3, "log", "10/s algorithm=sliding-log"},
		Row{Limit: 3, Hash: 1, Log: []Event{{-900, 2}, {-30, 1}}},
		Part{From: 32, To: 64},
		Row{Limit: 1, Hash: 3, At: 17},
		Register{Kind: 1, Limit: 1, Hash: 7, Maker: 5, ID: 6, Version: 1, Writer: 5, Open: true, N: 100, Start: -20, Until: 9, Charged: 60, Life: 12},
		Limit{1, "api", "50/min"},
		Row{Limit: 1, Hash: 4, At: 18},
	}
}

func check(t *testing.T, got, want []any) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d items, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("item %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

// refused checks that a file gives this error and nothing else.
func refused(t *testing.T, what string, read func(Visitor) error, want error) {
	t.Helper()
	var v record
	if err := read(&v); !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
	if len(v.items) > 0 {
		t.Errorf("%s: got %d items of a file that is refused", what, len(v.items))
	}
}

func path(t *testing.T) string { return filepath.Join(t.TempDir(), "state") }

// socket is the path of what is there and is no regular file. It lies in a folder of the
// test's own: were it taken for a file, nobody else's would be replaced.
func socket(t *testing.T) string {
	t.Helper()
	path := path(t)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return path
}

func save(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// onDisk reads the file at path.
func onDisk(path string) func(Visitor) error {
	return func(v Visitor) error { return Read(path, seed, v) }
}

// inMemory reads data.
func inMemory(data []byte) func(Visitor) error {
	return func(v Visitor) error { return decode(data, v) }
}

// limited fails writes past so many bytes, as a full disk does.
type limited struct {
	io.Writer
	left int
}

func (w *limited) Write(data []byte) (int, error) {
	if w.left -= len(data); w.left < 0 {
		return 0, errStop
	}
	return w.Writer.Write(data)
}

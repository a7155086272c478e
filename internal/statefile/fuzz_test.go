package statefile

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzRead takes any bytes for a file: it never panics, hands out nothing of a file that
// it refuses, and says why by one of the four errors.
func FuzzRead(f *testing.F) {
	good := encode(f, sample())
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(encode(f, sample()[:1]))
	f.Add(older(f, sample()[:2]))
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed(t, data)
	})
}

// FuzzSealed does the same with any bytes between a right magic and a right sum.
func FuzzSealed(f *testing.F) {
	for _, data := range [][]byte{encode(f, sample()), encode(f, sample()[:1]), encode(f, sample()[:3])} {
		f.Add(data[len(magic) : len(data)-32])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed(t, sealed(append([]byte(magic), data...)))
	})
}

// FuzzItems does the same with any bytes in a chunk.
func FuzzItems(f *testing.F) {
	all := encode(f, sample())
	f.Add(all[len(magic)+21 : len(all)-36])
	f.Add(appendPart(nil, &Part{0, 64, []Number{{1, 2, true, 3}, {4, 5, false, 6}}}))
	for i := 3; i <= len(sample()); i += 3 {
		data := encode(f, sample()[:i])
		f.Add(data[len(magic)+21 : len(data)-36])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 && len(data) <= maxChunk { // flush makes no empty chunks
			fuzzed(t, chunks(data))
		}
	})
}

// fuzzed reads data and, if that works, writes and reads it again.
func fuzzed(t *testing.T, data []byte) {
	var v record
	if err := decode(data, &v); err != nil {
		if len(v.items) > 0 {
			t.Fatalf("got %d items of a file with the error %v", len(v.items), err)
		}
		for _, known := range []error{ErrForeign, ErrTorn, ErrVersion, ErrSeed} {
			if errors.Is(err, known) {
				return
			}
		}
		t.Fatalf("got the error %v", err)
	}
	if 4*(len(v.items)-1) > len(data) { // the least item is a part without a vector
		t.Fatalf("got %d items of %d bytes", len(v.items), len(data))
	}
	want := once(v.items)
	again := encode(t, want)
	var second record
	if err := decode(again, &second); err != nil {
		t.Fatalf("its own encoding: %v", err)
	}
	check(t, second.items, want)
	if third := encode(t, second.items); !bytes.Equal(third, again) {
		t.Fatal("two encodings of the same items differ")
	}
}

// once is items without definitions that change nothing, which a Writer does not write.
func once(items []any) (kept []any) {
	last := map[uint64]Limit{}
	for _, item := range items {
		if l, ok := item.(Limit); ok {
			if before, ok := last[l.ID]; ok && before == l {
				continue
			}
			last[l.ID] = l
		}
		kept = append(kept, item)
	}
	return kept
}

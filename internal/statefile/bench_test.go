package statefile

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

const minute, day = 60_000_000_000, 86_400_000_000_000

// typical draws rows as a busy node has them, those of several limits in any order.
func typical(kind string) func(*rand.Rand) Row {
	return func(r *rand.Rand) Row {
		row := Row{Limit: r.Uint64N(4), Hash: r.Uint64()}
		switch kind {
		case "bucket":
			row.At, row.Rem = r.Int64N(day), r.Uint64N(1000)
		case "window":
			row.At, row.Counts = 1_700_000_000_000_000_000-r.Int64N(2)*minute, [3]int64{r.Int64N(1000), r.Int64N(1000), 0}
		case "log": // of three events
			at := -r.Int64N(minute)
			row.Log = []Event{{at, 1}, {at / 2, 1}, {at / 3, 2}}
		}
		return row
	}
}

// rowsOf is so many rows, drawn with always the same numbers.
func rowsOf(kind string, n int) []Row {
	r, rows := rand.New(rand.NewPCG(1, 2)), make([]Row, n)
	for i := range rows {
		rows[i] = typical(kind)(r)
	}
	return rows
}

func fillWith(rows []Row) func(*Writer) error {
	return func(w *Writer) error {
		for id := range uint64(4) {
			w.Limit(Limit{id, "api", "100/min burst=50"})
		}
		for i := range rows {
			w.Row(&rows[i])
		}
		return w.Err()
	}
}

// A typical key takes at most 25 bytes, all else included; of a log, 7 more per event.
func TestTypicalRowIsSmall(t *testing.T) {
	const n = 100_000
	for kind, most := range map[string]float64{"bucket": 25, "window": 25, "log": 11 + 3*7} {
		var data bytes.Buffer
		w := newWriter(&data, Header{})
		if err := fillWith(rowsOf(kind, n))(w); err != nil {
			t.Fatal(err)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		if each := float64(data.Len()) / n; each > most {
			t.Errorf("%s: got %.1f bytes a row, want at most %.0f", kind, each, most)
		}
	}
}

// Neither way allocates by the row.
func TestRowsDoNotAllocate(t *testing.T) {
	const n = 50_000
	rows, path := rowsOf("log", n), path(t)
	runs := testing.AllocsPerRun(1, func() {
		if err := Write(path, Header{}, fillWith(rows)); err != nil {
			t.Fatal(err)
		}
		if err := Read(path, 0, &glance{}); err != nil {
			t.Fatal(err)
		}
	})
	if runs > n/100 {
		t.Errorf("got %.0f allocations for %d rows", runs, n)
	}
}

func BenchmarkMillionRows(b *testing.B) {
	for _, kind := range []string{"bucket", "window", "log"} {
		rows, path := rowsOf(kind, 1_000_000), b.TempDir()+"/state"
		b.Run("write/"+kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Write(path, Header{}, fillWith(rows)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("read/"+kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Read(path, 0, &glance{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

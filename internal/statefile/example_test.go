package statefile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stint-go/stint/internal/statefile"
)

// printer shows what a file holds.
type printer struct{}

func (printer) Header(h statefile.Header) error { fmt.Println("written at", h.Wall); return nil }
func (printer) Limit(l statefile.Limit) error   { fmt.Println("limit", l.ID, l.Name, l.Text); return nil }
func (printer) Part(p *statefile.Part) error {
	fmt.Println("of ranges", p.From, "to", p.To, "with", p.Vector[0].Number, "drains of", p.Vector[0].Origin)
	return nil
}
func (printer) Row(r *statefile.Row) error {
	fmt.Println("key", r.Hash, "full again after", r.At)
	return nil
}
func (printer) Register(r *statefile.Register) error {
	fmt.Println("banned:", r.Label, "for", r.Until)
	return nil
}

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "state")

	const seed = 42
	err = statefile.Write(path, statefile.Header{Seed: seed, Wall: 1_000}, func(w *statefile.Writer) error {
		w.Limit(statefile.Limit{ID: 1, Name: "api", Text: "100/min"})
		w.Part(&statefile.Part{From: 0, To: 64, Vector: []statefile.Number{{Origin: 5, Number: 30}}})
		w.Row(&statefile.Row{Limit: 1, Hash: 7, At: 600})
		w.Register(&statefile.Register{Kind: 2, Limit: 1, Hash: 8, Open: true, Until: 900, Label: "mallory"})
		return nil // the Writer keeps its own errors
	})
	fmt.Println(err, statefile.Read(path, seed, printer{}))
	fmt.Println(errors.Is(statefile.Read(path, 43, printer{}), statefile.ErrSeed))
	// Output:
	// written at 1000
	// limit 1 api 100/min
	// of ranges 0 to 64 with 30 drains of 5
	// key 7 full again after 600
	// banned: mallory for 900
	// <nil> <nil>
	// true
}

package stint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// case 13: a node's time is read from the monotonic clock, to which nothing that is
// done to the wall clock matters. The wall clock is read in one place, for windows, and
// a context's deadline in another.
func TestOnlyTheMonotonicClock(t *testing.T) {
	n, err := Open(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(t.Context())
	if n.base == n.base.Round(0) { // Round drops the monotonic reading
		t.Error("the start of a node's time has no monotonic reading")
	}
	before := n.now()
	if after := n.now(); before < 0 || after < before {
		t.Errorf("got %d and then %d", before, after)
	}

	reads := make(map[string]int)
	for _, dir := range []string{".", "bucket", "window", "gossip", "internal/table", "internal/engine"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f.Name(), ".go") && !strings.HasSuffix(f.Name(), "_test.go") {
				clockReads(t, dir+"/"+f.Name(), reads)
			}
		}
	}
	for read, want := range map[string]int{
		"./node.go: time.Now": 1, "./clock.go: time.Since": 1, "./clock.go: time.Now": 1, "./wait.go: time.Until": 1,
	} {
		if reads[read] != want {
			t.Errorf("%s: got %d of them, want %d", read, reads[read], want)
		}
		delete(reads, read)
	}
	for read := range reads {
		t.Errorf("%s: decide by Node.now alone", read)
	}
}

func clockReads(t *testing.T, file string, into map[string]int) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
			switch sel.Sel.Name {
			case "Now", "Since", "Until":
				into[file+": time."+sel.Sel.Name]++
			}
		}
		return true
	})
}

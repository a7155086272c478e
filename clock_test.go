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
// done to the wall clock matters, and nowhere else does a decision look at a clock.
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
	for _, dir := range []string{".", "bucket", "gossip", "internal/table", "internal/engine"} {
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
	for _, read := range []string{"./node.go: time.Now", "./node.go: time.Since"} {
		if reads[read] != 1 {
			t.Errorf("%s: got %d of them, want 1", read, reads[read])
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

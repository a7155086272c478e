package stint_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// maxLines is where a file has come to hold more than one idea.
const maxLines = 400

// TestStyle checks those few rules of CONTRIBUTING.md that a program can check
// and the linter does not.
func TestStyle(t *testing.T) {
	for _, fault := range styleFaults(os.DirFS(".")) {
		t.Error(fault)
	}
}

// styleFaults returns files of fsys that are too long, and exported
// declarations without a comment.
func styleFaults(fsys fs.FS) (faults []string) {
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(fsys, name)
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if lines := strings.Count(string(text), "\n"); lines > maxLines {
			faults = append(faults, fmt.Sprintf("%s: %d lines: split it, at most %d", name, lines, maxLines))
		}
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		bare, err := undocumented(name, text)
		faults = append(faults, bare...)
		return err
	})
	if err != nil {
		faults = append(faults, err.Error())
	}
	return faults
}

func undocumented(name string, text []byte) (faults []string, err error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	bare := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		if id.IsExported() && !slices.ContainsFunc(docs, func(doc *ast.CommentGroup) bool { return doc != nil }) {
			faults = append(faults, fmt.Sprintf("%s:%d: %s has no comment", name, files.Position(id.Pos()).Line, id.Name))
		}
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if onExported(decl) {
				bare(decl.Name, decl.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					bare(spec.Name, spec.Doc, decl.Doc)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						bare(id, spec.Doc, spec.Comment, decl.Doc)
					}
				}
			}
		}
	}
	return faults, nil
}

// onExported reports whether f is no method, or one of an exported type.
func onExported(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		exported = exported || ok && id.IsExported()
		return !ok
	})
	return exported
}

// TestStyleFaults shows that the rules can fail.
func TestStyleFaults(t *testing.T) {
	const text = `package x

func F() {}

// G is documented.
func G() {}

func h() {}

type T struct{}

func (t *T) M() {}

type u struct{}

func (u) M() {}

const A, b = 1, 2

// Of a group.
const (
	C = iota
	D
)
`
	tree := treeOf(map[string]string{
		"x.go": text, "x_test.go": text, "testdata/x.go": text, "long_test.go": "package x" + strings.Repeat("\n", maxLines+1),
	})
	checkFaults(t, styleFaults(tree), []string{
		"long_test.go: 401 lines", "x.go:3: F has no", "x.go:10: T has no", "x.go:12: M has no", "x.go:18: A has no",
	})
	checkFaults(t, styleFaults(fstest.MapFS{}), nil)
}

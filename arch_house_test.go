package stint_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A house says which package may import and do what. Packages go by their
// folder below the module, the root package by ".".
type house struct {
	module     string
	floors     map[string]int      // a package imports only packages of lower floors
	planned    []string            // packages with a floor that are not built yet
	owners     map[string][]string // outside module: the packages that may import it
	testers    []string            // outside modules that any test may import
	pure       []string            // all that floor 0 may import of the standard library
	calendars  []string            // packages of floor 0 that may also import time, but for
	clocks     []string            // these of its names, which read a clock, wait, or read the machine's zones
	goroutines []string            // packages that may start goroutines
	locks      []string            // packages that may import sync
}

// check returns what is wrong with the Go files of fsys, as "file:line: reason".
// Tests may import upwards, for the compiler sees to it that no cycle comes of
// that, and may start what they like.
func (h house) check(fsys fs.FS) []string {
	c := &checker{house: h, files: token.NewFileSet(), seen: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(fsys, name)
		case strings.HasSuffix(name, ".go"):
			return c.file(fsys, name)
		}
		return nil
	})
	if err != nil {
		c.faults = append(c.faults, err.Error())
	}
	for _, pkg := range slices.Sorted(maps.Keys(h.floors)) {
		if !c.seen[pkg] && !slices.Contains(h.planned, pkg) {
			c.faults = append(c.faults, fmt.Sprintf("%s: has a floor but no files: take it off the table", pkg))
		}
	}
	return c.faults
}

// enter skips folders that are not part of this module.
func enter(fsys fs.FS, dir string) error {
	base := path.Base(dir)
	if dir == "." {
		return nil
	}
	if base == "testdata" || base[0] == '.' || base[0] == '_' {
		return fs.SkipDir
	}
	if _, err := fs.Stat(fsys, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

type checker struct {
	house
	files  *token.FileSet
	seen   map[string]bool // packages with files
	faults []string
}

func (c *checker) fault(at token.Pos, format string, args ...any) {
	pos := c.files.Position(at)
	c.faults = append(c.faults, fmt.Sprintf("%s:%d: %s", pos.Filename, pos.Line, fmt.Sprintf(format, args...)))
}

func (c *checker) file(fsys fs.FS, name string) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(c.files, name, text, parser.SkipObjectResolution)
	if err != nil {
		c.faults = append(c.faults, err.Error())
		return nil
	}
	pkg, test := path.Dir(name), strings.HasSuffix(name, "_test.go")
	floor, known := c.floors[pkg]
	if !known {
		c.fault(f.Package, "unknown package %s: give it a floor in arch_test.go", pkg)
		return nil
	}
	c.seen[pkg] = true
	for _, spec := range f.Imports {
		c.imported(spec, pkg, test)
	}
	if !test {
		c.statements(f, floor, slices.Contains(c.goroutines, pkg))
		c.clockless(f, pkg)
	}
	return nil
}

func (c *checker) imported(spec *ast.ImportSpec, pkg string, test bool) {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		c.fault(spec.Pos(), "import %s: %v", spec.Path.Value, err)
		return
	}
	first, _, _ := strings.Cut(name, "/")
	switch {
	case within(name, []string{c.module}):
		own := strings.TrimPrefix(strings.TrimPrefix(name, c.module), "/")
		c.inside(spec, pkg, path.Clean(own), test)
	case strings.Contains(first, "."):
		c.outside(spec, pkg, name, test)
	case !test:
		c.standard(spec, pkg, name)
	}
}

func (c *checker) inside(spec *ast.ImportSpec, pkg, own string, test bool) {
	floor, known := c.floors[own]
	switch {
	case !known:
		c.fault(spec.Pos(), "import of unknown package %s: give it a floor in arch_test.go", own)
	case !test && floor >= c.floors[pkg]:
		c.fault(spec.Pos(), "%s (floor %d) imports %s (floor %d): imports go only to lower floors", pkg, c.floors[pkg], own, floor)
	}
}

func (c *checker) outside(spec *ast.ImportSpec, pkg, name string, test bool) {
	if test && within(name, c.testers) {
		return
	}
	owners, ok := c.ownerOf(name)
	switch {
	case !ok:
		c.fault(spec.Pos(), "%s imports %s, which has no owner: give it one in arch_test.go, and a paragraph in docs/dependencies.md", pkg, name)
	case !slices.Contains(owners, pkg):
		c.fault(spec.Pos(), "%s imports %s: only %s may", pkg, name, strings.Join(owners, ", "))
	}
}

func (c *checker) standard(spec *ast.ImportSpec, pkg, name string) {
	switch {
	case c.floors[pkg] == 0 && name == "time" && slices.Contains(c.calendars, pkg):
		if spec.Name != nil {
			c.fault(spec.Pos(), "%s (floor 0) imports time as %s: its clocks are found by its own name", pkg, spec.Name)
		}
	case c.floors[pkg] == 0 && !slices.Contains(c.pure, name):
		c.fault(spec.Pos(), "%s (floor 0) imports %s: floor 0 has no clock, lock, goroutine, channel, network or chance", pkg, name)
	case c.floors[pkg] > 0 && name == "sync" && !slices.Contains(c.locks, pkg):
		c.fault(spec.Pos(), "%s imports sync: only %s may lock", pkg, strings.Join(c.locks, ", "))
	}
}

// clockless finds clocks in packages that may import time for calendars.
func (c *checker) clockless(f *ast.File, pkg string) {
	if !slices.Contains(c.calendars, pkg) {
		return
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if from, ok := sel.X.(*ast.Ident); ok && from.Name == "time" && slices.Contains(c.clocks, sel.Sel.Name) {
			c.fault(n.Pos(), "time.%s on floor 0: only its calendar may be used there", sel.Sel.Name)
		}
		return true
	})
}

// statements finds goroutines where none may start, and channels on floor 0.
// Goroutines are also started by wg.Go, group.Go and the AfterFuncs of time and
// context; those go by their names here.
func (c *checker) statements(f *ast.File, floor int, mayGo bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		what := ""
		switch n := n.(type) {
		case *ast.GoStmt:
			what = "go statement"
		case *ast.SelectorExpr:
			if n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc" {
				what = n.Sel.Name
			}
		case *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
			c.channel(n, floor)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				c.channel(n, floor)
			}
		}
		if what != "" && !mayGo {
			c.fault(n.Pos(), "%s: only %s may start goroutines", what, strings.Join(c.goroutines, ", "))
		}
		return true
	})
}

func (c *checker) channel(n ast.Node, floor int) {
	if floor == 0 {
		c.fault(n.Pos(), "channel on floor 0: take and return values instead")
	}
}

func (h house) ownerOf(name string) ([]string, bool) {
	for module, owners := range h.owners {
		if within(name, []string{module}) {
			return owners, true
		}
	}
	return nil, false
}

// within reports whether name is one of the modules or a package of one.
func within(name string, modules []string) bool {
	return slices.ContainsFunc(modules, func(module string) bool {
		return name == module || strings.HasPrefix(name, module+"/")
	})
}

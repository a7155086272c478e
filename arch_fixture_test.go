package stint_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestHouse shows that each rule of a house can fail, and that what is right
// passes.
func TestHouse(t *testing.T) {
	small := house{
		module:     "example.org/m",
		floors:     map[string]int{"low": 0, "dates": 0, "mid": 1, ".": 2, "cmd": 3, "later": 1},
		planned:    []string{"later", "dates"},
		owners:     map[string][]string{"example.org/tool": {"mid"}},
		testers:    []string{"example.org/check"},
		pure:       []string{"math"},
		calendars:  []string{"dates"},
		clocks:     []string{"Now"},
		goroutines: []string{".", "mid"},
		locks:      []string{"mid"},
	}
	tests := []struct {
		name string
		file string // added to a house in order
		text string
		want []string // one for each fault
	}{
		{name: "in order"},
		{"test imports a test module", "low/x_test.go", `package low; import _ "example.org/check/sub"`, nil},
		{"test imports upwards", "low/x_test.go", `package low_test; import _ "example.org/m"`, nil},
		{"test starts a goroutine", "low/x_test.go", `package low; import "time"; func f() { go f(); <-time.After(1) }`, nil},
		{"folder of another module", "other/go.mod", "module example.org/m/other", nil},
		{"folder of test data", "low/testdata/x.go", `package x; import "nowhere.org/x"`, nil},
		{"import of a lower floor", "mid/x.go", `package mid; import _ "example.org/m/low"`, nil},
		{"lock where one may be", "mid/x.go", `package mid; import _ "sync"`, nil},
		{"goroutine where one may be", "mid/x.go", `package mid; func f(c chan int) { go f(c); <-c }`, nil},
		{"channel above floor 0", "cmd/x.go", `package main; func f(c chan int) { c <- <-c; select {} }`, nil},

		{"calendar on floor 0", "dates/x.go", `package dates; import "time"; var _ = time.UTC; var Now = x.Now`, nil},
		{"clock in a test of a calendar", "dates/x_test.go", `package dates; import "time"; var _ = time.Now()`, nil},

		{"unknown package", "new/x.go", `package new`, []string{"new/x.go:1: unknown package new"}},
		{"unknown package of tests", "new/x_test.go", `package new`, []string{"unknown package new"}},
		{"import of an unknown package", "mid/x.go", `package mid; import _ "example.org/m/new"`, []string{"mid/x.go:1: import of unknown package new"}},
		{"upward import", "mid/x.go", "package mid\n\nimport _ \"example.org/m\"", []string{"mid/x.go:3: mid (floor 1) imports . (floor 2)"}},
		{"import within a floor", "mid/x.go", `package mid; import _ "example.org/m/later"`, []string{"imports later (floor 1)"}},
		{"module without an owner", "mid/x.go", `package mid; import _ "example.org/toolbox"`, []string{"example.org/toolbox, which has no owner"}},
		{"module of another's", "x.go", `package m; import _ "example.org/tool/v2"`, []string{"x.go:1: . imports example.org/tool/v2: only mid may"}},
		{"module of another's in a test", "x_test.go", `package m; import _ "example.org/tool"`, []string{"only mid may"}},
		{"test module outside tests", "mid/x.go", `package mid; import _ "example.org/check"`, []string{"has no owner"}},
		{"clock on floor 0", "low/x.go", `package low; import _ "time"`, []string{"low (floor 0) imports time"}},
		{"clock of a calendar", "dates/x.go", "package dates\n\nimport \"time\"\n\nvar f = time.Now", []string{"dates/x.go:5: time.Now on floor 0"}},
		{"clock by another name", "dates/x.go", `package dates; import t "time"; var f = t.Now`, []string{"imports time as t"}},
		{"clock by no name", "dates/x.go", `package dates; import . "time"; var f = Now`, []string{"imports time as ."}},
		{"calendar's network", "dates/x.go", `package dates; import _ "net"`, []string{"dates (floor 0) imports net"}},
		{"lock on floor 0", "low/x.go", `package low; import _ "sync/atomic"`, []string{"imports sync/atomic"}},
		{"chance on floor 0", "low/x.go", `package low; import _ "math/rand/v2"`, []string{"imports math/rand/v2"}},
		{"goroutine on floor 0", "low/x.go", `package low; func f() { go f() }`, []string{"go statement: only ., mid may"}},
		{"channel type", "low/x.go", `package low; type t []chan int`, []string{"channel on floor 0"}},
		{"send", "low/x.go", `package low; func f() { c <- 1 }`, []string{"channel on floor 0"}},
		{"receive", "low/x.go", `package low; var x = <-c`, []string{"channel on floor 0"}},
		{"select", "low/x.go", `package low; func f() { select {} }`, []string{"channel on floor 0"}},
		{"build tag", "low/x_windows.go", "//go:build windows\n\npackage low; import _ \"net\"", []string{"low/x_windows.go:3: low (floor 0) imports net"}},
		{"goroutine in a command", "cmd/x.go", `package main; func f() { go f() }`, []string{"go statement: only ., mid may"}},
		{"goroutine of a group", "cmd/x.go", `package main; func f() { wg.Go(f) }`, []string{"Go: only ., mid may"}},
		{"goroutine of a timer", "cmd/x.go", `package main; import "time"; var _ = time.AfterFunc`, []string{"AfterFunc: only ., mid may"}},
		{"lock in a command", "cmd/x.go", `package main; import _ "sync"`, []string{"cmd imports sync: only mid may lock"}},
		{"two faults", "low/x.go", `package low; import (_ "os"; _ "net")`, []string{"imports os", "imports net"}},
		{"no Go", "mid/x.go", `package`, []string{"mid/x.go:1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{
				"go.mod": "module example.org/m", "x.md": "", "a.go": `package m; import _ "example.org/m/mid"`,
				"low/a.go": `package low; import _ "math"`, "mid/a.go": `package mid; import _ "example.org/tool/sub"`,
				"cmd/a.go": `package main; import _ "example.org/m"`, "other/a.go": `package other`,
			}
			if tt.name != "folder of another module" {
				delete(files, "other/a.go")
			}
			files[tt.file] = tt.text
			delete(files, "")
			checkFaults(t, small.check(treeOf(files)), tt.want)
		})
	}
	t.Run("no files", func(t *testing.T) {
		want := []string{".: has a floor but no files", "cmd: has", "low: has", "mid: has"}
		checkFaults(t, small.check(fstest.MapFS{}), want)
	})
}

func treeOf(files map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

func checkFaults(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.EqualFunc(got, want, strings.Contains) {
		t.Errorf("got faults %q, want %q", got, want)
	}
}

func TestDirectModules(t *testing.T) {
	const mod = `module example.org/m

go 1.26.0

require example.org/one v1.0.0

require (
	example.org/two/v2 v2.0.0
	example.org/three v0.1.0 // indirect
)
`
	got, want := directModules(mod), []string{"example.org/one", "example.org/two/v2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

package stint_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// theHouse is how this module is laid out. A new package, or a new module from
// outside, is given its place here first; docs/dependencies.md has a paragraph
// for each module.
var theHouse = house{
	module: "github.com/stint-go/stint",
	floors: map[string]int{
		"bucket": 0, "window": 0, "gossip": 0,
		"cluster": 1, "internal/table": 1, "internal/statefile": 1, "docs/picture": 1,
		"cluster/memnet": 2, "internal/engine": 2,
		".": 3, "internal/sim": 3,
		"httplimit": 4, "strict": 4, "metrics": 4, "rules": 4,
		"cmd/stint/internal/daemon": 5, "cmd/stint/internal/load": 5, "cmd/stint/internal/fleet": 5, "grpclimit": 5, "envoy": 5,
		"cmd/stint": 6,
	},
	planned: []string{"httplimit", "strict", "metrics", "rules", "grpclimit", "envoy"},
	owners: map[string][]string{
		"github.com/hashicorp/memberlist": {"cluster"},
		"golang.org/x/time":               {}, // tests only
		"github.com/vmihailenco/msgpack":  {"gossip"},
		"github.com/spf13/cobra":          {"cmd/stint"},
		"github.com/spf13/pflag":          {"cmd/stint"},
	},
	testers: []string{"golang.org/x/time", "pgregory.net/rapid", "github.com/rogpeppe/go-internal"},
	pure: []string{
		"bytes", "cmp", "container/heap", "encoding/binary", "encoding/hex", "errors", "fmt", "hash/fnv", "io", "iter",
		"maps", "math", "math/bits", "slices", "sort", "strconv", "strings", "unicode", "unicode/utf8",
	},
	calendars: []string{"window"},
	clocks: []string{
		"After", "AfterFunc", "LoadLocation", "Local", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until",
	},
	goroutines: []string{".", "cluster", "cluster/memnet", "cmd/stint", "cmd/stint/internal/load", "cmd/stint/internal/fleet"},
	locks:      []string{".", "cluster", "cluster/memnet", "internal/table", "cmd/stint", "cmd/stint/internal/load", "cmd/stint/internal/fleet"},
}

func TestArchitecture(t *testing.T) {
	for _, fault := range theHouse.check(os.DirFS(".")) {
		t.Error(fault)
	}
}

// What a user's build must not get from importing the root package.
var unwanted = []string{"redis", "grpc", "prometheus", "yaml"}

func unwantedIn(packages []string) []string {
	return slices.DeleteFunc(slices.Clone(packages), func(path string) bool {
		return !slices.ContainsFunc(unwanted, func(word string) bool { return strings.Contains(path, word) })
	})
}

func TestRootLinksNothingUnwanted(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, theHouse.module) {
		t.Fatalf("got %d packages without the root package", len(packages))
	}
	for _, path := range unwantedIn(packages) {
		t.Errorf("the root package links %s: keep it to a package of a higher floor", path)
	}
	bad := []string{"github.com/redis/go-redis/v9", "google.golang.org/grpc/codes", "go.yaml.in/yaml/v3"}
	if got := unwantedIn(append(packages, bad...)); !slices.Equal(got, bad) {
		t.Errorf("got %q of a bad list, want %q", got, bad)
	}
}

// Each module that go.mod asks for by itself has an owner and a paragraph.
func TestModulesAreAccountedFor(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	modules := directModules(string(mod))
	if len(modules) < 3 {
		t.Fatalf("got only the modules %q from go.mod", modules)
	}
	for _, module := range modules {
		if _, ok := theHouse.ownerOf(module); !ok && !within(module, theHouse.testers) {
			t.Errorf("go.mod: %s has no owner: give it one in arch_test.go", module)
		}
		if !strings.Contains(string(doc), "\n## "+module+"\n") {
			t.Errorf("docs/dependencies.md: no paragraph on %s", module)
		}
	}
}

// directModules returns the paths that a go.mod requires without an indirect mark.
func directModules(mod string) (modules []string) {
	for line := range strings.Lines(mod) {
		words := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(words) == 2 && strings.Contains(words[0], ".") && strings.HasPrefix(words[1], "v") {
			modules = append(modules, words[0])
		}
	}
	return modules
}

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The layers, from the lowest: a package imports packages of lower layers
// only. docs/architecture.md draws them.
var floors = [][]string{
	{"units", "internal/memory", "internal/httpd", "internal/suggest", "internal/shell", "internal/table",
		"internal/markdown", "telemetry/socket"},
	{"wire", "flowtable", "telemetry/page", "telemetry/page/address", "telemetry/sflow"},
	{"marking", "cnp", "ratelimit", "pfc", "credits", "lldp", "fdb"},
	{"neighbour"},
	{"scheme", "fabric"},
	// Nodes and worlds know each other by package fabric alone.
	{"dataplane", "agent", "sim", "dataplane/dpdk", "impair", "telemetry/node"},
	{"config", "telemetry", "telemetry/pcapng", "lab/topology", "lab/workload", "lab/web", "lab/nodecontrol", "lab/experiments", "lab/stat", "lab/collective"},
	{"lab/experiment", "lab/web/pages", "lab/web/site", "telemetry/show", "telemetry/live"},
	{"telemetry/top", "telemetry/metrics", "telemetry/admin", "telemetry/client", "lab/build", "lab/schema"},
	{"lab/measure", "lab/remote", "lab/capture", "lab/testbed", "daemon"},
	{"lab/run", "lab/accept"},
	{"lab/claim", "lab/hpccfiles", "lab/chakra", "lab/htsim"},
	{"lab/report"},
	{"lab/figure"},
	{"lab/live", "lab/sweep"},
	{"lab"},
	{"cmd/photon"},
}

// Nodes get a recipe's parts from the builder of the network. Commands start a daemon, or ask one, and are none
// themselves.
var never = map[string][]string{
	"agent": {"scheme"}, "dataplane": {"scheme"}, "dataplane/dpdk": {"scheme"}, "sim": {"scheme"},
	"cmd/photon": {"telemetry/admin", "impair", "sim"},
}

func TestImportsPointDown(t *testing.T) {
	floor := map[string]int{}
	for i, rooms := range floors {
		for _, r := range rooms {
			floor[r] = i
		}
	}
	for room, at := range floor {
		files, err := filepath.Glob(filepath.Join("../..", room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", room, err)
		}
		for _, f := range slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") }) {
			parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range parsed.Imports {
				path, err := strconv.Unquote(i.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				path, ours := strings.CutPrefix(path, "photon/")
				if !ours {
					continue
				}
				if below, known := floor[path]; !known {
					t.Errorf("%s imports %s, which has no floor in this test", f, path)
				} else if below >= at || slices.Contains(never[room], path) {
					t.Errorf("%s imports %s, which is not below it", f, path)
				}
			}
		}
	}
}

// Every package has a layer, except those that only tests and benchmarks use.
func TestEveryRoomHasAFloor(t *testing.T) {
	rooms := map[string]bool{}
	for _, f := range floors {
		for _, r := range f {
			rooms[r] = true
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		room, _ := filepath.Rel("../..", filepath.Dir(path))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
		case strings.HasPrefix(room, "internal/") || strings.HasSuffix(room, "test"):
		case !rooms[filepath.ToSlash(room)]:
			rooms[room] = true // said once
			t.Errorf("%s has no floor in this test, and docs/architecture.md may not draw it", room)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What runs experiments in virtual time has no HTTP and no templates in it: a program that
// does nothing else (internal/simbench) would have megabytes of them in memory.
func TestExperimentsNeedNoHTTP(t *testing.T) {
	seen := map[string]bool{}
	var look func(room, by string)
	look = func(room, by string) {
		if seen[room] {
			return
		}
		seen[room] = true
		files, err := filepath.Glob(filepath.Join("../..", room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", room, err)
		}
		for _, f := range slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") }) {
			parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range parsed.Imports {
				path, err := strconv.Unquote(i.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if below, ours := strings.CutPrefix(path, "photon/"); ours {
					look(below, by+" > "+room)
				} else if path == "net/http" || path == "html/template" {
					t.Errorf("%s imports %s:%s > %s", f, path, by, room)
				}
			}
		}
	}
	look("lab/run", "")
	look("lab/hpccfiles", "")
	look("lab/claim", "")
	if !seen["agent"] || !seen["config"] {
		t.Errorf("only %v were looked at", seen)
	}
}

// Workers wait for nobody: what they run knows no lock, or one that is only tried, by the slow code that learns an
// address: who does not get it learns from the next frame. Scrapes and commands come between two polls (dpdk.World.Do),
// and the locks of the world are of those who ask and of who starts it.
func TestWorkersLockNothing(t *testing.T) {
	files := 0
	for _, room := range []string{"wire", "flowtable", "marking", "cnp", "ratelimit", "pfc", "credits", "fdb", "neighbour", "scheme", "fabric", "dataplane", "agent", "dataplane/dpdk"} {
		all, err := filepath.Glob(filepath.Join("../..", room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			name := filepath.Base(f)
			if strings.HasSuffix(name, "_test.go") || room == "dataplane/dpdk" && (name == "world.go" || name == "eal.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files++
			for _, i := range parsed.Imports {
				if i.Path.Value == `"sync"` {
					for _, what := range waits(parsed) {
						t.Errorf("%s has %s", f, what)
					}
				}
			}
		}
	}
	if files < 50 {
		t.Errorf("only %d files were read", files)
	}
}

// waits is what a file that imports sync has of it beyond a mutex that is only tried.
func waits(f *ast.File) (all []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		from, _ := s.X.(*ast.Ident)
		switch name := s.Sel.Name; {
		case from != nil && from.Name == "sync":
			if name != "Mutex" {
				all = append(all, "sync."+name)
			}
		case name == "Lock" || name == "RLock" || name == "Wait":
			all = append(all, name)
		}
		return true
	})
	return all
}

// A mutex that is locked, in whatever way, is found; one that is only tried is none that is waited for.
func TestWaits(t *testing.T) {
	for body, want := range map[string]string{
		"var m sync.Mutex; func f() { if m.TryLock() { m.Unlock() } }": "",
		"var m sync.Mutex; func f() { m.Lock() }":                      "Lock",
		"var m struct { sync.Mutex }; func f() { do(m.Lock) }":         "Lock",
		"var m sync.RWMutex; func f() { m.RLock() }":                   "sync.RWMutex RLock",
		"var w sync.WaitGroup; func f() { w.Wait() }":                  "sync.WaitGroup Wait",
		"var once sync.Once":                                           "sync.Once",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p; import \"sync\"; "+body, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(waits(f), " "); got != want {
			t.Errorf("%s: %q, not %q", body, got, want)
		}
	}
}

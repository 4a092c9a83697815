//go:build docs

package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every block of every document, in a copy of the sources with photon built, each
// document in namespaces of its own; and the measurements that lines of text name.
// The last lines say what was executed, what CI executes, and what was only
// looked at.
func TestDocuments(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	photon := filepath.Join(t.TempDir(), "photon")
	build := exec.Command("go", "build", "-tags", "dpdk", "-o", photon, "./cmd/photon")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	paths, err := Find(root)
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	script, err := scripts(root)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{}
	list := func(mark, path string, b Block) {
		for l := range strings.Lines(b.Text) {
			listed[mark] = append(listed[mark], fmt.Sprintf("%s:%d: %s", path, b.Line, l))
		}
	}
	var measurements []string
	executed, documents := 0, 0
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				t.Fatal(err)
			}
			d, err := Read(path, source)
			if err != nil {
				t.Fatal(err)
			}
			run := 0
			for _, b := range d.Blocks {
				switch {
				case b.Runs():
					run++
				case b.Mark == "ci":
					if err := CheckCI(b, script); err != nil {
						t.Errorf("%s:%d: %v", path, b.Line, err)
					}
					list(b.Mark, path, b)
				case b.Language == "sh":
					if _, err := Commands(b); err != nil {
						t.Errorf("%s:%d: %v", path, b.Line, err)
					}
					list(b.Mark, path, b)
				}
			}
			for _, s := range d.Spans {
				if strings.HasPrefix(s.Text, "go test ") && strings.Contains(s.Text, " -bench ") && !slices.Contains(measurements, s.Text) {
					measurements = append(measurements, s.Text)
				}
			}
			if run == 0 {
				return
			}
			dir := copied(t, root, photon)
			ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute) // minutes; slow machines are slow
			defer cancel()
			start := time.Now()
			out, err := Run(ctx, d, dir, Namespaces(dir, root))
			t.Logf("%d blocks in %.0f s", run, time.Since(start).Seconds())
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			executed += run
			documents++
		})
	}
	t.Run("measurements", func(t *testing.T) {
		for _, m := range measurements {
			c := exec.Command("sh", "-c", m+" -benchtime 1x")
			c.Dir = root
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "ns/op") {
				t.Errorf("%s: %v\n%s", m, err, out)
			}
		}
	})
	t.Logf("executed: %d blocks of %d documents, and %d measurements, once each", executed, documents, len(measurements))
	t.Logf("executed by .ci/run or .ci/nightly:\n%s", strings.Join(listed["ci"], ""))
	t.Logf("looked at, and not executed, hardware:\n%s", strings.Join(listed["hardware"], ""))
	t.Logf("looked at, and not executed, cluster:\n%s", strings.Join(listed["cluster"], ""))
}

// copied is a copy of the sources as a clone would have them, with bin/photon.
func copied(t *testing.T, root, photon string) string {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command("sh", "-ec", `git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory "$1"
mkdir "$1/bin"
cp "$2" "$1/bin/photon"`, "sh", dir, photon)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, strings.TrimSpace(string(out)))
	}
	return dir
}

//go:build docs

package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Every block of every document, in a copy of the sources with photon built, each
// document in namespaces of its own. What is not run is listed.
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
			run, marked := 0, ""
			for _, b := range d.Blocks {
				if b.Runs() {
					run++
				} else if b.Language == "sh" {
					marked += " " + b.Mark
					t.Logf("not run, %s: %s:%d\n%s", b.Mark, path, b.Line, b.Text)
				}
			}
			if run == 0 {
				return
			}
			dir := copied(t, root, photon)
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			defer cancel()
			start := time.Now()
			out, err := Run(ctx, d, dir, Namespaces(dir, root))
			t.Logf("%d blocks in %.0f s; not run:%s", run, time.Since(start).Seconds(), marked)
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
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

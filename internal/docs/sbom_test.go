//go:build deb

package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackageParts: a release's list of parts is of its version, names every module that the program with DPDK is
// linked from, in the version that go.mod has, and is the same when it is made again.
func TestPackageParts(t *testing.T) {
	made := func(name string) string {
		path := filepath.Join(t.TempDir(), name)
		if out, err := exec.Command("../../scripts/sbom.sh", "7.8.9", path).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := made("one.json")
	if again := made("two.json"); again != text {
		t.Error("two of the same commit differ")
	}
	type part struct{ Name, Version string }
	var list struct {
		BOMFormat  string
		Metadata   struct{ Component part }
		Components []part
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	if list.BOMFormat != "CycloneDX" || list.Metadata.Component != (part{"photon", "v7.8.9"}) {
		t.Errorf("%s of %+v", list.BOMFormat, list.Metadata.Component)
	}
	is := map[string]string{}
	for _, p := range list.Components {
		is[p.Name] = p.Version
	}
	c := exec.Command("go", "list", "-tags", "dpdk", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/photon")
	c.Dir = "../.."
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if module, version, ok := strings.Cut(line, " "); ok {
			want[module] = version
		}
	}
	if len(want) < 20 {
		t.Fatalf("only %d modules", len(want))
	}
	for module, version := range want {
		if is[module] != version {
			t.Errorf("%s %s is %q there", module, version, is[module])
		}
	}
	if is["std"] == "" {
		t.Error("Go's own packages are not there")
	}
}

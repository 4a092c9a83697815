package gobench

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The form is https://go.dev/design/14313-benchmark-format: a name without spaces, how often, and values with their units.
func TestForm(t *testing.T) {
	f := New("frames/s", "hops/s")
	f.Add("Forwarding/kind=plain/of=C loop", map[string]float64{"frames/s": 12345678, "ns/op": 81.25})
	f.Add("Stalls", map[string]float64{"max-ns": 0})
	lines := strings.Split(strings.TrimSuffix(f.String(), "\n"), "\n")
	form := regexp.MustCompile(`^Benchmark[A-Z]\S*\s+1(\s+[0-9.]+ \S+)+$`)
	if len(lines) != 6 || lines[2] != "Unit frames/s better=higher" || lines[3] != "Unit hops/s better=higher" || !form.MatchString(lines[4]) || !form.MatchString(lines[5]) {
		t.Errorf("%q", lines)
	}
	if got := strings.Fields(lines[4]); strings.Join(got, " ") != "BenchmarkForwarding/kind=plain/of=C_loop 1 81.25 ns/op 12345678 frames/s" {
		t.Errorf("%q", got)
	}
}

func TestSave(t *testing.T) {
	f := New()
	f.Add("A", map[string]float64{"ns/op": 1})
	dir := filepath.Join(t.TempDir(), "sub")
	if err := Save(filepath.Join(dir, "bench.json"), []int{1}, f); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"bench.json": "[\n  1\n]\n", "bench.txt": f.String()} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %v, %q", name, err, b)
		}
	}
}

package sweep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of a sweep is refused with its name and in one line, or all its experiments are there.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"incast-sweep.yaml", "fig21-sweep.yaml"} {
		b, err := os.ReadFile("../../docs/examples/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("name: a\nexperiments: [pcn/fig2]\nschemes: [pcn, dcqcn]\nseeds: 1..3\nvary: {schemes.pcn.wmin: [0.1, 1e9], duration: [1ms]}\n"))
	file := filepath.Join(f.TempDir(), "x.yaml")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Read(file)
		if err != nil {
			if !strings.HasPrefix(err.Error(), file+":") || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		if len(s.sources) == 0 || len(s.sources) != len(s.Experiments.V) {
			t.Fatalf("%d experiments, %d were found", len(s.Experiments.V), len(s.sources))
		}
	})
}

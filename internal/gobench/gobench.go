// Package gobench writes what photon's own benchmarks measured as Go's benchmarks do, so that benchstat compares two runs:
// a line for each turn, none for medians.
package gobench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// File is the text of such a file.
type File struct{ text strings.Builder }

// New begins with what benchstat cannot know: the machine, and of which units more is better.
func New(higher ...string) *File {
	f := &File{}
	fmt.Fprintf(&f.text, "goos: %s\ngoarch: %s\n", runtime.GOOS, runtime.GOARCH)
	for _, unit := range higher {
		fmt.Fprintf(&f.text, "Unit %s better=higher\n", unit)
	}
	return f
}

// Add is one turn of a benchmark: its name is of parts between slashes, mostly key=value, and values are by their units.
func (f *File) Add(name string, values map[string]float64) {
	f.text.WriteString(Line(name, values))
}

// Line is that turn's.
func Line(name string, values map[string]float64) string {
	return "Benchmark" + strings.Join(strings.Fields(name), "_") + testing.BenchmarkResult{N: 1, Extra: values}.String() + "\n"
}

func (f *File) String() string { return f.text.String() }

// Save writes what a benchmark found out as JSON, and beside it the turns for benchstat; it says where.
func Save(file string, results any, turns *File) error {
	b, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
		return err
	}
	text := strings.TrimSuffix(file, filepath.Ext(file)) + ".txt"
	fmt.Printf("written: %s, and %s for benchstat\n", file, text)
	return os.WriteFile(text, []byte(turns.String()), 0o644)
}

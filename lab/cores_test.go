package lab

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"photon/units"
)

// Runs of one replay side by side on several processors yield, byte for byte and
// in the same order, what they yield one after the other on one.
func TestCoresDoNotMatter(t *testing.T) {
	files := func(cores int) (all []byte) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		e := busy(t, units.Millisecond)
		e.ID, e.Repeat, e.Claims = "cores", 3, nil
		dir := t.TempDir()
		r, err := e.Replay(context.Background(), Options{World: "sim", Schemes: []string{"dcqcn", "pcn"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Write(dir, r); err != nil {
			t.Fatal(err)
		}
		list, err := filepath.Glob(filepath.Join(dir, "cores", "sim", "*"))
		if err != nil || len(list) < 3 {
			t.Fatal(list, err)
		}
		for _, file := range list {
			if filepath.Base(file) == "timing.json" { // wall times
				continue
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(append(all, filepath.Base(file)...), b...)
		}
		return all
	}
	if one, four := files(1), files(4); !bytes.Equal(one, four) {
		t.Error("one core and four yield different files")
	}
}

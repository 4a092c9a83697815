package sweep

import (
	"os"
	"strings"
	"testing"

	"photon/lab/run"
)

// What a table says of a task is what the spec says of it now: results stay those of their tasks when the grid grows by
// a setting, of which one value is the one that was there before, and when it shrinks again.
func TestRowsAreOfTheSpecThatIsCollected(t *testing.T) {
	const before = "name: grown\nexperiments: [tiny.yaml]\nschemes: [pcn]\nseeds: 1\nvary: {$bytes: [10KB]}\n"
	grown := strings.Replace(before, "{", "{duration: [1ms, 2ms], ", 1)
	folder := Folder(t.TempDir())
	ran := 0
	for _, c := range []struct{ spec, want string }{
		{before, "bytes 10000\n"},
		{grown, "bytes,duration 10000,0.001\nbytes,duration 10000,0.002\n"},
		{before, "bytes 10000\n"},
	} {
		_, tasks := expand(t, tiny, c.spec)
		left, err := folder.Left(tasks)
		if err != nil {
			t.Fatal(err)
		}
		if err := folder.Run(t.Context(), left, 1, 1, func(run.Progress) {}); err != nil {
			t.Fatal(err)
		}
		ran += len(left)
		got, err := folder.Collect(tasks)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(got.CSV)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		settings := func(line string) string {
			fields := strings.Split(line, ",")
			return strings.Join(fields[4:len(fields)-5], ",")
		}
		text := ""
		for _, l := range lines[1:] {
			text += settings(lines[0]) + " " + settings(l) + "\n"
		}
		if text != c.want {
			t.Errorf("the table has\n%s, not\n%s", text, c.want)
		}
	}
	if ran != 2 {
		t.Errorf("%d runs of 2 tasks", ran)
	}
}

package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"photon/lab/claim"
)

func TestReproduction(t *testing.T) {
	e, _, out := everyPanel(t)
	finished := func() []claim.Finished {
		f, err := finish(e, out)
		if err != nil {
			t.Fatal(err)
		}
		return InVirtualTime([]*Finished{f})
	}
	dir := t.TempDir()
	read := func() (js, md []byte) {
		o, err := Reproduction(dir, finished())
		if err != nil {
			t.Fatal(err)
		}
		if o.Reproduced != 1 || o.Direction != 0 || o.Differs != 1 || o.Shape != 0 || len(o.Claims) != 3 || o.Claims[2].Verdict != claim.NotRun {
			t.Errorf("%+v", o)
		}
		js, err1 := os.ReadFile(filepath.Join(dir, "reproduction.json"))
		md, err2 := os.ReadFile(filepath.Join(dir, "reproduction.md"))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return js, md
	}
	js, md := read()
	if again, alsoAgain := read(); !bytes.Equal(js, again) || !bytes.Equal(md, alsoAgain) {
		t.Error("one result, two files")
	}
	if got := claim.Sum(finished()).Unexplained(); !slices.Equal(got, []string{"test/report wrong"}) {
		t.Errorf("unexplained: %v", got)
	}
	var got map[string]any
	if err := json.Unmarshal(js, &got); err != nil {
		t.Fatal(err)
	}
	if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, []string{"claims", "contradicted", "differs", "direction", "experiments", "holds", "reproduced", "shape"}) {
		t.Errorf("keys %v", keys)
	}
	first := got["claims"].([]any)[0].(map[string]any)
	for _, key := range []string{"experiment", "id", "paper", "bound", "measured", "interval", "n", "verdict", "note"} {
		if _, ok := first[key]; !ok {
			t.Errorf("a claim lacks %s", key)
		}
	}
	if strings.Contains(string(js), "seconds") {
		t.Error("there are times in it")
	}
	for _, want := range []string{"| **all** | 1 | 1 | 0 | 1 | 0 | 0 | 0 | 1 |", "## A & B, Venue's", `A pipe \| in a text`, "No explanation yet.\n", "| not-run |",
		"Of 1 experiments 0 ran whole and 1 with", "| test/report | Every kind of panel </script><b>not bold</b> | quick: 3 of 5 values of burst | 1 |", "worst end"} {
		if !strings.Contains(string(md), want) {
			t.Errorf("reproduction.md lacks %q:\n%s", want, md)
		}
	}
	// With a note it is explained, and the note is there; a story has a page.
	e.Claims[1].Note, e.Story = "it is made up", "A long one."
	_, md = read()
	if !strings.Contains(string(md), "It is made up.\n") || claim.Sum(finished()).Unexplained() != nil {
		t.Errorf("a note is no explanation:\n%s", md)
	}
	page, err := os.ReadFile(filepath.Join(dir, "reproduction", "test-report.md"))
	if err != nil || !strings.Contains(string(page), "A long one.") || !strings.Contains(string(md), "(reproduction/test-report.md)") {
		t.Errorf("%v: %s", err, page)
	}
}

// Only virtual time counts: a run on DPDK is not the same twice.
func TestReproductionIsOfVirtualTime(t *testing.T) {
	e, _, out := everyPanel(t)
	copyWorld(t, e, out)
	if err := os.RemoveAll(filepath.Join(Folder(e, out), "sim")); err != nil {
		t.Fatal(err)
	}
	f, err := finish(e, out)
	if err != nil {
		t.Fatal(err)
	}
	if list := InVirtualTime([]*Finished{f}); len(list) != 0 {
		t.Errorf("%d experiments", len(list))
	}
}

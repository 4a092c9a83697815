package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/run"
	"photon/lab/web"
	"photon/lab/web/pages"
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

// What is said of a verdict is said wherever the verdict is: of a claim and of each of its measurements, in the table
// of all claims and on a page.
func TestUndecidedIsSaidEverywhere(t *testing.T) {
	of := func(low, high float64) claim.Measurement {
		mean := (low + high) / 2
		return claim.Measurement{
			Name: fmt.Sprintf("%v to %v", low, high), Limit: ptr(1), Bound: experiment.AtMost, As: experiment.Ratio,
			Measured: &mean, Interval: []*float64{&low, &high}, N: 20, Verdict: claim.Contradicted,
		}
	}
	noisy, flat := of(0.9, 1.3), of(1.1, 1.3)
	list := []claim.Result{
		{ID: "one", Measurement: noisy},
		{ID: "two", Measurement: flat, Measurements: []claim.Measurement{noisy, flat}},
	}
	var b bytes.Buffer
	claimTable(&b, list)
	for _, want := range []string{
		"|  | words: < 1 | 1.1 | 0.9 to 1.3 | 20 | contradicted (undecided) |",
		"|  | | | | | contradicted |",
		"| – 0.9 to 1.3 | words: < 1 | 1.1 | 0.9 to 1.3 | 20 | contradicted (undecided) |",
		"| – 1.1 to 1.3 | words: < 1 | 1.2 | 1.1 to 1.3 | 20 | contradicted |",
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("the table lacks %q:\n%s", want, &b)
		}
	}
	e := &experiment.Experiment{Claims: []experiment.Claim{{ID: "one"}, {ID: "two"}}}
	sure := slices.Clone(list)
	sure[0].Measurement = flat
	for _, c := range []struct {
		second []claim.Result
		want   string
	}{
		{nil, `<span class="v contradicted">contradicted</span> <small>(undecided)</small>`},
		{list, `<span class="v contradicted">contradicted</span> <small>(undecided)</small>`},
		{sure, `<small>sim:</small> <span class="v contradicted">contradicted</span> <small>(undecided)</small> ` +
			`<small>dpdk:</small> <span class="v contradicted">contradicted</span> `},
	} {
		results := []*claim.Judged{{Result: &run.Result{World: "sim"}, Claims: list}}
		if c.second != nil {
			results = append(results, &claim.Judged{Result: &run.Result{World: "dpdk"}, Claims: c.second})
		}
		section := &web.Experiment{ID: "x", Source: "a paper", Claims: claimRows(e, results), Worlds: []string{"sim"}}
		if c.second != nil {
			section.Worlds = append(section.Worlds, "dpdk")
		}
		var page strings.Builder
		if err := pages.Write(&page, &web.Page{Title: "x", Experiments: []*web.Experiment{section}}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), c.want) || strings.Count(page.String(), "(undecided)") != 1 {
			t.Errorf("the page lacks %s:\n%+v", c.want, section.Claims)
		}
	}
}

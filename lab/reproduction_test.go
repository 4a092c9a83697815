package lab

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReproduction(t *testing.T) {
	e, _, out := everyPanel(t)
	f, err := e.finish(out)
	if err != nil {
		t.Fatal(err)
	}
	o := Reproduction([]*Finished{f})
	if o.Reproduced != 1 || o.Direction != 0 || o.Differs != 1 || o.Shape != 0 || len(o.Claims) != 3 || o.Claims[2].Verdict != NotRun {
		t.Errorf("%+v", o)
	}
	if got := o.Unexplained(); !slices.Equal(got, []string{"test/report wrong"}) {
		t.Errorf("unexplained: %v", got)
	}
	read := func() (js, md []byte) {
		dir := t.TempDir()
		if err := Reproduction([]*Finished{f}).Write(dir); err != nil {
			t.Fatal(err)
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
	var got struct {
		Reproduced, Direction, Differs, Shape int
		Claims                                []map[string]any
		Experiments                           []Extent
	}
	if err := json.Unmarshal(js, &got); err != nil || got.Reproduced != 1 || got.Differs != 1 || len(got.Claims) != 3 {
		t.Errorf("%v: %+v", err, got)
	}
	if len(got.Experiments) != 1 {
		t.Fatalf("%d experiments", len(got.Experiments))
	}
	x := got.Experiments[0]
	if !x.Quick || x.Left != "3 of 5 values of burst" || x.Seconds <= 0 || x.Elapsed <= 0 || x.Cores < 1 || x.Parallel < 1 {
		t.Errorf("what ran: %+v", x)
	}
	want := []string{"experiment", "id", "measured", "note", "paper", "schemes", "text", "unit", "verdict"}
	if keys := sortedKeys(got.Claims[0]); !slices.Equal(keys, want) {
		t.Errorf("a claim has the keys %v", keys)
	}
	for _, want := range []string{"| **all** | 1 | 1 | 0 | 1 | 0 | 1 |", "## A & B, Venue's", `A pipe \| in a text`, "No explanation yet.\n", "| not-run |",
		"Of 1 experiments 0 ran whole and 1 with", "| test/report | quick: 3 of 5 values of burst |"} {
		if !strings.Contains(string(md), want) {
			t.Errorf("reproduction.md lacks %q:\n%s", want, md)
		}
	}
	// With a note it is explained, and the note is there.
	e.Claims[1].Note = "it is made up"
	if f, err = e.finish(out); err != nil {
		t.Fatal(err)
	}
	if _, md = read(); !strings.Contains(string(md), "It is made up.\n") || Reproduction([]*Finished{f}).Unexplained() != nil {
		t.Errorf("a note is no explanation:\n%s", md)
	}
}

// Only virtual time counts: a run on DPDK is not the same twice.
func TestReproductionIsOfVirtualTime(t *testing.T) {
	e, _, out := everyPanel(t)
	copyWorld(t, e, out)
	if err := os.RemoveAll(filepath.Join(e.Folder(out), "sim")); err != nil {
		t.Fatal(err)
	}
	f, err := e.finish(out)
	if err != nil {
		t.Fatal(err)
	}
	if o := Reproduction([]*Finished{f}); len(o.Claims) != 0 {
		t.Errorf("%d claims", len(o.Claims))
	}
}

// What is kept has the notes of today, with what judging added to those of then.
func TestKeepRenewsNotes(t *testing.T) {
	e, err := Get("pcn/fig21")
	if err != nil {
		t.Fatal(err)
	}
	before := Tally{Experiments: []Extent{{Experiment: e.ID}}}
	for _, c := range e.Claims {
		r := ClaimResult{ID: c.ID, Verdict: Differs, Note: "what was thought once"}
		switch c.ID {
		case "less-than-dcqcn":
			r.Note = join(r.Note, neverCame)
		case "pcn":
			r.Verdict, r.Note = NotRun, "pcn was not run"
		}
		before.Claims = append(before.Claims, TallyClaim{Experiment: e.ID, ClaimResult: r})
	}
	b, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "reproduction.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	all, err := Keep(nil, dir)
	if err != nil || len(all) != 1 || len(all[0].claims[0]) != len(e.Claims) {
		t.Fatal(all, err)
	}
	for i, got := range all[0].claims[0] {
		want := e.Claims[i].Note
		switch got.ID {
		case "less-than-dcqcn":
			want += "; " + neverCame
		case "pcn":
			want = "pcn was not run"
		}
		if got.Note != want {
			t.Errorf("%s: %q, want %q", got.ID, got.Note, want)
		}
	}
}

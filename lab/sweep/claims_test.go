package sweep

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/report"
	"photon/lab/run"
)

// random is tiny with a queue that hangs on the seed, and what a claim is judged by.
var random = strings.NewReplacer(
	"flows: [{name: F, from: H0..H1, to: H2}", "flows: [{name: F, from: H0..H1, to: H2, spread: 500us}",
	"claims: [", `claims: [
  {id: dcqcn, text: a number, schemes: [dcqcn], metric: most@20KB, paper: 1000, unit: B},
  {id: less, text: a quotient, schemes: [pcn, dcqcn], metric: most@20KB, paper: 0.5},
  {id: never, text: what never came, schemes: [pcn], metric: drained@10KB, paper: 1, unit: s},
`).Replace(tiny)

// A sweep over the seeds of a replay says of the claims what the replay says; of schemes that it
// does not have it says so.
func TestClaims(t *testing.T) {
	s, tasks := expand(t, random, "name: claims\nexperiments: [tiny.yaml]\nseeds: 1..5\n")
	folder := Folder(t.TempDir())
	if err := folder.Run(context.Background(), tasks, 2, 1, func(run.Progress) {}); err != nil {
		t.Fatal(err)
	}
	c, err := folder.Collect(tasks)
	if err != nil {
		t.Fatal(err)
	}
	var got, want bytes.Buffer
	if err := s.WriteClaims(&got, &c); err != nil {
		t.Fatal(err)
	}
	e, err := experiment.Parse("tiny.yaml", []byte(strings.Replace(random, "schemes:", "repeat: 5\nschemes:", 1)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Replay(context.Background(), e, run.Options{World: "sim"})
	if err != nil {
		t.Fatal(err)
	}
	r.World = "sweep"
	if err := report.Table(&want, e, []*claim.Judged{claim.Judge(e, r)}); err != nil {
		t.Fatal(err)
	}
	if got.String() != "tiny.yaml, 5 runs of each\n"+want.String() || !strings.Contains(got.String(), "less") {
		t.Errorf("a sweep says\n%s\nand a replay\n%s", &got, &want)
	}

	if most := c.records[0].Metrics["most"]; *most == *c.records[1].Metrics["most"] {
		t.Errorf("the seed decides nothing: %v twice", *most)
	}
	if _, err := (folder + "/nowhere").Collect(tasks); err == nil || !strings.Contains(err.Error(), "there is no folder") {
		t.Errorf("collecting from nowhere: %v", err)
	}

	only := tasks[:12] // PCN's ten, and two of DCQCN's
	if c, err = folder.Collect(only); err != nil {
		t.Fatal(err)
	}
	got.Reset()
	if err := s.WriteClaims(&got, &c); err != nil {
		t.Fatal(err)
	}
	if text := got.String(); !strings.HasPrefix(text, "tiny.yaml, 2 to 5 runs of each\n") || !strings.Contains(text, "not-run") {
		t.Error(text)
	}
}

// Two schemes' runs are pairs by their seeds also where results are missing: what is said of them is what a sweep over
// the seeds says that both have.
func TestClaimsAreOfPairsWhereResultsAreMissing(t *testing.T) {
	s, tasks := expand(t, random, "name: claims\nexperiments: [tiny.yaml]\nseeds: 1..5\n")
	folder := Folder(t.TempDir())
	if err := folder.Run(t.Context(), tasks, 2, 1, func(run.Progress) {}); err != nil {
		t.Fatal(err)
	}
	said := func(has func(scheme string, seed uint64) bool) string {
		var some []*Task
		for _, task := range tasks {
			if has(task.Scheme, task.Seed) {
				some = append(some, task)
			}
		}
		c, err := folder.Collect(some)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := s.WriteClaims(&text, &c); err != nil {
			t.Fatal(err)
		}
		_, claims, _ := strings.Cut(text.String(), "\n")
		return claims
	}
	want := said(func(_ string, seed uint64) bool { return seed == 3 || seed == 5 })
	if got := said(func(scheme string, seed uint64) bool {
		return seed == 3 || seed == 5 || seed == 4 && scheme == "dcqcn" || seed == 1 && scheme == "pcn"
	}); got != want {
		t.Errorf("with other seeds of one scheme\n%s\nand without them\n%s", got, want)
	}
}

func TestClaimsOfNoExperimentAsItIs(t *testing.T) {
	for _, c := range []struct{ experiment, spec, want string }{
		{tiny, "vary: {duration: [1ms, 2ms]}\n", "the spec varies duration"},
		{strings.Split(tiny, "claims:")[0], "", "tiny.yaml has no claims"},
	} {
		s, _ := expand(t, c.experiment, "name: claims\nexperiments: [tiny.yaml]\n"+c.spec)
		if err := s.WriteClaims(&bytes.Buffer{}, &Collected{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, not %q", err, c.want)
		}
	}
}

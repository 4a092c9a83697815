package report

import (
	"fmt"
	"strings"
	"testing"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
	"photon/lab/web"
)

// A report says of which seeds it is, and the command that has them run.
func TestSeedsOfAReport(t *testing.T) {
	e, err := experiment.Parse("x.yaml", []byte("repeat: 20\nquick: {repeat: 5}\n"+swept))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		world   string
		quick   bool
		seeds   int
		command string
		ran     string
	}{
		{"sim", false, 20, "", "full"},
		{"sim", false, 3, " --repeat 3", "3 of 20 seeds"},
		{"sim", false, 40, " --repeat 40", "full"},
		{"sim", true, 5, " --quick", "quick: 5 of 20 seeds"},
		{"sim", true, 20, " --repeat 20 --quick", "quick: all that claims need"},
		{"sim", false, 0, "", "full"}, // of a version that did not say
		{"dpdk", false, 1, " --world dpdk", "full"},
		{"dpdk", false, 8, " --world dpdk --repeat 8", "full"},
	} {
		r := &run.Result{World: c.world, Quick: c.quick, Seed: e.Seed, Seeds: make([]uint64, c.seeds)}
		for _, use := range e.Schemes {
			r.Runs = append(r.Runs, run.Run{Scheme: use.Key()})
		}
		results := []*claim.Judged{{Result: r}}
		if got, want := command(e, results), "photon run x.yaml"+c.command; got != want {
			t.Errorf("%v: %q, want %q", c, got, want)
		}
		if got := ranIn(e, results); len(got) != 1 || got[0] != c.ran {
			t.Errorf("%v: %q", c, got)
		}
		rows := parameterRows(e, results)
		said := strings.Contains(rows[len(rows)-1].Value, fmt.Sprintf(", %d seeds", c.seeds))
		if got := rows[len(rows)-1].Value; strings.Contains(got, "seeds") != (c.seeds > 1) || c.seeds > 1 && !said {
			t.Errorf("%v: time of a run %q", c, got)
		}
	}
}

// The command can be copied into a shell, whatever a file and a scheme are called.
func TestCommandOfAReportIsForAShell(t *testing.T) {
	e, err := experiment.Parse("it's my file.yaml", []byte(swept))
	if err != nil {
		t.Fatal(err)
	}
	r := &run.Result{World: "sim", Seed: e.Seed, Runs: []run.Run{{Scheme: "a b;c"}}}
	const want = `photon run 'it'\''s my file.yaml' --schemes 'a b;c'`
	if got := command(e, []*claim.Judged{{Result: r}}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// On DPDK one seed of several runs. Other seeds have other random flows: so the worlds are compared by that seed alone,
// and table and summary say which seeds their numbers are of.
func TestWorldsAreComparedByTheSeedsOfBoth(t *testing.T) {
	e, err := experiment.Parse("x.yaml", []byte(swept))
	if err != nil {
		t.Fatal(err)
	}
	judged := func(world string, seeds []uint64, a, b []*float64) *claim.Judged {
		mean := func(v []*float64) *float64 {
			sum := 0.0
			for _, x := range v {
				sum += *x
			}
			return ptr(sum / float64(len(v)))
		}
		one := func(scheme string, v []*float64) run.Run {
			return run.Run{Scheme: scheme, Metrics: measure.Metrics{"m": mean(v)}, PerSeed: map[string][]*float64{"m": v}}
		}
		return &claim.Judged{Result: &run.Result{World: world, Seeds: seeds, Runs: []run.Run{one("a", a), one("b", b)}}}
	}
	// a: the same with seed 7, though the mean is another. b: the mean is the same, seed 7 is not.
	virtual := judged("sim", []uint64{7, 8}, []*float64{ptr(100), ptr(900)}, []*float64{ptr(900), ptr(100)})
	dpdk := judged("dpdk", []uint64{7}, []*float64{ptr(100)}, []*float64{ptr(500)})
	s := &web.Experiment{Schemes: []web.Scheme{{Name: "a"}, {Name: "b"}}}
	rows := measuredRows(e, s, []string{"m"}, []*claim.Judged{virtual, dpdk})
	if d := rows[1].Differs; d[0] || !d[1] {
		t.Errorf("a differs: %v, b differs: %v; want false and true", d[0], d[1])
	}
	for _, c := range []struct {
		second *claim.Judged
		says   string
	}{{dpdk, "sim 2 seeds, dpdk seed 7 alone"}, {virtual, ""}} {
		results := []*claim.Judged{virtual, c.second}
		var out strings.Builder
		if err := Table(&out, e, results); err != nil {
			t.Fatal(err)
		}
		for what, got := range map[string]string{"table": out.String(), "summary": summary(e, results)} {
			if strings.Contains(got, "alone") != (c.says != "") || !strings.Contains(got, c.says) {
				t.Errorf("%s: %q, want in it %q", what, got, c.says)
			}
		}
	}
}

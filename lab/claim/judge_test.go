package claim

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"photon/config"
	"photon/lab/experiment"
	"photon/lab/run"
	"photon/lab/stat"
)

func ptr(v float64) *float64 { return &v }

// result is one of schemes that have a metric x with some seeds.
func result(samples map[string][]float64) *run.Result {
	r := &run.Result{}
	for name, v := range samples {
		one := run.Run{Scheme: name, Invariants: run.Invariants{ConservationOK: true}}
		var list []*float64
		for _, x := range v {
			list = append(list, run.Finite(x))
		}
		one.SetSamples("x", list)
		r.Runs = append(r.Runs, one)
	}
	return r
}

// watched is an experiment whose metric x was looked out for for 3 s.
func watched(t *testing.T) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("x.yaml", []byte(`id: test/watched
title: watched
duration: 3s
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows: [{from: H0, to: H1}]
schemes: [none]
measure: {sample: 10us, probes: [{name: q, kind: queue, at: [S0]}], metrics: [{name: x, do: first_at_most, of: q}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The cases that docs/reproduction.md gives of the rule are cases of the rule.
func TestCasesOfTheRule(t *testing.T) {
	b, err := os.ReadFile("../report/rule.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (ratio|reduction|fraction|value) ([≥≤] )?([\d.]+)(?: ms)? \| (≥ )?([\d.]+)(?: ms)? \| ([a-z ()]+) \|$`).FindAllStringSubmatch(string(b), -1)
	if len(rows) < 10 {
		t.Fatalf("%d cases", len(rows))
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	bounds := map[string]experiment.Bound{"≥ ": experiment.AtLeast, "≤ ": experiment.AtMost}
	for _, row := range rows {
		p := experiment.Part{As: experiment.As(row[1]), Bound: bounds[row[2]], Paper: ptr(number(row[3]))}
		ours := number(row[5])
		est := estimated{value: ours, low: ours, high: ours, n: 1}
		if row[4] != "" { // it never came
			est = estimated{value: stat.Never, low: stat.Never, high: stat.Never, least: &ours, n: 1, never: 1}
		}
		m := Measurement{As: p.As, Bound: p.Bound}
		est.judge(&p, &m)
		if m.Says() != row[6] {
			t.Errorf("%s: %s", row[0], m.Says())
		}
	}
	for _, want := range []string{"| ratio 1.30 | 1.04 | differs |", "| fraction 0.99 | 0.895 | differs |", "| ratio ≥ 2.25 | 1.82 | differs (direction) |", "| reduction 0.53 | 0.50 | reproduced |", "| ratio 25 | ≥ 20.97 | direction |"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the rule lacks the case %s", want)
		}
	}
}

// Nothing by nothing is no number, and what is drawn from it gives none an interval.
func TestNoNumberHasNoInterval(t *testing.T) {
	r := result(map[string][]float64{"none": {0, 0, 0, 0}, "few": {0, 0, 0, 1}})
	for _, schemes := range [][]string{{"none", "none"}, {"none", "few"}} {
		p := experiment.Part{Schemes: schemes, Metric: "x", As: experiment.Reduction, Stat: "median", Paper: ptr(0.8)}
		m := judge(watched(t), &experiment.Claim{ID: "c", Part: p}, r).Measurement
		old := m
		old.Interval = []*float64{ptr(0), ptr(0)} // as a file of an older version has it
		for _, m := range []Measurement{m, old.judgedAgain(&p)} {
			if !m.Unknown || m.Verdict != Differs || m.Interval != nil || m.Spread() != "" {
				t.Errorf("%v: %s, unknown %v, from %q", schemes, m.Says(), m.Unknown, m.Spread())
			}
		}
	}
}

func TestJudge(t *testing.T) {
	never := stat.Never
	r := result(map[string][]float64{
		"a": {10}, "b": {4}, "z": {0}, "c": {99}, "d": {100}, "never": {never}, "one": {1},
		"sure": {9, 10, 11, 10, 9, 11}, "noisy": {1, 2, 20, 30, 9, 11}, "often": {1, 2, never, never, never, never}, "rarely": {9, 10, 10, 11, 10, 9, 10, 11, 10, 10, 11, never},
		"half": {0, 1, 0, 1, 0, 1, 0, 1}, "all": {1, 1, 1, 1, 1, 1, 1, 1}, "twice": {18, 20, 22, 20, 18, 22},
	})
	e := watched(t)
	for _, c := range []struct {
		name    string
		part    experiment.Part
		want    string
		measure *float64
	}{
		{"within 25 %", experiment.Part{Schemes: []string{"a"}, Paper: ptr(12.5)}, "reproduced", ptr(10)},
		{"within a factor of 2", experiment.Part{Schemes: []string{"a"}, Paper: ptr(19)}, "direction", ptr(10)},
		{"beyond it", experiment.Part{Schemes: []string{"a"}, Paper: ptr(21)}, "differs", ptr(10)},
		{"a bound", experiment.Part{Schemes: []string{"a"}, Paper: ptr(10), Bound: experiment.AtMost}, "reproduced", ptr(10)},
		{"violated by little", experiment.Part{Schemes: []string{"a"}, Paper: ptr(9.99), Bound: experiment.AtMost}, "differs (direction)", ptr(10)},
		{"violated by much", experiment.Part{Schemes: []string{"a"}, Paper: ptr(1), Bound: experiment.AtMost}, "differs", ptr(10)},
		{"a ratio", experiment.Part{Schemes: []string{"a", "b"}, Paper: ptr(2.5)}, "reproduced", ptr(2.5)},
		{"of which the effect is half", experiment.Part{Schemes: []string{"a", "b"}, Paper: ptr(4)}, "direction", ptr(2.5)},
		{"of which it is less", experiment.Part{Schemes: []string{"a", "b"}, Paper: ptr(25)}, "differs", ptr(2.5)},
		{"more than the paper's", experiment.Part{Schemes: []string{"a", "b"}, Paper: ptr(1.5)}, "direction", ptr(2.5)},
		{"the other scheme ahead", experiment.Part{Schemes: []string{"b", "a"}, Paper: ptr(2)}, "differs", ptr(0.4)},
		{"the other ahead by a hair", experiment.Part{Schemes: []string{"c", "d"}, Paper: ptr(1.09)}, "differs", ptr(0.99)},
		{"no number, no words", experiment.Part{Schemes: []string{"a"}}, "shape", ptr(10)},
		{"a scheme is missing", experiment.Part{Schemes: []string{"a", "e"}, Paper: ptr(2)}, "not-run", nil},
		{"an order", experiment.Part{Schemes: []string{"b", "a"}, Limit: ptr(1), Bound: experiment.AtMost}, "holds", ptr(0.4)},
		{"the other way round", experiment.Part{Schemes: []string{"a", "b"}, Limit: ptr(1), Bound: experiment.AtMost}, "contradicted", ptr(2.5)},
		{"equal is no order", experiment.Part{Schemes: []string{"a", "a"}, Limit: ptr(1), Bound: experiment.AtMost}, "contradicted", ptr(1)},
		{"alike", experiment.Part{Schemes: []string{"c", "d"}, Limit: ptr(1), Within: 0.05}, "holds", ptr(0.99)},
		{"not alike", experiment.Part{Schemes: []string{"c", "d"}, Limit: ptr(1), Within: 0.005}, "contradicted", ptr(0.99)},
		{"nothing", experiment.Part{Schemes: []string{"z"}, Paper: ptr(0)}, "reproduced", ptr(0)},
		{"something instead of nothing", experiment.Part{Schemes: []string{"one"}, Paper: ptr(0)}, "differs", ptr(1)},
		{"by nothing", experiment.Part{Schemes: []string{"a", "z"}, Paper: ptr(3), Bound: experiment.AtLeast}, "reproduced", nil},
		{"nothing by nothing", experiment.Part{Schemes: []string{"z", "z"}, Paper: ptr(3)}, "differs", nil},
		{"never", experiment.Part{Schemes: []string{"never"}, Paper: ptr(1)}, "differs", nil},
		{"never, so late enough", experiment.Part{Schemes: []string{"never", "one"}, Paper: ptr(2), Bound: experiment.AtLeast}, "reproduced", nil},
		{"never, so perhaps late enough", experiment.Part{Schemes: []string{"never", "one"}, Paper: ptr(4), Bound: experiment.AtLeast}, "differs (direction)", nil},
		{"never, but it should be sooner", experiment.Part{Schemes: []string{"never", "one"}, Paper: ptr(0.5)}, "differs", nil},
		{"never, an order", experiment.Part{Schemes: []string{"never", "one"}, Limit: ptr(1), Bound: experiment.AtLeast}, "holds", nil},
		{"never, but watched for less than the other took", experiment.Part{Schemes: []string{"never", "a"}, Limit: ptr(1), Bound: experiment.AtLeast}, "contradicted (undecided)", nil},
		{"neither came", experiment.Part{Schemes: []string{"never", "never"}, Limit: ptr(1), Bound: experiment.AtLeast}, "contradicted", nil},
		{"sure", experiment.Part{Schemes: []string{"sure"}, Paper: ptr(10)}, "reproduced", ptr(10)},
		{"noise reproduces nothing", experiment.Part{Schemes: []string{"noisy"}, Paper: ptr(10)}, "differs (undecided)", ptr(10)},
		{"noise decides nothing", experiment.Part{Schemes: []string{"noisy"}, Limit: ptr(9), Bound: experiment.AtLeast}, "contradicted (undecided)", ptr(10)},
		{"seeds are pairs", experiment.Part{Schemes: []string{"twice", "sure"}, Paper: ptr(2)}, "reproduced", ptr(2)},
		{"never in most", experiment.Part{Schemes: []string{"often"}, Paper: ptr(2)}, "differs (undecided)", nil},
		{"never in few", experiment.Part{Schemes: []string{"rarely"}, Paper: ptr(10)}, "reproduced", ptr(10)},
		{"a part of the runs", experiment.Part{Schemes: []string{"half"}, As: experiment.Fraction, Stat: "mean", Limit: ptr(0.05), Bound: experiment.AtLeast}, "holds", ptr(0.5)},
		{"the worst of all runs", experiment.Part{Schemes: []string{"noisy"}, Stat: "max", Paper: ptr(29.9), Bound: experiment.AtMost}, "differs (direction)", ptr(30)},
		{"the worst of all runs, below", experiment.Part{Schemes: []string{"noisy"}, Stat: "min", Limit: ptr(1), Bound: experiment.AtLeast}, "holds", ptr(1)},
		{"a worst that never came", experiment.Part{Schemes: []string{"rarely"}, Stat: "max", Paper: ptr(20), Bound: experiment.AtMost}, "differs", nil},
		{"fewer of them", experiment.Part{Schemes: []string{"half", "all"}, As: experiment.Reduction, Stat: "mean", Limit: ptr(0), Bound: experiment.AtLeast}, "holds", ptr(0.5)},
	} {
		c.part.Metric = "x"
		got := judge(e, &experiment.Claim{ID: "c", Part: c.part}, r)
		if got.Says() != c.want || (got.Measured == nil) != (c.measure == nil) || got.Measured != nil && math.Abs(*got.Measured-*c.measure) > 1e-9 {
			t.Errorf("%s: %s, %+v %s", c.name, got.Says(), got, got.Spread())
		}
		// What is kept of it is judged as it was.
		if got.Verdict == NotRun {
			continue
		}
		b, err := json.Marshal(got.Measurement)
		if err != nil {
			t.Fatal(err)
		}
		var saved Measurement
		if err := json.Unmarshal(b, &saved); err != nil {
			t.Fatal(err)
		}
		if again := saved.judgedAgain(&c.part); again.Says() != got.Says() {
			t.Errorf("%s: judged again it is %s, and was %s", c.name, again.Says(), got.Says())
		}
	}
}

// Several measurements of one sentence are one claim, which the worst decides.
func TestOneSentenceIsOneClaim(t *testing.T) {
	r := result(map[string][]float64{"a": {10}, "b": {15}, "c": {30}})
	part := func(scheme string) experiment.Part {
		return experiment.Part{Name: scheme, Schemes: []string{scheme}}
	}
	c := experiment.Claim{ID: "shares", Part: experiment.Part{Metric: "x", Paper: ptr(10)}, Measurements: []experiment.Part{part("a"), part("b"), part("a")}}
	got := judge(watched(t), &c, r)
	if got.Verdict != Direction || *got.Measured != 15 || len(got.Measurements) != 3 || got.Measurements[0].Verdict != Reproduced || !slices.Equal(got.Schemes, []string{"a", "b"}) {
		t.Errorf("%+v", got)
	}
	c.Measurements = append(c.Measurements, part("c"))
	if got := judge(watched(t), &c, r); got.Verdict != Differs || *got.Measured != 30 {
		t.Errorf("%+v", got)
	}
	if n := Count([]Result{got}); n[Direction] != 1 || len(n) != 1 {
		t.Errorf("%v", n)
	}
}

// What --quick leaves out on purpose decides nothing, as long as something is left; a claim of which nothing is, is
// not run.
func TestLeftOut(t *testing.T) {
	r := result(map[string][]float64{"a": {10}, "b": {30}})
	r.Quick = true
	part := func(scheme, metric string) experiment.Part {
		return experiment.Part{Name: scheme + metric, Schemes: []string{scheme}, Metric: metric, Paper: ptr(10)}
	}
	for _, c := range []struct {
		parts []experiment.Part
		want  Verdict
	}{
		{[]experiment.Part{part("a", "x@9")}, NotRun},
		{[]experiment.Part{part("a", "x@9"), part("b", "x@9")}, NotRun},
		{[]experiment.Part{part("a", "x@9"), part("a", "x")}, Reproduced},
		{[]experiment.Part{part("a", "x"), part("a", "x@9")}, Reproduced},
		{[]experiment.Part{part("b", "x"), part("a", "x@9"), part("a", "x")}, Differs},
		{[]experiment.Part{part("a", "x"), part("c", "x")}, NotRun}, // --quick leaves out no scheme
	} {
		got := judge(watched(t), &experiment.Claim{ID: "c", Measurements: c.parts}, r)
		if got.Verdict != c.want || len(got.Measurements) != len(c.parts) && len(c.parts) > 1 {
			t.Errorf("%+v: %s", c.parts, got.Verdict)
		}
	}
}

// Of measurements with one verdict that decides which no excuse is made for: that a claim is undecided, or has the
// paper's direction, is said if it is so of all that are against it.
func TestClaimIsAsBadAsItsWorst(t *testing.T) {
	r := result(map[string][]float64{"noisy": {1, 2, 20, 30, 9, 11}, "high": {30, 30, 30, 30, 30, 30}, "near": {11, 11, 11, 11, 11, 11}})
	part := func(scheme string) experiment.Part { return experiment.Part{Name: scheme, Schemes: []string{scheme}} }
	for _, c := range []struct {
		of      experiment.Part
		schemes []string
		want    string
	}{
		{experiment.Part{Limit: ptr(10)}, []string{"noisy", "noisy"}, "contradicted (undecided)"},
		{experiment.Part{Limit: ptr(10)}, []string{"noisy", "high"}, "contradicted"},
		{experiment.Part{Limit: ptr(10)}, []string{"high", "noisy"}, "contradicted"},
		{experiment.Part{Paper: ptr(10)}, []string{"near", "near"}, "differs (direction)"},
		{experiment.Part{Paper: ptr(10)}, []string{"near", "high"}, "differs"},
		{experiment.Part{Paper: ptr(10)}, []string{"high", "near"}, "differs"},
	} {
		c.of.Metric, c.of.Bound = "x", experiment.AtMost
		parts := []experiment.Part{part(c.schemes[0]), part(c.schemes[1])}
		got := judge(watched(t), &experiment.Claim{ID: "c", Part: c.of, Measurements: parts}, r)
		if got.Says() != c.want {
			t.Errorf("%v: %s", c.schemes, got.Says())
		}
	}
}

// Where runs are too few to tell the paper's number from another, that is said: a deadlock that came in none of twenty
// runs may come in a sixth of them, or in the 2.8 % that a paper prints.
func TestPaperInsideTheInterval(t *testing.T) {
	none, most := make([]float64, 20), make([]float64, 20)
	for i := range most {
		most[i] = 1
	}
	most[0] = 0
	r := result(map[string][]float64{"none": none, "most": most, "same": {3, 3, 3, 3, 3, 3}, "wide": {1, 2, 4, 6, 9, 12}})
	e := watched(t)
	e.Measure.Metrics[0].Do = config.Set("deadlocked")
	for _, c := range []struct {
		scheme string
		as     experiment.As
		paper  float64
		want   string
	}{
		{"none", experiment.Fraction, 0.028, "differs (undecided)"},
		{"none", experiment.Fraction, 0.3, "differs"},
		{"most", experiment.Fraction, 0.87, "differs (undecided)"},
		{"same", experiment.Value, 9, "differs"},
		{"wide", experiment.Value, 5, "direction"},
		{"wide", experiment.Value, 4, "differs (undecided)"},
		{"wide", experiment.Value, 50, "differs"},
	} {
		p := experiment.Part{Schemes: []string{c.scheme}, Metric: "x", As: c.as, Stat: "mean", Paper: ptr(c.paper)}
		got := judge(e, &experiment.Claim{ID: "c", Part: p}, r).Measurement
		if got.Says() != c.want {
			t.Errorf("%s, paper %v: %s, %s", c.scheme, c.paper, got.Says(), got.Spread())
		}
		if m := again(t, got, &p); m.Says() != c.want {
			t.Errorf("%s, paper %v: judged again it is %s", c.scheme, c.paper, m.Says())
		}
	}
}

// The same samples give the same interval, which has the median in it; what never came is at its end.
func TestInterval(t *testing.T) {
	r := result(map[string][]float64{"a": {5, 1, 4, 2, 3, stat.Never, 7, 6}})
	c := experiment.Claim{ID: "c", Part: experiment.Part{Schemes: []string{"a"}, Metric: "x", Paper: ptr(4)}}
	got := judge(watched(t), &c, r)
	again := judge(watched(t), &c, r)
	low, high := got.Interval[0], got.Interval[1]
	if *got.Measured != 4.5 || *low > 4.5 || *low < 1 || high != nil && *high < 4.5 || *again.Interval[0] != *low || got.N != 8 || got.Never != 1 {
		t.Errorf("%v: %s", *got.Measured, got.Spread())
	}
	if one := judge(watched(t), &c, result(map[string][]float64{"a": {5}})); one.Interval != nil || one.N != 1 {
		t.Errorf("of one run there is an interval: %+v", one)
	}
}

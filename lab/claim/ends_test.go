package claim

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"photon/config"
	"photon/lab/experiment"
	"photon/lab/run"
	"photon/lab/stat"
	"photon/units"
)

// fatal is a test, or one of its random runs.
type fatal interface {
	Helper()
	Fatal(...any)
}

// again is a measurement after it was written to a file and judged once more.
func again(t fatal, m Measurement, p *experiment.Part) Measurement {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var saved Measurement
	if err := json.Unmarshal(b, &saved); err != nil {
		t.Fatal(err)
	}
	return saved.judgedAgain(p)
}

// What is violated is violated, whatever has no end, and however often it is read from a file: a reduction by a scheme that
// never came is none, and an order of two that are alike but for rounding is none.
func TestEnds(t *testing.T) {
	never := stat.Never
	tenth := 0.1
	r := result(map[string][]float64{
		"never": {never}, "nevers": {never, never, never}, "some": {1, never, never, never, never, never, never}, "one": {1}, "ones": {1, 1, 1},
		"below": {-9}, "minus": {-1},
		"third": {tenth + 2*tenth}, "thirds": {0.3}, "sevens": {1, 1, 1, 1, 1, 1, 1},
	})
	for _, c := range []struct {
		name string
		part experiment.Part
		want string
	}{
		{"a reduction", experiment.Part{Schemes: []string{"never", "one"}, As: experiment.Reduction, Paper: ptr(0.5), Bound: experiment.AtLeast}, "differs"},
		{"of all seeds", experiment.Part{Schemes: []string{"nevers", "ones"}, As: experiment.Reduction, Paper: ptr(0.5), Bound: experiment.AtLeast}, "differs"},
		{"in words", experiment.Part{Schemes: []string{"nevers", "ones"}, As: experiment.Reduction, Limit: ptr(0), Bound: experiment.AtLeast}, "contradicted"},
		{"of most seeds", experiment.Part{Schemes: []string{"some", "sevens"}, As: experiment.Reduction, Limit: ptr(0.5), Bound: experiment.AtLeast}, "contradicted"},
		{"more by rounding", experiment.Part{Schemes: []string{"third", "thirds"}, Limit: ptr(1), Bound: experiment.AtLeast}, "contradicted"},
		{"less by rounding", experiment.Part{Schemes: []string{"thirds", "third"}, Limit: ptr(1), Bound: experiment.AtLeast}, "contradicted"},
		{"fewer by rounding", experiment.Part{Schemes: []string{"thirds", "third"}, Limit: ptr(1), Bound: experiment.AtMost}, "contradicted"},
		{"reduced by rounding", experiment.Part{Schemes: []string{"thirds", "third"}, As: experiment.Reduction, Limit: ptr(0), Bound: experiment.AtLeast}, "contradicted"},
		{"equal in all seeds", experiment.Part{Schemes: []string{"ones", "ones"}, Limit: ptr(1), Bound: experiment.AtLeast}, "contradicted"},
		{"of opposite numbers", experiment.Part{Schemes: []string{"below", "one"}, Paper: ptr(10)}, "differs"},
		{"below zero is less", experiment.Part{Schemes: []string{"below", "one"}, Limit: ptr(1), Bound: experiment.AtMost}, "holds"},
		{"and not nine times as much", experiment.Part{Schemes: []string{"below", "one"}, Paper: ptr(2)}, "differs"},
		{"of numbers below zero", experiment.Part{Schemes: []string{"below", "minus"}, Limit: ptr(1), Bound: experiment.AtLeast}, "contradicted"},
		{"by a number below zero", experiment.Part{Schemes: []string{"one", "minus"}, Limit: ptr(1), Bound: experiment.AtMost}, "contradicted"},
		{"a bound that says nothing", experiment.Part{Schemes: []string{"sevens", "third"}, Paper: ptr(1), Bound: experiment.AtMost}, "differs"},
	} {
		c.part.Metric = "x"
		got := judge(watched(t), &experiment.Claim{ID: "c", Part: c.part}, r)
		if got.Says() != c.want {
			t.Errorf("%s: %s, %+v", c.name, got.Says(), got.Measurement)
		}
		if m := again(t, got.Measurement, &c.part); m.Says() != c.want {
			t.Errorf("%s: judged again it is %s, and was %s", c.name, m.Says(), got.Says())
		}
	}
}

// unwatched is an experiment with metrics of which it is not known how long a run waits for them, or that are no times.
func unwatched(t *testing.T) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("x.yaml", []byte(`id: test/unwatched
title: unwatched
duration: 3s
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows: [{name: f, from: H0, to: H1, size: 1MB}]
schemes: [none]
measure:
  sample: 10us
  probes: [{name: q, kind: queue, at: [S0]}, {name: r, kind: received, flows: [f], each: true}]
  metrics: [{name: fct, do: fct, flows: [f]}, {name: jain, do: jain, of: r}, {name: x, do: first_at_most, of: q}]
`))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What was not measured satisfies no bound: a metric that is no time and has no value is not late but unknown, and what
// never came is later than what came, but by nobody knows how much.
func TestNotMeasured(t *testing.T) {
	never := stat.Never
	samples := func(v ...float64) (list []*float64) {
		for _, x := range v {
			list = append(list, run.Finite(x))
		}
		return list
	}
	r := &run.Result{Runs: []run.Run{{Scheme: "never"}, {Scheme: "came"}, {Scheme: "half"}}}
	for i := range r.Runs {
		r.Runs[i].Invariants.ConservationOK = true
	}
	for _, metric := range []string{"fct", "jain", "x"} {
		r.Runs[0].SetSamples(metric, samples(never, never, never, never))
		r.Runs[1].SetSamples(metric, samples(2, 2, 2, 2))
		r.Runs[2].SetSamples(metric, samples(2, 2, never, never))
	}
	words := func(metric string, as experiment.As, bound experiment.Bound, limit float64, schemes ...string) experiment.Part {
		return experiment.Part{Metric: metric, As: as, Bound: bound, Limit: &limit, Schemes: schemes}
	}
	const atLeast, atMost = experiment.AtLeast, experiment.AtMost
	for _, c := range []struct {
		part experiment.Part
		want string
	}{
		{words("jain", "", atLeast, 0.9, "never"), "contradicted"},
		{words("jain", "", atLeast, 0.9, "half"), "contradicted"},
		{words("jain", "", atMost, 0.9, "never"), "contradicted"},
		{words("jain", "", atMost, 1, "came", "never"), "contradicted"},
		{words("jain", "", atLeast, 1, "never", "came"), "contradicted"},
		{words("jain", experiment.Reduction, atLeast, 0.5, "came", "never"), "contradicted"},
		{words("fct", "", atLeast, 5, "never"), "contradicted (undecided)"},
		{words("fct", "", atMost, 5, "never"), "contradicted"},
		{words("fct", "", atLeast, 1, "never", "came"), "holds"},
		{words("fct", "", atLeast, 2, "never", "came"), "contradicted (undecided)"},
		{words("fct", "", atMost, 1, "came", "never"), "holds"},
		{words("fct", "", atMost, 0.5, "came", "never"), "contradicted (undecided)"},
		{words("fct", experiment.Reduction, atLeast, 0, "came", "never"), "holds"},
		{words("fct", experiment.Reduction, atLeast, 0.5, "came", "never"), "contradicted (undecided)"},
		{words("fct", experiment.Reduction, atMost, -1, "never", "came"), "contradicted (undecided)"},
		{words("x", "", atMost, 0.7, "came", "never"), "holds"}, // 2 s by at least 3
		{words("x", "", atMost, 0.6, "came", "never"), "contradicted (undecided)"},
		{words("x", experiment.Reduction, atLeast, 0.3, "came", "never"), "holds"},
		{words("x", experiment.Reduction, atLeast, 0.4, "came", "never"), "contradicted (undecided)"},
		{words("x", experiment.Reduction, atMost, -0.4, "never", "came"), "holds"},
		{words("x", experiment.Reduction, atMost, -0.6, "never", "came"), "contradicted (undecided)"},
		{words("x", "", atLeast, 1, "half", "half"), "contradicted"},
		{experiment.Part{Metric: "x", Schemes: []string{"half", "half"}, Limit: ptr(1), Within: 0.1}, "contradicted"},
		{experiment.Part{Metric: "x", Schemes: []string{"half", "came"}, Limit: ptr(1), Within: 0.1}, "contradicted"},
		{experiment.Part{Metric: "fct", Schemes: []string{"never", "came"}, Paper: ptr(25)}, "differs"},
	} {
		got := judge(unwatched(t), &experiment.Claim{ID: "c", Part: c.part}, r)
		what := c.part.Metric + " " + string(c.part.Kind()) + " " + string(c.part.Bound)
		if got.Says() != c.want {
			t.Errorf("%s of %v: %s, want %s", what, c.part.Schemes, got.Says(), c.want)
		}
		if m := again(t, got.Measurement, &c.part); m.Says() != got.Says() {
			t.Errorf("%s of %v: judged again it is %s, and was %s", what, c.part.Schemes, m.Says(), got.Says())
		}
	}
}

// What was measured of other schemes, of them the other way round, or of other metrics, is nothing that was measured of
// these.
func TestJudgedAgainOfTheSameSchemes(t *testing.T) {
	e := watched(t)
	claim := func(schemes ...string) *experiment.Claim {
		return &experiment.Claim{ID: "c", Part: experiment.Part{Metric: "x", Schemes: schemes, Limit: ptr(1), Bound: experiment.AtLeast}}
	}
	r := result(map[string][]float64{"a": {3, 3}, "b": {2, 2}})
	then := &Tally{Claims: []Tallied{{e.ID, judge(e, claim("a", "b"), r)}}}
	if v := then.again(e, claim("a", "b")).Verdict; v != Holds {
		t.Errorf("the same: %s", v)
	}
	for _, other := range [][]string{{"b", "a"}, {"a", "c"}} {
		if v := then.again(e, claim(other...)).Verdict; v != NotRun {
			t.Errorf("%v: %s", other, v)
		}
	}
	many := func(name, scheme string) *experiment.Claim {
		c := &experiment.Claim{ID: "c", Part: experiment.Part{Metric: "x", Limit: ptr(1), Bound: experiment.AtLeast}}
		c.Measurements = []experiment.Part{{Name: "1", Schemes: []string{"a"}}, {Name: name, Schemes: []string{scheme}}}
		return c
	}
	then = &Tally{Claims: []Tallied{{e.ID, judge(e, many("2", "b"), r)}}}
	if v := then.again(e, many("2", "b")).Verdict; v != Holds {
		t.Errorf("the same two: %s", v)
	}
	for _, other := range []string{"a", "c"} { // a is the first's
		if got := then.again(e, many("2", other)); got.Verdict != NotRun || got.Measurements[0].Verdict != Holds {
			t.Errorf("another second, of %s: %+v", other, got)
		}
	}
	quotient := func(over string) *experiment.Claim {
		c := claim("a")
		c.Over = over
		return c
	}
	then = &Tally{Claims: []Tallied{{e.ID, judge(e, quotient("fct"), result(map[string][]float64{"a": {3, 3}}))}}}
	if b, err := then.JSON(); err != nil || !strings.Contains(string(b), `"over": "fct"`) {
		t.Errorf("%v: %s", err, b)
	}
	if got := then.again(e, quotient("jain")); got.Verdict != NotRun {
		t.Errorf("by another metric: %+v", got)
	}
	then = &Tally{Claims: []Tallied{{e.ID, judge(e, claim("a", "b"), r)}}}
	for what, change := range map[string]func(*experiment.Claim){
		"another statistic": func(c *experiment.Claim) { c.Stat = "max" },
		"another metric":    func(c *experiment.Claim) { c.Metric = "fct" },
		"a reduction":       func(c *experiment.Claim) { c.As = experiment.Reduction },
		"another name":      func(c *experiment.Claim) { c.Name = "2" },
	} {
		c := claim("a", "b")
		if change(c); then.again(e, c).Verdict != NotRun {
			t.Errorf("%s: %+v", what, then.again(e, c))
		}
	}
}

// An older verdict stands for what was not run, and not for what ran and is worth nothing.
func TestMergedTallyKeepsUnsound(t *testing.T) {
	e, err := experiment.Get("pcn/fig11")
	if err != nil {
		t.Fatal(err)
	}
	older, err := MergeTally(nil, "../../docs")
	if err != nil {
		t.Fatal(err)
	}
	old := older[slices.IndexFunc(older, func(f Finished) bool { return f.ID == e.ID })]
	runs := &run.Result{}
	for _, spoilt := range []bool{false, true} {
		if spoilt {
			for _, s := range e.SchemeKeys() {
				runs.Runs = append(runs.Runs, run.Run{Scheme: s, Invariants: run.Invariants{LostFrames: 1}})
			}
		}
		all, err := MergeTally([]Finished{{Experiment: e, Claims: Judge(e, runs).Claims}}, "../../docs")
		if err != nil {
			t.Fatal(err)
		}
		got := all[slices.IndexFunc(all, func(f Finished) bool { return f.ID == e.ID })]
		if len(got.Claims) == 0 || len(got.Claims) != len(old.Claims) {
			t.Fatalf("%d claims of %d", len(got.Claims), len(old.Claims))
		}
		for k, c := range got.Claims {
			if kept := c.Verdict != NotRun; kept == spoilt || kept && c.Verdict != old.Claims[k].Verdict {
				t.Errorf("lost frames %v: %s is %s", spoilt, c.ID, c.Verdict)
			}
		}
	}
}

// A run that lost frames, or cannot account for them, is worth nothing: no claim is judged by it.
func TestUnsoundRunsJudgeNothing(t *testing.T) {
	c := experiment.Claim{ID: "c", Part: experiment.Part{Metric: "x", Schemes: []string{"a", "b"}, Paper: ptr(1.5)}}
	for _, spoil := range []func(*run.Invariants){
		func(i *run.Invariants) { i.LostFrames = 1 },
		func(i *run.Invariants) { i.ConservationOK = false },
	} {
		r := result(map[string][]float64{"a": {3, 3}, "b": {2, 2}})
		if v := judge(watched(t), &c, r).Verdict; v != Reproduced {
			t.Errorf("sound: %s", v)
		}
		spoil(&r.Of("b").Invariants)
		if got := judge(watched(t), &c, r); got.Verdict != NotRun || got.Measured != nil {
			t.Errorf("%+v", got)
		}
	}
}

// What came in none of the runs may be rare, and what came in all of them not certain: an interval reaches as far as
// tables of the exact binomial interval do, which have 0 to 0.1684 for none of 20, and 0 to 0.3694 for none of 8.
func TestNoneAndAllOfTheRuns(t *testing.T) {
	e := watched(t)
	e.Measure.Metrics[0].Do = config.Set("deadlocked")
	of := func(some, n int) (v []float64) {
		for k := range n {
			v = append(v, map[bool]float64{true: 1}[k < some])
		}
		return v
	}
	r := result(map[string][]float64{
		"none": of(0, 20), "all": of(20, 20), "most": of(19, 20), "none of 8": of(0, 8), "one": of(1, 1),
	})
	for _, c := range []struct {
		schemes   []string
		as        experiment.As
		of        string
		low, high float64
	}{
		{[]string{"none"}, experiment.Fraction, "mean", 0, 0.1684},
		{[]string{"none of 8"}, experiment.Fraction, "mean", 0, 0.3694},
		{[]string{"all"}, experiment.Fraction, "mean", 0.8316, 1},
		{[]string{"most"}, experiment.Fraction, "mean", 0.85, 1}, // as before
		{[]string{"none"}, experiment.Fraction, "max", 0, 0},     // the worst of the runs that there were
		{[]string{"none", "all"}, experiment.Ratio, "mean", 0, 0.1684 / 0.8316},
		{[]string{"none", "most"}, experiment.Reduction, "mean", 1 - 0.1684/0.95, 1},
		{[]string{"most", "all"}, experiment.Ratio, "mean", 0.85, 0.95 / 0.8316},
	} {
		p := experiment.Part{
			Schemes: c.schemes, Metric: "x", As: c.as, Stat: c.of, Limit: ptr(0.5), Bound: experiment.AtLeast,
		}
		m := judge(e, &experiment.Claim{ID: "c", Part: p}, r)
		if low, high := *m.Interval[0], *m.Interval[1]; math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%v, %s: %v to %v, want %v to %v", c.schemes, c.of, low, high, c.low, c.high)
		}
	}
	one := experiment.Part{Schemes: []string{"one"}, Metric: "x", As: experiment.Fraction, Stat: "mean"}
	if m := judge(e, &experiment.Claim{ID: "c", Part: one}, r); m.Interval != nil {
		t.Errorf("of one run there is an interval: %v", m.Interval)
	}
}

// Where an event never came in some runs of both schemes, runs drawn again may all be without it: nobody knows then by
// how much one is ahead, so the interval of the quotient has no end on either side.
func TestWhatNeverCameOnEitherSide(t *testing.T) {
	p := &experiment.Part{Schemes: []string{"a", "b"}}
	of := func(came float64) sampled { return sampled{v: []float64{stat.Never, came}, never: true, watched: 10} }
	est := estimate(p, []sampled{of(2), of(4)}, false)
	if !est.sure || est.low != 0 || !math.IsInf(est.high, 1) {
		t.Errorf("from %v to %v (%v)", est.low, est.high, est.sure)
	}
}

// What a paper has, as tables print it: its number, with its bound, or what its words were taken to mean.
func TestTheirs(t *testing.T) {
	for _, c := range []struct {
		p    experiment.Part
		want string
	}{
		{experiment.Part{Paper: ptr(3), Unit: "s"}, "3 s"},
		{experiment.Part{Paper: ptr(3), Unit: "s", Bound: experiment.AtLeast}, "≥ 3 s"},
		{experiment.Part{Paper: ptr(3), Unit: "s", Bound: experiment.AtMost}, "≤ 3 s"},
		{experiment.Part{Limit: ptr(3), Unit: "s", Bound: experiment.AtLeast}, "words: ≥ 3 s"},
		{experiment.Part{Limit: ptr(3), Unit: "s", Bound: experiment.AtMost}, "words: ≤ 3 s"},
		{experiment.Part{Limit: ptr(3), Unit: "s", Within: 0.05}, "words: 3 s ± 5 %"},
		{experiment.Part{Limit: ptr(1), As: experiment.Ratio, Bound: experiment.AtLeast}, "words: > 1"},
		{experiment.Part{Limit: ptr(1), As: experiment.Ratio, Bound: experiment.AtMost}, "words: < 1"},
	} {
		var m Measurement
		if m.about(&c.p); m.Theirs() != c.want {
			t.Errorf("%+v: %q, should be %q", c.p, m.Theirs(), c.want)
		}
	}
}

// Of flows that did not all end nobody knows how long was waited for them: a scheme with such is behind one whose flows
// all ended, and how far is not said, however far those are ahead that did end.
func TestWhatNobodyWaitedForHasAnOrderOnly(t *testing.T) {
	never := stat.Never
	r := &run.Result{}
	for scheme, v := range map[string][]float64{"half": {2, 2, never, never}, "soon": {0.1, 0.1, 0.1, 0.1}} {
		one := run.Run{Scheme: scheme, Invariants: run.Invariants{ConservationOK: true}}
		var list []*float64
		for _, x := range v {
			list = append(list, run.Finite(x))
		}
		one.SetSamples("fct", list)
		r.Runs = append(r.Runs, one)
	}
	for _, c := range []struct {
		part experiment.Part
		want Verdict
	}{
		{experiment.Part{Schemes: []string{"half", "soon"}, Bound: experiment.AtLeast, Limit: ptr(1)}, Holds},
		{experiment.Part{Schemes: []string{"half", "soon"}, Bound: experiment.AtLeast, Paper: ptr(5)}, Differs},
		{experiment.Part{Schemes: []string{"soon", "half"}, Bound: experiment.AtMost, Limit: ptr(1)}, Holds},
		{experiment.Part{Schemes: []string{"soon", "half"}, Bound: experiment.AtMost, Paper: ptr(0.2)}, Differs},
		{experiment.Part{Schemes: []string{"soon", "half"}, As: experiment.Reduction, Bound: experiment.AtLeast, Paper: ptr(0.5)}, Differs},
		{experiment.Part{Schemes: []string{"soon", "half"}, As: experiment.Reduction, Bound: experiment.AtLeast, Limit: ptr(0)}, Holds},
	} {
		c.part.Metric = "fct"
		m := judge(unwatched(t), &experiment.Claim{ID: "c", Part: c.part}, r).Measurement
		if m.Verdict != c.want {
			t.Errorf("%v %s: %s, %s", c.part.Schemes, c.part.Kind(), m.Says(), m.Ours())
		}
		if again := again(t, m, &c.part); again.Verdict != c.want {
			t.Errorf("%v %s: judged again it is %s", c.part.Schemes, c.part.Kind(), again.Says())
		}
	}
}

// What still was at the last sample of a run was not over then: nobody knows when it was, and it lasted that long at
// least.
func TestStillAtTheEnd(t *testing.T) {
	of := func(do string) *experiment.Experiment {
		e := watched(t)
		m := &e.Measure.Metrics[0]
		m.Do, m.From, m.To = config.Set(do), units.Second, 2500*units.Millisecond+5*units.Microsecond
		return e
	}
	const span = 1.5
	r := result(map[string][]float64{"open": {span, span, span}, "half": {span, span, 0.2}, "over": {0.5, 0.5, 0.5}, "ends": {span - 1e-5, span - 1e-5, span - 1e-5}})
	for _, do := range []string{"last_above", "last_below"} {
		for _, c := range []struct {
			part       experiment.Part
			want, ours string
		}{
			{experiment.Part{Schemes: []string{"open"}, Bound: experiment.AtMost, Limit: ptr(2)}, "contradicted", "≥ 1.5 s"},
			{experiment.Part{Schemes: []string{"open"}, Bound: experiment.AtLeast, Limit: ptr(1)}, "holds", "≥ 1.5 s"},
			{experiment.Part{Schemes: []string{"open"}, Paper: ptr(1.5)}, "differs", "≥ 1.5 s"},
			{experiment.Part{Schemes: []string{"half"}, Paper: ptr(1.5)}, "differs (undecided)", "≥ 200 ms"},
			{experiment.Part{Schemes: []string{"over"}, Paper: ptr(0.5)}, "reproduced", "500 ms"},
			{experiment.Part{Schemes: []string{"ends"}, Paper: ptr(1.5)}, "reproduced", "1.5 s"},
			{experiment.Part{Schemes: []string{"open", "over"}, Bound: experiment.AtLeast, Paper: ptr(3)}, "reproduced", "≥ 3"},
			{experiment.Part{Schemes: []string{"open", "over"}, Paper: ptr(3)}, "direction", "≥ 3"},
			{experiment.Part{Schemes: []string{"over", "open"}, Bound: experiment.AtMost, Limit: ptr(1)}, "holds", "≤ 0.3333"},
		} {
			c.part.Metric = "x"
			if len(c.part.Schemes) == 1 {
				c.part.Unit = "s"
			}
			m := judge(of(do), &experiment.Claim{ID: "c", Part: c.part}, r).Measurement
			if m.Says() != c.want || m.Ours() != c.ours {
				t.Errorf("%s of %v: %s, %s", do, c.part.Schemes, m.Says(), m.Ours())
			}
		}
	}
}

// A quotient of two times that never came is none: no bound of it is known.
func TestNeverByNeverHasNoBounds(t *testing.T) {
	never := stat.Never
	r := result(map[string][]float64{"a": {never, never, never, 1}, "b": {never, never, 2, never}})
	for _, as := range []experiment.As{experiment.Ratio, experiment.Reduction} {
		for _, metric := range []string{"x", "fct"} {
			for i := range r.Runs {
				r.Runs[i].SetSamples("fct", r.Runs[i].PerSeed["x"])
			}
			p := experiment.Part{Schemes: []string{"a", "b"}, As: as, Metric: metric, Limit: ptr(0.5), Within: 0.1}
			m := judge(unwatched(t), &experiment.Claim{ID: "c", Part: p}, r).Measurement
			if m.Verdict != Contradicted || !m.Unknown ||
				m.AtLeast != nil || m.AtMost != nil || m.Ours() != "never" || m.Spread() != "never in 4" {
				t.Errorf("%s of %s: %s, %s, %q: %+v", as, metric, m.Says(), m.Ours(), m.Spread(), m)
			}
			if again := again(t, m, &p); again.Verdict != m.Verdict || again.Ours() != "never" {
				t.Errorf("judged again: %s, %s", again.Says(), again.Ours())
			}
		}
	}
}

// The same flows at another value of a sweep are compared as those of another scheme are: what did not end is later
// than what did. Of another metric's, which may have begun at another time, nothing is known.
func TestNeverAtAnotherValueOfASweep(t *testing.T) {
	never := stat.Never
	r := &run.Result{Runs: []run.Run{{Scheme: "a", Invariants: run.Invariants{ConservationOK: true}}}}
	for metric, v := range map[string][]float64{"fct@1": {1, 1, 2}, "fct@2": {never, never, 3}, "late": {never, never, 3}} {
		var list []*float64
		for _, x := range v {
			list = append(list, run.Finite(x))
		}
		r.Runs[0].SetSamples(metric, list)
	}
	e := unwatched(t)
	e.Measure.Metrics = append(e.Measure.Metrics, experiment.Metric{Name: "late", Do: config.Set("fct")})
	for _, c := range []struct {
		metric, over string
		bound        experiment.Bound
		number       float64
		want         Verdict
	}{
		{"fct@1", "fct@2", experiment.AtMost, 1, Holds},
		{"fct@1", "fct@2", experiment.AtMost, 0.3, Contradicted},
		{"fct@2", "fct@1", experiment.AtLeast, 1, Holds},
		{"fct@2", "fct@1", experiment.AtLeast, 2, Contradicted},
		{"fct@1", "late", experiment.AtMost, 1, Contradicted},
		{"late", "fct@1", experiment.AtLeast, 1, Contradicted},
	} {
		p := experiment.Part{Schemes: []string{"a"}, Metric: c.metric, Over: c.over, Bound: c.bound, Limit: &c.number}
		m := judge(e, &experiment.Claim{ID: "c", Part: p}, r).Measurement
		if m.Verdict != c.want {
			t.Errorf("%s by %s, %s %v: %s, %s", c.metric, c.over, c.bound, c.number, m.Says(), m.Ours())
		}
		if again := again(t, m, &p); again.Verdict != m.Verdict {
			t.Errorf("%s by %s: judged again it is %s", c.metric, c.over, again.Says())
		}
	}
}

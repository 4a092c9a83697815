package experiment

import (
	"strings"
	"testing"
)

const sweptText = `id: test/swept
title: as many hosts as the value says
duration: 200us
topology: {kind: star, hosts: $n}
parameters:
  {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 256KB,
  buffer: 16MB}
flows:
- {name: f, from: H0, to: H2}
schemes: [none]
measure: {sample: 10us}
repeat: 2
seed: 3
quick: {repeat: 1}
sweep: {name: n, values: [4, 5], quick: [5]}
`

// What is wrong with a sweep is said of the sweep, not of the places where its values stand; and a value of --quick is
// one of the sweep's, or a run in short would be none.
func TestWrongSweeps(t *testing.T) {
	if _, err := Parse("x.yaml", []byte(sweptText)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"values:", "value:", `x.yaml:15: unknown key "value": is "values" meant?`},
		{"name: n, values", "nam: n, values", `x.yaml:15: unknown key "nam"`},
		{"values: [4, 5], quick: [5]", "quick: [5]", "x.yaml:15: sweep: values is missing (values: [0.2, 0.4])"},
		{"name: n, values", "values", "x.yaml:15: sweep: name is missing ("},
		{"values: [4, 5]", "values: 4", "x.yaml:15: a list belongs here"},
		{"values: [4, 5]", "values: ['', 5]", "x.yaml:15: sweep: value 1 is empty"},
		{"quick: [5]", "quick: [6]", `x.yaml:15: sweep: quick: the sweep has no value "6" (4, 5)`},
		{"quick: [5]", "quick: [5, 50]", `x.yaml:15: sweep: quick: the sweep has no value "50" (4, 5)`},
		{"quick: [5]", "quick: []", "x.yaml:15: sweep: quick: there are no values"},
		{"repeat: 2", "repeat: -2", "x.yaml:12: repeat -2 must not be negative"},
		{"quick: {repeat: 1", "quick: {repeat: -1", "x.yaml:14: quick: repeat -1 must not be negative"},
		{"quick: {repeat: 1", "quick: {schemes: [pcn]",
			`x.yaml:14: quick: there is no scheme "pcn" here (there is only none)`},
		{"seed: 3", "seed: -3", "x.yaml:13: a whole number from 0 belongs here"},
		{"seed: 3", "seed: 0", "x.yaml:13: seed 0: from 1 (absent: 1)"},
		{"repeat: 2", "repeat: 0", "x.yaml:12: repeat 0: from 1 (absent: 1)"},
		{"quick: {repeat: 1", "quick: {repeat: 0", "x.yaml:14: quick: repeat 0: from 1 (absent: that of the whole)"},
		{"quick: {repeat: 1", "quick: {flows: 0", "x.yaml:14: quick: flows 0: from 1 (absent: all)"},
		{"quick: {repeat: 1", "quick: {duration: 0s", "x.yaml:14: quick: duration 0s: above 0 (absent: the whole)"},
		{"id: test/swept", "id: test/swept\ntitel: x", `x.yaml:2: unknown key "titel": is "title" meant?`},
	} {
		text := strings.Replace(sweptText, c.from, c.to, 1)
		if text == sweptText {
			t.Errorf("%q is not in the file", c.from)
		}
		if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n  got  %v\n  want %s", c.to, err, c.want)
		}
	}
}

// The same check holds of an experiment that was made in code.
func TestWrongSweepsInCode(t *testing.T) {
	e, err := Parse("x.yaml", []byte(strings.Replace(sweptText, "$n", "4", 1)+"# $n\n"))
	if err != nil {
		t.Fatal(err)
	}
	e.Quick.Repeat = -1
	if err := e.Check(); err == nil {
		t.Error("a negative number of seeds is taken")
	}
	e.Quick.Repeat, e.Repeat = 1, -1
	if err := e.Check(); err == nil {
		t.Error("a negative number of seeds is taken")
	}
}

// Of several things that are wrong with a distribution, the same is said every time.
func TestWrongDistributions(t *testing.T) {
	const workload = "workloads: [{name: w, cdf: {%s}, load: 0.5, capacity: 10Gbps, from: '*', to: '*'}]\n"
	for _, c := range []struct{ cdf, want string }{
		{"5: 0, 70: 0.1, 200: 0.2, 3000: 0.5, 40000: 1", `x.yaml:16: cdf: size "`},
		{"1KB: 2, 2KB: 3, 3KB: 0.2", `x.yaml:16: cdf: 2 of the flows are no larger than 1KB`},
		{"-5B: 0, 2KB: 1", `x.yaml:16: cdf: size -5B must not be negative`},
		{"", `x.yaml:16: workload w: cdf has no sizes`},
	} {
		text := sweptText + strings.Replace(workload, "%s", c.cdf, 1)
		said := ""
		for range 20 {
			_, err := Parse("x.yaml", []byte(text))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || said != "" && said != err.Error() {
				t.Fatalf("%s:\n  got  %v\n  want %s", c.cdf, err, c.want)
			}
			said = err.Error()
		}
	}
}

// A lane's buffer is itself what is wrong, not what is measured by it.
func TestNegativeLaneBuffer(t *testing.T) {
	text := strings.Replace(credited, "64KiB,\n  credit_update: 1KB", "-5KB", 1)
	const want = "x.yaml:8: lane_buffer -5KB must be positive"
	if _, err := Parse("x.yaml", []byte(text)); err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

// A workload of which nothing comes during the run is remarked, as flows that come too late are.
func TestDescribeFindsWorkloadsWithoutFlows(t *testing.T) {
	const workload = "workloads: [{name: w, sizes: hadoop, load: 0.5, capacity: 10Gbps, from: '*', to: '*', %s}]\n"
	for when, want := range map[string]string{
		"start: 1s": "note: workload w: no flow comes during the run: it starts at 1s",
		"end: 1ns":  "note: workload w: no flow comes during the run",
	} {
		e, err := Parse("x.yaml", []byte(sweptText+strings.Replace(workload, "%s", when, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Describe(); got[len(got)-1] != want {
			t.Errorf("%s: %q", when, got)
		}
	}
}

// So it is of several parameters that are wrong.
func TestOfWrongParametersTheSameIsNamed(t *testing.T) {
	for _, c := range []struct{ parameters, want string }{
		{"np_delay: -1us, pause_delay: -1us, start_phase: -1us, signal_delay: -1us, convergence: -1us, ",
			"x.yaml:6: convergence -1us must not be negative"},
		{"core_rate: 10Gbps, core_delay: 1us, ", "x.yaml:4: core_delay: a star has no core"},
	} {
		text := strings.Replace(sweptText, "{link_rate", "{"+c.parameters+"link_rate", 1)
		for range 20 {
			if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("%s:\n  got  %v\n  want %s", c.parameters, err, c.want)
			}
		}
	}
}

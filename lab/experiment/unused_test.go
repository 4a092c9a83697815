package experiment

import (
	"fmt"
	"strings"
	"testing"

	"photon/units"
)

const small = `id: test/small
title: small
duration: 2ms
topology: {kind: star, hosts: 5}
parameters: {link_rate: 25Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 256KB, buffer: 16MB}
flows:
- {name: long, from: H0..H3, to: H4}
workloads:
- {name: W, sizes: pcn-w1, from: "*", to: "*", load: 0.1, capacity: 10Gbps}
schemes: [pcn, dcqcn]
measure:
  sample: 10us
  probes:
  - {name: queue, kind: queue, at: [S0>H4]}
  - {name: got, kind: received, flows: [long]}
  metrics:
  - {name: q, do: mean, of: queue}
  - {name: p99, do: fct}
`

// A port that several names stand for counts once.
func TestPortsOfAProbeCountOnce(t *testing.T) {
	e, err := Parse("x.yaml", []byte(strings.Replace(small, "at: [S0>H4]", `at: [S0>H4, switch, S0, "*", S0>H4]`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := e.Plan()
	if err != nil {
		t.Fatal(err)
	}
	list, err := e.Probe("queue").Places(plan)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(list); len(list) != 5 || len(plan.Nodes[list[0].Node].Ends) != 5 {
		t.Errorf("a switch of five ports has %s", got)
	}
	seen := map[Place]bool{}
	for _, p := range list {
		if seen[p] {
			t.Errorf("port %v is there twice", p)
		}
		seen[p] = true
	}
}

// A metric of deadlocks without a hold has that of another, wherever it stands.
func TestHoldOfDeadlocks(t *testing.T) {
	const is, when = "{name: is, do: deadlocked}", "{name: when, do: deadlock, hold: 1ms}"
	for _, c := range []struct {
		metrics string
		want    units.Time
	}{
		{is, 0}, {when, units.Millisecond},
		{when + "\n  - " + is, units.Millisecond}, {is + "\n  - " + when, units.Millisecond},
	} {
		e, err := Parse("x.yaml", []byte(strings.Replace(small, "{name: p99, do: fct}", c.metrics, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if hold, ok := e.Measure.Deadlocks(); !ok || hold != c.want {
			t.Errorf("%s: hold %v, not %v", c.metrics, hold, c.want)
		}
	}
}

// What stands in a file and would change nothing, or would mean two things, is a mistake and named with its line.
func TestRefusesWhatMeansNothing(t *testing.T) {
	if _, err := Parse("x.yaml", []byte(small)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"name: got,", "name: queue,", "x.yaml:15: probe queue is there twice"},
		{"name: got,", "name: queue.1,",
			"x.yaml:15: probe queue.1 would be taken for a column of queue: columns are called queue and queue.1"},
		{"name: queue,", "name: got.S0>H4,",
			"x.yaml:14: probe got.S0>H4 would be taken for a column of got: columns are called got and got.1"},
		{"name: queue,", "name: time_s,", "x.yaml:14: probe time_s would be taken for the column of times, time_s"},
		{"sample: 10us\n  probes:\n  - {name: queue,", "sample: 10us\n  kind: dynamics\n  from: S0\n  to: H4\n" +
			"  steady: {from: 1ms, to: 2ms}\n  queue: {from: 1ms, to: 2ms}\n  probes:\n  - {name: queue_bytes,",
			"x.yaml:19: probe queue_bytes would be taken for a column of dynamics, queue_bytes"},
		{"sample: 10us\n  probes:\n  - {name: queue,", "sample: 10us\n  kind: dynamics\n  from: S0\n  to: H4\n" +
			"  steady: {from: 1ms, to: 2ms}\n  queue: {from: 1ms, to: 2ms}\n  probes:\n  - {name: allowed_bps.1,",
			"x.yaml:19: probe allowed_bps.1 would be taken for a column of dynamics, allowed_bps"},
		{"name: p99,", "name: q,", "x.yaml:18: metric q is there twice"},
		{"name: got,", `name: "g t",`, `x.yaml:15: probe "g t": it needs a name, without blanks, commas and @`},
		{"{name: p99, ", "{", `x.yaml:18: metric "": it needs a name, without blanks, commas and @`},
		{"name: long,", `name: "lo\nng",`, `x.yaml:7: flows "lo\nng": a name is in one line`},
		{"to: H4}", "to: H4, start: 1ms, stop: 500us}", "x.yaml:7: flows long stop at 500us, and start at 1ms"},
		{"to: H4}", "to: H4, start: 1ms, stop: 1ms}", "x.yaml:7: flows long stop at 1ms, and start at 1ms"},
		{"load: 0.1,", "load: 0.1, start: 1ms, end: 1ms,", "x.yaml:9: workload W ends at 1ms, and starts at 1ms"},
		{"load: 0.1,", "load: 0.1, mean: 10KB,", "x.yaml:9: workload W: mean is for nothing here (mean and shape are of sizes: pareto; what has a cdf or bursts has no sizes)"},
		{`from: "*", to: "*",`, "from: H0, to: H1, burst: 10KB,", "x.yaml:9: workload W: sizes is for nothing here (mean and shape are of sizes: pareto; what has a cdf or bursts has no sizes)"},
		{"of: queue}", "of: queue, part: 0.1}", "x.yaml:17: metric q: mean has no part"},
		{"of: queue}", "of: queue, hold: 1ms}", "x.yaml:17: metric q: mean has no hold"},
		{"of: queue}", "of: queue, stat: p99}", "x.yaml:17: metric q: mean has no stat"},
		{"of: queue}", "of: queue, sizes: [0B, 9KB]}", "x.yaml:17: metric q: mean has no sizes"},
		{"do: fct}", "do: deadlocked, from: 1ms}", "x.yaml:18: metric p99: deadlocked has no from"},
		{"do: fct}", "do: phase_margin, to: 1ms}", "x.yaml:18: metric p99: phase_margin has no to"},
		{"do: fct}", "do: deadlock, hold: 1ms}\n  - {name: is, do: deadlocked, hold: 2ms}",
			"x.yaml:18: metric p99: hold 1ms, and that of metric is is 2ms: a run looks for deadlocks of one hold"},
		{"at: [S0>H4]}", "at: [S0>H4, H4>S0]}",
			"x.yaml:14: probe queue: H4 is a host, of whose ports only paused is known"},
		{"do: fct}", "do: fct, of: queue}", "x.yaml:18: metric p99: fct has no of"},
		{"do: mean, of: queue}", "do: time_above, of: queue, value: .nan}",
			"x.yaml:17: metric q: value NaN is no threshold: a number, and not infinite"},
		{"do: mean, of: queue}", "do: first_at_most, of: queue, value: .inf}",
			"x.yaml:17: metric q: value +Inf is no threshold: a number, and not infinite"},
		{"do: fct}", "do: fct, value: 3}", "x.yaml:18: metric p99: fct has no value"},
		{"at: [S0>H4]}", "at: [S0>H4], flows: [long]}", "x.yaml:14: probe queue: queue has no flows"},
		{"at: [S0>H4]}", "at: [S0>H4], over: 100us}", "x.yaml:14: probe queue: queue has no over"},
		{"kind: queue, at: [S0>H4]}", "kind: sent, at: [S0>H4], priority: 3}",
			"x.yaml:14: probe queue: sent has no priority"},
		{"do: fct}", "do: fct, flows: []}", "x.yaml:18: metric p99: flows: [] are none (without flows: all)"},
		{"sample: 10us", "sample: 10us\n  kind: dynamics\n  from: H4\n  to: S0\n" +
			"  steady: {from: 1ms, to: 2ms}\n  queue: {from: 1ms, to: 2ms}",
			"x.yaml:13: bottleneck: H4 is a host, and dynamics are of a port of a switch"},
		{"schemes:", "events: [{link: S0>H1, rate: 5Gbps}]\nschemes:",
			"x.yaml:10: event 1: at is missing (when it happens: at: 10ms)"},
		{"flows: [long]}", "flows: [long], at: [S0]}", "x.yaml:15: probe got: received has no at"},
		{"flows: [long]}", "flows: [long], priority: 3}", "x.yaml:15: probe got: received has no priority"},
		{"buffer: 16MB", "buffer: 16MB, alpha_by_rate: true",
			"x.yaml:5: alpha_by_rate: there is no alpha that could be more for faster ports"},
		{"schemes: [pcn, dcqcn]", "schemes: [{name: pcn, label: a b}]",
			`x.yaml:10: scheme "a b": no blanks, commas and @ in a label`},
		{"schemes:", "events: [{at: 1ms, link: S0>H1, flow: long, rate: 5Gbps}]\nschemes:",
			"x.yaml:10: event 1: either a link or a flow"},
		{"schemes:", "events: [{at: 1ms, rate: 5Gbps}]\nschemes:", "x.yaml:10: event 1: either a link or a flow"},
		{"schemes:", "events: [{at: 1ms, link: S0>H1, rate: 5Gbps, cap: 1Gbps}]\nschemes:",
			"x.yaml:10: event 1: a link has a rate then; 0bps is a link that fails"},
		{"schemes:", "events: [{at: 1ms, flow: long}]\nschemes:", "x.yaml:10: event 1: a flow has a rate or a cap then"},
		{"do: fct}", "do: algbw}", "x.yaml:18: metric p99: algbw is of a collective (flows: [name])"},
		{"do: fct}", "do: step_time}",
			"x.yaml:18: metric p99: step_time is of collectives and of flows that wait for others, and there are none"},
		{"xoff: 256KB", "flow_control: credits, lane_buffer: 256KB, pause_delay: 1us",
			"x.yaml:5: pause_delay: with credits there are no pauses"},
		{"topology: {kind: star, hosts: 5}", "topology: {kind: free, nodes: [{name: S0}, {name: H4, host: true}], " +
			"links: [{a: H4, b: S0, rate: 0bps}]}", "x.yaml:4: link H4-S0: its rate must be positive, and its delay not negative"},
		{"hosts: 5}", "hosts: 5, spines: 2}", "x.yaml:4: topology: a star has no spines"},
		{"schemes: [pcn, dcqcn]", "schemes: [pcn, dcqcn]\nquick: {schemes: [pnc]}", `x.yaml:11: quick: there is no scheme "pnc" here (is "pcn" meant?)`},
	} {
		text := strings.Replace(small, c.from, c.to, 1)
		if _, err := Parse("x.yaml", []byte(text)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v; want %s", c.to, err, c.want)
		}
	}
}

// Whatever parameter of the network is out of range: the line is that of its key.
func TestParametersOutOfRangeHaveTheirLines(t *testing.T) {
	for _, wrong := range []string{
		"payload: 0B", "payload: -1B", "payload: 9001B", "mtu: 65KB", "mtu: 0B", "priority: 9",
		"xoff: 0B", "xoff: -1B", "xon: 1MB", "xon: -1B",
		"alpha: 1025", "alpha: -1", "link_rate: 0Gbps",
	} {
		key, _, _ := strings.Cut(wrong, ":")
		text := strings.Replace(small, "parameters: {", "parameters:\n  ", 1)
		text = strings.Replace(text, "buffer: 16MB}", "buffer: 16MB\n  xon: 1KB\n  alpha: 1", 1)
		head, tail, _ := strings.Cut(text, "  link_rate")
		middle, tail, _ := strings.Cut("  link_rate"+tail, "flows:")
		lines := strings.Split(strings.ReplaceAll(middle, ", ", "\n  "), "\n")
		at := 0
		for i, line := range lines {
			if strings.HasPrefix(line, "  "+key+":") {
				lines[i], at = "  "+wrong, strings.Count(head, "\n")+i+1
			}
		}
		_, err := Parse("x.yaml", []byte(head+strings.Join(lines, "\n")+"flows:"+tail))
		if want := fmt.Sprintf("x.yaml:%d: ", at); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", wrong, err, want)
		}
	}
}

// What dynamics calls a metric is no name for another.
func TestNamesOfDynamicsAreTaken(t *testing.T) {
	const dynamics = "sample: 10us\n  kind: dynamics\n  from: S0\n  to: H4\n" +
		"  steady: {from: 1ms, to: 2ms}\n  queue: {from: 0s, to: %s}\n"
	for _, name := range DynamicsMetrics {
		text := strings.Replace(small, "name: q,", "name: "+name+",", 1)
		if _, err := Parse("x.yaml", []byte(text)); err != nil {
			t.Errorf("%s without dynamics: %v", name, err)
		}
		text = strings.Replace(text, "sample: 10us\n", fmt.Sprintf(dynamics, "2ms"), 1)
		want := "x.yaml:22: metric " + name + " is there twice"
		if _, err := Parse("x.yaml", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s beside dynamics: %v", name, err)
		}
	}
	// A run in short lasts until all of dynamics was measured, whichever span ends last.
	for to, short := range map[string]string{"1ms": "1990us", "2ms": "2ms"} {
		text := strings.Replace(small, "sample: 10us\n", fmt.Sprintf(dynamics, to), 1)
		text = strings.Replace(text, "duration: 2ms", "duration: 3ms\nquick: {duration: "+short+"}", 1)
		_, err := Parse("x.yaml", []byte(text))
		if (err == nil) != (short == "2ms") {
			t.Errorf("%s of a span until 2ms and another until %s: %v", short, to, err)
		}
	}
	early := strings.Replace(fmt.Sprintf(dynamics, "2ms"), "1ms, to: 2ms", "0s, to: 1ms", 1)
	text := strings.Replace(small, "sample: 10us\n", early, 1)
	text = strings.Replace(text, "duration: 2ms", "duration: 3ms\nquick: {duration: 1500us}", 1)
	if _, err := Parse("x.yaml", []byte(text)); err == nil {
		t.Error("a run in short ends before the queue was measured")
	}
}

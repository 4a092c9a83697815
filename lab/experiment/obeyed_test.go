package experiment

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// base is a small experiment of a file.
const base = `id: a/b
title: t
duration: 2ms
topology: {kind: star, hosts: 4}
parameters:
  {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 256KB,
  buffer: 16MB, start_phase: 0s}
flows: [{name: f, from: H0, to: H1, size: 100KB}]
schemes: [none]
measure: {sample: 10us, metrics: [{name: fct, do: fct}, {name: sl, do: slowdown}]}
`

// A frame occupies as many bytes on the wire beyond its own as the file says, 24 if it says nothing.
func TestOverheadIsWhatTheFileSays(t *testing.T) {
	wire := func(parameter string) (int, error) {
		e, err := Parse("x.yaml", []byte(strings.Replace(base, "priority: 3", "priority: 3"+parameter, 1)))
		if err != nil {
			return 0, err
		}
		p, err := e.Plan()
		if err != nil {
			t.Fatal(err)
		}
		return p.Nodes[p.Hosts()[0]].Ends[0].Link.WireBytes(100) - 100, nil
	}
	if n, err := wire(""); n != 24 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(-2, 2), rapid.IntRange(-10000, 10000)).Draw(t, "overhead")
		got, err := wire(fmt.Sprintf(", overhead: %d", n))
		switch {
		case n >= 0 && n <= 1024 && (got != n || err != nil):
			t.Fatalf("%d of %d, %v", got, n, err)
		case n < 0 || n > 1024:
			if want := fmt.Sprintf("x.yaml:6: overhead of %d bytes: from 0 to 1024", n); fmt.Sprint(err) != want {
				t.Fatalf("%v", err)
			}
		}
	})
}

// Those priorities are lossless that the file says, and the data's if it says none.
func TestLosslessIsWhatTheFileSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		priority := rapid.IntRange(0, 7).Draw(t, "priority")
		list := rapid.SliceOfDistinct(rapid.IntRange(0, 7), rapid.ID).Draw(t, "lossless")
		want := uint8(0)
		for _, prio := range list {
			want |= 1 << prio
		}
		listed := strings.Join(strings.Fields(fmt.Sprint(list)), ", ")
		parameter := fmt.Sprintf("priority: %d, lossless: %s", priority, listed)
		if rapid.Bool().Draw(t, "absent") {
			parameter, want = fmt.Sprintf("priority: %d", priority), 1<<priority
		}
		e, err := Parse("x.yaml", []byte(strings.Replace(base, "priority: 3", parameter, 1)))
		if err != nil {
			t.Fatal(err)
		}
		p := &e.Parameters
		if p.LosslessMask() != want || e.DataMask() != want|1<<priority {
			t.Fatalf("%s: lossless %08b, data %08b", parameter, p.LosslessMask(), e.DataMask())
		}
	})
}

// refused checks what is said of the base file with changes: the file, the line, and what is wrong.
func refused(t *testing.T, want string, fromTo ...string) {
	t.Helper()
	text := strings.NewReplacer(fromTo...).Replace(base)
	if text == base {
		t.Fatalf("%q changes nothing", fromTo)
	}
	if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%s: %v; want %s", fromTo[1], err, want)
	}
}

// A limit of 0 bits per second is no way to stop a flow, and none to lift its limit.
func TestNoFlowIsLimitedToNothing(t *testing.T) {
	for _, key := range []string{"rate", "cap"} {
		refused(t, fmt.Sprintf("x.yaml:8: flows f: a %s of 0bps (a flow is stopped by its group's stop or lasts)", key),
			"size: 100KB", "size: 100KB, "+key+": 0bps")
	}
	refused(t, "x.yaml:8: flows f: they cannot begin at 0bps", "size: 100KB", "size: 100KB, begin: 0bps")
	refused(t, "x.yaml:8: size 0B: a flow has something to send (leave it out", "size: 100KB", "size: 0B")
	const events = "events: [{at: 1ms, flow: f, %s: 0bps}]\nschemes"
	refused(t, "x.yaml:9: event 1: a flow's rate of 0bps (a flow is stopped", "schemes", fmt.Sprintf(events, "rate"))
	refused(t, "x.yaml:9: event 1: a cap of 0bps (a flow is stopped", "schemes", fmt.Sprintf(events, "cap"))
	refused(t, "x.yaml:8: sizes, times and rates of flows must not be negative",
		"size: 100KB", "size: 100KB, step: -1us")
}

// What a workload says is what it does, or a line says why not, with hosts by their names.
func TestWorkloadsDoWhatTheySay(t *testing.T) {
	const rest = ", from: H0..H2, to: H3, load: 0.1, capacity: 10Gbps"
	sizes := "{name: w, sizes: pcn-w1" + rest + "%s}"
	for of, want := range map[string]string{
		fmt.Sprintf(sizes, ", incast: [3]"):                                              "workload w: incast has the least and the most senders",
		fmt.Sprintf(sizes, ", incast: []"):                                               "workload w: incast has the least and the most senders",
		fmt.Sprintf(sizes, ", incast: [1, 2, 3]"):                                        "workload w: incast has the least and the most senders",
		fmt.Sprintf(sizes, ", incast: [0, 2]"):                                           "workload w: incast: from 1 on",
		fmt.Sprintf(sizes, ", incast: [3, 2]"):                                           "workload w: incast: from 1 on",
		fmt.Sprintf(sizes, ", incast: [1, 4]"):                                           "workload w: arrivals: incasts of up to 4 senders; host H3 has 3",
		"{name: w, burst: 64KB" + rest + "}":                                             "workload w: bursts are of one host, not of H0..H2",
		strings.Replace(fmt.Sprintf(sizes, ""), "H0..H2", `"H0..H2,H1"`, 1):              "workload w: arrivals: host H1 is twice among the senders",
		"{name: w, burst: 1KB, from: H1, to: H1, load: 1, capacity: 1Gbps}":              "workload w: on-off source: from host H1 to host H1",
		"{name: w, burst: 1KB, from: H1, to: H2..H3, load: 1, capacity: 1Gbps}":          "workload w: bursts are to one host, not to H2..H3",
		fmt.Sprintf(sizes, ", classes: [{dscp: -1}]"):                                    "workload w: DSCP -1: there are 0 to 63",
		fmt.Sprintf(sizes, ", classes: [{dscp: 64}]"):                                    "workload w: DSCP 64: there are 0 to 63",
		fmt.Sprintf(sizes, ", classes: [{up_to: -1KB, dscp: 8}]"):                        "workload w: up_to -1KB must not be negative",
		fmt.Sprintf(sizes, ", classes: [{up_to: 9KB, dscp: 8}, {up_to: 9KB, dscp: 16}]"): "workload w: nothing is left for class 2",
		fmt.Sprintf(sizes, ", classes: [{up_to: 9KB, dscp: 8}, {up_to: 1KB, dscp: 16}]"): "workload w: nothing is left for class 2",
		fmt.Sprintf(sizes, ", classes: [{dscp: 8}, {up_to: 1KB, dscp: 16}]"):             "workload w: nothing is left for class 2",
		strings.Replace(fmt.Sprintf(sizes, ""), "H0..H2", "H0.0", 1):                     "workload w: H0.0 is one NIC of a host",
		strings.Replace(fmt.Sprintf(sizes, ""), "to: H3", "to: H3.0", 1):                 "workload w: H3.0 is one NIC of a host",
	} {
		refused(t, "x.yaml:9: "+want, "schemes", "workloads: ["+of+"]\nschemes")
	}
	for _, good := range []string{
		fmt.Sprintf(sizes, ", incast: [1, 3], classes: [{up_to: 1KB, dscp: 8}, {up_to: 9KB, dscp: 16}, {dscp: 24}]"),
		"{name: w, burst: 1KB, from: H1, to: H2, load: 1, capacity: 1Gbps}",
	} {
		text := strings.Replace(base, "schemes", "workloads: ["+good+"]\nschemes", 1)
		if _, err := Parse("x.yaml", []byte(text)); err != nil {
			t.Error(err)
		}
	}
}

// Keys of another topology, and links without which a host has none, are refused before anything is laid out.
func TestTopologiesThatCannotBe(t *testing.T) {
	star := "kind: star, hosts: 4"
	leafSpine := "kind: leaf-spine, tors: 2, hosts: 3, spines: 2"
	refused(t, "x.yaml:4: topology: a leaf-spine has no grouped", star, leafSpine+", grouped: true")
	for _, h := range []string{"H0", "H2"} { // with a flow and without
		refused(t, "x.yaml:4: link "+h+"-T0 cannot be taken away: "+h+" has no other",
			star, leafSpine+", fail: [{a: "+h+", b: T0}]")
	}
	refused(t, "x.yaml:4: link H1.1-T1 cannot be taken away: H1.1 has no other",
		star, "kind: rail, hosts: 3, nics: 2, fail: [{a: H1.1, b: T1}]")
	refused(t, "x.yaml:4: link C0-T1 cannot be taken away: C0 has no other",
		star, leafSpine+", fail: [{a: C0, b: T0}, {a: C0, b: T1}]")
	for _, huge := range []string{
		"kind: leaf-spine, tors: 4096, hosts: 4096", "kind: chain, switches: 4096, hosts: 4096",
		"kind: ring, switches: 4096, hosts: 4096", "kind: leaf-spine, tors: 4096, hosts: 1, spines: 4096",
		"kind: leaf-spine, tors: 64, hosts: 1, spines: 64, uplinks: 4096",
		"kind: clos, pods: 4096, tors: 1, leafs: 1, hosts: 4096, spines: 1",
		"kind: clos, pods: 16, tors: 1, leafs: 1024, hosts: 1, spines: 4096",
		"kind: dragonfly, switches: 4096, hosts: 1, global: 4096", "kind: dragonfly, switches: 360, hosts: 1, global: 1",
		"kind: rail, pods: 4096, hosts: 4096, nics: 1, spines: 1", "kind: rail, pods: 64, hosts: 1, nics: 64, spines: 4096",
		"kind: planes, nics: 4096, tors: 1, hosts: 4096", "kind: planes, nics: 1, tors: 4096, hosts: 1, spines: 4096",
	} {
		kind := strings.TrimSuffix(strings.Fields(huge)[1], ",")
		refused(t, "x.yaml:4: a "+kind+" of ", star, huge)
	}
}

// Rates and sizes of a network are positive, and its times not negative, whichever parameter it is.
func TestParametersHaveSigns(t *testing.T) {
	v := reflect.TypeFor[Parameters]()
	for i := range v.NumField() {
		name := v.Field(i).Tag.Get("yaml")
		var bad []string
		switch v.Field(i).Type {
		case reflect.TypeFor[Sourced[units.Rate]]():
			bad = []string{"0bps", "-1Gbps"}
		case reflect.TypeFor[Sourced[units.Size]]():
			bad = []string{"0B", "-1KB"}
			if name == "xon" || name == "credit_update" {
				bad = bad[1:]
			}
		case reflect.TypeFor[Sourced[units.Time]]():
			bad = []string{"-1us"}
		}
		_, rest, there := strings.Cut(base, name+": ")
		for _, value := range bad {
			from, to := "start_phase: 0s", "start_phase: 0s, "+name+": "+value
			if there {
				old, _, _ := strings.Cut(strings.ReplaceAll(rest, "}", ","), ",")
				from, to = name+": "+old, name+": "+value
			}
			text := strings.Replace(base, from, to, 1)
			_, err := Parse("x.yaml", []byte(text))
			if err == nil || !strings.HasPrefix(err.Error(), "x.yaml:") {
				t.Errorf("%s: %s: %v", name, value, err)
			}
		}
	}
	refused(t, "x.yaml:6: trunk_rate 0bps must be positive", "link_rate", "trunk_rate: 0bps, link_rate")
	refused(t, "x.yaml:6: trunk_delay -1us must not be negative", "trunk_delay: 1us", "trunk_delay: -1us")
}

// Times are so short that what is added to them is still one.
func TestTimesThatFit(t *testing.T) {
	refused(t, "x.yaml:6: host_delay 9000000s: 100s is the most", "host_delay: 1us", "host_delay: 9000000s")
	refused(t, "x.yaml:6: trunk_delay 101s: 100s is the most", "trunk_delay: 1us", "trunk_delay: 101s")
	refused(t, "x.yaml:4: link A-B: a delay of 101s: 100s is the most", "kind: star, hosts: 4",
		"kind: free, nodes: [{name: A, host: true}, {name: B, host: true}], links: [{a: A, b: B, delay: 101s}]")
	refused(t, "x.yaml:3: duration 9000000s: 1000000s is the most",
		"duration: 2ms", "duration: 9000000s", "10us", "9000000s")
	for _, key := range []string{"start: 9000000s", "step: 9000000s, count: 3", "lasts: 9000000s", "spread: 9000000s"} {
		refused(t, "x.yaml:8: flows f: they would last until after 8640000s", "size: 100KB", "size: 100KB, "+key)
	}
}

// A run is as long as a sample at least, and has no more samples than memory.
func TestSamplesAreOfTheDuration(t *testing.T) {
	refused(t, "x.yaml:3: duration 1ps is shorter than a sample, 10us", "duration: 2ms", "duration: 1ps")
	refused(t, "x.yaml:10: measure: 2000000000 samples of 1ps in 2ms", "sample: 10us", "sample: 1ps")
}

// Keys of metrics that could not be meant are refused.
func TestMetricsAreOfTheRun(t *testing.T) {
	const probes = "probes: [{name: q, kind: queue, at: [S0]}], metrics: "
	for of, want := range map[string]string{
		"{name: m, do: fct, from: 5ms}":                              "metric m: from 5ms to 2ms is not in the run's 2ms",
		"{name: m, do: fct, from: 2ms}":                              "metric m: from 2ms to 2ms is not in the run's 2ms",
		"{name: m, do: first_at_most, of: q, hold: -15us, value: 1}": "metric m: hold -15us must not be negative",
		"{name: m, do: within, of: q, part: -1, value: 1}":           "metric m: part -1 must not be negative",
		"{name: m, do: max, of: q, per: 0}":                          "metric m: per 0: the result is divided by it",
		"{name: m, do: max, of: q, per: -2}":                         "metric m: per -2: the result is divided by it",
		"{name: m, do: fct, sizes: [1MB, 1KB]}":                      "metric m: sizes are above the first, up to the second",
		"{name: m, do: fct, sizes: [1KB, 1KB]}":                      "metric m: sizes are above the first, up to the second",
		"{name: m, do: fct, sizes: [1KB, 0B]}":                       "metric m: sizes are above the first, up to the second",
		"{name: m, do: fct, sizes: [-1KB, 1KB]}":                     "metric m: sizes are above the first, up to the second",
	} {
		refused(t, "x.yaml:10: "+want, "metrics: [", probes+"["+of+", ")
	}
}

// What would take all memory in tables or messages is refused at once.
func TestTablesAndMessagesAreBounded(t *testing.T) {
	const many = "x.yaml:9: scheme %s: 1000000000 %s: at least 1, at most 65536"
	refused(t, fmt.Sprintf(many, "af-qcn", "classes"), "[none]", "[{name: af-qcn, params: {classes: 1000000000}}]")
	refused(t, fmt.Sprintf(many, "pacc", "flows"), "[none]", "[{name: pacc, params: {flows: 1000000000}}]")
	const collective = "collectives: [{name: c, hosts: H0..H3, %s}]\nschemes"
	for of, want := range map[string]string{
		"do: all-reduce, size: 400KB, chunks: 1000000":                "collective c: 400KB is too little",
		"do: all-reduce, size: 400GB, chunks: 1000000000":             "collective c: about 2.4e+10 messages",
		"do: all-to-all, size: 400GB, channels: 100000000":            "collective c: about 1.2e+09 messages",
		"do: broadcast, size: 400GB, chunks: 100000000":               "collective c: about 3e+08 messages",
		"do: pipeline, size: 4KB, microbatches: 2, compute: 9000000s": "collective c: compute 9000000s: 1000000s is the most",
		"do: all-reduce, size: 400KB, start: 1000001s":                "collective c: start 1000001s: 1000000s is the most",
		"do: all-reduce, size: 400KB, repeat: 2, gap: 5000000s":       "collective c: gap 5000000s: 1000000s is the most",
		"do: pipeline, size: 1KB, microbatches: 1000000000":           "collective c: about 1.6e+10 messages",
		"do: tensor-parallel, size: 1KB, layers: 1000000000":          "collective c: about 1.1e+11 messages",
		"do: all-reduce, size: 1GB, chunks: 5000, repeat: 999":        "collective c: about 1.2e+08 messages",
	} {
		refused(t, "x.yaml:9: "+want, "schemes", fmt.Sprintf(collective, of))
	}
}

// DSCP 0 stands for flows without one of their own, and so does nothing: it is refused wherever flows may have one.
func TestNoFlowHasDSCP0(t *testing.T) {
	const why = "DSCP 0 would be as if it were left out (1 to 7 are of priority 0, too)"
	refused(t, "x.yaml:8: "+why, "size: 100KB", "size: 100KB, dscp: 0")
	const w = "{name: w, sizes: pcn-w1, from: H0, to: H3, load: 0.1, capacity: 10Gbps, classes: [{dscp: 0}]}"
	refused(t, "x.yaml:9: workload w: "+why, "schemes", "workloads: ["+w+"]\nschemes")
	refused(t, "x.yaml:9: "+why, "schemes",
		"collectives: [{name: c, hosts: H0..H3, do: all-reduce, size: 40KB, dscp: 0}]\nschemes")
}

// What is within the window is so of the window that counts, be it that which follows from the network.
func TestWithinTheWindowOfTheNetwork(t *testing.T) {
	const selective = "start_phase: 0s, recovery: selective,\n  "
	for _, more := range []string{"reorder: 9", "low_timeout: 1ms,\n  low_packets: 9"} {
		key, line := "reorder", 8
		if strings.Contains(more, "low_packets") {
			key, line = "low_packets", 9
		}
		want := fmt.Sprintf("x.yaml:%d: %s 9: from 1 to the window, which is 7 packets of H0", line, key)
		refused(t, want, "start_phase: 0s", selective+more)
		text := strings.Replace(base, "start_phase: 0s", selective+strings.Replace(more, "9", "7", 1), 1)
		if _, err := Parse("x.yaml", []byte(text)); err != nil {
			t.Errorf("%s, of 7: %v", key, err)
		}
	}
}

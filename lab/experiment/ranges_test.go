package experiment

import (
	"fmt"
	"strings"
	"testing"
)

// What an experiment takes ends where the documentation and the messages say: the last values are taken, the next ones
// are refused, and named with their line.
func TestRangesOfKeys(t *testing.T) {
	const head = `id: a/b
title: t
duration: 2ms
schemes: [none]
measure: {sample: 10us}
`
	// parts of a file, by their keys; that of the key is in place of the usual one.
	usual := map[string]string{
		"topology": "topology: {kind: star, hosts: 4}",
		"parameters": "parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, " +
			"priority: 3, xoff: 256KB, buffer: 16MB}",
		"flows": "flows: [{name: f, from: H0, to: H1, size: 100KB}]",
	}
	with := func(more string) string { return strings.TrimSuffix(usual["parameters"], "}") + ", " + more + "KEY}" }
	without := func(key string) string {
		before, after, _ := strings.Cut(usual["parameters"], key+": ")
		_, after, _ = strings.Cut(after+",", ",")
		return before + strings.TrimSuffix(strings.TrimSuffix(after, ","), "}") + ", KEY}"
	}
	flow := "flows: [{name: f, from: H0, to: H1, KEY}]"
	sized := "flows: [{name: f, from: H0, to: H1, size: 1KB, KEY}]"
	arrivals := "workloads: [{name: w, from: H0..H2, to: H3, %s, KEY}]"
	const selective, lossy = "recovery: selective, ", "lossless: [], "
	for _, r := range []struct{ key, part, ends, bad string }{
		{"hosts", "topology: {kind: star, KEY}", "2 4096", "1 0 -1 4097"},
		{"pairs", "topology: {kind: dumbbell, KEY}\nflows: [{from: H0, to: R0}]", "1 4096", "0 4097"},
		{"k", "topology: {kind: fat-tree, KEY}", "2 4", "0 3 -2"},
		{"uplinks", "topology: {kind: leaf-spine, tors: 2, hosts: 2, spines: 1, KEY}", "1 9", "0 4097"},
		{"link_rate", without("link_rate"), "1Mbps", "0bps -1bps"},
		{"host_delay", without("host_delay"), "0s 100s", "-1us 101s"},
		{"trunk_delay", without("trunk_delay"), "0s 100s", "-1us 101s"},
		{"payload", strings.Replace(without("payload"), "1500B", "9216B", 1), "1B 9KB", "0B 9001B"},
		{"mtu", without("mtu"), "9216B", "9217B"},
		{"priority", without("priority"), "0 7", "-1 8"},
		{"xoff", without("xoff"), "3001B", "0B -1B"},
		{"xon", with(""), "0B 256KB", "-1B 257KB"},
		{"overhead", with(""), "0 1024", "-1 1025"},
		{"alpha", with(""), "0 1024", "-0.1 1025 .nan"},
		{"lossless", with(""), "[] [0,7]", "[8] [-1]"},
		{"lossy_alpha", with(lossy), "0.1 1024", "0 -1 1025 .nan"},
		{"lossy_queue", with(lossy), "1B", "0B -1B"},
		{"lossy_ingress", with(lossy), "1B", "0B -1B"},
		{"ack_priority", with(""), "0 7", "-1 8"},
		{"np_delay", with(""), "0s 100s", "-1us 101s"},
		{"pause_delay", with(""), "0s", "-1us"},
		{"start_phase", with(""), "0s", "-1us"},
		{"signal_delay", with(""), "1us", "0s -1us"},
		{"convergence", with(""), "0s", "-1us"},
		{"paths", with(""), "flow round_robin random queue", "flowlet spray"},
		{"flowlet_gap", with("paths: flowlet, "), "1us", ""},
		{"entropy", with(selective), "flow packet", "flowlet port"},
		{"path_weights", with(""), "equal capacity", "rate"},
		{"recovery", with(""), "go_back_n selective", "sack"},
		{"window", with(selective), "1 65536", "0 65537 -1"},
		{"reorder", with(selective + "window: 9, "), "1 9", "0 10 -1"},
		{"ack_timeout", with(""), "1us 100s", "0s -1us 101s"},
		{"low_timeout", with(selective), "1us 67ms", "0s -1us 68ms"},
		{"low_packets", with(selective + "window: 9, low_timeout: 1us, "), "1 9", "0 10 -1"},
		{"flow_control", with(""), "pause", "pfc"},
		{"count", sized, "1 100", "0 -1"},
		{"size", flow, "1B", "0B"},
		{"weight", sized, "0.1 3", "0 -1"},
		{"dscp", sized, "1 63", "0 -1 64"},
		{"repeat", "flows: [{name: f, from: H0, to: H1, size: 1KB, KEY}]", "1 9", "0 -1 65536"},
		{"every", sized, "1ms", "0s"},
		{"rate", sized, "1bps", "0bps"},
		{"cap", sized, "1bps", "0bps"},
		{"begin", sized, "1Mbps", "0bps"},
		{"flows", fmt.Sprintf(arrivals, "sizes: pcn-w1, load: 0.1, capacity: 1Gbps"), "1 9", "0 -1"},
		{"incast", fmt.Sprintf(arrivals, "sizes: pcn-w1, load: 0.1, capacity: 1Gbps"), "[1,1] [1,3]", "[0,1] [2,1] [1]"},
		{"load", fmt.Sprintf(arrivals, "sizes: pcn-w1, capacity: 1Gbps"), "0.1 1", "0 -1 .nan"},
		{"shape", fmt.Sprintf(arrivals, "sizes: pareto, mean: 1KB, load: 0.1, capacity: 1Gbps"), "1.1 3", ""},
		{"at", "events: [{flow: f, rate: 1Gbps, KEY}]", "0s 2ms", "-1us 3ms"},
		{"repeat", "collectives: [{name: c, do: all-reduce, hosts: H0..H3, size: 4KB, KEY}]", "1 9", "65536"},
		{"groups_of", "collectives: [{name: c, do: all-reduce, hosts: H0..H3, size: 4KB, KEY}]", "2 4", "0 3 -1"},
		{"dscp", "collectives: [{name: c, do: all-reduce, hosts: H0..H3, size: 4KB, KEY}]", "1 63", "0 64 -1"},
		{"per", "measure: {sample: 10us, metrics: [{name: m, do: fct, KEY}]}", "0.1 9", "0 -1 .nan"},
		{"stat", "measure: {sample: 10us, metrics: [{name: m, do: fct, KEY}]}", "mean min p50 p95 p99 p999 max", "p98"},
		{"priority", "measure: {sample: 10us, probes: [{name: p, kind: queue, at: [S0], KEY}]}", "3", "2 8 -1"},
	} {
		text := head
		top, _, _ := strings.Cut(r.part, ":")
		if top == "measure" {
			text = strings.Replace(text, "measure: {sample: 10us}\n", "", 1)
		}
		for _, key := range []string{"topology", "parameters", "flows"} {
			if !strings.Contains("\n"+r.part, "\n"+key+":") {
				text += usual[key] + "\n"
			}
		}
		line := strings.Count(text, "\n") + 2
		read := func(value string) error {
			entry := "\n  " + r.key + ": " + value + "\n  "
			_, err := Parse("x.yaml", []byte(text+strings.Replace(r.part, "KEY", entry, 1)+"\n"))
			return err
		}
		for _, end := range strings.Fields(r.ends) {
			if err := read(end); err != nil {
				t.Errorf("%s: %s: %v", r.key, end, err)
			}
		}
		for _, bad := range strings.Fields(r.bad) {
			err := read(bad)
			if want := fmt.Sprintf("x.yaml:%d: ", line); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %s is not refused in line %d: %v", r.key, bad, line, err)
			}
		}
	}
}

package run

import "strings"

const (
	// Four hosts send to one at once: queues are long, and frames wait or are lost.
	crowd = "topology: {kind: star, hosts: 5}"
	many  = "flows: [{name: f, from: H0..H3, to: H4, size: 200KB}]"
	net   = "parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, " +
		"priority: 3, buffer: 1MB, start_phase: 0s"
	lossy  = net + ", lossless: []"
	pauses = net + ", xoff: 20KB"
	irn    = lossy + ", recovery: selective, ack_timeout: 200us, lossy_queue: 50KB"
	lanes  = net + ", flow_control: credits, lane_buffer: 20KB"
	apart  = "flows: [{name: f, from: H0..H1, to: H2..H3, size: 200KB, count: 4}]"
	clos   = "topology: {kind: clos, pods: 2, tors: 1, leafs: 2, hosts: 2, spines: 2}"
	slow   = "schemes: [{name: dcqcn, params: {kmin: 5KB, kmax: 10KB, pmax: 0.5}}]"
	one    = "flows: [{name: f, from: H0, to: H2, size: 100KB, KEY}]"
	long   = "flows: [{name: f, from: H0, to: H2, KEY}]"
	both   = "flows: [{name: g, from: H1, to: H2, size: 50KB}, {name: f, from: H0, to: H2, size: 50KB, KEY}]"
	arr    = "workloads: [{name: w, from: H0..H1, to: H2..H3, "
	offer  = "load: 0.5, capacity: 20Gbps, "
	ring   = "collectives: [{name: c, hosts: H0..H3, "
	probe  = "measure: {sample: 10us, probes: [{name: p, "
	made   = "], metrics: [{name: m, do: mean, of: p}]}"
	grown  = "], metrics: [{name: m, do: delta, of: p}]}"
	queue  = "measure: {sample: 10us, probes: [{name: q, kind: queue, at: [T1>H2]}, {name: r, kind: received, " +
		"flows: [f], each: true}], metrics: [{name: m, "
	all = "workloads: [{name: w, from: '*', to: '*', cdf: {1KB: 0, 9KB: 1}, load: 1, capacity: 20Gbps}]\nflows: []"
	cut = "impair: [{link: H0>T0, rules: [{do: "
)

// free is a topology whose hosts H0 and H1 are at A, with other nodes and links.
func free(nodes, links string) string {
	return "topology: {kind: free, nodes: [{name: A}, {name: H0, host: true}, {name: H1, host: true}, " +
		"{name: H2, host: true}, " + nodes + "], links: [{a: H0, b: A}, {a: H1, b: A}, " + links + "]}"
}

// deep is a buffer in which queues become as long as AF-QCN has them.
var deep = strings.Replace(net, "1MB", "9MB", 1) + ", xoff: 300KB}"

// wide has two ways from A to B, one of which carries four times as much as the other.
var wide = free("{name: N}, {name: M}, {name: B}", "{a: A, b: N}, {a: N, b: B}, {a: A, b: M, rate: 40Gbps}, "+
	"{a: M, b: B, rate: 40Gbps}, {a: H2, b: B}")

// dynamics is what is measured of a bottleneck, and loop of a control loop.
func dynamics(keys string) string {
	text := "measure: {sample: 10us, kind: dynamics, " + keys
	for _, span := range []string{"steady", "queue"} {
		if !strings.Contains(keys, span) {
			text += ", " + span + ": {from: 0s, to: 100us}"
		}
	}
	return text + "}"
}

func loop(keys string) string {
	return "measure: {metrics: [{name: m, do: phase_margin, loop: {" + keys + ", KEY}}]}"
}

// with is parts of a file besides that of the key.
func with(parts ...string) []string { return parts }

// experimentKeys are all keys with which a run is another.
var experimentKeys = []keyRow{
	{key: "duration", a: "100us", b: "200us", part: "KEY"},
	{key: "seed", usual: "1", b: "2", part: "KEY", with: with(slow)},
	{
		key: "topology.kind", a: "ring", b: "chain", part: "topology: {hosts: 1, switches: 4, KEY}",
		with: with("flows: [{from: H0-0, to: H3-0, size: 9KB}]"),
	},
	{
		key: "topology.pairs", a: "2", b: "3", part: "topology: {kind: dumbbell, KEY}",
		with: with("flows: [{from: '*', to: R0, size: 9KB}]"),
	},
	{
		key: "topology.k", a: "4", b: "6", part: "topology: {kind: fat-tree, KEY}",
		with: with("flows: [{from: H0, to: '*', size: 9KB}]"),
	},
	{
		key: "topology.global", a: "1", b: "2", part: "topology: {kind: dragonfly, switches: 2, hosts: 1, KEY}",
		with: with("flows: [{from: H0, to: '*', size: 9KB}]"),
	},
	{key: "topology.hosts", a: "2", b: "3", part: "topology: {kind: star, KEY}", with: with(all)},
	{key: "topology.bursters", a: "2", b: "3", part: "topology: {kind: compact, KEY}", with: with(all)},
	{
		key: "topology.nics", a: "2", b: "3", part: "topology: {kind: rail, pods: 1, hosts: 2, spines: 1, KEY}",
		with: with("flows: [{from: H0, to: H1, size: 9KB, count: 6}]"),
	},
	{key: "topology.switches", a: "2", b: "3", part: "topology: {kind: chain, hosts: 1, KEY}", with: with(all)},
	{
		key: "topology.lots", a: "2", b: "3", part: "topology: {kind: parking-lot, KEY}",
		with: with("flows: [{from: H0, to: R0, size: 9KB}]"),
	},
	{
		key: "topology.pods", a: "1", b: "2",
		part: "topology: {kind: clos, tors: 2, leafs: 2, hosts: 1, spines: 2, KEY}", with: with(all),
	},
	{
		key: "topology.tors", a: "2", b: "3", part: "topology: {kind: leaf-spine, hosts: 1, spines: 1, KEY}",
		with: with(all),
	},
	{
		key: "topology.leafs", a: "1", b: "2",
		part: "topology: {kind: clos, pods: 2, tors: 1, hosts: 2, spines: 2, KEY}", with: with(apart),
	},
	{
		key: "topology.spines", a: "1", b: "2", part: "topology: {kind: leaf-spine, hosts: 2, tors: 2, KEY}",
		with: with(apart),
	},
	{
		key: "topology.uplinks", usual: "1", b: "2",
		part: "topology: {kind: leaf-spine, hosts: 2, tors: 2, spines: 1, KEY}", with: with(apart),
	},
	{
		key: "topology.grouped", usual: "false", b: "true",
		part: "topology: {kind: clos, pods: 2, tors: 1, leafs: 2, hosts: 2, spines: 4, KEY}", with: with(apart),
	},
	{
		key: "topology.nodes[].host", usual: "false", b: "true",
		part: free("{name: N, KEY}", "{a: H2, b: A}, {a: N, b: A}"),
		with: with(all),
	},
	{
		key: "topology.nodes[].layer", usual: "switch", b: "tor",
		part: free("{name: N, KEY}", "{a: H2, b: N}, {a: N, b: A}"),
		with: with(probe + "kind: sent, at: [switch]}" + grown),
	},
	{key: "topology.links[].a", a: "A", b: "N", part: free("{name: N}", "{b: H2, KEY}, {a: N, b: A}")},
	{key: "topology.links[].b", a: "A", b: "N", part: free("{name: N}", "{a: H2, KEY}, {a: N, b: A}")},
	{
		key: "topology.links[].rate", usual: "10Gbps", b: "5Gbps",
		part: free("{name: N}", "{a: H2, b: N}, {a: N, b: A, KEY}"),
	},
	{
		key: "topology.links[].delay", usual: "1us", b: "2us",
		part: free("{name: N}", "{a: H2, b: N}, {a: N, b: A, KEY}"),
	},
	{
		key: "topology.fail[].a", a: "C0", b: "C1",
		part: "topology: {kind: leaf-spine, tors: 2, hosts: 2, spines: 3, fail: [{b: T0, KEY}]}", with: with(apart),
	},
	{
		key: "topology.fail[].rate", b: "5Gbps", refused: true,
		part: "topology: {kind: star, hosts: 3, fail: [{a: H0, b: S0, KEY}]}",
	},
	{
		key: "topology.fail[].delay", b: "5us", refused: true,
		part: "topology: {kind: star, hosts: 3, fail: [{a: H0, b: S0, KEY}]}",
	},
	{
		key: "topology.fail[].b", a: "T0", b: "T1",
		part: "topology: {kind: leaf-spine, tors: 3, hosts: 2, spines: 3, fail: [{a: C0, KEY}]}", with: with(apart),
	},
	{key: "parameters.link_rate", a: "10Gbps", b: "5Gbps"},
	{key: "parameters.host_delay", a: "1us", b: "2us"},
	{key: "parameters.trunk_delay", a: "1us", b: "2us"},
	{key: "parameters.payload", a: "1000B", b: "500B"},
	{key: "parameters.mtu", a: "1500B", b: "3000B", with: with(crowd, many)},
	{key: "parameters.priority", a: "3", b: "4"},
	{key: "parameters.xoff", a: "20KB", b: "30KB", with: with(crowd, many)},
	{
		key: "parameters.buffer", a: "1MB", b: "200KB",
		part: strings.Replace(pauses, "buffer: 1MB, ", "", 1) + ", alpha: 0.1, KEY}", with: with(crowd, many),
	},
	{key: "parameters.xon", usual: "17KB", b: "10KB", with: with(crowd, many)},
	{key: "parameters.trunk_rate", usual: "10Gbps", b: "5Gbps"},
	{key: "parameters.core_rate", usual: "10Gbps", b: "5Gbps", with: with(clos)},
	{key: "parameters.core_delay", usual: "1us", b: "2us", with: with(clos)},
	{key: "parameters.overhead", usual: "24", b: "0"},
	{key: "parameters.lossless", usual: "[3]", b: "[]", with: with(crowd, many)},
	{key: "parameters.lossy_queue", usual: "1MB", b: "50KB", part: lossy + ", KEY}", with: with(crowd, many)},
	{key: "parameters.lossy_alpha", b: "0.1", part: lossy + ", KEY}", with: with(crowd, many)},
	{key: "parameters.lossy_ingress", b: "20KB", part: lossy + ", KEY}", with: with(crowd, many)},
	{
		key: "parameters.flow_control", a: "pause, xoff: 20KB", b: "credits, lane_buffer: 20KB", part: net + ", KEY}",
		with: with(crowd, many),
	},
	{
		key: "parameters.lane_buffer", a: "20KB", b: "40KB", part: net + ", flow_control: credits, KEY}",
		with: with(crowd, many),
	},
	{key: "parameters.credit_period", b: "10us", part: lanes + ", KEY}", with: with(crowd, many)},
	{key: "parameters.credit_update", b: "10KB", part: lanes + ", KEY}", with: with(crowd, many)},
	{key: "parameters.np_delay", usual: "0s", b: "5us", with: with(crowd, many, slow)},
	{key: "parameters.pause_delay", usual: "0s", b: "5us", with: with(crowd, many)},
	{
		key: "parameters.start_phase", a: "0s", b: "5us",
		part: strings.Replace(pauses, ", start_phase: 0s", "", 1) + ", KEY}",
	},
	{
		key: "parameters.signal_delay", b: "50us",
		with: with(
			"flows: [{name: g, from: H0, to: H1, size: 9KB}, {name: f, from: H2, to: H3, size: 9KB, " +
				"after: {flows: g, all: true}}]",
		),
	},
	{key: "parameters.alpha", usual: "0", b: "0.1", with: with(crowd, many)},
	{
		key: "parameters.alpha_by_rate", usual: "false", b: "true",
		part: pauses + ", alpha: 0.01, trunk_rate: 40Gbps, KEY}",
		with: with("flows: [{from: H0..H1, to: H2, size: 200KB, count: 4}]"),
	},
	{key: "parameters.ack_each", usual: "false", b: "true"},
	{
		key: "parameters.ack_priority", a: "6", b: "2", part: pauses + ", lossless: [2, 3], KEY}",
		with: with(
			crowd,
			"flows: [{from: H0..H3, to: H4, size: 20KB, count: 4}, {from: H4, to: H0..H3, size: 20KB, "+
				"count: 4, dscp: 40}]",
		),
	},
	{key: "parameters.paths", usual: "flow", b: "round_robin", with: with(apart)},
	{
		key: "parameters.convergence", usual: "0s", b: "100us",
		with: with(
			apart,
			"topology: {kind: leaf-spine, tors: 2, hosts: 2, spines: 2}\nevents: [{at: 50us, link: T0>C0, "+
				"rate: 0bps}]",
		),
	},
	{
		key: "parameters.flowlet_gap", a: "1us", b: "100us", part: pauses + ", paths: flowlet, KEY}",
		with: with("flows: [{from: H0, to: H2..H3, size: 100KB, rate: 1Gbps}]"),
	},
	{
		key: "parameters.entropy", usual: "flow", b: "packet", part: pauses + ", recovery: selective, KEY}",
		with: with(apart),
	},
	{
		key: "parameters.path_weights", usual: "equal", b: "capacity",
		with: with("flows: [{from: H0..H1, to: H2, size: 20KB, count: 9}]", wide),
	},
	{
		key: "parameters.recovery", usual: "go_back_n", b: "selective", part: lossy + ", lossy_queue: 50KB, KEY}",
		with: with(crowd, many),
	},
	{key: "parameters.window", b: "5", part: irn + ", KEY}", with: with(crowd, many)},
	{key: "parameters.reorder", usual: "1", b: "9", part: irn + ", window: 50, KEY}", with: with(crowd, many)},
	{
		key: "parameters.ack_timeout", usual: "67ms", b: "100us", part: lossy + ", lossy_queue: 50KB, KEY}",
		with: with(crowd, many),
	},
	{
		key: "parameters.low_timeout", b: "50us", part: irn + ", KEY}",
		with: with(crowd, "flows: [{from: H0..H3, to: H4, size: 2KB, count: 9}]"),
	},
	{
		key: "parameters.low_packets", usual: "3", b: "1", part: irn + ", low_timeout: 50us, KEY}",
		with: with(crowd, "flows: [{from: H0..H3, to: H4, size: 3KB, count: 9}]"),
	},
	{key: "flows[].from", a: "H0", b: "H1", part: "flows: [{to: H2, size: 9KB, KEY}]"},
	{key: "flows[].to", a: "H2", b: "H1", part: "flows: [{from: H0, size: 9KB, KEY}]"},
	{key: "flows[].count", usual: "1", b: "2", part: one},
	{key: "flows[].size", b: "9KB", part: long},
	{key: "flows[].start", usual: "0s", b: "9us", part: one},
	{key: "flows[].stop", b: "50us", part: long},
	{key: "flows[].lasts", a: "50us", b: "60us", part: long},
	{key: "flows[].spread", usual: "0s", b: "50us", part: one},
	{key: "flows[].step", usual: "0s", b: "50us", part: "flows: [{from: H0, to: H2, size: 9KB, count: 3, KEY}]"},
	{key: "flows[].every", a: "50us", b: "60us", part: "flows: [{from: H0, to: H2, size: 9KB, KEY}]"},
	{key: "flows[].gap", a: "50us", b: "60us", part: "flows: [{from: H0, to: H2, lasts: 10us, KEY}]"},
	{
		key: "flows[].until", usual: "500us", b: "100us",
		part: "flows: [{from: H0, to: H2, size: 9KB, every: 30us, KEY}]",
	},
	{key: "flows[].rate", b: "1Gbps", part: one},
	{key: "flows[].begin", b: "1Gbps", part: one, with: with("schemes: [dcqcn]")},
	{
		key: "flows[].weight", usual: "1", b: "4",
		part: "flows: [{name: g, from: H1, to: H2}, {name: f, from: H0, to: H2, KEY}]",
		with: with("schemes: [af-qcn]", deep, "duration: 5ms"),
	},
	{
		key: "flows[].cap", b: "1Gbps",
		part: "flows: [{name: g, from: H1, to: H2}, {name: f, from: H0, to: H2, KEY}]",
		with: with("schemes: [af-qcn]", deep, "duration: 5ms"),
	},
	{key: "flows[].dscp", usual: "26", b: "1", part: both},
	{
		key: "flows[].after[].flows", a: "g", b: "h",
		part: "flows: [{name: g, from: H1, to: H0, size: 9KB}, {name: h, from: H1, to: H0, size: 30KB}, " +
			"{name: f, from: H0, to: H2, size: 9KB, after: {KEY}}]",
	},
	{
		key: "flows[].after[].at", usual: "end", b: "start",
		part: "flows: [{name: g, from: H1, to: H0, size: 9KB}, {name: f, from: H0, to: H2, size: 9KB, " +
			"after: {flows: g, KEY}}]",
	},
	{
		key: "flows[].after[].delay", usual: "0s", b: "9us",
		part: "flows: [{name: g, from: H1, to: H0, size: 9KB}, {name: f, from: H0, to: H2, size: 9KB, " +
			"after: {flows: g, KEY}}]",
	},
	{
		key: "flows[].after[].all", usual: "false", b: "true",
		part: "flows: [{name: g, from: H1..H2, to: H0, size: 9KB}, {name: f, from: H1, to: H2, size: 9KB, " +
			"after: {flows: g, KEY}}]",
	},
	{key: "flows[].repeat", usual: "1", b: "2", part: one},
	{key: "workloads[].sizes", a: "pcn-w1", b: "pcn-w2", part: arr + offer + "KEY}]"},
	{key: "workloads[].cdf", a: "{1KB: 0, 9KB: 1}", b: "{1KB: 0, 99KB: 1}", part: arr + offer + "KEY}]"},
	{key: "workloads[].mean", a: "10KB", b: "20KB", part: arr + offer + "sizes: pareto, shape: 1.5, KEY}]"},
	{key: "workloads[].shape", a: "1.5", b: "2", part: arr + offer + "sizes: pareto, mean: 10KB, KEY}]"},
	{
		key: "workloads[].from", a: "H0", b: "H1",
		part: "workloads: [{name: w, to: H2, sizes: pcn-w1, " + offer + "KEY}]",
	},
	{
		key: "workloads[].to", a: "H2", b: "H3",
		part: "workloads: [{name: w, from: H0, sizes: pcn-w1, " + offer + "KEY}]",
	},
	{key: "workloads[].load", a: "0.5", b: "0.6", part: arr + "sizes: pcn-w1, capacity: 10Gbps, KEY}]"},
	{key: "workloads[].capacity", a: "10Gbps", b: "12Gbps", part: arr + "sizes: pcn-w1, load: 0.5, KEY}]"},
	{key: "workloads[].incast", a: "[1, 1]", b: "[2, 2]", part: arr + offer + "sizes: pcn-w1, KEY}]"},
	{key: "workloads[].together", usual: "false", b: "true", part: arr + offer + "sizes: pcn-w1, KEY}]"},
	{
		key: "workloads[].burst", a: "10KB", b: "20KB",
		part: "workloads: [{name: w, from: H0, to: H2, load: 0.5, capacity: 10Gbps, KEY}]",
	},
	{key: "workloads[].start", usual: "0s", b: "100us", part: arr + offer + "sizes: pcn-w1, KEY}]"},
	{key: "workloads[].end", usual: "500us", b: "100us", part: arr + offer + "sizes: pcn-w1, KEY}]"},
	{key: "workloads[].flows", b: "1", part: arr + offer + "sizes: pcn-w1, KEY}]"},
	{
		key: "workloads[].classes[].up_to", b: "5KB",
		part: arr + offer + "cdf: {1KB: 0, 9KB: 1}, classes: [{dscp: 8, KEY}]}]",
	},
	{key: "workloads[].classes[].dscp", a: "8", b: "16", part: arr + offer + "sizes: pcn-w1, classes: [{KEY}]}]"},
	{
		key: "workloads[].messages", usual: "false", b: "true", part: arr + offer + "sizes: pcn-w1, KEY}]",
		with: with(slow),
	},
	{key: "collectives[].do", a: "all-gather", b: "all-reduce", part: ring + "size: 40KB, KEY}]"},
	{
		key: "collectives[].hosts", a: "H0..H3", b: "H0..H2",
		part: "collectives: [{name: c, do: all-reduce, size: 60KB, KEY}]",
	},
	{key: "collectives[].size", a: "40KB", b: "80KB", part: ring + "do: all-reduce, KEY}]"},
	{
		key: "collectives[].algorithm", usual: "ring", b: "halving-doubling",
		part: ring + "do: all-reduce, size: 40KB, KEY}]",
	},
	{key: "collectives[].chunks", usual: "1", b: "2", part: ring + "do: all-reduce, size: 40KB, KEY}]"},
	{key: "collectives[].channels", usual: "1", b: "2", part: ring + "do: all-reduce, size: 40KB, KEY}]"},
	{key: "collectives[].window", b: "1", part: ring + "do: all-to-all, size: 40KB, KEY}]"},
	{key: "collectives[].root", usual: "0", b: "1", part: ring + "do: broadcast, size: 40KB, KEY}]"},
	{key: "collectives[].degree", usual: "2", b: "1", part: ring + "do: broadcast, size: 40KB, KEY}]"},
	{key: "collectives[].microbatches", a: "1", b: "2", part: ring + "do: pipeline, compute: 1us, size: 4KB, KEY}]"},
	{key: "collectives[].layers", a: "1", b: "2", part: ring + "do: tensor-parallel, compute: 1us, size: 4KB, KEY}]"},
	{
		key: "collectives[].compute", usual: "0s", b: "9us",
		part: ring + "do: tensor-parallel, layers: 1, size: 4KB, KEY}]",
	},
	{
		key: "collectives[].backward", usual: "1us", b: "9us",
		part: ring + "do: pipeline, compute: 1us, microbatches: 2, size: 4KB, KEY}]",
	},
	{key: "collectives[].groups_of", usual: "4", b: "2", part: ring + "do: all-reduce, size: 40KB, KEY}]"},
	{
		key: "collectives[].interleaved", usual: "false", b: "true",
		part: ring + "do: all-reduce, groups_of: 2, size: 40KB, KEY}]",
	},
	{key: "collectives[].start", usual: "0s", b: "9us", part: ring + "do: all-reduce, size: 40KB, KEY}]"},
	{
		key: "collectives[].after[].flows", a: "f", b: "g", part: ring + "do: all-reduce, size: 40KB, after: {KEY}}]",
		with: with("flows: [{name: f, from: H0, to: H1, size: 9KB}, {name: g, from: H0, to: H1, size: 90KB}]"),
	},
	{
		key: "collectives[].after[].at", usual: "end", b: "start",
		part: ring + "do: all-reduce, size: 40KB, after: {flows: f, KEY}}]",
	},
	{
		key: "collectives[].after[].delay", usual: "0s", b: "9us",
		part: ring + "do: all-reduce, size: 40KB, after: {flows: f, KEY}}]",
	},
	{
		key: "collectives[].after[].all", usual: "false", b: "true",
		part: ring + "do: all-reduce, size: 40KB, after: {flows: f, KEY}}]",
	},
	{key: "collectives[].repeat", usual: "1", b: "2", part: ring + "do: all-reduce, size: 40KB, KEY}]"},
	{key: "collectives[].gap", usual: "0s", b: "9us", part: ring + "do: all-reduce, repeat: 2, size: 40KB, KEY}]"},
	{key: "collectives[].dscp", usual: "26", b: "1", part: ring + "do: all-reduce, size: 40KB, KEY}]"},
	{key: "events[].at", a: "50us", b: "90us", part: "events: [{link: T1>H2, rate: 5Gbps, KEY}]"},
	{key: "events[].link", a: "T1>H2", b: "T0>H0", part: "events: [{at: 50us, rate: 5Gbps, KEY}]"},
	{
		key: "events[].flow", a: "f", b: "g", part: "events: [{at: 50us, rate: 1Gbps, KEY}]",
		with: with("flows: [{name: f, from: H0, to: H2, size: 100KB}, {name: g, from: H1, to: H3, size: 100KB}]"),
	},
	{key: "events[].rate", a: "5Gbps", b: "2Gbps", part: "events: [{at: 50us, link: T1>H2, KEY}]"},
	{
		key: "events[].cap", a: "5Gbps", b: "1Gbps", part: "events: [{at: 50us, flow: f, KEY}]",
		with: with(
			"flows: [{name: g, from: H1, to: H2}, {name: f, from: H0, to: H2}]",
			"schemes: [af-qcn]",
			deep,
			"duration: 5ms",
		),
	},
	{key: "impair[].link", a: "H0>T0", b: "H1>T0", part: "impair: [{rules: [{do: lose, rate: 0.1}], KEY}]"},
	{
		key: "impair[].rules[].do", a: "lose", b: "duplicate",
		part: "impair: [{link: H0>T0, rules: [{packets: [5], KEY}]}]",
	},
	{key: "impair[].rules[].frames", usual: "all", b: "pfc", part: cut + "lose, packets: [5], KEY}]}]"},
	{key: "impair[].rules[].priority", b: "2", part: cut + "lose, packets: [5], KEY}]}]"},
	{key: "impair[].rules[].queue_pair", b: "77", part: cut + "lose, packets: [5], KEY}]}]"},
	{key: "impair[].rules[].from", b: "10.77.0.1", part: cut + "lose, packets: [5], KEY}]}]"},
	{key: "impair[].rules[].to", b: "10.77.0.1", part: cut + "lose, packets: [5], KEY}]}]"},
	{key: "impair[].rules[].rate", a: "0.1", b: "0.5", part: cut + "lose, KEY}]}]"},
	{key: "impair[].rules[].packets[]", a: "[5]", b: "[6]", part: cut + "lose, KEY}]}]"},
	{key: "impair[].rules[].by", a: "9us", b: "8us", part: cut + "delay, packets: [5], KEY}]}]"},
	{key: "impair[].rules[].behind", a: "1", b: "2", part: cut + "reorder, packets: [5], KEY}]}]"},
	{
		key: "impair[].rules[].every", a: "1ms", b: "8ms",
		part: "impair: [{link: H0>T0, rules: [{do: pause, priority: 3, KEY}]}]",
		with: with("duration: 10ms", "flows: [{from: H2, to: H0}]"),
	},
	{key: "impair[].rules[].start", usual: "0s", b: "400us", part: cut + "lose, rate: 0.5, KEY}]}]"},
	{key: "impair[].rules[].stop", b: "20us", part: cut + "lose, rate: 0.1, KEY}]}]"},
	{
		key: "measure.kind", b: "dynamics",
		part: "measure: {sample: 10us, from: T1, to: H2, steady: {from: 0s, to: 100us}, queue: {from: 0s, " +
			"to: 100us}, KEY}",
	},
	{key: "measure.from", a: "T1", b: "T0", part: dynamics("to: C0, KEY")},
	{key: "measure.to", a: "C0", b: "H2", part: dynamics("from: T1, KEY")},
	{key: "measure.steady.from", a: "0s", b: "50us", part: dynamics("from: T1, to: H2, steady: {to: 100us, KEY}")},
	{key: "measure.steady.to", a: "100us", b: "200us", part: dynamics("from: T1, to: H2, steady: {from: 10us, KEY}")},
	{key: "measure.queue.from", a: "0s", b: "50us", part: dynamics("from: T1, to: H2, queue: {to: 100us, KEY}")},
	{key: "measure.queue.to", a: "100us", b: "200us", part: dynamics("from: T1, to: H2, queue: {from: 10us, KEY}")},
	{
		key: "measure.metrics[].loop.beta1", a: "0.1", b: "0.2",
		part: loop("beta2: 0.1, period: 10us, alpha: 0.5, unit: 1KB"),
	},
	{
		key: "measure.metrics[].loop.beta2", a: "0.1", b: "0.2",
		part: loop("beta1: 0.1, period: 10us, alpha: 0.5, unit: 1KB"),
	},
	{
		key: "measure.metrics[].loop.period", a: "10us", b: "20us",
		part: loop("beta1: 0.1, beta2: 0.1, alpha: 0.5, unit: 1KB"),
	},
	{
		key: "measure.metrics[].loop.alpha", a: "0.5", b: "0.6",
		part: loop("beta1: 0.1, beta2: 0.1, period: 10us, unit: 1KB"),
	},
	{
		key: "measure.metrics[].loop.unit", a: "1KB", b: "2KB",
		part: loop("beta1: 0.1, beta2: 0.1, period: 10us, alpha: 0.5"),
	},
	{key: "schemes[].name", a: "none", b: "dcqcn", part: "schemes: [{KEY}]"},
	{key: "schemes[].params", a: "{kmin: 5KB}", b: "{kmin: 10KB}", part: "schemes: [{name: dcqcn, KEY}]"},
	{
		key: "measure.sample", a: "10us", b: "20us",
		part: "measure: {probes: [{name: p, kind: queue, at: [T1]}], metrics: [{name: m, do: mean, of: p}], KEY}",
	},
	{key: "measure.probes[].kind", a: "queue", b: "paused", part: probe + "at: [T1], KEY}" + made},
	{key: "measure.probes[].at", a: "[T1>H2]", b: "[T1, T0]", part: probe + "kind: queue, KEY}" + made},
	{
		key: "measure.probes[].flows", a: "[f]", b: "['*']", part: probe + "kind: received, KEY}" + grown,
		with: with("flows: [{name: f, from: H0, to: H2, size: 99KB}, {name: g, from: H0, to: H2, size: 99KB}]"),
	},
	{key: "measure.probes[].each", usual: "false", b: "true", part: probe + "kind: queue, at: [T1, T0], KEY}" + made},
	{
		key: "measure.probes[].priority", a: "3", b: "4", part: probe + "kind: frames, at: [T1], KEY}" + grown,
		with: with("flows: [{from: H0, to: H2, size: 9KB}, {from: H0, to: H2, size: 90KB, dscp: 32}]"),
	},
	{key: "measure.probes[].over", usual: "0s", b: "50us", part: probe + "kind: sent, at: [T1>H2], KEY}" + made},
	{key: "measure.metrics[].do", a: "mean", b: "max", part: queue + "of: q, KEY}]}"},
	{key: "measure.metrics[].of", a: "q", b: "r", part: queue + "do: max, KEY}]}"},
	{key: "measure.metrics[].from", usual: "0s", b: "200us", part: queue + "do: mean, of: q, KEY}]}"},
	{key: "measure.metrics[].to", usual: "500us", b: "200us", part: queue + "do: mean, of: q, KEY}]}"},
	{key: "measure.metrics[].value", a: "5000", b: "100000", part: queue + "do: time_above, of: q, KEY}]}"},
	{key: "measure.metrics[].per", usual: "1", b: "2", part: queue + "do: mean, of: q, KEY}]}"},
	{key: "measure.metrics[].by", b: "m", part: queue + "do: max, of: q}, {name: n, do: mean, of: q, KEY}]}"},
	{key: "measure.metrics[].part", a: "0.01", b: "0.5", part: queue + "do: within, of: q, value: 10000, KEY}]}"},
	{
		key: "measure.metrics[].hold", usual: "0s", b: "200us",
		part: queue + "do: first_at_most, of: q, value: 5000, KEY}]}",
	},
	{
		key: "measure.metrics[].flows", b: "[f]", part: queue + "do: fct, KEY}]}",
		with: with("flows: [{name: f, from: H0, to: H2, size: 99KB}, {name: g, from: H0, to: H3, size: 9KB}]"),
	},
	{
		key: "measure.metrics[].stat", usual: "mean", b: "max", part: queue + "do: fct, KEY}]}",
		with: with("flows: [{name: f, from: H0, to: H2, size: 99KB}, {name: g, from: H0, to: H3, size: 9KB}]"),
	},
	{
		key: "measure.metrics[].sizes", b: "[10KB, 1MB]", part: queue + "do: fct, KEY}]}",
		with: with("flows: [{name: f, from: H0, to: H2, size: 99KB}, {name: g, from: H0, to: H3, size: 9KB}]"),
	},
}

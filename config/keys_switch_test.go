package config

// What keys need beside them.
const (
	anyPort  = "ports: [{device: net_null0}, {device: net_null1, "
	wredText = "queues: {0: {wred: {kmin: 10KB, kmax: 20KB, KEY}}}"
	rules    = "impair: {rules: [{do: "
	shareOf  = "scheme: {name: af-qcn, shares: [{weight: 2, KEY}]}"
	vlanText = "vlans: [{id: 1, untagged: [0, 1], tagged: []"
	viaText  = `routes: [{prefix: 10.0.0.0/8, via: [{`
	hopMAC   = `mac: "02:00:00:00:00:09"`
	group    = `"01:00:5e:00:00:01"`
	one, two = `"02:00:00:00:00:01"`, `"02:00:00:00:00:02"`
)

// switchKeys are all keys of a switch's file.
var switchKeys = []keyRow{
	{key: "name", usual: "switch", b: "x", ends: []string{"a b"}, bad: []string{"a/b", `"a\nb"`}, fixed: true},
	{
		key: "ports[].device", text: "ports: [{device: net_null0}, {KEY}]", a: "net_null1", b: "net_null2",
		bad: []string{"eth0", "net_null0", "foo:bar"},
	},
	{
		key: "ports[].rate", usual: "10Gbps", b: "5Gbps", ends: []string{"1.6Tbps"},
		bad: []string{"0bps", "-1bps", "1601Gbps"}, fixed: true,
	},
	{key: "ports[].delay", usual: "0s", b: "1us", bad: []string{"-1ns"}, fixed: true},
	{key: "ports[].cable_delay", usual: "500ns", b: "1us", ends: []string{"0s"}, bad: []string{"-1ns"}},
	{key: "ports[].cable_length", usual: "100m", b: "40m", ends: []string{"0m"}, bad: []string{"-1m", "100001m", "30"}},
	{key: "ports[].shutdown", usual: "false", b: "true", bad: []string{"1"}},
	{
		key: "ports[].accept", text: anyPort + "KEY}]\n" + vlanText + "}]", a: "all", b: "tagged",
		ends: []string{"untagged"}, bad: []string{"none"},
	},
	{key: "ports[].impair.seed", text: anyPort + "impair: {rules: [{do: lose, rate: 0.5}], KEY}}]", usual: "1", b: "2"},
	{
		key: "ports[].impair.rules[].do", text: anyPort + "impair: {rules: [{KEY}]}}]", a: "lose", b: "duplicate",
		bad: []string{"drop"},
	},
	{
		key: "ports[].impair.rules[].frames", text: anyPort + rules + "lose, KEY}]}}]", usual: "all", b: "data",
		ends: []string{"ack", "cnp", "pfc", "xoff", "xon"}, bad: []string{"some"},
	},
	{
		key: "ports[].impair.rules[].priority", text: anyPort + rules + "lose, KEY}]}}]", b: "3",
		ends: []string{"0", "7"},
	},
	{
		key: "ports[].impair.rules[].queue_pair", text: anyPort + rules + "lose, KEY}]}}]", b: "3",
		ends: []string{"1", "16777215"}, bad: []string{"0", "16777216"},
	},
	{
		key: "ports[].impair.rules[].from", text: anyPort + rules + "lose, KEY}]}}]", b: "10.0.0.1",
		bad: []string{"10.0.0"},
	},
	{
		key: "ports[].impair.rules[].to", text: anyPort + rules + "lose, KEY}]}}]", b: "10.0.0.1",
		bad: []string{"10.0.0"},
	},
	{
		key: "ports[].impair.rules[].rate", text: anyPort + rules + "lose, KEY}]}}]", b: "0.5", ends: []string{"1"},
		bad: []string{"0"},
	},
	{
		key: "ports[].impair.rules[].packets[]", text: anyPort + rules + "lose, KEY}]}}]", a: "[1]", b: "[2]",
		bad: []string{"[0]"},
	},
	{key: "ports[].impair.rules[].by", text: anyPort + rules + "delay, KEY}]}}]", a: "1us", b: "2us"},
	{key: "ports[].impair.rules[].behind", text: anyPort + rules + "reorder, KEY}]}}]", a: "1", b: "2"},
	{key: "ports[].impair.rules[].every", text: anyPort + rules + "pause, priority: 3, KEY}]}}]", a: "1us", b: "2us"},
	{key: "ports[].impair.rules[].start", text: anyPort + rules + "lose, KEY}]}}]", usual: "0s", b: "1s"},
	{key: "ports[].impair.rules[].stop", text: anyPort + rules + "lose, KEY}]}}]", b: "1s"},
	{
		key: "ports[].storm_control.broadcast.rate", usual: "0pps", b: "5pps",
		ends: []string{"1000000000pps", "1.6Tbps"}, bad: []string{"-1pps", "1000000001pps", "1601Gbps"},
	},
	{
		key:  "ports[].storm_control.broadcast.burst",
		text: anyPort + "storm_control: {broadcast: {rate: 1000pps, KEY}}}]", usual: "10", b: "20",
		bad: []string{"0", "1KB", "-1"},
	},
	{key: "ports[].storm_control.multicast.rate", usual: "0pps", b: "5pps", bad: []string{"-1pps"}},
	{
		key:  "ports[].storm_control.multicast.burst",
		text: anyPort + "storm_control: {multicast: {rate: 1000pps, KEY}}}]", usual: "10", b: "20",
		bad: []string{"0", "1KB"},
	},
	{key: "ports[].storm_control.unknown_unicast.rate", usual: "0pps", b: "5pps", bad: []string{"-1pps"}},
	{
		key:  "ports[].storm_control.unknown_unicast.burst",
		text: anyPort + "storm_control: {unknown_unicast: {rate: 1Gbps, KEY}}}]", usual: "1.25MB", b: "64KB",
		bad: []string{"0B", "10", "-1KB"},
	},
	{key: "ports[].lossless[]", b: "[4]", ends: []string{"[]", "[0, 7]"}, bad: []string{"[8]", "[-1]", "[3, 3]"}},
	{key: "ports[].asymmetric_pfc", usual: "false", b: "true"},
	{key: "ports[].pause", text: anyPort + "lossless: [], KEY}]", usual: "false", b: "true"},
	{key: "ports[].mtu", b: "1400", ends: []string{"46", "1500"}, bad: []string{"45", "1501", "0"}},
	{key: "ports[].trust", usual: "dscp", b: "pcp", ends: []string{"none"}, bad: []string{"cos"}},
	{key: "ports[].dscp_to_priority.*", a: "1", b: "2", ends: []string{"0", "7"}, bad: []string{"8", "-1"}},
	{key: "ports[].pcp_to_priority.*", a: "1", b: "2", ends: []string{"0", "7"}, bad: []string{"8", "-1"}},
	{key: "ports[].default_priority", usual: "0", b: "1", ends: []string{"7"}, bad: []string{"8", "-1"}},
	{key: "ports[].priority_to_pcp.*", a: "1", b: "2", ends: []string{"0", "7"}, bad: []string{"8", "-1"}},
	{key: "ports[].lossy_ingress.limit", b: "1MB", ends: []string{"1518B"}, bad: []string{"1517B"}},
	{
		key: "ports[].lossy_ingress.alpha", usual: "0", b: "1", ends: []string{"1024"},
		bad: []string{"-0.1", "1024.1", "nan"},
	},
	{
		key: "ports[].queues.*.wred.kmin", text: anyPort + "queues: {0: {wred: {kmax: 20KB, KEY}}}}]", a: "1KB",
		b: "2KB", ends: []string{"0B", "20KB"}, bad: []string{"-1B"},
	},
	{
		key: "ports[].queues.*.wred.kmax", text: anyPort + "queues: {0: {wred: {kmin: 10KB, KEY}}}}]", a: "20KB",
		b: "30KB", ends: []string{"10KB"}, bad: []string{"9KB"},
	},
	{
		key: "ports[].queues.*.wred.pmax", text: anyPort + wredText + "}]", usual: "0.1", b: "0.2",
		ends: []string{"0", "1"}, bad: []string{"-0.1", "1.1"},
	},
	{key: "ports[].queues.*.wred.ecn", text: anyPort + wredText + "}]", usual: "true", b: "false"},
	{key: "ports[].queues.*.wred.drop", text: anyPort + wredText + "}]", usual: "true", b: "false"},
	{key: "ports[].queues.*.alpha", b: "0.5", ends: []string{"0", "1024"}, bad: []string{"-1", "1025"}},
	{key: "ports[].queues.*.min", usual: "0B", b: "9KB", bad: []string{"-1B"}},
	{key: "ports[].queues.*.shaper.rate", usual: "0bps", b: "1Gbps", bad: []string{"-1bps", "24bps"}},
	{
		key: "ports[].queues.*.shaper.burst", text: anyPort + "queues: {0: {shaper: {rate: 8Gbps, KEY}}}}]",
		usual: "1MB", b: "64KB", ends: []string{"1546B", "1000GB"}, bad: []string{"1545B", "1001GB"},
	},
	{key: "ports[].shaper.rate", usual: "0bps", b: "1Gbps", bad: []string{"-1bps", "24bps"}},
	{
		key: "ports[].shaper.burst", text: anyPort + "shaper: {rate: 8Mbps, KEY}}]", usual: "3092B", b: "64KB",
		ends: []string{"1546B", "1GB"}, bad: []string{"1545B", "1001MB"},
	},
	{key: "ports[].addresses[]", a: "[10.1.0.1/24]", b: "[10.1.0.2/24]", bad: []string{"[10.1.0.0/24]", "[224.0.0.1]"}},
	{
		key: "rate", text: "KEY\npfc: {priorities: []}", usual: "10Gbps", b: "5Gbps", ends: []string{"1.6Tbps"},
		bad: []string{"0bps", "-1bps", "1601Gbps"}, fixed: true,
	},
	{key: "scheme.name", usual: "pcn", b: "dcqcn", bad: []string{"none of them"}},
	{
		key: "scheme.params.*", text: "scheme:\n  name: dcqcn\n  params: {KEY}", a: "10KB", b: "20KB",
		bad: []string{"-1KB", "fast"},
	},
	{key: "scheme.shares[].from", text: shareOf, b: "10.0.0.0/24", bad: []string{"10.0.0.1/24", "x"}},
	{key: "scheme.shares[].to", text: shareOf, b: "10.0.0.0/24", bad: []string{"10.0.0.1/24", "x"}},
	{key: "scheme.shares[].protocol", text: shareOf, b: "tcp", ends: []string{"1", "255"}, bad: []string{"0", "256"}},
	{key: "scheme.shares[].port", text: shareOf, b: "80", ends: []string{"1", "65535"}, bad: []string{"0", "65536"}},
	{key: "scheme.shares[].qp", text: shareOf, b: "7", ends: []string{"1", "16777215"}, bad: []string{"0", "16777216"}},
	{
		key: "scheme.shares[].weight", text: "scheme: {name: af-qcn, shares: [{cap: 1Gbps, KEY}]}", usual: "1",
		b: "2.5", ends: []string{"0.000001", "1000000"}, bad: []string{"0", "-1", "1000001"},
	},
	{key: "scheme.shares[].cap", text: shareOf, b: "1Gbps", bad: []string{"0bps", "-1bps"}},
	{key: "scheme.priorities[]", b: "[0, 3]", ends: []string{"[7]"}, bad: []string{"[8]", "[-1]", "[3, 3]"}},
	{
		key: "pfc.priorities[]", usual: "[3]", b: "[4]", ends: []string{"[]", "[0, 7]"},
		bad: []string{"[8]", "[-1]", "[3, 3]"},
	},
	{key: "pfc.xoff", usual: "512KB", b: "100KB", ends: []string{"1518B"}, bad: []string{"1517B", "0B", "-1KB"}},
	{
		key: "pfc.xon", text: "pfc: {xoff: 100KB, KEY}", usual: "97KB", b: "50KB", ends: []string{"0B", "100KB"},
		bad: []string{"-1B", "101KB"},
	},
	{key: "pfc.headroom", b: "100KB", ends: []string{"0B"}, bad: []string{"-1B"}},
	{
		key: "pfc.headroom_pool", text: "pfc: {headroom: 100KB, KEY}", a: "100KB", b: "150KB", ends: []string{"1MB"},
		bad: []string{"0B", "99KB"},
	},
	{
		key: "pfc.over_subscribe_ratio", text: "pfc: {headroom: 100KB, KEY}", a: "1", b: "2", ends: []string{"256"},
		bad: []string{"0.9", "257", "nan", "0"},
	},
	{key: "pfc.response", usual: "100us", b: "50us", ends: []string{"0s"}, bad: []string{"-1us", "1001ms"}},
	{key: "pfc.mac_phy_delay", usual: "0B", b: "819B", bad: []string{"-1B"}},
	{key: "pfc.alpha", usual: "0", b: "0.125", bad: []string{"-0.1", "nan"}},
	{key: "pfc.pause", b: "1us", bad: []string{"0s", "-1us"}},
	{key: "pfc.deadlock", usual: "100ms", b: "1s", ends: []string{"0s"}, bad: []string{"-1us"}},
	{
		key: "pfc.watchdog.detect", text: "pfc: {watchdog: {restore: 1s, KEY}}", usual: "400ms", b: "1s",
		ends: []string{"1ms"}, bad: []string{"999us", "0s"},
	},
	{
		key: "pfc.watchdog.restore", text: "pfc: {watchdog: {detect: 1s, KEY}}", usual: "400ms", b: "1s",
		ends: []string{"1ms"}, bad: []string{"999us", "0s"},
	},
	{
		key: "pfc.watchdog.action", text: "pfc: {watchdog: {detect: 1s, KEY}}", usual: "drop", b: "alert",
		ends: []string{"forward", "drop_both"}, bad: []string{"discard"},
	},
	{key: "buffer", b: "20MB", bad: []string{"0B", "-1MB", "1MB"}},
	{key: "lossy_queue", usual: "1MB", b: "2MB", ends: []string{"1518B"}, bad: []string{"1517B", "0B"}},
	{key: "lossy_alpha", usual: "0", b: "1", ends: []string{"1024"}, bad: []string{"-0.1", "1025", "nan"}},
	{key: "lossy_ingress.limit", b: "1MB", ends: []string{"1518B"}, bad: []string{"1517B"}},
	{key: "lossy_ingress.alpha", usual: "0", b: "1", ends: []string{"1024"}, bad: []string{"-0.1", "1025"}},
	{key: "weights.*", a: "1", b: "2", ends: []string{"100"}, bad: []string{"0", "101"}},
	{
		key: "queues.*.wred.kmin", text: "queues: {0: {wred: {kmax: 20KB, KEY}}}", a: "1KB", b: "2KB",
		ends: []string{"0B", "20KB"}, bad: []string{"-1B"},
	},
	{
		key: "queues.*.wred.kmax", text: "queues: {0: {wred: {kmin: 10KB, KEY}}}", a: "20KB", b: "30KB",
		ends: []string{"10KB"}, bad: []string{"9KB", "0B"},
	},
	{
		key: "queues.*.wred.pmax", text: wredText, usual: "0.1", b: "0.2", ends: []string{"0", "1"},
		bad: []string{"-0.1", "1.1", "nan"},
	},
	{key: "queues.*.wred.ecn", text: wredText, usual: "true", b: "false"},
	{key: "queues.*.wred.drop", text: wredText, usual: "true", b: "false"},
	{key: "queues.*.alpha", b: "0.5", ends: []string{"0", "1024"}, bad: []string{"-1", "1025"}},
	{key: "queues.*.min", usual: "0B", b: "9KB", bad: []string{"-1B"}},
	{key: "queues.*.shaper.rate", usual: "0bps", b: "1Gbps", bad: []string{"-1bps", "24bps"}},
	{
		key: "queues.*.shaper.burst", text: "queues: {0: {shaper: {rate: 8Gbps, KEY}}}", usual: "1MB", b: "64KB",
		bad: []string{"1545B"},
	},
	{key: "mtu", usual: "1500", b: "9000", ends: []string{"46", "9216"}, bad: []string{"45", "9217"}, fixed: true},
	{key: "trust", usual: "dscp", b: "pcp", ends: []string{"none"}, bad: []string{"cos"}},
	{key: "default_priority", usual: "0", b: "1", ends: []string{"7"}, bad: []string{"8", "-1"}},
	{key: "priority_to_pcp.*", a: "1", b: "2", ends: []string{"0", "7"}, bad: []string{"8", "-1"}},
	{key: "dscp_to_priority.*", usual: "0", b: "2", ends: []string{"7"}, bad: []string{"8", "-1"}},
	{key: "pcp_to_priority.*", usual: "0", b: "2", ends: []string{"7"}, bad: []string{"8", "-1"}},
	{key: "forwarding.learn", usual: "true", b: "false"},
	{key: "forwarding.age", usual: "300s", b: "5s", ends: []string{"0s", "1s"}, bad: []string{"999ms", "-1s"}},
	{
		key: "forwarding.size", usual: "16384", b: "5", ends: []string{"1", "8388608"}, bad: []string{"0", "8388609"},
		fixed: true,
	},
	{key: "forwarding.flood", usual: "true", b: "false"},
	{key: "forwarding.broadcast", usual: "true", b: "false"},
	{key: "forwarding.multicast", usual: "true", b: "false"},
	{
		key: "forwarding.static[].ports[]", text: "forwarding: {static: [{mac: " + one + ", KEY}]}", a: "[0]", b: "[1]",
		bad: []string{"[2]", "[-1]", "[0, 2]"},
	},
	{
		key: "forwarding.static[].mac", text: "forwarding: {static: [{port: 0, KEY}]}", a: one, b: two,
		bad: []string{`"02:00"`},
	},
	{
		key: "forwarding.static[].port", text: "forwarding: {static: [{mac: " + one + ", KEY}]}", a: "0", b: "1",
		bad: []string{"2", "-1"},
	},
	{
		key: "forwarding.static[].vlan",
		text: "vlans: [{id: 1, untagged: [0, 1]}, {id: 2, tagged: [0, 1]}]\n" +
			"forwarding: {static: [{mac: " + one + ", port: 0, KEY}]}",
		a: "1", b: "2", bad: []string{"0", "4095", "-1"},
	},
	{
		key: "vlans[].id", text: "vlans: [{untagged: [0, 1], KEY}]", a: "1", b: "2", ends: []string{"4094"},
		bad: []string{"0", "4095", "-1"},
	},
	{key: "vlans[].untagged[]", text: "vlans: [{id: 1, KEY}]", a: "[0]", b: "[1]", bad: []string{"[2]", "[-1]"}},
	{key: "vlans[].tagged[]", text: "vlans: [{id: 1, KEY}]", a: "[0]", b: "[1]", bad: []string{"[2]", "[-1]"}},
	{
		key: "vlans[].addresses[]", text: vlanText + ", KEY}]", a: "[10.1.0.1/24]", b: "[10.1.0.2/24]",
		bad: []string{"[10.1.0.0/24]", "[224.0.0.1]"},
	},
	{key: "router.mac", a: one, b: two, bad: []string{`"00:00:00:00:00:00"`, group}},
	{key: "router.addresses[]", a: "[10.1.0.1]", b: "[10.1.0.2]", bad: []string{"[224.0.0.1]", "[0.0.0.0]"}},
	{key: "router.icmp.errors", text: "router: {addresses: [10.0.0.1], icmp: {KEY}}", usual: "true", b: "false"},
	{
		key: "router.icmp.rate", text: "router: {addresses: [10.0.0.1], icmp: {KEY}}", usual: "1000pps", b: "10pps",
		bad: []string{"1Mbps", "0pps"},
	},
	{
		key: "router.icmp.burst", text: "router: {addresses: [10.0.0.1], icmp: {rate: 10pps, KEY}}", usual: "50",
		b: "1", ends: []string{"10000"}, bad: []string{"0", "10001"},
	},
	{
		key: "router.icmp.dscp", text: "router: {addresses: [10.0.0.1], icmp: {KEY}}", usual: "48", b: "8",
		ends: []string{"0", "63"}, bad: []string{"-1", "64"},
	},
	{
		key: "router.paths.by", text: "router: {addresses: [10.0.0.1], paths: {KEY}}", usual: "flow", b: "random",
		ends: []string{"round_robin", "queue"}, bad: []string{"spray", "flowlet"},
	},
	{key: "router.paths.gap", text: "router: {addresses: [10.0.0.1], paths: {by: flowlet, KEY}}", a: "1us", b: "2us"},
	{
		key: "routes[].prefix", text: "routes: [{via: [{port: 0, " + hopMAC + "}], KEY}]", a: "10.0.0.0/8",
		b: "10.0.0.0/16", bad: []string{"10.0.0.1/8", "10.0.0.0"},
	},
	{
		key: "routes[].via[].address", text: "router: {addresses: [10.1.0.1]}\n" + viaText + "port: 0, KEY}]}]",
		a: "10.0.0.2", b: "10.0.0.3", bad: []string{"10.0"},
	},
	{key: "routes[].via[].port", text: viaText + hopMAC + ", KEY}]}]", a: "0", b: "1", bad: []string{"2", "-1"}},
	{key: "routes[].via[].mac", text: viaText + "port: 0, KEY}]}]", a: one, b: two, bad: []string{`"02:00"`}},
	{
		key:  "routes[].via[].vlan",
		text: "vlans: [{id: 1, tagged: [0]}, {id: 2, tagged: [0]}]\n" + viaText + hopMAC + ", port: 0, KEY}]}]",
		a:    "1", b: "2", bad: []string{"0", "4095"},
	},
	{
		key: "routes[].via[].mtu", text: viaText + hopMAC + ", port: 0, KEY}]}]", b: "1400", ends: []string{"68"},
		bad: []string{"0"},
	},
	{
		key: "routes[].via[].weight", text: viaText + hopMAC + ", port: 0, KEY}]}]", usual: "1", b: "2",
		ends: []string{"64"}, bad: []string{"0", "65"},
	},
	{
		key: "routes[].action", text: "routes: [{prefix: 10.0.0.0/8, KEY}]", a: "prohibit", b: "blackhole",
		bad: []string{"drop"},
	},
	{key: "sflow.collector", a: "10.0.0.9:6343", b: "10.0.0.8:6343", bad: []string{"10.0.0.9", "10.0.0.9:0"}},
	{
		key: "sflow.sampling", text: "sflow: {collector: '10.0.0.9:6343', KEY}", usual: "1000", b: "5",
		ends: []string{"1", "16777216"}, bad: []string{"0", "16777217"},
	},
	{
		key: "sflow.polling", text: "sflow: {collector: '10.0.0.9:6343', KEY}", usual: "20s", b: "5s",
		ends: []string{"0s", "1s", "3600s"}, bad: []string{"999ms", "3601s", "-1s"},
	},
	{key: "sflow.agent", text: "sflow: {collector: '10.0.0.9:6343', KEY}", b: "10.0.0.1", bad: []string{"sw"}},
	{
		key: "history.pauses", usual: "1024", b: "5", ends: []string{"0", "1048576"}, bad: []string{"-1", "1048577"},
		fixed: true,
	},
	{
		key: "history.events", usual: "256", b: "5", ends: []string{"0", "1048576"}, bad: []string{"-1", "1048577"},
		fixed: true,
	},
	{
		key: "lldp.interval", text: "lldp: {hold: 4, KEY}", usual: "30s", b: "5s", ends: []string{"1s", "3600s"},
		bad: []string{"999ms", "3601s"},
	},
	{
		key: "lldp.hold", text: "lldp: {interval: 30s, KEY}", usual: "4", b: "5", ends: []string{"1", "100"},
		bad: []string{"0", "101"},
	},
	{
		key: "lldp.applications[].ethertype", text: "lldp: {applications: [{priority: 3, KEY}]}", a: "1", b: "2",
		ends: []string{"0", "65535"}, bad: []string{"-1", "65536"},
	},
	{
		key: "lldp.applications[].tcp", text: "lldp: {applications: [{priority: 3, KEY}]}", a: "1", b: "2",
		ends: []string{"65535"}, bad: []string{"-1", "65536"},
	},
	{
		key: "lldp.applications[].udp", text: "lldp: {applications: [{priority: 3, KEY}]}", a: "1", b: "2",
		ends: []string{"65535"}, bad: []string{"-1", "65536"},
	},
	{
		key: "lldp.applications[].port", text: "lldp: {applications: [{priority: 3, KEY}]}", a: "1", b: "2",
		ends: []string{"65535"}, bad: []string{"-1", "65536"},
	},
	{
		key: "lldp.applications[].dscp", text: "lldp: {applications: [{priority: 3, KEY}]}", a: "1", b: "2",
		ends: []string{"0", "63"}, bad: []string{"-1", "64"},
	},
	{
		key: "lldp.applications[].priority", text: "lldp: {applications: [{udp: 1, KEY}]}", a: "1", b: "2",
		ends: []string{"0", "7"}, bad: []string{"-1", "8"},
	},
	{key: "storm_control.broadcast.rate", usual: "0pps", b: "5pps", bad: []string{"-1pps"}},
	{
		key: "storm_control.broadcast.burst", text: "storm_control: {broadcast: {rate: 1000pps, KEY}}", usual: "10",
		b: "20", bad: []string{"0", "1KB"},
	},
	{key: "storm_control.multicast.rate", usual: "0pps", b: "5pps", bad: []string{"-1pps"}},
	{
		key: "storm_control.multicast.burst", text: "storm_control: {multicast: {rate: 1000pps, KEY}}", usual: "10",
		b: "20", bad: []string{"0", "1KB"},
	},
	{key: "storm_control.unknown_unicast.rate", usual: "0pps", b: "5pps", bad: []string{"-1pps"}},
	{
		key: "storm_control.unknown_unicast.burst", text: "storm_control: {unknown_unicast: {rate: 10pps, KEY}}",
		usual: "1", b: "20", bad: []string{"0", "1KB"},
	},
	{
		key: "metrics", usual: "127.0.0.1:9464", b: "off", ends: []string{`":9000"`},
		bad: []string{"here", "127.0.0.1"}, fixed: true,
	},
	{
		key: "series.priorities[]", usual: "[0, 1, 2, 3, 4, 5, 6, 7]", b: "[3]", bad: []string{"[8]", "[-1]"},
		fixed: true,
	},
	{key: "series.flows", bad: []string{"0", "1"}},
	{key: "admin", b: "off", ends: []string{"/a/b.sock"}, bad: []string{`""`}, fixed: true},
	{key: "live.listen", usual: "off", b: "127.0.0.1:9471", bad: []string{"0.0.0.0:9471", "here"}, fixed: true},
	{key: "live.remote", text: "live: {listen: '0.0.0.0:9471', KEY}", ends: []string{"true"}},
	{key: "pprof", usual: "off", b: "127.0.0.1:6060", bad: []string{"0.0.0.0:6060", "here"}, fixed: true},
	{key: "dpdk.workers", usual: "1", b: "2", bad: []string{"0", "3", "-1"}, fixed: true},
	{key: "dpdk.cores[]", b: "[1]", bad: []string{"[-1]", "[1, 1]"}, fixed: true},
	{key: "dpdk.hugepages", usual: "false", b: "true", fixed: true},
	{key: "dpdk.frames", b: "100000", ends: []string{"16777216"}, bad: []string{"2047", "16777217"}, fixed: true},
	{key: "dpdk.sleep", b: "1us", ends: []string{"0s", "20us", "100ms"}, bad: []string{"-1us", "101ms"}, fixed: true},
	{key: "dpdk.garbage", usual: "256MB", b: "1MB", bad: []string{"999KB"}, fixed: true},
	{key: "dpdk.eal[]", b: "[--no-telemetry]", fixed: true},
}

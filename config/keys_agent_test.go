package config

import (
	"reflect"
	"strings"
	"testing"
)

const (
	pairText  = "scheme: {name: none}\npayload: 1024B\nmemory: {rkey: 1, size: 1MB}\nflows: [{to: 10.0.0.2, "
	pairFlow  = "qp: 17, psn: 5, size: 4KiB, "
	remote    = "address: 4096, rkey: 1, "
	oneFlow   = "flows: [{to: 10.0.0.2, KEY}]"
	matchText = "tenants: [{name: x}, {name: y}]\napplication: {device: net_tap0, match: [{to: 10.9.0.0/16, KEY}]}"
)

// agentKeys are the keys of an agent's file that hosts and NICs have in common.
var agentKeys = []keyRow{
	{key: "name", usual: "agent", b: "x", bad: []string{"a/b", `"a\nb"`}},
	{key: "port.device", text: "port: {KEY}", a: "net_null1", b: "net_null2", bad: []string{"eth0", "foo:bar"}},
	{key: "port.rate", usual: "10Gbps", b: "5Gbps", bad: []string{"0bps", "-1bps", "1601Gbps"}},
	{key: "port.delay", usual: "0s", b: "1us", bad: []string{"-1ns"}},
	{key: "mac", a: one, b: two, bad: []string{group, `"00:00:00:00:00:00"`}},
	{key: "scheme.name", usual: "pcn", b: "dcqcn", bad: []string{"none of them"}},
	{
		key: "scheme.params.*", text: "scheme:\n  name: dcqcn\n  params: {KEY}", ends: []string{"10KB"},
		bad: []string{"-1KB", "fast"},
	},
	{
		key: "pfc.priorities[]", usual: "[3]", b: "[4]", ends: []string{"[]", "[0, 7]"},
		bad: []string{"[8]", "[-1]", "[3, 3]"},
	},
	{key: "cnp_dscp", usual: "48", b: "8", ends: []string{"0", "63"}, bad: []string{"-1", "64"}},
	{key: "dscp_to_priority.*", usual: "0", b: "2", ends: []string{"7"}, bad: []string{"8", "-1"}},
	{key: "np_delay", usual: "0s", b: "1us", bad: []string{"-1ns"}},
	{key: "pause_delay", usual: "0s", b: "1us", bad: []string{"-1ns"}},
	{key: "receive", usual: "4096", b: "5", ends: []string{"1", "1048576"}, bad: []string{"-1", "1048577"}},
	{key: "tenants[].name", text: "tenants: [{cap: 1Gbps, KEY}]", ends: []string{"x"}},
	{
		key: "tenants[].weight", text: "tenants: [{name: x, KEY}]", usual: "1", b: "2", ends: []string{"255"},
		bad: []string{"0", "256"},
	},
	{key: "tenants[].cap", text: "tenants: [{name: x, KEY}]", b: "1Gbps", bad: []string{"-1bps"}},
	{key: "metrics", usual: "127.0.0.1:9464", b: "off", bad: []string{"here"}},
	{key: "series.priorities[]", usual: "[0, 1, 2, 3, 4, 5, 6, 7]", b: "[3]", bad: []string{"[8]", "[-1]"}},
	{key: "series.flows", usual: "0", b: "5", ends: []string{"100"}, bad: []string{"-1", "101"}},
	{key: "admin", b: "off", ends: []string{"/a/b.sock"}, bad: []string{`""`}},
	{key: "live.listen", usual: "off", b: "127.0.0.1:9471", bad: []string{"0.0.0.0:9471", "here"}},
	{key: "live.remote", text: "live: {listen: '0.0.0.0:9471', KEY}", ends: []string{"true"}},
	{key: "pprof", usual: "off", b: "127.0.0.1:6060", bad: []string{"0.0.0.0:6060", "here"}},
	{key: "dpdk.workers", ends: []string{"1"}, bad: []string{"0", "2"}},
	{key: "dpdk.cores[]", b: "[1]", bad: []string{"[-1]"}},
	{key: "dpdk.hugepages", usual: "false", b: "true"},
	{key: "dpdk.frames", b: "100000", ends: []string{"2048", "16777216"}, bad: []string{"2047", "16777217"}},
	{key: "dpdk.sleep", usual: "20us", b: "1us", ends: []string{"0s", "100ms"}, bad: []string{"-1us", "101ms"}},
	{key: "dpdk.garbage", usual: "256MB", b: "1MB", bad: []string{"999KB"}},
	{key: "dpdk.eal[]", b: "[--no-telemetry]"},
}

// hostKeys are those that only hosts have.
var hostKeys = []keyRow{
	{key: "role", usual: "both", b: "sender", ends: []string{"receiver"}, bad: []string{"host"}},
	{key: "ip", text: "KEY", a: "10.0.0.1", b: "10.0.0.2", bad: []string{"224.0.0.1", "0.0.0.0", "255.255.255.255"}},
	{key: "gateway.mac", text: "gateway: {network: 10.0.0.0/24, KEY}", a: one, b: two, bad: []string{group}},
	{
		key: "gateway.network", text: "gateway: {mac: " + one + ", KEY}", a: "10.0.0.0/24", b: "10.0.0.0/16",
		bad: []string{"10.1.0.0/24"},
	},
	{key: "payload", usual: "1000B", b: "500B", ends: []string{"1B", "9KB"}, bad: []string{"0B", "9001B", "-1B"}},
	{key: "data_dscp", usual: "26", b: "8", ends: []string{"0", "63"}, bad: []string{"-1", "64"}},
	{key: "ack_dscp", usual: "48", b: "8", ends: []string{"0", "63"}, bad: []string{"-1", "64"}},
	{key: "ack_every", usual: "32", b: "1", ends: []string{"0", "65536"}, bad: []string{"-1", "65537"}},
	{key: "ack_timeout", usual: "67ms", b: "1ms", ends: []string{"8796s"}, bad: []string{"0s", "8797s", "-1us"}},
	{key: "retries", usual: "7", b: "8", ends: []string{"1", "100"}, bad: []string{"0", "101"}},
	{key: "recovery", usual: "go_back_n", b: "selective", bad: []string{"sack"}},
	{
		key: "window", text: "KEY\nrecovery: selective\n", usual: "512", b: "5", ends: []string{"1", "65536"},
		bad: []string{"0", "65537"},
	},
	{
		key: "reorder", text: "KEY\nrecovery: selective\n", usual: "1", b: "5", ends: []string{"512"},
		bad: []string{"0", "513"},
	},
	{
		key: "low_timeout", text: "KEY\nrecovery: selective\n", b: "1ms", ends: []string{"67ms"},
		bad: []string{"0s", "68ms", "-1us"},
	},
	{
		key: "low_packets", text: "KEY\nrecovery: selective\nlow_timeout: 1ms", usual: "3", b: "5",
		ends: []string{"1", "512"}, bad: []string{"0", "513"},
	},
	{key: "entropy", text: "KEY\nrecovery: selective\n", usual: "flow", b: "packet", bad: []string{"flowlet", "port"}},
	{key: "flowlet_gap", text: "KEY\nrecovery: selective\nentropy: flowlet", a: "1us", b: "2us"},
	{
		key: "memory.address", text: "memory: {rkey: 1, size: 1MB, KEY}", usual: "0", b: "4096",
		bad: []string{"0xffffffffffffff00"},
	},
	{
		key: "memory.rkey", text: "memory: {size: 1MB, KEY}", a: "1", b: "2", ends: []string{"0xffffffff"},
		bad: []string{"0x100000000", "-1"},
	},
	{
		key: "memory.size", text: "memory: {rkey: 1, KEY}", a: "1MB", b: "2MB", ends: []string{"1B", "1GiB"},
		bad: []string{"0B", "1073741825B", "-1B"},
	},
	{key: "memory.file", text: "memory: {rkey: 1, size: 1MB, KEY}", b: "/tmp/x"},
	{key: "flows[].to", a: "10.0.0.2", b: "10.0.0.3", bad: []string{"10.0.0.1", "224.0.0.1", "fd00::1"}},
	{key: "flows[].to_mac", text: oneFlow, b: one, bad: []string{group, `"00:00:00:00:00:00"`}},
	{
		key: "flows[].qp", text: oneFlow, usual: "1", b: "2", ends: []string{"16777215"},
		bad: []string{"0", "16777216", "-1"},
	},
	{
		key: "flows[].count", text: oneFlow, usual: "1", b: "2", ends: []string{"1000"},
		bad: []string{"0", "1048577", "-1"},
	},
	{
		key: "flows[].psn", text: pairText + "qp: 17, size: 4KiB, KEY}]", a: "0", b: "1", ends: []string{"16777215"},
		bad: []string{"-1", "16777216"},
	},
	{key: "flows[].size", text: oneFlow, b: "1MB", ends: []string{"1B"}, bad: []string{"0B", "-1B"}},
	{key: "flows[].start", text: oneFlow, usual: "0s", b: "1s", bad: []string{"-1us"}},
	{key: "flows[].rate", text: oneFlow, b: "1Gbps", bad: []string{"-1bps"}},
	{key: "flows[].weight", text: oneFlow, usual: "1", b: "2", ends: []string{"255"}, bad: []string{"0", "256"}},
	{key: "flows[].tenant", text: "tenants: [{name: x}, {name: y}]\n" + oneFlow, a: "x", b: "y", bad: []string{"z"}},
	{
		key: "flows[].local_qp", text: pairText + pairFlow + "KEY}]", usual: "17", b: "18",
		ends: []string{"1", "16777215"}, bad: []string{"0", "16777216"},
	},
	{
		key: "flows[].peer_psn", text: pairText + pairFlow + "KEY}]", b: "1", ends: []string{"0", "16777215"},
		bad: []string{"-1", "16777216"},
	},
	{
		key: "flows[].messages", text: pairText + pairFlow + "KEY}]", usual: "1", b: "2",
		ends: []string{"1000000000"}, bad: []string{"-1", "1000000001", "0"},
	},
	{
		key: "flows[].write.address", text: pairText + pairFlow + "write: {rkey: 1, KEY}}]", a: "0", b: "1",
		bad: []string{"0xfffffffffffffffe"},
	},
	{
		key: "flows[].write.rkey", text: pairText + pairFlow + "write: {address: 0, KEY}}]", a: "0", b: "1",
		ends: []string{"0xffffffff"},
	},
	{
		key: "flows[].write.size", text: pairText + pairFlow + "write: {" + remote + "KEY}}]", usual: "4KiB",
		b: "8KiB", bad: []string{"4095B"},
	},
	{key: "flows[].write.into", text: pairText + pairFlow + "write: {" + remote + "KEY}}]", bad: []string{"0"}},
	{
		key: "flows[].read.address", text: pairText + pairFlow + "read: {rkey: 1, KEY}}]", a: "0", b: "1",
		bad: []string{"0xfffffffffffffffe"},
	},
	{
		key: "flows[].read.rkey", text: pairText + pairFlow + "read: {address: 0, KEY}}]", a: "0", b: "1",
		ends: []string{"0xffffffff"},
	},
	{
		key: "flows[].read.size", text: pairText + pairFlow + "read: {" + remote + "KEY}}]", usual: "4KiB", b: "8KiB",
		bad: []string{"4095B"},
	},
	{
		key: "flows[].read.into", text: pairText + pairFlow + "read: {" + remote + "KEY}}]", b: "0",
		ends: []string{"995904"}, bad: []string{"995905"},
	},
	{
		key: "flows[].receive.address", text: pairText + pairFlow + "receive: {size: 4KiB, KEY}}]", usual: "0",
		b: "1", ends: []string{"995904"},
	},
	{
		key: "flows[].receive.size", text: pairText + pairFlow + "receive: {address: 0, KEY}}]", a: "4KiB", b: "8KiB",
		ends: []string{"1B", "1MB"},
	},
	{
		key: "flows[].receive.count", text: pairText + pairFlow + "receive: {address: 0, size: 100KB, KEY}}]",
		usual: "1", b: "2", ends: []string{"10"},
	},
	{key: "traffic", b: "/tmp/x.yaml"},
	{key: "results", b: "/tmp/x.csv"},
	{key: "send", usual: "4096", b: "5", ends: []string{"1", "1048576"}, bad: []string{"0", "-1", "1048577"}},
}

// nicKeys are those that only NICs have.
var nicKeys = []keyRow{
	{key: "scheme.priorities[]", b: "[0, 3]", ends: []string{"[7]"}, bad: []string{"[8]", "[-1]", "[3, 3]"}},
	{key: "role", text: "KEY", ends: []string{"nic"}},
	{key: "port.cable_delay", usual: "500ns", b: "1us", ends: []string{"0s"}, bad: []string{"-1ns"}},
	{key: "port.cable_length", usual: "100m", b: "40m", ends: []string{"0m"}, bad: []string{"-1m", "100001m"}},
	{
		key: "application.device", text: "application: {KEY}", a: "net_tap0", b: "net_tap1",
		bad: []string{"eth0", "net_null0", "'0000:03:00.0'"},
	},
	{key: "application.rate", b: "1Gbps", bad: []string{"0bps", "-1bps", "1601Gbps"}},
	{key: "application.mac[]", b: "[" + one + "]", bad: []string{"[" + group + "]"}},
	{key: "application.mtu", usual: "1500", b: "1400", ends: []string{"9000"}, bad: []string{"45", "9217"}},
	{key: "application.dscp", usual: "0", b: "26", ends: []string{"63"}, bad: []string{"-1", "64"}},
	{key: "application.ecn", usual: "clear", b: "keep", bad: []string{"mark"}},
	{key: "application.flows", usual: "4096", b: "5", ends: []string{"1"}},
	{key: "application.flow_queue", usual: "256", b: "5"},
	{key: "application.queue", usual: "4096", b: "5000"},
	{key: "application.full", usual: "drop", b: "hold", bad: []string{"wait"}},
	{key: "application.age", usual: "10s", b: "5s"},
	{key: "application.release", usual: "2s", b: "5s", ends: []string{"0s"}},
	{key: "application.cnp_period", text: "scheme: {name: dcqcn}\napplication: {device: net_tap0, KEY}", b: "1ms"},
	{key: "application.match[].from", text: matchText, b: "10.0.0.0/8", bad: []string{"10.0.0.1/8"}},
	{
		key: "application.match[].to", text: strings.Replace(matchText, "to: 10.9.0.0/16", "rate: 1Gbps", 1),
		b: "10.0.0.0/8", bad: []string{"10.0.0.1/8"},
	},
	{
		key: "application.match[].protocol", text: matchText, a: "tcp", b: "udp", ends: []string{"1", "255"},
		bad: []string{"0", "256", "icmp"},
	},
	{
		key: "application.match[].port", text: matchText, b: "80", ends: []string{"1", "65535"},
		bad: []string{"0", "65536"},
	},
	{
		key: "application.match[].qp", text: matchText, b: "80", ends: []string{"1", "16777215"},
		bad: []string{"0", "16777216"},
	},
	{key: "application.match[].rate", text: matchText, b: "1Gbps", bad: []string{"0bps", "-1bps"}},
	{
		key: "application.match[].weight", text: matchText, usual: "1", b: "2", ends: []string{"255"},
		bad: []string{"0", "256"},
	},
	{key: "application.match[].tenant", text: matchText, a: "x", b: "y", bad: []string{"z"}},
	{key: "application.lossy_queue", usual: "1MB", b: "5MB"},
	{key: "pfc.xoff", usual: "512KB", b: "100KB", ends: []string{"1518B"}, bad: []string{"1517B", "0B", "-1KB"}},
	{
		key: "pfc.xon", text: "pfc: {xoff: 100KB, KEY}", usual: "97KB", b: "50KB", ends: []string{"0B", "100KB"},
		bad: []string{"-1B", "101KB"},
	},
	{key: "pfc.headroom", b: "100KB", ends: []string{"1500B"}, bad: []string{"-1B", "1499B"}},
	{key: "pfc.response", usual: "100us", b: "50us", ends: []string{"0s"}, bad: []string{"-1us", "1001ms"}},
	{key: "pfc.mac_phy_delay", usual: "0B", b: "819B", bad: []string{"-1B"}},
	{key: "pfc.pause", b: "1us", bad: []string{"0s", "-1us"}},
}

// A key of an agent's file does what it is there for, or is refused: a host does not have all that a NIC has, and the
// port of neither is one of a switch.
func TestEveryKeyOfAnAgent(t *testing.T) {
	check := func(c *Agent) error { return c.Check() }
	all := map[string]keyRow{}
	for _, r := range switchKeys {
		all[strings.Replace(r.key, "ports[]", "port", 1)] = r
	}
	for _, r := range append(append(append([]keyRow{}, agentKeys...), hostKeys...), nicKeys...) {
		all[r.key] = r
	}
	for base, own := range map[string][]keyRow{hostBase: hostKeys, nicBase: nicKeys} {
		rows := append(append([]keyRow{}, agentKeys...), own...)
		checkKeys(t, base, rows, check, agentInForce)
		has := map[string]bool{}
		for _, r := range rows {
			has[r.key] = true
		}
		for _, key := range leaves("", reflect.TypeFor[Agent]()) {
			if has[key] {
				continue
			}
			r, there := all[key]
			if !there {
				t.Errorf("no row is of %s", key)
			}
			for _, value := range append([]string{r.a, r.b}, r.ends...) {
				if value == "" {
					continue
				}
				r := keyRow{key: key}
				text, line := r.file(base, value)
				if _, err := readKeys(text, check); err == nil {
					t.Errorf("%s is taken, and nothing comes of it (line %d):\n%s", key, line, text)
				}
			}
		}
	}
}

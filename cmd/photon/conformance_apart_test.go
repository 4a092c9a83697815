//go:build dpdk && conformance

package main

// apartRows are cases of the plans that ask for what photon does not do, and why.
func apartRows() []conformanceRow {
	return []conformanceRow{
		{
			name: "qos-tunnel-remap", source: "SONiC tests/qos/test_tunnel_qos_remap.py", asserts: "Classes of tunnelled traffic are mapped anew.",
			apart: "photon ends no tunnels",
		},
		{
			name: "qos-tc-to-dscp", source: "SONiC tests/qos/test_tc_to_dscp_mapping.py", asserts: "A DSCP is written by class on the way out.",
			apart: "a switch of photon changes no DSCP",
		},
		{
			name: "pfcwd-warm-reboot", source: "SONiC tests/pfcwd/test_pfcwd_warm_reboot.py", asserts: "Storms are found and ended across a warm reboot.",
			apart: "there is no warm start: the buffer is the process's memory, and a switch that stops drains it first",
		},
		{
			name: "pfcwd-timer-accuracy", source: "SONiC tests/pfcwd/test_pfcwd_timer_accuracy.py", asserts: "Storms are found within so many milliseconds.",
			apart: "on a machine shared with others an upper bound says something about the others; that none is found too soon is in pfcwd-detect",
		},
		{
			name: "router-class-e", source: "Linux router.sh, sip_in_class_e", asserts: "Packets from 240.0.0.1 are routed.",
			apart: "SONiC asks the opposite, and so does RFC 1812 (section 5.3.7): drop-src-class-e shows it",
		},
		{
			name: "drop-acl", source: "SONiC tests/drop_packets/drop_packets.py, test_acl_drop", asserts: "Packets that a rule denies are dropped and counted.",
			apart: "there are no access lists; a route may say `prohibit` or `blackhole`",
		},
		{
			name: "bridge-igmp", source: "Linux bridge_igmp.sh, bridge_mld.sh, bridge_mdb.sh", asserts: "Groups go to ports that asked for them.",
			apart: "there is no snooping: groups go to the whole VLAN, which bridge-flood-groups shows",
		},
		{
			name: "bridge-isolation", source: "Linux bridge_port_isolation.sh", asserts: "Isolated ports of a VLAN do not reach each other.",
			apart: "ports are kept apart by VLANs",
		},
		{
			name: "bridge-locked", source: "Linux bridge_locked_port.sh", asserts: "A locked port takes frames from known sources alone (802.1X).",
			apart: "there is no port authentication",
		},
		{
			name: "router-multipath-weights", source: "Linux router_multipath.sh, 2:1 and 11:45", asserts: "Flows are shared by weights.",
			apart: "next hops of a route are of equal cost",
		},
		{
			name: "router-multicast", source: "Linux router_multicast.sh; router.sh, mc_mac_mismatch", asserts: "Multicast is routed.",
			apart: "only unicast is routed",
		},
		{
			name: "router-broadcast", source: "Linux router_broadcast.sh", asserts: "Directed broadcasts are forwarded or not, as a switch of the kernel says.",
			apart: "a router of photon has no subnets of its own to broadcast into: hosts are next hops of routes",
		},
		{
			name: "tunnels", source: "Linux vxlan_bridge_1d.sh, gre_multipath.sh, ipip_flat_gre.sh and their like", asserts: "Tunnels begin and end.",
			apart: "photon ends no tunnels",
		},
		{
			name: "lag", source: "Linux router_bridge_lag.sh, mirror_gre_lag_lacp.sh", asserts: "Links are bundled.",
			apart: "there is no link aggregation",
		},
	}
}

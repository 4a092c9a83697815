//go:build dpdk && conformance

package main

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"photon/wire"
)

// routerLines is a router for h1's subnets, and all else to h2.
var routerLines = fmt.Sprintf(`router: {mac: '02:00:00:00:aa:aa', addresses: [10.1.0.1, 10.2.0.1, 'fd00:1::1', 'fd00:2::1']}
routes:
- {prefix: 10.1.0.0/24, via: [{port: 0, mac: '%[1]v'}]}
- {prefix: 'fd00:1::/64', via: [{port: 0, mac: '%[1]v'}]}
- {prefix: 10.2.0.0/24, via: [{port: 1, mac: '%[2]v'}]}
- {prefix: 'fd00:2::/64', via: [{port: 1, mac: '%[2]v'}]}
- {prefix: 0.0.0.0/0, via: [{port: 2, mac: '%[3]v'}]}
- {prefix: '::/0', via: [{port: 2, mac: '%[3]v'}]}
`, mac(0), mac(1), mac(2))

// routed is a packet of h0 to the router, from one address to another.
func routed(from, to string) []byte {
	b := make([]byte, 200)
	r := wire.RoCE{DstMAC: 0x0200_0000_AAAA, SrcMAC: mac(0), Src: netip.MustParseAddr(from).As16(), Dst: netip.MustParseAddr(to).As16(), TOS: 8 << 2, SrcPort: 4000}
	headers := wire.EthernetLen + wire.IPv6Len + wire.UDPLen
	if r.Src.Is4() {
		headers = wire.EthernetLen + wire.IPv4Len + wire.UDPLen
	}
	at := r.Encode(b, len(b)-headers)
	binary.BigEndian.PutUint16(b[at-6:], 12345)
	return b
}

// arrivals are what the other hosts receive of what h0 has sent.
func (o *operated) arrivals() (n [4]int) {
	o.t.Helper()
	for to := range o.hosts {
		if to != 0 {
			n[to] = len(o.receivedUntilSentinel(0, to, tests))
		}
	}
	return n
}

// drops has h0 send bad frames, ten times, after a good one which arrives: no host receives one, and the discards of a
// reason, or of any, are as many.
func drops(lines, reason string, good []byte, bad ...[]byte) func(*testing.T) {
	return func(t *testing.T) {
		o := operate(t, lines)
		o.hosts[0].Send(good)
		if n := o.arrivals(); n == [4]int{} {
			t.Error("the good frame does not arrive")
		}
		discards := func() float64 {
			if reason == "" {
				return sum(o.process.metrics(), "photon_port_discards_total", `port="sw0"`)
			}
			return o.discards(reason)
		}
		before := discards()
		for range 10 {
			for _, b := range bad {
				o.hosts[0].Send(b)
			}
		}
		wants(t, "frames that arrive", o.arrivals(), [4]int{})
		wants(t, "discards for "+reason, discards()-before, float64(10*len(bad)))
	}
}

// both are a packet of IPv4 and one of IPv6.
func both(from4, to4, from6, to6 string) [][]byte {
	return [][]byte{routed(from4, to4), routed(from6, to6)}
}

func dropRows() []conformanceRow {
	const plan = "SONiC tests/drop_packets/drop_packets.py, "
	good, plain := routed("10.1.0.2", "10.2.0.2"), udp(0, 1, 8, 100, 0)
	bad := func(at int, v byte) []byte { return changed(good, func(b []byte) { b[at] = v; setChecksum(b) }) }
	return []conformanceRow{
		{
			name: "drop-smac-multicast", source: plan + "test_multicast_smac_drop",
			asserts: "A frame whose source is a group's address is dropped and counted.",
			check:   drops("", "source_address", plain, changed(plain, func(b []byte) { b[6] |= 1 })),
		},
		{
			name: "drop-equal-macs", source: plan + "test_equal_smac_dmac_drop",
			asserts: "A frame whose source is its destination is dropped and counted.",
			check:   drops("", "no_port", plain, changed(plain, func(b []byte) { copy(b, b[6:12]) })),
		},
		{
			name: "drop-reserved-dmac", source: plan + "test_reserved_dmac_drop",
			asserts: "Frames to 01-80-C2-00-00-05 and 01-80-C2-00-00-08 are dropped and counted.",
			check: drops("", "reserved_address", plain, changed(plain, func(b []byte) { wire.MAC(0x0180_C200_0005).Put(b) }),
				changed(plain, func(b []byte) { wire.MAC(0x0180_C200_0008).Put(b) })),
		},
		{
			name: "drop-vlan-tag", source: plan + "test_not_expected_vlan_tag_drop",
			asserts: "A frame with the tag of a VLAN of which its port is no member is dropped and counted.",
			check:   drops("vlans:\n- {id: 10, untagged: [0, 1, 2, 3]}\n", "vlan", plain, tagged(plain, 0x8100, 0, 77)),
		},
		{
			name: "drop-ip-header", source: plan + "test_broken_ip_header",
			asserts: "Packets for the router of a wrong version, a header that is too short, or a wrong checksum are dropped and counted.",
			check: drops(routerLines, "", good, changed(good, func(b []byte) { b[14] = 0x55 }), changed(good, func(b []byte) { b[14] = 0x43 }),
				changed(good, func(b []byte) { b[24] ^= 0x55 })),
		},
		{
			name: "drop-ttl", source: plan + "test_ip_pkt_with_expired_ttl",
			asserts: "Packets whose time to live is 0 or 1 are dropped and counted.",
			check:   drops(routerLines, "ttl", good, bad(22, 0), bad(22, 1)),
		},
		{
			name: "drop-src-loopback", source: plan + "test_src_ip_is_loopback_addr",
			asserts: "Packets from 127.0.0.1 and ::1 are not routed, and counted.",
			check:   drops(routerLines, "martian_source", good, both("127.0.0.1", "10.2.0.2", "::1", "fd00:2::2")...),
		},
		{
			name: "drop-dst-loopback", source: plan + "test_dst_ip_is_loopback_addr",
			asserts: "Packets to 127.0.0.1 and ::1 are not routed, with a default route, and counted.",
			check:   drops(routerLines, "no_route", good, both("10.1.0.2", "127.0.0.1", "fd00:1::2", "::1")...),
		},
		{
			name: "drop-src-class-e", source: plan + "test_src_ip_is_class_e",
			asserts: "Packets from 240.0.0.1 and 255.255.255.254 are not routed, and counted.",
			check:   drops(routerLines, "martian_source", good, routed("240.0.0.1", "10.2.0.2"), routed("255.255.255.254", "10.2.0.2")),
		},
		{
			name: "drop-src-multicast", source: plan + "test_src_ip_is_multicast_addr",
			asserts: "Packets from 224.0.0.5 and ff02::5 are not routed, and counted.",
			check:   drops(routerLines, "martian_source", good, both("224.0.0.5", "10.2.0.2", "ff02::5", "fd00:2::2")...),
		},
		{
			name: "drop-src-link-local", source: plan + "test_ip_is_zero_addr and test_src_ip_link_local",
			asserts: "Packets from 169.254.10.125, fe80::1, 0.0.0.0 and :: are not routed, and counted.",
			check: drops(routerLines, "martian_source", good, append(both("169.254.10.125", "10.2.0.2", "fe80::1", "fd00:2::2"),
				both("0.0.0.0", "10.2.0.2", "::", "fd00:2::2")...)...),
		},
		{
			name: "drop-dst-link-local", source: plan + "test_dst_ip_link_local and test_ip_is_zero_addr",
			asserts: "Packets to 169.254.10.125, fe80::1, 0.0.0.0 and :: are not routed, with a default route, and counted.",
			check: drops(routerLines, "no_route", good, append(both("10.1.0.2", "169.254.10.125", "fd00:1::2", "fe80::1"),
				both("10.1.0.2", "0.0.0.0", "fd00:1::2", "::")...)...),
		},
		{
			name: "drop-mtu", source: plan + "test_ip_pkt_with_exceeded_mtu; Linux min_max_mtu.sh",
			asserts: "A frame as long as the MTU allows arrives, at 1500 and at 9216; one that is a byte longer is dropped and counted.",
			check: func(t *testing.T) {
				for _, mtu := range []int{1500, 9216} {
					t.Run(fmt.Sprint(mtu), func(t *testing.T) {
						l := newFourHosts(t)
						for i := range l.hosts {
							l.hosts[i].Run(t, "ip", "link", "set", "eth0", "mtu", "9300")
							l.sw.Run(t, "ip", "link", "set", fmt.Sprintf("sw%d", i), "mtu", "9300")
						}
						o := operateOn(t, l, fmt.Sprintf("mtu: %d\n", mtu))
						o.hosts[0].Send(udp(0, 1, 8, 14+mtu, 0))
						wants(t, "frames of the MTU", o.arrivals(), [4]int{1: 1})
						o.hosts[0].Send(udp(0, 1, 8, 14+mtu+5, 0)) // with room for a tag, at which this switch does not look
						wants(t, "longer frames", o.arrivals(), [4]int{})
						wants(t, "discards", o.discards("oversize"), 1)
					})
				}
			},
		},
		{
			name: "drop-no-egress", source: plan + "test_no_egress_drop_on_down_link",
			asserts: "Packets for a next hop whose link is down are dropped and counted.",
			check: func(t *testing.T) {
				o := operate(t, routerLines)
				o.hosts[0].Send(good)
				wants(t, "frames while the link is up", o.arrivals(), [4]int{1: 1})
				o.fourHosts.hosts[1].Run(t, "ip", "link", "set", "eth0", "down")
				o.until("the link is down", func() bool { return strings.Contains(o.process.log.String(), "port sw1: link down") })
				before := sum(o.process.metrics(), "photon_port_discards_total")
				for range 10 {
					o.hosts[0].Send(good)
				}
				wants(t, "frames elsewhere", [2]int{len(o.receivedUntilSentinel(0, 2, tests)), len(o.receivedUntilSentinel(0, 3, tests))}, [2]int{})
				wants(t, "discards", sum(o.process.metrics(), "photon_port_discards_total")-before, 10)
			},
		},
	}
}

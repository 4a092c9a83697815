//go:build dpdk && conformance

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"photon/telemetry/show"
	"photon/wire"
)

// aware is a bridge with ports 0, 1 and 3 in VLAN 10, the last by tag, and 2 and 3 in VLAN 20.
const aware = "vlans:\n- {id: 10, untagged: [0, 1], tagged: [3]}\n- {id: 20, untagged: [2], tagged: [3]}\n" + vlanOfH3

// vlanOfH3 is a VLAN for the frames that h3 sends without a tag.
const vlanOfH3 = "- {id: 30, untagged: [3]}\n"

// reaches has the kernels of h0 and h1 ping each other.
func reaches(lines, first, second string) func(*testing.T) {
	return func(t *testing.T) {
		o := operateOn(t, newFourHosts(t), lines)
		o.address(0, "eth0", first)
		o.address(1, "eth0", second)
		to, _, _ := strings.Cut(second, "/")
		if !o.pings(0, to) {
			t.Error("no ping")
		}
	}
}

// at is where a frame that h0 sends arrives.
func (o *operated) at(frame []byte) [4]int {
	o.t.Helper()
	o.hosts[0].Send(frame)
	return o.arrivals()
}

// knows reports where an address is known.
func (o *operated) knows(a wire.MAC) string {
	var fdb show.FDB
	o.show("fdb", &fdb)
	for _, e := range fdb.Entries {
		if e.MAC == a.String() {
			return strings.Join(e.Ports, " ")
		}
	}
	return ""
}

// to is a frame of h0 to an address.
func to(a wire.MAC, number uint32) []byte {
	return changed(udp(0, 1, 8, 100, number), func(b []byte) { a.Put(b) })
}

const (
	unknown   wire.MAC = 0x0200_0000_1234
	group     wire.MAC = 0x0100_5E01_0203
	group6    wire.MAC = 0x3333_0000_0123
	otherThan wire.MAC = 0x0102_0304_0506 // a group of no protocol
)

func bridgeRows() []conformanceRow {
	const un, aw, none = "Linux bridge_vlan_unaware.sh, ", "Linux bridge_vlan_aware.sh, ", "Linux no_forwarding.sh, "
	plain := udp(0, 1, 8, 100, 0)
	return []conformanceRow{
		{
			name: "bridge-ping4", source: un + "ping_ipv4", asserts: "Without VLANs kernels reach each other by IPv4 with what they know of themselves.",
			check: reaches("", "10.9.0.1/24", "10.9.0.2/24"),
		},
		{
			name: "bridge-ping6", source: un + "ping_ipv6", asserts: "Without VLANs kernels reach each other by IPv6.",
			check: reaches("", "fd00::1/64", "fd00::2/64"),
		},
		{
			name: "bridge-learning", source: un + "learning",
			asserts: "Frames to an address go everywhere until it is heard of, then to its port alone, and everywhere again when it has aged.",
			check: func(t *testing.T) {
				o := operate(t, "forwarding: {age: 3s}\n")
				wants(t, "before", o.at(to(unknown, 0)), [4]int{0, 1, 1, 1})
				hello := udp(2, 0, 8, 100, 0)
				unknown.Put(hello[6:])
				o.hosts[2].Send(hello)
				o.receivedUntilSentinel(2, 0, noFrame)
				wants(t, "known", o.at(to(unknown, 1)), [4]int{2: 1})
				o.until("it has aged", func() bool { return o.knows(unknown) == "" })
				wants(t, "after", o.at(to(unknown, 2)), [4]int{0, 1, 1, 1})
			},
		},
		{
			name: "bridge-no-learning", source: "Linux lib.sh, learning_test with learning off",
			asserts: "With `learn: false` frames go everywhere, whoever has spoken.",
			check: func(t *testing.T) {
				l := newFourHosts(t)
				o := operateOn(t, l, "")
				o.reloads("forwarding: {learn: false}\n")
				hello := udp(2, 0, 8, 100, 0)
				unknown.Put(hello[6:])
				o.hosts[2].Send(hello)
				for _, to := range []int{0, 1, 3} {
					o.receivedUntilSentinel(2, to, noFrame)
				}
				wants(t, "an address that has spoken", o.at(to(unknown, 1)), [4]int{0, 1, 1, 1})
			},
		},
		{
			name: "bridge-flood-unicast", source: un + "flooding, unknown unicast",
			asserts: "Frames to an address that nobody has go to all ports but their own; with `flood: false` to none, and are counted.",
			check: func(t *testing.T) {
				o := operate(t, "")
				wants(t, "flooded", o.at(to(unknown, 0)), [4]int{0, 1, 1, 1})
				o.reloads("forwarding: {flood: false}\n")
				wants(t, "not flooded", o.at(to(unknown, 1)), [4]int{})
				wants(t, "discards", o.discards("unknown_unicast"), 1)
			},
		},
		{
			name: "bridge-flood-groups", source: un + "flooding, unregistered multicast; broadcast",
			asserts: "Frames to groups of IPv4, of IPv6 and of neither, and broadcasts, go to all ports but their own.",
			check: func(t *testing.T) {
				o := operate(t, "")
				for _, a := range []wire.MAC{group, group6, otherThan, wire.Broadcast} {
					wants(t, a.String(), o.at(to(a, 0)), [4]int{0, 1, 1, 1})
				}
			},
		},
		{
			name: "bridge-tags", source: "IEEE 802.1Q, a bridge that does not know of VLANs",
			asserts: "A bridge without VLANs passes tags of 802.1Q, one, two, and one of VLAN 0, as they came.",
			check:   passesTags(tagged(plain, 0x8100, 5, 42), tagged(tagged(plain, 0x8100, 1, 7), 0x8100, 5, 42), tagged(plain, 0x8100, 0, 0), tagged(plain, 0x8100, 7, 4095)),
		},
		{
			name: "bridge-provider-tags", source: "IEEE 802.1Q, a bridge that does not know of provider tags",
			asserts: "A bridge passes tags of 802.1ad (TPID 88A8), alone and before one of 802.1Q, as they came.",
			check:   passesTags(tagged(plain, 0x88A8, 5, 42), tagged(tagged(plain, 0x8100, 1, 7), 0x88A8, 5, 42)),
			known:   noTPID,
		},
		{
			name: "bridge-mac-move", source: "SONiC tests/fdb/test_fdb_mac_move.py",
			asserts: "An address that speaks behind another port is known there from its first frame on.",
			check: func(t *testing.T) {
				o := operate(t, "")
				for i := range 8 {
					from := 2 + i%2
					hello := udp(from, 0, 8, 100, 0)
					unknown.Put(hello[6:])
					o.hosts[from].Send(hello)
					o.receivedUntilSentinel(from, 0, noFrame)
					want := [4]int{}
					want[from] = 1
					wants(t, "frames to it", o.at(to(unknown, uint32(i))), want)
				}
			},
		},
		{
			name: "bridge-sticky", source: "Linux bridge_sticky_fdb.sh",
			asserts: "An address that was put at a port does not move when it speaks behind another.",
			check: func(t *testing.T) {
				o := operate(t, fmt.Sprintf("forwarding: {static: [{mac: '%v', port: 3}]}\n", unknown))
				hello := udp(2, 0, 8, 100, 0)
				unknown.Put(hello[6:])
				o.hosts[2].Send(hello)
				o.receivedUntilSentinel(2, 0, noFrame)
				wants(t, "it is at", o.knows(unknown), "sw3")
				wants(t, "frames to it", o.at(to(unknown, 0)), [4]int{3: 1})
			},
		},
		{
			name: "bridge-link-local", source: "IEEE 802.1Q clause 8.6.3, table 8-1; Linux bridge, group_fwd_mask of none",
			asserts: "Frames to the sixteen groups 01-80-C2-00-00-00 to -0F reach no other port, with and without VLANs; frames to 01-80-C2-00-00-10 do.",
			check: func(t *testing.T) {
				for name, lines := range map[string]string{"unaware": "", "aware": "vlans:\n- {id: 10, untagged: [0, 1, 2, 3]}\n"} {
					t.Run(name, func(t *testing.T) {
						o := operate(t, lines)
						for i := range wire.MAC(16) {
							wants(t, fmt.Sprint("group ", i), o.at(to(0x0180_C200_0000+i, 0)), [4]int{})
						}
						wants(t, "discards", o.discards("reserved_address"), 16)
						wants(t, "the group after them", o.at(to(0x0180_C200_0010, 0)), [4]int{0, 1, 1, 1})
					})
				}
			},
		},
		{
			name: "vlan-ping4", source: aw + "ping_ipv4", asserts: "With VLANs kernels in one reach each other by IPv4.",
			check: reaches(aware, "10.9.0.1/24", "10.9.0.2/24"),
		},
		{
			name: "vlan-ping6", source: aw + "ping_ipv6", asserts: "With VLANs kernels in one reach each other by IPv6.",
			check: reaches(aware, "fd00::1/64", "fd00::2/64"),
		},
		{
			name: "vlan-learning", source: aw + "learning",
			asserts: "An address is learned in the VLAN in which it speaks, and no other: the same one is behind two ports in two VLANs.",
			check: func(t *testing.T) {
				o := operate(t, aware)
				for host := 1; host <= 2; host++ {
					hello := udp(host, 3, 8, 100, 0)
					unknown.Put(hello[6:])
					o.hosts[host].Send(hello)
				}
				var fdb show.FDB
				o.until("it is known twice", func() bool {
					o.show("fdb", &fdb)
					var at []string
					for _, e := range fdb.Entries {
						if e.MAC == unknown.String() {
							at = append(at, fmt.Sprint(e.VLAN, e.Ports))
						}
					}
					slices.Sort(at)
					return slices.Equal(at, []string{"10 [sw1]", "20 [sw2]"})
				})
				o.hosts[3].Send(tagged(to(unknown, 1), 0x8100, 0, 20))
				o.until("a frame in VLAN 20 is at h2", func() bool {
					return len(o.hosts[2].Collect(10*time.Millisecond, func(b []byte) bool { return wire.MACAt(b) == unknown })) == 1
				})
				if n := len(o.receivedUntilSentinel(0, 1, func(b []byte) bool { return wire.MACAt(b) == unknown })); n != 0 {
					t.Errorf("%d frames in VLAN 10", n)
				}
			},
		},
		{
			name: "vlan-flooding", source: aw + "flooding",
			asserts: "Unknown unicast, groups and broadcasts reach the ports of their VLAN, with a tag where they are tagged members, and no other.",
			check: func(t *testing.T) {
				o := operate(t, aware)
				for i, a := range []wire.MAC{unknown, group, group6, wire.Broadcast} {
					b := to(a, uint32(100+i))
					o.hosts[0].Send(b)
					mark := b[26:50]
					var got [][]byte
					o.until("it is at h3", func() bool {
						got = append(got, o.hosts[3].Collect(10*time.Millisecond, func(b []byte) bool { return bytes.Contains(b, mark) })...)
						return len(got) > 0
					})
					if want := tagged(b, 0x8100, 1, 10); !bytes.Equal(got[0], want) {
						t.Errorf("h3 receives % x, expected % x", got[0][:20], want[:20])
					}
					wants(t, "frames at h1", len(o.receivedUntilSentinel(0, 1, func(b []byte) bool { return bytes.Contains(b, mark) })), 1)
					o.hosts[3].Send(tagged(udp(3, 2, 16, 100, 0), 0x8100, 0, 20))
					last := false
					o.until("what comes later is at h2", func() bool {
						wants(t, "frames at h2", len(o.hosts[2].Collect(10*time.Millisecond, func(b []byte) bool {
							last = last || isUDP(16)(b)
							return bytes.Contains(b, mark)
						})), 0)
						return last
					})
				}
			},
		},
		{
			name: "vlan-deletion", source: aw + "vlan_deletion",
			asserts: "Frames pass no more when a port is taken out of their VLAN, its addresses there are forgotten, and they pass when it is back.",
			check: func(t *testing.T) {
				o := operate(t, aware)
				wants(t, "member", len(o.once(0, 1, 0)), 1)
				o.reloads("vlans:\n- {id: 10, untagged: [0], tagged: [3]}\n- {id: 20, untagged: [1, 2], tagged: [3]}\n" + vlanOfH3)
				before := o.hosts[3]
				before.Flush()
				o.hosts[0].Send(udp(0, 1, 8, 100, 1)) // unknown in VLAN 10 now: to h3
				o.until("it went to the rest of the VLAN", func() bool {
					return len(before.Collect(10*time.Millisecond, isUDP(8))) > 0
				})
				wants(t, "no member", len(o.receivedUntilSentinel(2, 1, isUDP(8))), 0)
				o.reloads(aware)
				wants(t, "member again", len(o.once(0, 1, 2)), 1)
			},
		},
		{
			name: "vlan-extern-learn", source: aw + "extern_learn",
			asserts: "An address that was put at a port of a VLAN stays there longer than learned ones do, and is taken away by order.",
			check: func(t *testing.T) {
				static := func(lines string) string { return aware + "forwarding: {age: 1s" + lines + "}\n" }
				o := operate(t, static(fmt.Sprintf(", static: [{mac: '%v', port: 1, vlan: 10}]", unknown)))
				o.until("learned addresses have aged", func() bool { return o.knows(mac(2)) == "" })
				wants(t, "it is at", o.knows(unknown), "sw1")
				o.reloads(static(""))
				wants(t, "it is at", o.knows(unknown), "")
			},
		},
		{
			name: "vlan-other-tpid", known: noTPID, source: aw + "other_tpid",
			asserts: "A frame with a tag of 802.1ad is one without tag to a bridge of 802.1Q VLANs: it is in the VLAN of its port, and keeps the tag as payload.",
			check: func(t *testing.T) {
				o := operate(t, aware)
				f := tagged(udp(0, 1, 8, 100, 0), 0x88A8, 3, 30)
				o.hosts[0].Send(f)
				got := o.receivedUntilSentinel(0, 1, func(b []byte) bool { return bytes.HasSuffix(b, f[12:]) })
				if len(got) != 1 || !bytes.Equal(got[0], f) {
					t.Errorf("h1 receives % x", got)
				}
			},
		},
		{
			name: "vlan-priority-tag", source: aw + "8021p",
			asserts: "A frame with VLAN 0 in its tag is in the VLAN of its port, whose tag it has at a tagged member, with its priority.",
			check: func(t *testing.T) {
				o := operate(t, aware)
				f := udp(0, 1, 8, 100, 7)
				unknown.Put(f)
				o.hosts[0].Send(tagged(f, 0x8100, 6, 0))
				var got [][]byte
				o.until("it is at h3", func() bool {
					got = append(got, o.hosts[3].Collect(10*time.Millisecond, func(b []byte) bool { return bytes.HasSuffix(b, f[12:]) })...)
					return len(got) > 0
				})
				if want := tagged(f, 0x8100, 6, 10); !bytes.Equal(got[0], want) {
					t.Errorf("h3 receives % x, expected % x", got[0][:20], want[:20])
				}
				if got := o.receivedUntilSentinel(0, 1, func(b []byte) bool { return bytes.HasSuffix(b, f[12:]) }); len(got) != 1 || !bytes.Equal(got[0], f) {
					t.Errorf("h1 receives % x", got)
				}
			},
		},
		{
			name: "vlan-drop-untagged", source: aw + "drop_untagged",
			asserts: "At a port that is in no VLAN without tag, frames without one and with VLAN 0 are dropped and counted; tagged ones pass.",
			check: func(t *testing.T) {
				o := operate(t, aware)
				o.reloads("vlans:\n- {id: 10, untagged: [1], tagged: [0, 3]}\n- {id: 20, untagged: [2], tagged: [3]}\n" + vlanOfH3)
				before := o.discards("vlan")
				b := udp(0, 1, 8, 100, 9)
				for _, f := range [][]byte{b, tagged(b, 0x8100, 3, 0)} {
					o.hosts[0].Send(f)
				}
				o.hosts[0].Send(tagged(udp(0, 1, 8, 100, 10), 0x8100, 3, 10))
				got := o.arrivesOf(1, 8, 1)
				wants(t, "frames, by number", fmt.Sprint(len(got), binary.BigEndian.Uint32(got[0][42:])), "1 10")
				wants(t, "discards", o.discards("vlan")-before, 2)
			},
		},
		{
			name: "vlan-two-pvids", source: none + "one_bridge_two_pvids",
			asserts: "Between ports whose VLANs differ nothing passes: unicast, groups and broadcasts, IP and not, without tag and with those of fourteen VLANs.",
			check: func(t *testing.T) {
				o := operate(t, "vlans:\n- {id: 1, untagged: [0, 3]}\n- {id: 2, untagged: [1, 2]}\n")
				text := []byte("not for others")
				for _, a := range []wire.MAC{mac(1), unknown, otherThan, group, group6, wire.Broadcast} {
					for _, ip := range []bool{true, false} {
						b := to(a, 0)
						if !ip {
							b[12], b[13] = 0, 60 // a length: neither IP nor any other
						}
						copy(b[60:], text)
						o.hosts[0].Send(b)
						for _, vlan := range []int{0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 4000, 4094} {
							o.hosts[0].Send(tagged(b, 0x8100, 0, vlan))
						}
					}
				}
				if n := len(o.receivedUntilSentinel(0, 3, func(b []byte) bool { return bytes.Contains(b, text) })); n == 0 {
					t.Error("nothing arrives in its own VLAN")
				}
				got := func(host, peer int) int {
					return len(o.receivedUntilSentinel(peer, host, func(b []byte) bool { return bytes.Contains(b, text) }))
				}
				wants(t, "frames of others", [2]int{got(1, 2), got(2, 1)}, [2]int{})
			},
		},
		{
			name: "vlan-trunk", source: "SONiC tests/vlan/test_vlan.py, tagged and untagged members",
			asserts: "Between a tagged and an untagged member of a VLAN frames pass both ways, and the tag is put on and taken off; a VLAN of which a port is no member does not pass.",
			check: func(t *testing.T) {
				o := operate(t, aware)
				o.hosts[3].Send(tagged(udp(3, 0, 8, 100, 1), 0x8100, 5, 10))
				if got := o.arrivesOf(0, 8, 1); !bytes.Equal(got[0], udp(3, 0, 8, 100, 1)) {
					t.Errorf("h0 receives % x", got[0])
				}
				o.hosts[0].Send(udp(0, 3, 8, 100, 2))
				if got := o.arrivesOf(3, 8, 1); !bytes.Equal(got[0], tagged(udp(0, 3, 8, 100, 2), 0x8100, 1, 10)) {
					t.Errorf("h3 receives % x", got[0])
				}
				before := o.discards("vlan")
				o.hosts[3].Send(tagged(udp(3, 0, 8, 100, 3), 0x8100, 5, 77))
				o.until("it is discarded", func() bool { return o.discards("vlan") == before+1 })
				wants(t, "frames of VLAN 77", len(o.receivedUntilSentinel(1, 0, isUDP(8))), 0)
			},
		},
	}
}

// noTPID is why provider tags do not stay what they are on these ports.
const noTPID = "the kernel takes the outer tag off before a packet socket sees the frame, and DPDK's net_af_packet tells which VLAN it was, " +
	"but not which kind of tag: an 802.1ad tag becomes an 802.1Q one. Ports of other drivers keep it"

// passesTags has h0 send frames to h1, which arrive as they were.
func passesTags(frames ...[]byte) func(*testing.T) {
	return func(t *testing.T) {
		o := operate(t, "")
		for _, f := range frames {
			o.hosts[0].Send(f)
			got := o.receivedUntilSentinel(0, 1, func(b []byte) bool { return bytes.HasSuffix(b, f[30:]) && len(b) == len(f) })
			if len(got) != 1 || !bytes.Equal(got[0], f) {
				t.Errorf("% x: %d frames arrive, % x", f[:22], len(got), got)
			}
		}
	}
}

// once is what h1, or another, receives of a frame that is sent to it.
func (o *operated) once(from, to int, number uint32) [][]byte {
	o.hosts[from].Send(udp(from, to, 8, 100, number))
	return o.receivedUntilSentinel(from, to, isUDP(8))
}

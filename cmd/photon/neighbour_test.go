//go:build dpdk

package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"photon/internal/testnet"
	"photon/telemetry/show"
	"photon/wire"
)

// Kernels are neighbours of which only the addresses are known: they are found, found again when they have another
// MAC, and when one is silent the senders are told. tshark finds nothing wrong with what is asked.
func TestRouterFindsItsNeighbours(t *testing.T) {
	t.Parallel()
	o := between(t, `router: {mac: '02:00:00:00:aa:aa'}
vlans:
- {id: 10, untagged: [0], addresses: [10.1.0.1/24, 'fd00:1::1/64']}
- {id: 20, untagged: [1, 2], addresses: [10.2.0.1/24, 'fd00:2::1/64']}
- {id: 30, untagged: [3]}
routes:
- {prefix: 10.1.0.0/24, via: [{address: 10.1.0.2}]}
- {prefix: 'fd00:1::/64', via: [{address: 'fd00:1::2'}]}
- {prefix: 10.2.0.0/24, via: [{address: 10.2.0.2}]}
- {prefix: 'fd00:2::/64', via: [{address: 'fd00:2::2'}]}
- {prefix: 10.2.0.3/32, via: [{address: 10.2.0.3}]}
- {prefix: 'fd00:2::3/128', via: [{address: 'fd00:2::3'}]}
`)
	h1 := o.fourHosts.hosts[1]
	socket := h1.Open(t, "eth0")
	socket.Flush()
	o.until("the router routes", func() bool { return o.pings(0, "10.2.0.2") && o.pings(0, "fd00:2::2") })
	state := func(address string) show.Neighbour {
		var all show.Neighbours
		o.show("neighbours", &all)
		i := slices.IndexFunc(all.Neighbours, func(n show.Neighbour) bool { return n.Address == address })
		if i < 0 {
			t.Fatalf("no %s in %+v", address, all)
		}
		return all.Neighbours[i]
	}
	if n := state("10.2.0.2"); n.MAC != mac(1).String() || n.Port != "sw1" || n.VLAN != 20 {
		t.Errorf("%+v", n)
	}
	if out, err := o.photon("show", "neighbours"); err != nil || !strings.Contains(out, "10.2.0.2") {
		t.Errorf("%v\n%s", err, out)
	}
	o.tcp(o.fourHosts.hosts[0], h1, "10.2.0.2")
	o.tcp(o.fourHosts.hosts[0], h1, "fd00:2::2")

	// A neighbour that is not there: the sender is told, what waited is counted.
	for _, c := range []struct{ to, want string }{
		{"10.2.0.3", "From 10.1.0.1 icmp_seq=1 Destination Host Unreachable"}, {"fd00:2::3", "From fd00:1::1 icmp_seq=1 Destination unreachable: Address unreachable"},
	} {
		if out := o.says("ping", "-c", "1", "-W", "10", c.to); !strings.Contains(out, c.want) {
			t.Errorf("no %q in\n%s", c.want, out)
		}
	}
	if n := state("10.2.0.3"); n.State != "failed" || n.Failures == 0 || o.discards("neighbour") < 2 || sum(o.process.metrics(), "photon_neighbour_failures_total") < 2 {
		t.Errorf("%+v, %v discarded", n, o.discards("neighbour"))
	}

	// It comes, and one that was there has another MAC, and says so as hosts do.
	h1.Run(t, "ip", "address", "add", "10.2.0.3/24", "dev", "eth0")
	h1.Run(t, "ip", "-6", "address", "add", "fd00:2::3/64", "dev", "eth0", "nodad")
	o.until("those that came are found", func() bool { return o.pings(0, "10.2.0.3") && o.pings(0, "fd00:2::3") })
	h1.Run(t, "sysctl", "-qw", "net.ipv4.conf.eth0.arp_notify=1", "net.ipv6.conf.eth0.ndisc_notify=1")
	h1.Run(t, "ip", "link", "set", "eth0", "address", "02:00:00:00:77:01")
	o.until("the new MAC is known", func() bool { return o.pings(0, "10.2.0.2") && o.pings(0, "fd00:2::2") })
	if n := state("10.2.0.2"); n.MAC != "02:00:00:00:77:01" {
		t.Errorf("%+v", n)
	}

	questions := socket.Collect(100*time.Millisecond, func(b []byte) bool {
		what := binary.BigEndian.Uint16(b[12:])
		return wire.MACAt(b[6:]) == 0x02000000AAAA && (what == wire.TypeARP || what == wire.TypeIPv6 && len(b) >= 86 && b[20] == wire.ProtoICMPv6 && b[54] >= 135 && b[54] <= 136)
	})
	kinds := map[string]int{}
	for i, row := range testnet.Tshark(t, questions, "arp.opcode", "arp.src.proto_ipv4", "icmpv6.type", "icmpv6.checksum.status", "ipv6.src", "ipv6.hlim", "_ws.malformed") {
		if row[6] != "" {
			t.Errorf("malformed: % x", questions[i])
		}
		kinds[strings.Join(row[:6], " ")]++
	}
	for kind := range kinds {
		if kind != "1 10.2.0.1    " && kind != "2 10.2.0.1    " && kind != "  135 1 fd00:2::1 255" && kind != "  136 1 fd00:2::1 255" {
			t.Errorf("tshark finds %q", kind)
		}
	}
	if kinds["1 10.2.0.1    "] == 0 || kinds["  135 1 fd00:2::1 255"] == 0 || len(kinds) < 3 {
		t.Errorf("tshark finds %v", kinds)
	}
}

// A neighbour is started again, as a container is: its interface goes, and comes with another MAC, at the same port or at
// another of its VLAN, and it says nothing of that. The router finds it by itself, and what programs on both sides send
// arrives; nothing is sent to the one before.
func TestNeighbourIsStartedAgain(t *testing.T) {
	t.Parallel()
	o := between(t, `router: {mac: '02:00:00:00:aa:aa'}
vlans:
- {id: 10, untagged: [0], addresses: [10.1.0.1/24, 'fd00:1::1/64']}
- {id: 20, untagged: [1, 2], addresses: [10.2.0.1/24, 'fd00:2::1/64']}
- {id: 30, untagged: [3]}
routes:
- {prefix: 10.1.0.0/24, via: [{address: 10.1.0.2}]}
- {prefix: 'fd00:1::/64', via: [{address: 'fd00:1::2'}]}
- {prefix: 10.2.0.0/24, via: [{address: 10.2.0.2}]}
- {prefix: 'fd00:2::/64', via: [{address: 'fd00:2::2'}]}
`)
	routed := func() bool { return o.pings(0, "10.2.0.2") && o.pings(0, "fd00:2::2") }
	o.until("the router routes", routed)
	at := 1
	for life := 1; life <= 4; life++ {
		old := fmt.Sprintf("sw%d", at)
		o.sw.Run(t, "ip", "link", "del", old)
		said := func(text string) func() bool {
			return func() bool { return strings.Contains(o.process.log.String(), text) }
		}
		if life%2 == 0 { // after a while
			o.until("its link is down", said("port "+old+": link down"))
			o.pings(0, "10.2.0.2", "-W", "1")
		}
		host := o.fourHosts.hosts[at]
		testnet.Veth(t, host, "eth0", o.sw, old) // a host without addresses, in its place
		if life > 2 {                            // it comes at the other port
			at = 3 - at
		}
		host = o.fourHosts.hosts[at]
		host.Run(t, "sysctl", "-qw", "net.ipv4.conf.eth0.arp_notify=0", "net.ipv6.conf.eth0.ndisc_notify=0")
		host.Run(t, "ip", "link", "set", "eth0", "address", fmt.Sprintf("02:00:00:00:77:%02x", life))
		host.Run(t, "ip", "address", "add", "10.2.0.2/24", "dev", "eth0")
		host.Run(t, "ip", "address", "add", "fd00:2::2/64", "dev", "eth0", "nodad")
		host.Run(t, "ip", "route", "replace", "default", "via", "10.2.0.1")
		host.Run(t, "ip", "-6", "route", "replace", "default", "via", "fd00:2::1")
		o.until(fmt.Sprintf("life %d of the neighbour", life), routed)
		var all show.Neighbours
		o.show("neighbours", &all)
		for _, n := range all.Neighbours {
			if want := fmt.Sprintf("02:00:00:00:77:%02x", life); strings.HasSuffix(n.Address, "2") && strings.Contains(n.Address, "2.0.2") && (n.MAC != want || n.Port != fmt.Sprintf("sw%d", at)) {
				t.Errorf("life %d: %+v, want %s at sw%d", life, n, want, at)
			}
		}
		o.tcp(o.fourHosts.hosts[0], host, "10.2.0.2")
		o.tcp(o.fourHosts.hosts[0], host, "fd00:2::2")
	}
	o.process.stop()
}

// The link of one of two equal next hops in a VLAN goes, and comes back without anybody behind it: all that is sent
// arrives at the other, and so it does while a reload changes the order of the VLAN's ports.
func TestEqualNextHopWithoutALink(t *testing.T) {
	const lines = `router: {mac: '02:00:00:00:aa:aa'}
vlans:
- {id: 10, untagged: [0], addresses: [10.1.0.1/24]}
- {id: 20, untagged: %s, addresses: [10.2.0.1/24]}
routes:
- {prefix: 10.5.0.0/16, via: [{address: 10.2.0.2}, {address: 10.2.0.3}]}
`
	o := operate(t, fmt.Sprintf(lines, "[1, 2, 3]"))
	o.address(1, "eth0", "10.2.0.2/24")
	o.address(2, "eth0", "10.2.0.3/24")
	state := func(address string) string {
		var all show.Neighbours
		o.show("neighbours", &all)
		for _, n := range all.Neighbours {
			if n.Address == address {
				return n.State
			}
		}
		return ""
	}
	o.until("both are found", func() bool {
		return state("10.2.0.2") == "reachable" && state("10.2.0.3") == "reachable"
	})
	const flows = 256
	send := func(dscp uint8) {
		for i := range flows {
			b := udp(0, 1, dscp, 200, uint32(i))
			copy(b, []byte{2, 0, 0, 0, 0xAA, 0xAA})
			copy(b[26:], []byte{10, 1, 0, 2, 10, 5, 0, 1})
			binary.BigEndian.PutUint16(b[34:], uint16(4000+i))
			setChecksum(b)
			o.hosts[0].Send(b)
		}
	}
	send(8)
	shares := [3]int{}
	o.until("all have arrived", func() bool {
		for host := 1; host <= 2; host++ {
			shares[host] += len(o.hosts[host].Collect(10*time.Millisecond, isUDP(8)))
		}
		return shares[1]+shares[2] == flows
	})
	if shares[1] == 0 || shares[2] == 0 {
		t.Errorf("shares of the two: %v", shares)
	}
	h2 := o.fourHosts.hosts[2]
	h2.Run(t, "ip", "address", "flush", "dev", "eth0")
	h2.Run(t, "ip", "link", "set", "eth0", "down")
	o.until("the link is down", func() bool { return strings.Contains(o.process.log.String(), "port sw2: link down") })
	send(16)
	o.arrivesOf(1, 16, flows)
	h2.Run(t, "ip", "link", "set", "eth0", "up")
	o.until("the link is up", func() bool { return strings.Contains(o.process.log.String(), "port sw2: link up") })
	send(24)
	o.arrivesOf(1, 24, flows)
	o.write(fmt.Sprintf(lines, "[3, 2, 1]"))
	if out, err := o.photon("reload"); err != nil {
		t.Fatal(out, err)
	}
	if is := state("10.2.0.2"); is != "reachable" {
		t.Errorf("after the reload it is %s", is)
	}
	send(32)
	o.arrivesOf(1, 32, flows)
	if n := o.discards("neighbour"); n != 0 {
		t.Errorf("%v packets are lost", n)
	}
}

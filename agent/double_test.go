package agent_test

import (
	"net"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"photon/agent"
	"photon/cnp"
	"photon/units"
	"photon/wire"
)

// A host hears that another has its addresses, or one of them: flows to it end at either of them.
func TestAnnouncementsOfADouble(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(c *agent.Config)
		want   agent.Doubles // of each
	}{
		{"neither", func(*agent.Config) {}, agent.Doubles{}},
		{"the MAC address", func(c *agent.Config) { c.MAC = mac(9) }, agent.Doubles{MAC: 3}},
		{"the IP address", func(c *agent.Config) { c.IP = ip(9) }, agent.Doubles{IP: 3}},
		{"the IPv6 address", func(c *agent.Config) { c.IP = wire.IP{0: 0xFD, 15: 9} }, agent.Doubles{IP: 3}},
		{"both", func(c *agent.Config) { c.IP, c.MAC = ip(9), mac(9) }, agent.Doubles{MAC: 3}},
	} {
		p := newPair(t, cnp.Silent{}, func(c *agent.Config) { c.Announce = true; row.change(c) })
		p.run(2500 * ms)
		for i, h := range []*agent.Host{p.a, p.b} {
			want := row.want
			if want.IP > 0 {
				want.At = mac(2 - i)
			}
			if got := h.Doubles(); got != want {
				t.Errorf("%s: host %d has heard %+v, want %+v", row.name, i+1, got, want)
			}
		}
	}
}

// It hears so from hosts that are no agents, too. Frames about others, and its own that come back, say nothing.
func TestHostsWithTheSameAddress(t *testing.T) {
	other := net.HardwareAddr{2, 0, 0, 0, 0, 7}
	own := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	v4, v6 := net.IP{10, 0, 0, 1}, net.ParseIP("fd00::1")
	arp := func(op uint16, mac net.HardwareAddr, from, of net.IP) []gopacket.SerializableLayer {
		return []gopacket.SerializableLayer{
			&layers.Ethernet{SrcMAC: mac, DstMAC: layers.EthernetBroadcast, EthernetType: layers.EthernetTypeARP},
			&layers.ARP{
				AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4,
				Operation: op, SourceHwAddress: mac, SourceProtAddress: from, DstHwAddress: make([]byte, 6),
				DstProtAddress: of,
			},
		}
	}
	advertise := func(mac net.HardwareAddr, target net.IP) []gopacket.SerializableLayer {
		ip := &layers.IPv6{
			Version: 6, NextHeader: layers.IPProtocolICMPv6, HopLimit: 255, SrcIP: net.ParseIP("fe80::7"),
			DstIP: net.ParseIP("ff02::1"),
		}
		icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(layers.ICMPv6TypeNeighborAdvertisement, 0)}
		if err := icmp.SetNetworkLayerForChecksum(ip); err != nil {
			t.Fatal(err)
		}
		return []gopacket.SerializableLayer{
			&layers.Ethernet{
				SrcMAC: mac, DstMAC: net.HardwareAddr{0x33, 0x33, 0, 0, 0, 1}, EthernetType: layers.EthernetTypeIPv6,
			},
			ip, icmp,
			&layers.ICMPv6NeighborAdvertisement{Flags: 0x20, TargetAddress: target, Options: layers.ICMPv6Options{
				{Type: layers.ICMPv6OptTargetAddress, Data: mac},
			}},
		}
	}
	for _, row := range []struct {
		name  string
		frame []gopacket.SerializableLayer
		six   bool
		want  uint64
	}{
		{"announces", arp(1, other, v4, v4), false, 1},
		{"asks", arp(1, other, v4, net.IP{10, 0, 0, 2}), false, 1},
		{"answers", arp(2, other, v4, net.IP{10, 0, 0, 2}), false, 1},
		{"asks for it", arp(1, other, net.IP{10, 0, 0, 2}, v4), false, 0},
		{"is about to take it", arp(1, other, net.IP{0, 0, 0, 0}, v4), false, 0},
		{"is the host itself", arp(1, own, v4, v4), false, 0},
		{"advertises", advertise(other, v6), true, 1},
		{"advertises another", advertise(other, net.ParseIP("fd00::2")), true, 0},
		{"is the host itself, by IPv6", advertise(own, v6), true, 0},
	} {
		p := newPair(t, cnp.Silent{}, func(c *agent.Config) {
			if row.six {
				c.IP = wire.IP(v6)
			}
		})
		p.run(units.Microsecond)
		b := gopacket.NewSerializeBuffer()
		o := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
		if err := gopacket.SerializeLayers(b, o, row.frame...); err != nil {
			t.Fatal(err)
		}
		p.inject(b.Bytes())
		want := agent.Doubles{IP: row.want}
		if row.want > 0 {
			want.At = mac(7)
		}
		if got := p.a.Doubles(); got != want {
			t.Errorf("a host that %s: %+v, want %+v", row.name, got, want)
		}
	}
}

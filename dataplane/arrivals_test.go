package dataplane_test

import (
	"encoding/binary"
	"net"
	"slices"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"pgregory.net/rapid"

	"photon/dataplane"
	"photon/pfc"
	"photon/wire"
)

// Frames that a switch may meet. Hosts are numbers: 02:00:00:00:00:NN, 10.0.N.1 and fd00:0:0:N::1.

const routerMAC wire.MAC = 0x0200_0000_00FE

func hostMAC(i int) wire.MAC { return 0x0200_0000_0000 | wire.MAC(i) }

func hardware(m wire.MAC) net.HardwareAddr {
	b := make([]byte, 6)
	m.Put(b)
	return b
}

// serialize is a frame of layers, with lengths and checksums.
func serialize(all ...gopacket.SerializableLayer) []byte {
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, all...); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

func ether(from, to wire.MAC, t layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: hardware(from), DstMAC: hardware(to), EthernetType: t}
}

func pauseOf(f pfc.Frame) []byte {
	b := make([]byte, pfc.FrameLen)
	f.Encode(b, hostMAC(77))
	return b
}

// tagIt puts a tag in front of a frame's EtherType.
func tagIt(b []byte, kind, control uint16) []byte {
	tag := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, kind), control)
	return slices.Concat(b[:12], tag, b[12:])
}

// arrivals draws frames for a switch.
type arrivals struct {
	t      *rapid.T
	config dataplane.SwitchConfig
	serial uint32
}

// draw is rapid's SampledFrom in a word.
func draw[T any](t *rapid.T, what string, from ...T) T { return rapid.SampledFrom(from).Draw(t, what) }

// anyPacket is an IP packet behind an Ethernet header, or something like one.
func (x *arrivals) anyPacket(port int) []byte {
	t := x.t
	hosts := len(x.config.Ports) + 2
	from := draw(t, "source", port, port, port, port, (port+1)%len(x.config.Ports), 20+port)
	to := hostMAC(rapid.IntRange(0, hosts-1).Draw(t, "to"))
	switch rapid.IntRange(0, 19).Draw(t, "kind of destination") {
	case 19:
		to = wire.Broadcast
	case 18:
		to = 0x0100_5E00_0001
	case 17:
		to = 0x3333_0000_0001
	case 15, 16:
		to = hostMAC(99) // several ports
	case 11, 12, 13, 14:
		to = routerMAC
	}
	eth := ether(hostMAC(from), to, layers.EthernetTypeIPv4)
	tos := draw[uint8](t, "dscp", 26, 26, 26, 48, 0, 8, 56, 10)<<2 | draw(t, "ecn", wire.ECT0, wire.ECT1, wire.NotECT, wire.CE)
	ttl := draw[uint8](t, "ttl", 64, 64, 64, 64, 64, 255, 2, 1, 0)
	payload := make([]byte, draw(t, "payload", 0, 20, 64, 64, 64, 200, 500, x.config.MTU-40, rapid.IntRange(0, x.config.MTU).Draw(t, "any length")))
	x.serial++
	if len(payload) >= 12 {
		wire.BTH(payload).Encode(draw[uint8](t, "opcode", wire.OpSendMiddle, wire.OpSendMiddle, wire.OpSendMiddle, wire.OpCNP), false, draw(t, "queue pair", uint32(7), 8), false, x.serial)
		if len(payload) >= 60 && rapid.Bool().Draw(t, "telemetry") {
			wire.BTH(payload).SetExtensions(wire.ExtINT)
		}
	}
	if len(payload) >= 64 {
		binary.BigEndian.PutUint32(payload[60:], x.serial)
	}
	sport := layers.UDPPort(5000 + draw[uint16](t, "flow", 0, 1, 2, 3))
	udp := &layers.UDP{SrcPort: sport, DstPort: draw[layers.UDPPort](t, "service", wire.PortRoCEv2, wire.PortRoCEv2, wire.PortRoCEv2, 53)}
	if rapid.IntRange(0, 3).Draw(t, "family") == 3 {
		eth.EthernetType = layers.EthernetTypeIPv6
		ip := &layers.IPv6{Version: 6, TrafficClass: tos, HopLimit: ttl, NextHeader: layers.IPProtocolUDP, SrcIP: net.ParseIP("fd00::1"), DstIP: net.ParseIP("fd00::1")}
		ip.SrcIP[7], ip.DstIP[7] = byte(from), byte(rapid.IntRange(0, hosts).Draw(t, "network"))
		if odd := draw(t, "odd address", "", "", "", "", "", "", "", "", "::", "::1", "fe80::1", "ff02::1", "fd00:9::1"); odd != "" {
			if rapid.Bool().Draw(t, "odd source") {
				ip.SrcIP = net.ParseIP(odd)
			} else {
				ip.DstIP = net.ParseIP(odd)
			}
		}
		_ = udp.SetNetworkLayerForChecksum(ip)
		switch rapid.IntRange(0, 9).Draw(t, "next header") {
		case 9:
			ip.NextHeader = layers.IPProtocolICMPv6
			icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(draw[uint8](t, "ICMPv6 type", 128, 128, 129), 0)}
			_ = icmp.SetNetworkLayerForChecksum(ip)
			return serialize(eth, ip, icmp, gopacket.Payload(payload))
		case 8:
			ip.NextHeader = draw(t, "odd header", layers.IPProtocolIPv6Fragment, layers.IPProtocolIPv6HopByHop, layers.IPProtocolTCP, layers.IPProtocol(59))
			return serialize(eth, ip, gopacket.Payload(payload))
		}
		return serialize(eth, ip, udp, gopacket.Payload(payload))
	}
	ip := &layers.IPv4{Version: 4, TOS: tos, TTL: ttl, Protocol: layers.IPProtocolUDP, SrcIP: net.IPv4(10, 0, byte(from), 1), DstIP: net.IPv4(10, 0, byte(rapid.IntRange(0, hosts).Draw(t, "network")), 1)}
	switch rapid.IntRange(0, 15).Draw(t, "odd address") {
	case 15:
		ip.SrcIP = draw(t, "odd source", net.IPv4zero, net.IPv4(127, 0, 0, 1), net.IPv4(169, 254, 1, 1), net.IPv4(224, 0, 0, 1), net.IPv4bcast)
	case 14:
		ip.DstIP = draw(t, "odd destination", net.IPv4zero, net.IPv4(127, 0, 0, 1), net.IPv4(169, 254, 1, 1), net.IPv4(224, 0, 0, 1), net.IPv4bcast, net.IPv4(99, 1, 2, 3))
	case 12, 13:
		ip.DstIP = net.IPv4(10, 0, 9, 1) // the router
	}
	_ = udp.SetNetworkLayerForChecksum(ip)
	if rapid.IntRange(0, 9).Draw(t, "options") == 9 {
		ip.Options = []layers.IPv4Option{{OptionType: 7, OptionLength: 7, OptionData: []byte{4, 0, 0, 0, 0}}, {OptionType: 0}}
	}
	switch rapid.IntRange(0, 11).Draw(t, "protocol") {
	case 11:
		ip.Protocol = layers.IPProtocolICMPv4
		return serialize(eth, ip, &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(draw[uint8](t, "ICMP type", 8, 8, 0, 3), 0), Id: 1}, gopacket.Payload(payload))
	case 10:
		ip.Protocol = layers.IPProtocolTCP
		tcp := &layers.TCP{SrcPort: layers.TCPPort(sport), DstPort: 80}
		_ = tcp.SetNetworkLayerForChecksum(ip)
		return serialize(eth, ip, tcp, gopacket.Payload(payload))
	case 9:
		ip.Protocol = 255
		return serialize(eth, ip, gopacket.Payload(payload))
	case 8:
		ip.Flags = layers.IPv4MoreFragments
		return serialize(eth, ip, udp, gopacket.Payload(payload))
	case 7:
		ip.FragOffset = 7
		return serialize(eth, ip, gopacket.Payload(payload))
	case 6:
		ip.Flags = layers.IPv4DontFragment
	}
	return serialize(eth, ip, udp, gopacket.Payload(payload))
}

// plain is a packet of one of few flows, from one host to another or through the router.
func (x *arrivals) plain(port int) []byte {
	t := x.t
	to := (port + rapid.IntRange(1, len(x.config.Ports)-1).Draw(t, "to")) % len(x.config.Ports)
	eth := ether(hostMAC(port), hostMAC(to), layers.EthernetTypeIPv4)
	if x.config.Router.MAC != 0 && rapid.IntRange(0, 3).Draw(t, "routed") == 3 {
		eth.DstMAC = hardware(routerMAC)
	}
	x.serial++
	payload := make([]byte, draw(t, "payload", 64, 64, 500, x.config.MTU-28))
	wire.BTH(payload).Encode(wire.OpSendMiddle, false, 7, false, x.serial)
	ip := &layers.IPv4{Version: 4, TOS: draw[uint8](t, "dscp", 26, 26, 0)<<2 | wire.ECT0, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IPv4(10, 0, byte(port), 1), DstIP: net.IPv4(10, 0, byte(to), 1)}
	udp := &layers.UDP{SrcPort: 5000, DstPort: wire.PortRoCEv2}
	_ = udp.SetNetworkLayerForChecksum(ip)
	return serialize(eth, ip, udp, gopacket.Payload(payload))
}

// anyAsk asks for the router's address, or another.
func (x *arrivals) anyAsk(port int) []byte {
	t := x.t
	from, to := hostMAC(port), draw(t, "asked", wire.Broadcast, wire.Broadcast, routerMAC, hostMAC(1))
	last := draw[byte](t, "whose", 1, 1, 2)
	if rapid.Bool().Draw(t, "ARP") {
		arp := &layers.ARP{
			AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4, Operation: draw[uint16](t, "operation", 1, 1, 1, 2),
			SourceHwAddress: hardware(from), SourceProtAddress: []byte{10, 0, byte(port), 1}, DstHwAddress: make([]byte, 6), DstProtAddress: []byte{10, 0, 9, last},
		}
		return serialize(ether(from, to, layers.EthernetTypeARP), arp, gopacket.Payload(make([]byte, draw(t, "padding", 0, 18))))
	}
	if to == wire.Broadcast {
		to = 0x3333_FF00_0001
	}
	ip := &layers.IPv6{Version: 6, HopLimit: draw[uint8](t, "hop limit", 255, 255, 64), NextHeader: layers.IPProtocolICMPv6, SrcIP: net.ParseIP(draw(t, "asker", "fd00:9::7", "fd00:9::7", "fe80::7", "::")), DstIP: net.ParseIP("ff02::1:ff00:1")}
	if to == routerMAC && rapid.Bool().Draw(t, "neighbour unreachability detection") {
		ip.DstIP = net.ParseIP("fd00:9::1")
	}
	icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(draw[uint8](t, "type", 135, 135, 136), 0)}
	_ = icmp.SetNetworkLayerForChecksum(ip)
	ns := &layers.ICMPv6NeighborSolicitation{TargetAddress: net.ParseIP("fd00:9::1")}
	ns.TargetAddress[15] = last
	if rapid.Bool().Draw(t, "option") {
		ns.Options = layers.ICMPv6Options{{Type: layers.ICMPv6OptSourceAddress, Data: hardware(from)}}
	}
	b := serialize(ether(from, to, layers.EthernetTypeIPv6), ip, icmp, ns)
	if rapid.IntRange(0, 5).Draw(t, "broken") == 0 {
		b[len(b)-1] ^= 1
	}
	return b
}

// anyControl is a MAC control frame, right or wrong.
func (x *arrivals) anyControl() []byte {
	t := x.t
	f := pfc.Frame{Global: rapid.IntRange(0, 5).Draw(t, "global") == 0, Enable: draw[uint8](t, "enable", 1<<3, 1<<3, 1<<3|1<<6, 0xFF, 1<<2, 0)}
	for prio := range f.Quanta {
		f.Quanta[prio] = draw[uint16](t, "quanta", 0, 0, 1, 60, 2000, pfc.MaxQuanta)
	}
	b := pauseOf(f)
	switch rapid.IntRange(0, 15).Draw(t, "odd control") {
	case 0:
		hostMAC(1).Put(b)
	case 1:
		b[6] |= 1
	case 2:
		return b[:rapid.IntRange(14, 40).Draw(t, "cut")]
	case 3:
		binary.BigEndian.PutUint16(b[14:], rapid.Uint16().Draw(t, "opcode"))
	case 4:
		b = tagIt(b, 0x8100, draw[uint16](t, "tag", 3<<13, 3<<13|10))
	case 5:
		clear(b[6:12])
	case 6:
		return append(b, make([]byte, 2000)...)[:min(2000, x.config.MTU+100)]
	}
	return b
}

// anyFrame is a frame of some kind.
func (x *arrivals) anyFrame(port int) []byte {
	t := x.t
	var b []byte
	kind := rapid.IntRange(-20, 29).Draw(t, "kind")
	if kind < 0 {
		return x.plain(port)
	}
	switch kind {
	case 28, 29:
		return x.anyControl()
	case 26, 27:
		b = x.anyAsk(port)
	case 25:
		b = rapid.SliceOfN(rapid.Byte(), 1, 80).Draw(t, "bytes")
	case 24: // another EtherType, of which some mean something
		b = x.anyPacket(port)
		binary.BigEndian.PutUint16(b[12:], draw[uint16](t, "EtherType", 0x88B5, 0x22E7, 0x8808, 46, 0x0806, 0x86DD, 0x0800))
	case 23: // a group of the link
		b = x.anyPacket(port)
		(wire.MAC(0x0180_C200_0000) | wire.MAC(rapid.IntRange(0, 17).Draw(t, "group"))).Put(b)
	case 22:
		b = x.anyPacket(port)
		draw(t, "odd source", wire.MAC(0), wire.Broadcast, 0x0100_0000_0001, routerMAC, hostMAC(98)).Put(b[6:])
	case 21:
		b = tagIt(x.anyPacket(port), 0x22E9, 5)
	case 20: // damage
		b = x.anyPacket(port)
		at := rapid.IntRange(12, min(len(b)-1, 70)).Draw(t, "damage at")
		b[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
	default:
		b = x.anyPacket(port)
	}
	if len(b) >= 14 {
		switch rapid.IntRange(0, 11).Draw(t, "tags") {
		case 9, 10, 11:
			b = tagIt(b, 0x8100, x.anyTag())
		case 8:
			b = tagIt(tagIt(b, draw[uint16](t, "inner", 0x8100, 0x88A8), x.anyTag()), draw[uint16](t, "outer", 0x8100, 0x88A8), x.anyTag())
		case 7:
			b = tagIt(b, 0x88A8, x.anyTag())
		case 6:
			for range 3 {
				b = tagIt(b, 0x8100, x.anyTag())
			}
		}
	}
	if rapid.IntRange(0, 15).Draw(t, "cut") == 15 {
		b = b[:rapid.IntRange(1, len(b)).Draw(t, "cut at")]
	}
	if rapid.IntRange(0, 5).Draw(t, "padding") == 5 {
		b = append(b, make([]byte, draw(t, "so much", max(0, 60-len(b)), 4, max(0, x.config.MTU+14-len(b)), max(0, x.config.MTU+15-len(b)), max(0, x.config.MTU+18-len(b)), max(0, x.config.MTU+19-len(b))))...)
	}
	return b[:min(len(b), 1900)]
}

func (x *arrivals) anyTag() uint16 {
	return draw[uint16](x.t, "code point", 3, 3, 5, 0)<<13 | draw[uint16](x.t, "drop eligible", 0, 0, 1)<<12 | draw[uint16](x.t, "VLAN", 0, 10, 10, 20, 20, 30, 4095)
}

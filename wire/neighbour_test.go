package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

const (
	ourMAC   MAC = 0x02_00_00_AA_BB_01
	theirMAC MAC = 0x02_00_00_AA_BB_02
)

// decoded is a frame as another reads it.
func decoded(t *testing.T, b []byte) gopacket.Packet {
	t.Helper()
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
	if err := p.ErrorLayer(); err != nil {
		t.Fatalf("%x: %v", b, err.Error())
	}
	return p
}

// checked fails if the checksum of ICMPv6 is not the one that another computes.
func checked(t *testing.T, p gopacket.Packet, b []byte) {
	t.Helper()
	icmp, ip := p.Layer(layers.LayerTypeICMPv6).(*layers.ICMPv6), p.Layer(layers.LayerTypeIPv6).(*layers.IPv6)
	if err := icmp.SetNetworkLayerForChecksum(ip); err != nil {
		t.Fatal(err)
	}
	out, how := gopacket.NewSerializeBuffer(), gopacket.SerializeOptions{ComputeChecksums: true}
	if err := gopacket.SerializeLayers(out, how, icmp, gopacket.Payload(icmp.LayerPayload())); err != nil {
		t.Fatal(err)
	}
	if got := b[EthernetLen+IPv6Len:]; !bytes.Equal(got, out.Bytes()) {
		t.Errorf("%x, and with a right checksum %x", got, out.Bytes())
	}
}

// same fails if what is read is not what was meant.
func same(t *testing.T, what string, got, want []any) {
	t.Helper()
	if got, want := fmt.Sprintln(got...), fmt.Sprintln(want...); got != want {
		t.Errorf("%s: %s, not %s", what, got, want)
	}
}

// A solicitation of a neighbour whose address is unknown goes to the group of all whose address ends so (RFC 4291
// section 2.7.1), one of a known neighbour to itself; another's decoder reads what was meant, and the answer as well.
func TestSolicitationsByAnother(t *testing.T) {
	from, target := netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::1234:5678")
	for _, to := range []MAC{0, theirMAC} {
		b := bytes.Repeat([]byte{0xEE}, SolicitLen)
		n := Solicit(b, ourMAC, to, from, target)
		p := decoded(t, b[:n])
		eth, ip := p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet), p.Layer(layers.LayerTypeIPv6).(*layers.IPv6)
		wantMAC, wantIP := "33:33:ff:34:56:78", "ff02::1:ff34:5678"
		if to != 0 {
			wantMAC, wantIP = to.String(), target.String()
		}
		same(t, "from, to, hop limit", []any{eth.SrcMAC, eth.DstMAC, ip.SrcIP, ip.DstIP, ip.HopLimit},
			[]any{ourMAC, wantMAC, from, wantIP, 255})
		ns := p.Layer(layers.LayerTypeICMPv6NeighborSolicitation).(*layers.ICMPv6NeighborSolicitation)
		same(t, "target, options", []any{ns.TargetAddress, len(ns.Options), ns.Options[0].Type, MACAt(ns.Options[0].Data)},
			[]any{target, 1, layers.ICMPv6OptSourceAddress, ourMAC})
		checked(t, p, b[:n])

		if got, ok := SolicitationTarget(b[EthernetLen:n], n-EthernetLen); !ok || got != target {
			t.Errorf("its target is read as %v, %v", got, ok)
		}
		Advertise(b[EthernetLen:], theirMAC)
		p = decoded(t, b)
		na := p.Layer(layers.LayerTypeICMPv6NeighborAdvertisement).(*layers.ICMPv6NeighborAdvertisement)
		ip = p.Layer(layers.LayerTypeIPv6).(*layers.IPv6)
		same(t, "from, to, target", []any{ip.SrcIP, ip.DstIP, na.TargetAddress}, []any{target, from, target})
		same(t, "flags, options", []any{na.Router(), na.Solicited(), na.Override(), len(na.Options), na.Options[0].Type, MACAt(na.Options[0].Data)},
			[]any{true, true, true, 1, layers.ICMPv6OptTargetAddress, theirMAC})
		checked(t, p, b)
		want := Binding{Addr: target, MAC: theirMAC, Override: true, Answer: true}
		if says, ok := NDBinding(b[EthernetLen:], AdvertisementLen); !ok || says != want {
			t.Errorf("the answer is read as %+v, %v", says, ok)
		}
	}
}

// What is no solicitation, or is broken, has no target; nor does a claim for an address of a group bind anything.
func TestSolicitationsThatAreNone(t *testing.T) {
	from, target := netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::1234:5678")
	made := func(change func(ip []byte), sum bool) []byte {
		b := make([]byte, SolicitLen)
		ip := b[EthernetLen:Solicit(b, ourMAC, 0, from, target)]
		if change(ip); sum {
			ip[42], ip[43] = 0, 0
			s := ^ICMPv6Sum(ip)
			ip[42], ip[43] = byte(s>>8), byte(s)
		}
		return ip
	}
	// unknown makes it that of a host that is about to take the target (RFC 4862 section 5.4.2); another option is in place of
	// its address of the link.
	unknown := func(ip []byte) { clear(ip[8:24]); ip[64] = 14 }
	for name, ip := range map[string][]byte{
		"a wrong checksum":                   made(func(ip []byte) { ip[43]++ }, false),
		"routed":                             made(func(ip []byte) { ip[7] = 254 }, true),
		"a code":                             made(func(ip []byte) { ip[41] = 1 }, true),
		"an advertisement":                   made(func(ip []byte) { ip[40] = 136 }, true),
		"from no address, to one host alone": made(func(ip []byte) { unknown(ip); copy(ip[24:40], ip[48:64]) }, true),
		"from no address, but with one of a link": made(func(ip []byte) { clear(ip[8:24]) }, true),
		"from a group":             made(func(ip []byte) { ip[8], ip[9] = 0xFF, 2 }, true),
		"from a host itself":       made(func(ip []byte) { clear(ip[8:24]); ip[23] = 1 }, true),
		"an option of no length":   made(func(ip []byte) { ip[65] = 0 }, true),
		"an option beyond its end": made(func(ip []byte) { ip[65] = 2 }, true),
		"another protocol":         made(func(ip []byte) { ip[6] = ProtoUDP }, true),
		"not all of it":            made(func(ip []byte) {}, true)[:IPv6Len+ndLen-1],
		"IPv4 in its first 4":      made(func(ip []byte) { ip[0] = 0x45 }, true),
	} {
		if got, ok := SolicitationTarget(ip, len(ip)); ok {
			t.Errorf("%s: asks for %v", name, got)
		}
	}
	probe := made(unknown, true)
	if got, ok := SolicitationTarget(probe, len(probe)); !ok || got != target {
		t.Errorf("a host that is about to take an address asks for %v, %v", got, ok)
	}
	brief := made(func(ip []byte) { ip[5] -= ndOptionLen }, false)[:IPv6Len+ndLen] // without the address of who asks
	brief[42], brief[43] = 0, 0
	binary.BigEndian.PutUint16(brief[42:], ^ICMPv6Sum(brief))
	if got, ok := SolicitationTarget(brief, len(brief)); !ok || got != target {
		t.Errorf("the shortest solicitation asks for %v, %v", got, ok)
	}
	group := netip.MustParseAddr("ff02::1")
	ip := made(func(ip []byte) {
		ip[40], ip[44], ip[64] = 136, 0x20, 2
		a := group.As16()
		copy(ip[48:], a[:])
	}, true)
	if says, ok := NDBinding(ip, len(ip)); ok {
		t.Errorf("a group is bound: %+v", says)
	}
	ip = made(func(ip []byte) { ip[44] = 0; a := group.As16(); copy(ip[8:], a[:]) }, true)
	if says, ok := NDBinding(ip, len(ip)); ok {
		t.Errorf("a solicitation from a group: %+v", says)
	}
}

// ofARP is what there is of it: the operation, who sends it, and to whom it is.
func ofARP(a *layers.ARP) []any {
	return []any{
		a.Operation, MACAt(a.SourceHwAddress), netip.AddrFrom4([4]byte(a.SourceProtAddress)),
		MACAt(a.DstHwAddress), netip.AddrFrom4([4]byte(a.DstProtAddress)),
	}
}

// ARP requests, as another reads them; what is no request of Ethernet and IPv4 asks for nothing.
func TestARPByAnother(t *testing.T) {
	from, target := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	b := bytes.Repeat([]byte{0xEE}, SolicitLen)
	n := Solicit(b, ourMAC, 0, from, target)
	p := decoded(t, b[:n])
	eth, arp := p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet), p.Layer(layers.LayerTypeARP).(*layers.ARP)
	same(t, "length, to", []any{n, eth.DstMAC}, []any{MinFrameLen, Broadcast})
	same(t, "request", ofARP(arp), []any{layers.ARPRequest, ourMAC, from, MAC(0), target})
	a := b[EthernetLen:n]
	if got, ok := ARPTarget(a); !ok || got != target {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := ARPTarget(a[:arpLen-1]); ok {
		t.Error("a request that is cut short asks for something")
	}
	for i := range 8 { // hardware, protocol, lengths, operation
		bad := bytes.Clone(a)
		if bad[i]++; i == 7 {
			bad[i] = 3
		}
		if _, ok := ARPTarget(bad); ok {
			t.Errorf("with another byte %d it asks for something", i)
		}
	}
	AnswerARP(a, theirMAC)
	arp = decoded(t, b[:n]).Layer(layers.LayerTypeARP).(*layers.ARP)
	same(t, "reply", ofARP(arp), []any{layers.ARPReply, theirMAC, target, ourMAC, from})
	if _, ok := ARPTarget(a); ok {
		t.Error("a reply asks for something")
	}
}

// A host that asks for an address that it is about to take has none yet: all are told that it is taken (RFC 4861 section
// 7.2.4).
func TestAddressThatIsTaken(t *testing.T) {
	target := netip.MustParseAddr("fd00::1234:5678")
	b := make([]byte, SolicitLen)
	Solicit(b, ourMAC, 0, netip.IPv6Unspecified(), target)
	if !Advertise(b[EthernetLen:], theirMAC) {
		t.Error("the answer is for one host alone")
	}
	AllNodes.Put(b)
	p := decoded(t, b)
	ip := p.Layer(layers.LayerTypeIPv6).(*layers.IPv6)
	na := p.Layer(layers.LayerTypeICMPv6NeighborAdvertisement).(*layers.ICMPv6NeighborAdvertisement)
	same(t, "from, to, target", []any{ip.SrcIP, ip.DstIP, na.TargetAddress}, []any{target, "ff02::1", target})
	same(t, "to, flags, options", []any{MACAt(b), na.Router(), na.Solicited(), na.Override(), len(na.Options), MACAt(na.Options[0].Data)},
		[]any{"33:33:00:00:00:01", true, false, true, 1, theirMAC})
	checked(t, p, b)
}

// An echo request is answered only if its packet has all of the header: padding of a frame is no request.
func TestEchoThatIsNone(t *testing.T) {
	v4 := func(total int) []byte {
		ip := make([]byte, 46)
		ip[0], ip[3], ip[8], ip[9], ip[20] = 0x45, byte(total), 64, ProtoICMP, 8
		return ip
	}
	v6 := func(payload int) []byte {
		ip := make([]byte, 60)
		ip[0], ip[5], ip[6], ip[7], ip[40] = 0x60, byte(payload), ProtoICMPv6, 64, 128
		return ip
	}
	for length := range 9 {
		for _, ip := range [][]byte{v4(IPv4Len + length), v6(length)} {
			was := bytes.Clone(ip)
			if did := AnswerEcho(ip); did != (length == 8) || did == bytes.Equal(ip, was) {
				t.Errorf("IPv%d with %d bytes of ICMP: answered %v, %x", ip[0]>>4, length, did, ip)
			}
		}
	}
}

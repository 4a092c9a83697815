package marking

import (
	"fmt"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// The first rule that matches a flow says what it is entitled to; a flow that none matches has weight 1. So it is what
// was drawn of a packet that decides, and not how the packet is read.
func TestSharesOfRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string, of ...int) int { return rapid.SampledFrom(of).Draw(t, what) }
		address := func(what string) netip.Addr {
			return netip.MustParseAddr(fmt.Sprintf("10.0.%d.%d", draw(what, 0, 1), draw(what, 1, 2)))
		}
		var rules []ShareRule
		for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
			r := ShareRule{Share: Share{Weight: float64(i + 2), Max: units.Rate(i) * units.Gbps}}
			if rapid.Bool().Draw(t, "from") {
				r.From = netip.PrefixFrom(address("from"), draw("bits", 8, 24, 32)).Masked()
			}
			if rapid.Bool().Draw(t, "to") {
				r.To = netip.PrefixFrom(address("to"), draw("bits", 8, 24, 32)).Masked()
			}
			r.Proto = uint8(draw("protocol", 0, 0, wire.ProtoTCP, wire.ProtoUDP))
			r.Port, r.QP = uint16(draw("port", 0, 0, 80, wire.PortRoCEv2)), uint32(draw("pair", 0, 0, 7))
			rules = append(rules, r)
		}
		from, to, qp := address("from"), address("to"), uint32(draw("pair", 7, 8))
		udp, roce, port := true, rapid.Bool().Draw(t, "RoCE"), uint16(80)
		if roce {
			port = wire.PortRoCEv2
		} else {
			udp, port = rapid.Bool().Draw(t, "UDP"), uint16(draw("port", 80, 81))
		}
		want := Share{Weight: 1}
		for i := len(rules) - 1; i >= 0; i-- {
			r := &rules[i]
			is := func(p netip.Prefix, a netip.Addr) bool { return !p.IsValid() || p.Contains(a) }
			proto := map[bool]uint8{false: 6, true: 17}[udp]
			if is(r.From, from) && is(r.To, to) && (r.Proto == 0 || r.Proto == proto) &&
				(r.Port == 0 || r.Port == port) && (r.QP == 0 || roce && r.QP == qp) {
				want = r.Share
			}
		}
		p := &Packet{}
		p.Show(1500, wire.EthernetLen, headers(from, to, udp, 4000, port, qp))
		shares := SharesOf(rules)
		if got, changed := shares(1, p); got != want || changed {
			t.Fatalf("%+v, not %+v, by %+v", got, want, rules)
		}
		if _, changed := shares(1, nil); changed {
			t.Fatal("a share changes by itself")
		}
	})
}

// headers are those of a packet, byte by byte.
func headers(from, to netip.Addr, udp bool, sport, dport uint16, qp uint32) []byte {
	b := make([]byte, 128)
	b[12], b[13] = 8, 0
	ip := b[14:]
	ip[0], ip[3], ip[8], ip[9] = 0x45, 100, 64, 6
	if udp {
		ip[9] = 17
	}
	copy(ip[12:16], from.AsSlice())
	copy(ip[16:20], to.AsSlice())
	ip[20], ip[21], ip[22], ip[23] = byte(sport>>8), byte(sport), byte(dport>>8), byte(dport)
	bth := ip[28:]
	bth[5], bth[6], bth[7] = byte(qp>>16), byte(qp>>8), byte(qp)
	return b
}

// What is not IP has weight 1 as other flows have of which nothing is said.
func TestSharesOfOtherFrames(t *testing.T) {
	p := &Packet{}
	p.Show(64, 0, make([]byte, 64))
	if s, _ := SharesOf([]ShareRule{{Share: Share{Weight: 9}}})(1, p); s != (Share{Weight: 1}) {
		t.Errorf("%+v", s)
	}
}

// A later fragment has the protocol of its packet, and no ports.
func TestSharesOfFragments(t *testing.T) {
	b := headers(netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), true, 80, 80, 0)
	b[20], b[21] = 0, 100 // offset
	p := &Packet{}
	p.Show(1500, wire.EthernetLen, b)
	rules := []ShareRule{
		{Port: 80, Share: Share{Weight: 9}}, {Proto: wire.ProtoTCP, Share: Share{Weight: 8}},
		{Proto: wire.ProtoUDP, Share: Share{Weight: 7}},
	}
	if s, _ := SharesOf(rules)(1, p); s.Weight != 7 {
		t.Errorf("weight %v", s.Weight)
	}
}

// Frames that end anywhere, and ones of bytes at random, have a share like any other.
func FuzzSharesOfAnyFrame(f *testing.F) {
	whole := headers(netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), true, 4000, wire.PortRoCEv2, 7)
	v6 := make([]byte, 90)
	v6[12], v6[13], v6[14], v6[20] = 0x86, 0xDD, 0x60, wire.ProtoUDP
	v6[14+42], v6[14+43] = wire.PortRoCEv2>>8, wire.PortRoCEv2&0xFF
	for n := range 80 {
		f.Add(whole[:n])
		f.Add(v6[:n])
	}
	shares := SharesOf([]ShareRule{{QP: 7, Share: Share{Weight: 2}}, {Port: 80, Share: Share{Weight: 3}}})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := &Packet{}
		p.Show(len(b), 0, b)
		if s, changed := shares(1, p); s.Weight < 1 || s.Weight > 3 || changed {
			t.Errorf("%+v", s)
		}
	})
}

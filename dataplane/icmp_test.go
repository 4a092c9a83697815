package dataplane

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// An error comes from the address that the router has at the port, or in the VLAN, through which the packet came, with its tag;
// and from one of no place if there is none.
func TestICMPComesFromWhereThePacketCame(t *testing.T) {
	c := routerConfig()
	c.Static = nil
	c.VLANs = []VLAN{{ID: 10, Untagged: []uint16{0, 1, 2}, Tagged: []uint16{3}}, {ID: 20, Tagged: []uint16{3}, Addresses: []netip.Addr{netip.MustParseAddr("10.0.20.1")}}}
	for i := range c.Router.Routes {
		for j := range c.Router.Routes[i].Via {
			if v := &c.Router.Routes[i].Via[j]; v.Port == 3 {
				v.VLAN = 10
			}
		}
	}
	c.Ports[1].Addresses = []netip.Addr{netip.MustParseAddr("10.0.30.1"), netip.MustParseAddr("fd00:30::1")}
	c.Router.ICMP = ICMP{Rate: 1000, Burst: 10, DSCP: 48}
	eachWay(t, c, func(t *testing.T, r *rig) {
		for _, x := range []struct {
			port     int
			tag      []byte
			src, dst string
			want     string
		}{
			{0, nil, "10.0.0.1", "10.0.1.7", "10.0.9.1"}, {1, nil, "10.0.0.1", "10.0.1.7", "10.0.30.1"}, {1, nil, "fd00::1", "fd00:1::7", "fd00:30::1"},
			{3, []byte{0x81, 0, 0x60, 20}, "10.0.0.1", "10.0.1.7", "10.0.20.1"}, {3, []byte{0x81, 0, 0x60, 10}, "10.0.0.1", "10.0.1.7", "10.0.9.1"},
			{3, []byte{0x81, 0, 0x60, 20}, "fd00::1", "fd00:1::7", "fd00:9::1"},
		} {
			b := ip(x.src, x.dst, 120)
			b[21], b[22] = 1, 1 // hop limit, time to live
			if x.src[0] == '1' {
				b[21] = 0
				wire.SetIPv4Checksum(b[14:])
			} else {
				b[22] = 0xFD
			}
			b = slices.Concat(b[:12], x.tag, b[12:])
			r.in(x.port, b, len(b))
			out := r.out(x.port, 4)
			if len(out) != 1 {
				t.Fatalf("%+v: %d frames", x, len(out))
			}
			got, at := out[0], 14+len(x.tag)
			if from := wire.Source(got[at:]); from.String() != x.want || wire.Destination(got[at:]).String() != x.src || wire.MACAt(got) != mac(0) || wire.MACAt(got[6:]) != routerMAC {
				t.Errorf("%+v: from %v, % x", x, from, got)
			}
			if len(x.tag) > 0 && binary.BigEndian.Uint16(got[14:])&wire.VLANID != uint16(x.tag[3]) {
				t.Errorf("%+v: tag % x", x, got[12:16])
			}
			if st := r.stats(x.port); st.Discards[fabric.DropTTL][3] == 0 || st.ICMPSent == 0 || st.ICMPLimited != 0 {
				t.Errorf("%+v: %d discarded, %d sent, %d not", x, st.Discards[fabric.DropTTL][3], st.ICMPSent, st.ICMPLimited)
			}
		}
	})
}

// Each port has its own limit, which fills again with time; what is beyond it is counted, and nothing is sent.
func TestICMPIsLimited(t *testing.T) {
	c := routerConfig()
	c.Router.ICMP = ICMP{Rate: 10, Burst: 3, DSCP: 48}
	eachWay(t, c, func(t *testing.T, r *rig) {
		b := ip("10.0.0.1", "10.0.1.7", 120)
		b[22] = 1
		wire.SetIPv4Checksum(b[14:])
		for range 10 {
			r.in(0, b, 120)
			r.in(1, b, 120)
		}
		for port := range 2 {
			if st := r.stats(port); st.ICMPSent != 3 || st.ICMPLimited != 7 || st.Discards[fabric.DropTTL][3] != 10 {
				t.Errorf("port %d: %d sent, %d not", port, st.ICMPSent, st.ICMPLimited)
			}
		}
		r.now += 100 * units.Millisecond
		r.in(0, b, 120)
		r.in(0, b, 120)
		if st := r.stats(0); st.ICMPSent != 4 || st.ICMPLimited != 8 {
			t.Errorf("later: %d sent, %d not", st.ICMPSent, st.ICMPLimited)
		}
		if n := len(r.out(0, 10)); n != 4 {
			t.Errorf("%d errors leave", n)
		}
	})
}

// An error fits through the port to which it goes, however much longer packets the switch has elsewhere: it quotes less.
func TestICMPIsNoLongerThanItsPortTakes(t *testing.T) {
	c := routerConfig()
	c.Router.ICMP = ICMP{Rate: 1000, Burst: 10, DSCP: 48}
	c.Ports[0].MTU = 400
	for _, x := range []struct {
		src, dst string
		length   int
		make     func(b []byte)
	}{
		{"10.0.0.1", "203.0.113.1", 400, func(b []byte) { b[22] = 1; wire.SetIPv4Checksum(b[14:]) }},
		{"fd00::1", "2001:db8::1", 400, func([]byte) {}},
		{"fd00::1", "fd00:1::7", 1600, func([]byte) {}}, // it is too long for any port
	} {
		env := fabric.NewEnv(fabric.NewHeaderPoolOf(2048), len(c.Ports))
		sw, err := NewSwitch(c, []*fabric.Env{env})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t: t, sw: sw, env: env}
		b := ip(x.src, x.dst, 14+x.length)
		x.make(b)
		r.in(0, b, len(b))
		if out := r.out(0, 4); len(out) != 1 || wire.TotalLen(out[0][14:]) != 400 || len(out[0]) != 414 {
			t.Errorf("%s to %s: %d frames leave; %d errors were sent, and %d too long", x.src, x.dst, len(out), r.stats(0).ICMPSent, r.stats(0).Discards[fabric.DropOversize][6])
		}
		r.audit()
	}
}

// A frame may be too long although its packet is not: of that no packet is to be shorter.
func TestICMPIsOfThePacketThatIsTooLong(t *testing.T) {
	c := routerConfig()
	c.Router.ICMP = ICMP{Rate: 1000, Burst: 10, DSCP: 48}
	for length, want := range map[int]uint64{1500: 0, 1501: 1} {
		r := newRig(t, c)
		r.in(0, ip("fd00::1", "fd00:1::7", 14+length), 14+length+20)
		if st := r.stats(0); st.ICMPSent != want || st.Discards[fabric.DropOversize][3] != 1 {
			t.Errorf("%d bytes: %d errors, %d discarded", length, st.ICMPSent, st.Discards[fabric.DropOversize][3])
		}
	}
}

// A tag says the priority that an error has, by its own DSCP, and not that of the packet.
func TestICMPIsTaggedWithItsPriority(t *testing.T) {
	c := routerConfig()
	c.Router.ICMP = ICMP{Rate: 1000, Burst: 10, DSCP: 48}
	c.PCP[2], c.PCP[6] = 6, 2
	vlans := []VLAN{{ID: 20, Tagged: []uint16{0}, Untagged: []uint16{1, 2, 3}}}
	own := &Classes{DSCP: c.DSCP, PCP: [8]uint8{0, 1, 2, 3, 6, 5, 4, 7}}
	for _, x := range []struct {
		vlans   []VLAN
		classes *Classes
		want    uint16
	}{{nil, nil, 2}, {vlans, nil, 2}, {nil, own, 4}, {vlans, own, 4}} {
		c.VLANs, c.Router.Routes, c.Ports[0].Classes = x.vlans, nil, x.classes
		if x.vlans != nil {
			c.Static = nil
		}
		eachWay(t, c, func(t *testing.T, r *rig) {
			b := ip("10.0.0.1", "10.0.1.7", 120)
			b = slices.Concat(b[:12], []byte{0x81, 0, 0x70, 20}, b[12:])
			r.in(0, b, len(b))
			if out := r.out(0, 4); len(out) != 1 || binary.BigEndian.Uint16(out[0][14:]) != x.want<<13|20 {
				t.Errorf("VLANs %v, maps of the port %v: % x", x.vlans, x.classes != nil, out)
			}
		})
	}
}

// What a DSCP means at a port with a map of its own, it means for errors that leave there, too, whatever the port
// trusts of what comes.
func TestICMPHasThePriorityOfItsDSCPAtThePort(t *testing.T) {
	for _, trust := range []Trust{TrustDSCP, TrustPCP, TrustNone} {
		c := routerConfig()
		c.Router.ICMP = ICMP{Rate: 1000, Burst: 10, DSCP: 48}
		c.Ports[0].Classes = &Classes{Trust: trust, DSCP: c.DSCP, PCP: c.PCP, Default: 1}
		c.Ports[0].Classes.DSCP[48], c.Router.Routes = 5, nil
		for port, want := range []int{5, 6} {
			eachWay(t, c, func(t *testing.T, r *rig) {
				b := ip("10.0.0.1", "10.0.1.7", 120)
				b = slices.Concat(b[:12], []byte{0x81, 0, 0x70, 0}, b[12:])
				r.in(port, b, len(b))
				out := r.out(port, 4)
				if len(out) != 1 || binary.BigEndian.Uint16(out[0][14:]) != uint16(want)<<13 {
					t.Fatalf("trust %d, port %d: % x", trust, port, out)
				}
				for prio := range 8 {
					if sent := r.stats(port).TxFrames[prio]; (sent == 1) != (prio == want) {
						t.Errorf("trust %d, port %d: %d errors left in priority %d, want %d", trust, port, sent, prio, want)
					}
				}
			})
		}
	}
}

// ICMP of a type that the router does not know, or a part of a packet, is discarded in silence (RFC 1122 section 3.2.2,
// RFC 4443 section 2.4): ICMP is no unreachable protocol.
func TestICMPToTheRouterOfUnknownType(t *testing.T) {
	c := routerConfig()
	c.Router.ICMP = ICMP{Rate: 1000, Burst: 10, DSCP: 48}
	for _, x := range []struct {
		name, src, dst string
		make           func(b []byte)
	}{
		{"IPv4 echo reply", "10.0.0.1", "10.0.9.1", func(b []byte) { b[23], b[34], b[35] = 1, 0, 0 }},
		{"IPv4 timestamp request", "10.0.0.1", "10.0.9.1", func(b []byte) { b[23], b[34], b[35] = 1, 13, 0 }},
		{"IPv4 echo request, first fragment", "10.0.0.1", "10.0.9.1", func(b []byte) { b[23], b[34], b[35] = 1, 8, 0; b[20] |= 0x20 }},
		{"IPv6 echo reply", "fd00::1", "fd00:9::1", func(b []byte) { b[20], b[54], b[55] = 58, 129, 0 }},
		{"IPv6 without a next header (RFC 8200 section 4.7)", "fd00::1", "fd00:9::1", func(b []byte) { b[20] = 59 }},
		{"IPv6 unknown informational", "fd00::1", "fd00:9::1", func(b []byte) { b[20], b[54], b[55] = 58, 200, 0 }},
	} {
		r := newRig(t, c)
		b := ip(x.src, x.dst, 120)
		x.make(b)
		if b[14]>>4 == 4 {
			wire.SetIPv4Checksum(b[14:])
		}
		r.in(0, b, len(b))
		if out := r.out(0, 4); len(out) != 0 {
			at := 34
			if out[0][14]>>4 == 6 {
				at = 54
			}
			t.Errorf("%s: answered with an ICMP error, type %d code %d", x.name, out[0][at], out[0][at+1])
		}
	}
}

// What an IPv6 packet for an address of the router causes comes from that address (RFC 4443 section 2.2 (a)), wherever the
// router has it and wherever the packet came.
func TestICMPv6ComesFromWhomThePacketWasFor(t *testing.T) {
	c := routerConfig()
	c.Ports[0].Addresses = []netip.Addr{netip.MustParseAddr("fd00:20::1")}
	c.Ports[1].Addresses = []netip.Addr{netip.MustParseAddr("fd00:30::1")}
	c.Router.ICMP = ICMP{Rate: 1000, Burst: 10, DSCP: 48}
	eachWay(t, c, func(t *testing.T, r *rig) {
		for _, to := range []string{"fd00:9::1", "fd00:20::1", "fd00:30::1"} {
			for _, protocol := range []byte{wire.ProtoUDP, 99} {
				b := ip("fd00:1::7", to, 120)
				b[20] = protocol
				r.in(0, b, len(b))
				out := r.out(0, 4)
				if len(out) != 1 {
					t.Fatalf("%s: %d frames", to, len(out))
				}
				if from := wire.Source(out[0][14:]); from.String() != to || wire.ICMPv6Sum(out[0][14:]) != 0xFFFF {
					t.Errorf("%s, protocol %d: an error from %v", to, protocol, from)
				}
			}
		}
	})
}

// A host that is about to take an address of the router's learns that it is taken: by an ARP probe (RFC 5227), or by
// duplicate address detection (RFC 4862), in the form of its VLAN. No other host sees the question.
func TestAddressOfTheRouterIsTaken(t *testing.T) {
	c := routerConfig()
	c.Static = nil
	c.VLANs = []VLAN{{ID: 10, Untagged: []uint16{0, 1}, Tagged: []uint16{2, 3}}}
	for i := range c.Router.Routes {
		c.Router.Routes[i].Via = []NextHop{{Port: 0, MAC: mac(50)}}
	}
	eachWay(t, c, func(t *testing.T, r *rig) {
		for port, tag := range [][]byte{nil, nil, {0x81, 0, 0x60, 10}} {
			for _, address := range []string{"10.0.9.1", "fd00:9::1"} {
				none, target := netip.IPv4Unspecified(), netip.MustParseAddr(address)
				if target.Is6() {
					none = netip.IPv6Unspecified()
				}
				q := make([]byte, wire.SolicitLen)
				q = q[:wire.Solicit(q, mac(7), 0, none, target)]
				if target.Is6() { // without the option, as it must be
					q = q[:14+40+24]
					q[19], q[56], q[57] = 24, 0, 0
					binary.BigEndian.PutUint16(q[56:], ^wire.ICMPv6Sum(q[14:]))
				}
				q = slices.Concat(q[:12], tag, q[12:])
				r.in(port, q, len(q))
				for p := range r.sw.ports {
					out := r.out(p, 4)
					if p != port {
						if len(out) != 0 {
							t.Errorf("%s: it is asked at port %d, too", address, p)
						}
						continue
					}
					if len(out) != 1 {
						t.Errorf("%s at port %d: %d answers", address, p, len(out))
						continue
					}
					b := out[0]
					to, payload := wire.MACAt(b), b[14+len(tag):]
					if target.Is4() {
						says, ok := wire.ARPBinding(payload)
						if !ok || says != (wire.Binding{Addr: target, MAC: routerMAC, Override: true, Answer: true}) || to != mac(7) {
							t.Errorf("%+v, to %v", says, to)
						}
						continue
					}
					says, ok := wire.NDBinding(payload, len(payload))
					if !ok || says != (wire.Binding{Addr: target, MAC: routerMAC, Override: true, Answer: true}) {
						t.Errorf("%+v", says)
					}
					if to != 0x3333_0000_0001 || wire.Destination(payload).String() != "ff02::1" || payload[44] != 0xA0 {
						t.Errorf("the answer is for %v, %v, with flags %#x", to, wire.Destination(payload), payload[44])
					}
				}
			}
		}
	})
}

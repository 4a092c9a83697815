package dataplane

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"photon/fabric"
	"photon/marking"
	"photon/wire"
)

const routerMAC wire.MAC = 0x0200_0000_00FE

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// routerConfig is a router of four ports with a host behind each, 10.0.N.N, and
// two next hops for everything else.
func routerConfig() SwitchConfig {
	c := config(4)
	c.CP = nil
	c.Router = Router{MAC: routerMAC, Addresses: []netip.Addr{netip.MustParseAddr("10.0.9.1"), netip.MustParseAddr("fd00:9::1")}}
	for i := range 4 {
		via := []NextHop{{Port: uint16(i), MAC: mac(i)}}
		c.Router.Routes = append(c.Router.Routes, Route{Prefix: prefix(fmt.Sprintf("10.0.%d.0/24", i)), Via: via}, Route{Prefix: prefix(fmt.Sprintf("fd00:%d::/64", i)), Via: via})
	}
	c.Router.Routes = append(c.Router.Routes, Route{Prefix: prefix("0.0.0.0/0"), Via: []NextHop{{Port: 2, MAC: mac(52)}, {Port: 3, MAC: mac(53)}}})
	return c
}

// ip is the whole of a RoCEv2 packet to the router.
func ip(src, dst string, length int) []byte {
	b := make([]byte, length)
	s, err := wire.ParseIP(src)
	d, err2 := wire.ParseIP(dst)
	if err != nil || err2 != nil {
		panic(dst)
	}
	r := wire.RoCE{DstMAC: routerMAC, SrcMAC: mac(0), Src: s, Dst: d, TOS: 26<<2 | wire.ECT0, SrcPort: 5000}
	headers := 42
	if !s.Is4() {
		headers = 62
	}
	bth := r.Encode(b, length-headers)
	wire.BTH(b[bth:]).Encode(wire.OpSendMiddle, false, 7, false, 0)
	wire.SealICRC(b[14:], bth-14)
	return b
}

// A packet to the router leaves to its next hop with a hop less to live and
// checksums that hold; mark, priority and payload are what they would be.
func TestRouting(t *testing.T) {
	c := routerConfig()
	c.CP = func(marking.Place) marking.CP { return marking.NewNPECN() }
	eachWay(t, c, func(t *testing.T, r *rig) {
		for _, dst := range []string{"10.0.1.7", "fd00:1::7"} {
			src := "10.0.0.1"
			if strings.Contains(dst, ":") {
				src = "fd00::1"
			}
			b := ip(src, dst, 110)
			r.in(0, b, 110)
			r.in(0, b, 110)
			out := r.out(1, 4)
			if len(out) != 2 {
				t.Fatalf("%s: %d frames", dst, len(out))
			}
			for i, got := range out {
				want := bytes.Clone(b)
				mac(1).Put(want)
				routerMAC.Put(want[6:])
				wire.DecrementTTL(want[14:])
				if i == 0 {
					wire.SetECN(want[14:], wire.CE) // another waits behind it
				}
				var h wire.Header
				if !bytes.Equal(got, want) || !wire.Parse(got, &h) || h.L3 != 14 || wire.TTL(got[14:]) != 63 || !wire.ICRCOK(got[14:], h.BTH-14) {
					t.Errorf("%s, frame %d:\n% x\nwant\n% x", dst, i, got, want)
				}
			}
		}
		if st := r.stats(0); st.Routed != 4 || st.RxFrames[3] != 4 || r.stats(1).TxFrames[3] != 4 || r.stats(1).Marked[3] != 2 {
			t.Errorf("%d routed of %d, %d sent", st.Routed, st.RxFrames[3], r.stats(1).TxFrames[3])
		}
	})
}

// A port that is removed takes its counters along, but what was routed from there stays counted.
func TestRoutedOfRemovedPorts(t *testing.T) {
	c := routerConfig()
	c.Ports = append(c.Ports, PortConfig{MAC: mac(104), Link: fabric.Link{Rate: rate}})
	r := newRig(t, c)
	for round := range 2 {
		for range 3 {
			r.in(4, ip("10.0.4.1", "10.0.1.7", 110), 110)
		}
		if n, sent := r.stats(4).Routed, len(r.out(1, 8)); n != 3 || sent != 3 {
			t.Fatalf("round %d: %d of 3 packets are routed, %d sent", round, n, sent)
		}
		r.reload(r.without(4))
		if n := r.sw.Stats(r.now).RemovedRouted; n != uint64(3*round+3) {
			t.Errorf("round %d: %d packets of removed ports were routed", round, n)
		}
		r.occupy(4, 0)
	}
}

// What is not forwarded is counted with its reason.
func TestRoutingDiscards(t *testing.T) {
	good := ip("10.0.0.1", "10.0.1.7", 100)
	six := ip("fd00::1", "fd00:1::7", 120)
	change := func(b []byte, do func(b []byte)) []byte {
		b = bytes.Clone(b)
		do(b)
		if b[14]>>4 == 4 {
			wire.SetIPv4Checksum(b[14:])
		}
		return b
	}
	broken := bytes.Clone(good)
	broken[24] ^= 1
	for _, c := range []struct {
		name  string
		frame []byte
		why   fabric.Reason
	}{
		{"the last hop", change(good, func(b []byte) { b[22] = 1 }), fabric.DropTTL}, {"after the last", change(good, func(b []byte) { b[22] = 0 }), fabric.DropTTL},
		{"the last hop of IPv6", change(six, func(b []byte) { b[21] = 1 }), fabric.DropTTL}, {"a checksum", broken, fabric.DropBadIP},
		{"longer than its frame", change(good, func(b []byte) { b[16] = 1 }), fabric.DropBadIP}, {"shorter than its header", change(good, func(b []byte) { b[16], b[17] = 0, 19 }), fabric.DropBadIP},
		{"longer than its frame, IPv6", change(six, func(b []byte) { b[18] = 1 }), fabric.DropBadIP},
		{"no route", ip("fd00::1", "fd01::1", 120), fabric.DropNoRoute}, {"a group", change(good, func(b []byte) { b[30] = 224 }), fabric.DropNoRoute},
		{"everybody", change(good, func(b []byte) { copy(b[30:], []byte{255, 255, 255, 255}) }), fabric.DropNoRoute},
		{"loopback", change(good, func(b []byte) { b[30] = 127 }), fabric.DropNoRoute}, {"link-local", ip("fd00::1", "fe80::1", 120), fabric.DropNoRoute},
		{"for the router", ip("10.0.0.1", "10.0.9.1", 100), fabric.DropToRouter},
		{"not IP", change(good, func(b []byte) { b[12], b[13] = 0x88, 0xB5 }), fabric.DropToRouter},
	} {
		eachWay(t, routerConfig(), func(t *testing.T, r *rig) {
			r.in(0, c.frame, len(c.frame))
			st := r.stats(0)
			if n := st.Discards[c.why]; n[3]+n[0] != 1 || st.Routed != 0 {
				t.Errorf("%s: %v", c.name, st.Discards)
			}
			for p := range 4 {
				if n := len(r.out(p, 4)); n != 0 {
					t.Errorf("%s: %d frames leave port %d", c.name, n, p)
				}
			}
		})
	}
}

// Packets from where no packet on a network comes from are not forwarded, whether their route is remembered or not.
func TestMartianSources(t *testing.T) {
	for _, src := range []string{
		"0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.0.9", "169.254.1.1", "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255",
		"::", "::1", "fe80::1", "febf::1", "ff02::1", "ff0e::7",
	} {
		eachWay(t, routerConfig(), func(t *testing.T, r *rig) {
			good, dst := "10.0.0.1", "10.0.1.7"
			if strings.Contains(src, ":") {
				good, dst = "fd00::1", "fd00:1::7"
			}
			for i := range 3 {
				b := ip(src, dst, 120)
				r.in(0, b, len(b))
				if n := r.stats(0).Discards[fabric.DropMartian][3]; n != uint64(i+1) || len(r.out(1, 4)) != 0 {
					t.Fatalf("%s: %d are discarded of %d", src, n, i+1)
				}
				b = ip(good, dst, 120)
				r.in(0, b, len(b))
				if len(r.out(1, 4)) != 1 {
					t.Fatalf("%s is not forwarded", good)
				}
			}
		})
	}
}

// All fragments of a packet go one way, and flows that have none are spread by their ports as before.
func TestFragmentsGoOneWay(t *testing.T) {
	c := routerConfig()
	c.Static = append(c.Static, StaticEntry{MAC: mac(9), Ports: []uint16{1, 2, 3}})
	fragment6 := func(flow int, offset uint16) []byte {
		b := ip("fd00::1", "2001:db8::3", 120)
		b[53] = byte(flow) // of the destination
		b[20] = 44         // a fragment header comes next, and what was the UDP header is behind it
		copy(b[62:], b[54:70])
		copy(b[54:], []byte{wire.ProtoUDP, 0, byte(offset >> 8), byte(offset), 0, 0, 0, 1})
		return b
	}
	fragment4 := func(flow int, offset uint16) []byte {
		return with(ip("10.0.0.1", "99.1.2.3", 120), func(b []byte) {
			b[33] = byte(flow)
			put16(20, offset)(b)
			wire.SetIPv4Checksum(b[14:])
		})
	}
	c.Router.Routes = append(c.Router.Routes, Route{Prefix: prefix("::/0"), Via: []NextHop{{Port: 2, MAC: mac(52)}, {Port: 3, MAC: mac(53)}}})
	const more4, more6 = 0x2000, 1
	for name, packets := range map[string][3]func(flow int) []byte{
		"IPv4": {
			func(f int) []byte { return fragment4(f, more4) }, func(f int) []byte { return fragment4(f, more4|100) }, func(f int) []byte { return fragment4(f, 200) },
		},
		"IPv6": {
			func(f int) []byte { return fragment6(f, more6) }, func(f int) []byte { return fragment6(f, more6|100<<3) }, func(f int) []byte { return fragment6(f, 200<<3) },
		},
	} {
		for _, routed := range []bool{true, false} {
			eachWay(t, c, func(t *testing.T, r *rig) {
				used := map[int]bool{}
				for flow := range 40 {
					ways := map[int]bool{}
					for i, packet := range packets {
						b := packet(flow)
						if !routed {
							mac(9).Put(b)
						}
						if l4 := map[string]int{"IPv4": 34, "IPv6": 62}[name]; i > 0 { // payload, where ports would be
							put16(l4, uint16(flow*7+i))(b)
							put16(l4+2, uint16(flow*11+i))(b)
						}
						r.in(0, b, len(b))
						for p := range 4 {
							if n := len(r.out(p, 4)); n > 0 {
								ways[p] = true
							}
						}
					}
					if len(ways) != 1 {
						t.Fatalf("%s, routed %v: fragments of packet %d go %v", name, routed, flow, ways)
					}
					for p := range ways {
						used[p] = true
					}
				}
				if len(used) < 2 {
					t.Errorf("%s, routed %v: all go %v", name, routed, used)
				}
			})
		}
	}
}

// A packet that was routed stays so when another of its burst is looked up again,
// since a third one between them was the first of its address.
func TestRoutedBeforeAnAddressIsLearned(t *testing.T) {
	c := routerConfig()
	c.Learn, c.FDBSize, c.Static = true, 64, nil
	r := newRig(t, c)
	first, second := ip("10.0.0.1", "10.0.1.7", 100), ip("10.0.0.1", "10.0.2.7", 100)
	r.burst(0, first, second)
	r.burst(0, first, packet(77, 3, 26, wire.ECT0), first, second)
	for port, want := range map[int]int{1: 3, 2: 2} {
		routed := 0
		for _, b := range r.out(port, 9) {
			switch to := wire.MACAt(b); to {
			case mac(port):
				routed++
			case mac(3): // flooded
			default:
				t.Errorf("port %d sends to %v", port, to)
			}
		}
		if routed != want {
			t.Errorf("port %d sends %d packets to its neighbour, want %d", port, routed, want)
		}
	}
}

// Routes of equal cost: each gets a share, a flow stays, and a link that goes down
// is done without.
func TestEqualCostRoutes(t *testing.T) {
	t.Run("IPv4", func(t *testing.T) { testEqualCostRoutes(t, "10.0.0.1", "99.1.2.3", 34) })
	t.Run("IPv6", func(t *testing.T) { testEqualCostRoutes(t, "fd00::1", "2001:db8::3", 54) })
}

// testEqualCostRoutes does with packets whose flow is told by the port that is at a place in them.
func testEqualCostRoutes(t *testing.T, src, dst string, flowAt int) {
	c := routerConfig()
	c.Salt = 12345
	c.Router.Routes = append(c.Router.Routes, Route{Prefix: prefix("::/0"), Via: []NextHop{{Port: 2, MAC: mac(52)}, {Port: 3, MAC: mac(53)}}})
	eachWay(t, c, func(t *testing.T, r *rig) {
		where := func(flow int) int {
			b := ip(src, dst, 100)
			binary.BigEndian.PutUint16(b[flowAt:], uint16(flow))
			r.in(0, b, 100)
			var at []int
			for p := range 4 {
				if out := r.out(p, 4); len(out) == 1 && wire.MACAt(out[0]) == mac(50+p) {
					at = append(at, p)
				}
			}
			if len(at) != 1 {
				t.Fatalf("flow %d leaves at %v", flow, at)
			}
			return at[0]
		}
		set := func(port int, up bool) {
			ch, err := r.sw.PrepareLink(port, LinkState{Up: up})
			if err != nil {
				t.Fatal(err)
			}
			r.sw.SetLink(r.now, ch)
		}
		share := map[int]int{}
		for flow := range 200 {
			first := where(flow)
			if where(flow) != first {
				t.Fatalf("flow %d moves", flow)
			}
			share[first]++
		}
		if share[2] < 70 || share[3] < 70 || share[2]+share[3] != 200 {
			t.Error(share)
		}
		set(2, false)
		for flow := range 50 {
			if where(flow) != 3 {
				t.Fatal("a flow goes where no link is")
			}
		}
		set(3, false)
		r.in(0, ip(src, dst, 100), 100)
		if n := r.stats(2).Discards[fabric.DropLink][3] + r.stats(3).Discards[fabric.DropLink][3]; n != 1 {
			t.Errorf("%d frames are discarded with no link up", n)
		}
		set(2, true)
		for flow := range 50 {
			if where(flow) != 2 {
				t.Fatal("a flow does not come back")
			}
		}
	})
}

// What one switch sends one way, the next spreads again: their salts differ.
func TestSaltOfEqualPaths(t *testing.T) {
	next := [2]int{}
	for flow := range uint64(20_000) {
		hash := uint32(flow * 0x9E3779B97F4A7C15 >> 32)
		if pick(hash, 12345, 2) == 0 {
			next[pick(hash, 54321, 2)]++
		}
	}
	if all := next[0] + next[1]; all < 9_000 || all > 11_000 || next[0] < 4_000 || next[1] < 4_000 {
		t.Errorf("of 20000 flows %d go one way at the first switch, %v at the second", all, next)
	}
}

// Between VLANs: the tag is the next hop's, on one port too.
func TestRoutingBetweenVLANs(t *testing.T) {
	c := vlanConfig()
	c.CP = nil
	c.Router = Router{MAC: routerMAC, Routes: []Route{
		{Prefix: prefix("10.0.1.0/24"), Via: []NextHop{{Port: 0, MAC: mac(1)}}},
		{Prefix: prefix("10.0.2.0/24"), Via: []NextHop{{Port: 2, MAC: mac(2), VLAN: 20}}},
		{Prefix: prefix("10.0.3.0/24"), Via: []NextHop{{Port: 3, MAC: mac(3), VLAN: 20}}},
		{Prefix: prefix("10.0.4.0/24"), Via: []NextHop{{Port: 3, MAC: mac(4), VLAN: 10}}},
	}}
	for _, in := range []struct {
		port int
		tci  int
	}{{1, -1}, {2, -1}, {3, 5<<13 | 10}, {3, 5<<13 | 20}, {0, 3 << 13}, {4, -1}} {
		for subnet, out := range map[int]struct{ port, vlan int }{1: {0, 0}, 2: {2, 0}, 3: {3, 20}, 4: {3, 10}} {
			eachWay(t, c, func(t *testing.T, r *rig) {
				b := ip("10.0.0.1", fmt.Sprintf("10.0.%d.1", subnet), 100)
				want := bytes.Clone(b)
				mac(subnet).Put(want)
				routerMAC.Put(want[6:])
				wire.DecrementTTL(want[14:])
				pcp := uint16(3)
				if in.tci >= 0 {
					b, pcp = withTag(b, uint16(in.tci)), uint16(in.tci>>13)
				}
				if out.vlan != 0 {
					want = withTag(want, pcp<<13|uint16(out.vlan))
				}
				r.in(in.port, b, len(b))
				if got := r.out(out.port, 4); len(got) != 1 || !bytes.Equal(got[0], want) {
					t.Errorf("from port %d with %#x to %d:\n% x\nwant\n% x", in.port, in.tci, subnet, got, want)
				}
			})
		}
	}
}

// A switch without VLANs routes what is tagged too; it leaves without.
func TestRoutingOfATaggedPacket(t *testing.T) {
	r := newRig(t, routerConfig())
	b := withTag(ip("10.0.0.1", "10.0.1.7", 100), 3<<13|5)
	r.in(0, b, len(b))
	if got := r.out(1, 4); len(got) != 1 || len(got[0]) != 100 || got[0][12] != 0x08 {
		t.Errorf("% x", got)
	}
}

// Routes change as a whole or not at all, and what is queued leaves.
func TestReloadOfRoutes(t *testing.T) {
	c := routerConfig()
	r := newRig(t, c)
	r.in(0, ip("10.0.0.1", "10.0.1.7", 100), 100)
	c.Router.Routes = []Route{{Prefix: prefix("10.0.1.0/24"), Via: []NextHop{{Port: 2, MAC: mac(2)}}}}
	bad := c
	bad.Router.Routes = append(slices.Clone(c.Router.Routes), Route{Prefix: prefix("10.0.2.0/24"), Via: []NextHop{{Port: 9, MAC: mac(2)}}})
	if _, err := r.sw.Prepare(bad); err == nil {
		t.Error("a port that is not there")
	}
	r.in(0, ip("10.0.0.1", "10.0.1.7", 100), 100)
	r.reload(c)
	r.in(0, ip("10.0.0.1", "10.0.1.7", 100), 100)
	r.in(0, ip("10.0.0.1", "10.0.3.7", 100), 100)
	if a, b := len(r.out(1, 4)), len(r.out(2, 4)); a != 2 || b != 1 || r.stats(0).Discards[fabric.DropNoRoute][3] != 1 {
		t.Errorf("%d frames by the old route, %d by the new", a, b)
	}
	c.Router = Router{}
	r.reload(c)
	r.in(0, ip("10.0.0.1", "10.0.1.7", 100), 100)
	if n := len(r.out(1, 4)) + len(r.out(2, 4)) + len(r.out(3, 4)); n != 3 {
		t.Errorf("an address that is nobody's any more: %d frames", n)
	}
}

// Hosts find the router by ARP and neighbour discovery, and may ping it; the
// answers are checked by the rules of the protocols, not by what made them.
func TestRouterAnswers(t *testing.T) {
	r := newRig(t, routerConfig())
	ask := func(b []byte, want int) []byte {
		t.Helper()
		r.in(0, b, len(b))
		var all [][]byte
		for p := range 4 {
			out := r.out(p, 4)
			if all = append(all, out...); want == 1 && p != 0 && len(out) != 0 {
				t.Errorf("%d frames leave port %d", len(out), p)
			}
		}
		if len(all) != want {
			t.Fatalf("%d frames, not %d", len(all), want)
		}
		if wire.MACAt(all[0]) != mac(0) || wire.MACAt(all[0][6:]) != routerMAC {
			if want == 1 {
				t.Errorf("from %v to %v", wire.MACAt(all[0][6:]), wire.MACAt(all[0]))
			}
		}
		return all[0]
	}
	arp := make([]byte, 60)
	wire.Broadcast.Put(arp)
	mac(0).Put(arp[6:])
	copy(arp[12:], []byte{8, 6, 0, 1, 8, 0, 6, 4, 0, 1})
	mac(0).Put(arp[22:])
	copy(arp[28:], []byte{10, 0, 9, 7})
	copy(arp[38:], []byte{10, 0, 9, 1})
	got := ask(arp, 1)
	if got[21] != 2 || wire.MACAt(got[22:]) != routerMAC || !bytes.Equal(got[28:32], []byte{10, 0, 9, 1}) || wire.MACAt(got[32:]) != mac(0) || !bytes.Equal(got[38:42], []byte{10, 0, 9, 7}) {
		t.Errorf("ARP: % x", got)
	}
	other := bytes.Clone(arp)
	other[41] = 2
	ask(other, 3) // somebody else's: to all

	ns := make([]byte, 86)
	wire.MAC(0x3333_FF00_0001).Put(ns)
	mac(0).Put(ns[6:])
	copy(ns[12:], []byte{0x86, 0xDD, 0x60, 0, 0, 0, 0, 32, 58, 255})
	copy(ns[22:], netip.MustParseAddr("fd00:9::7").AsSlice())
	copy(ns[38:], netip.MustParseAddr("ff02::1:ff00:1").AsSlice())
	ns[54] = 135
	copy(ns[62:], netip.MustParseAddr("fd00:9::1").AsSlice())
	ns[78], ns[79] = 1, 1
	mac(0).Put(ns[80:])
	binary.BigEndian.PutUint16(ns[56:], ^wire.ICMPv6Sum(ns[14:]))
	broken := bytes.Clone(ns)
	broken[85] ^= 1
	ask(broken, 3)
	got = ask(ns, 1)
	if len(got) != 86 || got[54] != 136 || got[58] != 0xE0 || got[21] != 255 || wire.ICMPv6Sum(got[14:]) != 0xFFFF || got[78] != 2 || wire.MACAt(got[80:]) != routerMAC ||
		!bytes.Equal(got[22:38], ns[62:78]) || !bytes.Equal(got[38:54], ns[22:38]) || !bytes.Equal(got[62:78], ns[62:78]) {
		t.Errorf("neighbour advertisement: % x", got)
	}

	echo := ip("10.0.0.1", "10.0.9.1", 99)
	echo[23], echo[22], echo[34], echo[35] = wire.ProtoICMP, 1, 8, 0
	wire.SetIPv4Checksum(echo[14:])
	binary.BigEndian.PutUint16(echo[36:], 0)
	binary.BigEndian.PutUint16(echo[36:], ^sum(echo[34:]))
	got = ask(echo, 1)
	if got[34] != 0 || got[22] != 64 || !wire.IPv4ChecksumOK(got[14:]) || sum(got[34:]) != 0xFFFF || !bytes.Equal(got[26:30], echo[30:34]) || !bytes.Equal(got[30:34], echo[26:30]) {
		t.Errorf("echo: % x", got)
	}
	echo6 := ip("fd00::1", "fd00:9::1", 99)
	echo6[20], echo6[54], echo6[55] = wire.ProtoICMPv6, 128, 0
	binary.BigEndian.PutUint16(echo6[56:], 0)
	binary.BigEndian.PutUint16(echo6[56:], ^wire.ICMPv6Sum(echo6[14:]))
	if got = ask(echo6, 1); got[54] != 129 || wire.ICMPv6Sum(got[14:]) != 0xFFFF || !bytes.Equal(got[38:54], echo6[22:38]) {
		t.Errorf("echo of IPv6: % x", got)
	}
	if st := r.stats(0); st.Discarded() != [8]uint64{} {
		t.Errorf("%v", st.Discards)
	}
}

func sum(b []byte) uint16 {
	n := uint32(0)
	for i, x := range b {
		n += uint32(x) << (8 * (1 - i%2))
	}
	for n>>16 != 0 {
		n = n&0xFFFF + n>>16
	}
	return uint16(n)
}

// A congestion point's own CNP finds its way to a source in another subnet.
func TestCNPIsRouted(t *testing.T) {
	c := routerConfig()
	c.CP = func(marking.Place) marking.CP { return &nagging{} }
	r := newRig(t, c)
	flow := marking.Flow{SrcMAC: routerMAC, DstMAC: mac(1), Src: wire.IPv4(10, 0, 0, 7), Dst: wire.IPv4(10, 0, 1, 7), QP: 5}
	r.sw.sendCNP(r.now, &r.sw.ports[1], 3, flow)
	var h wire.Header
	if got := r.out(0, 1); len(got) != 1 || !wire.Parse(got[0], &h) || h.Dst != mac(0) || h.Src != routerMAC || h.BTH == 0 || !wire.IPv4ChecksumOK(got[0][14:]) {
		t.Errorf("%+v", h)
	}
}

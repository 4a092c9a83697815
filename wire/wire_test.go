package wire

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// goldenCNP is a CNP as a ConnectX-4 Lx sends it (published as a test vector of
// the packet library scapy).
var goldenCNP, _ = hex.DecodeString("e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201" +
	"000012b7002800008100ffff4000011800000000" + "00000000000000000000000000000000" + "82fd002a")

func TestGoldenCNP(t *testing.T) {
	var h Header
	if !Parse(goldenCNP, &h) {
		t.Fatal("not parsed")
	}
	if h.Dst.String() != "e4:1d:2d:ab:2b:c2" || h.Src.String() != "7c:fe:90:64:3b:32" || h.EtherType != TypeIPv4 ||
		h.TOS != 0xC2 || h.L3 != 14 || h.L4 != 34 || h.BTH != 42 || h.DstPort != PortRoCEv2 {
		t.Fatalf("%+v", h)
	}
	b := BTH(goldenCNP[h.BTH:])
	if b.Opcode() != OpCNP || !b.BECN() || b.DestQP() != 0x118 || b.PSN() != 0 || b.AckRequest() {
		t.Fatalf("BTH % x", b[:BTHLen])
	}
	before := bytes.Clone(goldenCNP)
	if !ICRCOK(goldenCNP[h.L3:], h.BTH-h.L3) {
		t.Fatalf("ICRC %08x", ICRC(goldenCNP[h.L3:len(goldenCNP)-4], h.BTH-h.L3))
	}
	if !bytes.Equal(before, goldenCNP) {
		t.Fatal("ICRC left its masks behind")
	}
	if !IPv4ChecksumOK(goldenCNP[h.L3:]) {
		t.Fatal("IPv4 checksum")
	}
}

// What routers and switches change on the way must not change the ICRC.
func TestICRCIsInvariant(t *testing.T) {
	frame := bytes.Clone(goldenCNP)
	ip := frame[14:]
	SetECN(ip, CE)
	ip[8]--
	SetIPv4Checksum(ip)
	ip[20+6], ip[28+4] = 0xAB, 0xC0
	if !ICRCOK(ip, 28) {
		t.Fatal("ICRC depends on a variant field")
	}
	ip[12] ^= 1
	if ICRCOK(ip, 28) {
		t.Fatal("ICRC does not cover the source address")
	}
}

// slowICRC is annex A17.3.3, bit by bit: the CRC of IEEE 802.3 over 64 ones and the packet, in which what changes on
// the way is ones.
func slowICRC(ip []byte, bth int) uint32 {
	b := append(bytes.Repeat([]byte{0xFF}, 8), ip...)
	at := func(i int) *byte { return &b[8+i] }
	variant := []int{1, 8, 10, 11} // type of service, time to live, checksum
	if ip[0]>>4 == 6 {
		*at(0) |= 0x0F // traffic class, of which the other half is in byte 1, flow label, hop limit
		variant = []int{1, 2, 3, 7}
	}
	for _, i := range append(variant, bth-2, bth-1, bth+4) { // the UDP checksum, and FECN and BECN
		*at(i) = 0xFF
	}
	crc := ^uint32(0)
	for _, c := range b {
		for bit := range 8 {
			if crc ^= uint32(c >> bit & 1); crc&1 != 0 {
				crc = crc>>1 ^ 0xEDB88320
			} else {
				crc >>= 1
			}
		}
	}
	return ^crc
}

func TestICRCAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v6 := rapid.Bool().Draw(t, "IPv6")
		bth := map[bool]int{false: 28, true: 48}[v6]
		ip := rapid.SliceOfN(rapid.Byte(), bth+BTHLen, 150).Draw(t, "packet")
		ip[0] = map[bool]byte{false: 0x45, true: 0x60 | ip[0]&15}[v6]
		ip[bth+4] &= 0xC0 // FECN and BECN, and no telemetry
		was := slices.Clone(ip)
		if got, want := ICRC(ip, bth), slowICRC(ip, bth); got != want || !bytes.Equal(ip, was) {
			t.Fatalf("%08x, not %08x", got, want)
		}
	})
}

// A header of IPv4 with a wrong bit is none, and neither is one whose lengths do not fit, whatever its checksum.
func TestBrokenHeaders(t *testing.T) {
	to := RoCE{Src: IP{10: 0xFF, 11: 0xFF, 12: 10, 15: 1}, Dst: IP{10: 0xFF, 11: 0xFF, 12: 10, 15: 2}}
	b := make([]byte, 100)
	to.Encode(b, 30)
	ip, length := b[EthernetLen:], IPv4Len+UDPLen+30
	if !IPv4OK(ip, length) || !IPv4OK(ip, length+9) || IPv4OK(ip, length-1) || IPv4OK(ip[:IPv4Len-1], length) {
		t.Error("a frame may have padding, and no less than the packet")
	}
	for bit := range IPv4Len * 8 {
		ip[bit/8] ^= 1 << (bit % 8)
		if IPv4OK(ip, 1<<16) {
			t.Errorf("with bit %d turned over it is right", bit)
		}
		ip[bit/8] ^= 1 << (bit % 8)
	}
	for what, change := range map[string]func(){
		"five words, and four said": func() { ip[0] = 0x44 }, "version 5": func() { ip[0] = 0x55 },
		"no room for itself": func() { ip[2], ip[3] = 0, 19 },
	} {
		was := slices.Clone(ip)
		change()
		ip[10], ip[11] = 0, 0
		sum := 0
		for i := 0; i < int(ip[0]&15)*4; i += 2 {
			sum += int(ip[i])<<8 | int(ip[i+1])
		}
		sum = ^(sum % 0xFFFF) & 0xFFFF // of numbers that are not all zero
		if ip[10], ip[11] = byte(sum>>8), byte(sum); IPv4OK(ip, 1<<16) {
			t.Errorf("%s: it is right", what)
		}
		copy(ip, was)
	}
}

// The short way to the ICRC of control packets is as good as the long one.
func TestICRCOfShortPackets(t *testing.T) {
	var s Sealer
	rapid.Check(t, func(t *rapid.T) {
		const bth = IPv4Len + UDPLen
		ip := rapid.SliceOfN(rapid.Byte(), bth+BTHLen, shortICRC+4).Draw(t, "packet")
		ip[0] = 0x45
		if got, want := s.icrc(ip, bth), ICRC(ip, bth); got != want {
			t.Fatalf("%08x, want %08x, of % x", got, want, ip)
		}
	})
}

func TestSetECNKeepsChecksum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ip := rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "ip")
		ip[0] = 0x45
		SetIPv4Checksum(ip)
		ecn := uint8(rapid.IntRange(0, 3).Draw(t, "ecn"))
		dscp := ip[1] >> 2
		SetECN(ip, ecn)
		if !IPv4ChecksumOK(ip) || ECN(ip) != ecn || ip[1]>>2 != dscp {
			t.Fatalf("% x", ip)
		}
		ip[10] ^= 0x40 // broken on arrival: still broken
		SetECN(ip, ecn^1)
		if IPv4ChecksumOK(ip) {
			t.Fatal("a broken checksum was healed")
		}
	})
}

func TestECNOfIPv6(t *testing.T) {
	ip := make([]byte, IPv6Len)
	ip[0], ip[1] = 0x6A, 0xB7 // traffic class 0xAB, flow label 0x7....
	SetECN(ip, ECT0)
	if ECN(ip) != ECT0 || ip[0] != 0x6A || ip[1] != 0xA7 {
		t.Fatalf("% x", ip[:2])
	}
}

func TestParseTags(t *testing.T) {
	frame := append([]byte{}, goldenCNP[:12]...)
	frame = append(frame, 0x81, 0x00, 3<<5, 10)
	frame = append(frame, goldenCNP[12:]...)
	var tagged, plain Header
	if !Parse(frame, &tagged) || !Parse(goldenCNP, &plain) || !tagged.Tagged || tagged.PCP != 3 || tagged.BTH != 46 || tagged.Hash != plain.Hash {
		t.Fatalf("%+v", tagged)
	}
}

// A frame that ends anywhere is parsed as far as it goes, and never further.
func TestParseTruncated(t *testing.T) {
	for n := range goldenCNP {
		var h Header
		if Parse(goldenCNP[:n], &h) != (n >= EthernetLen) {
			t.Fatalf("%d bytes", n)
		}
		if h.L3 != 0 && n < 34 || h.L4 != 0 && n < 42 || h.BTH != 0 && n < 54 {
			t.Fatalf("%d bytes: %+v", n, h)
		}
	}
}

// Whatever tags and headers a frame has, in whatever length they are at hand: what is said of it is what it was made
// of, as far as a header is there as a whole.
func TestParseOfWhatWasMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.Uint16()
		want := Header{Dst: 0x020000000001, Src: 0x020000000002}
		var b []byte
		put := func(of ...uint16) {
			for _, w := range of {
				b = append(b, byte(w>>8), byte(w))
			}
		}
		put(0x0200, 0, 1, 0x0200, 0, 2)
		ends := []int{len(b) + 2}
		for i := range rapid.IntRange(0, 2).Draw(t, "tags") {
			tci := word.Draw(t, "tag")
			if put(rapid.SampledFrom([]uint16{0x8100, 0x88A8}).Draw(t, "kind of tag"), tci); i == 0 {
				want.Tagged, want.PCP = true, uint8(tci>>13)
			}
			ends = append(ends, len(b)+2)
		}
		if rapid.Bool().Draw(t, "congestion notification tag") {
			want.CNTagged, want.FlowID = true, word.Draw(t, "flow")
			put(0x22E9, want.FlowID)
			ends = append(ends, len(b)+2)
		}
		want.TOS, want.Proto = rapid.Byte().Draw(t, "class"), rapid.SampledFrom([]byte{1, 6, 17, 17, 132}).Draw(t, "protocol")
		v6, later := rapid.Bool().Draw(t, "v6"), false
		start := len(b) + 2
		if v6 {
			want.EtherType = 0x86DD
			put(0x86DD, 6<<12|uint16(want.TOS)<<4|rapid.Uint16Range(0, 15).Draw(t, "label"), word.Draw(t, "label"), 8, uint16(want.Proto)<<8|64)
			b = append(b, make([]byte, 32)...)
		} else {
			want.EtherType = 0x0800
			options, fragment := rapid.IntRange(0, 10).Draw(t, "options"), rapid.SampledFrom([]uint16{0, 0x4000, 0x2000, 0x2001, 9}).Draw(t, "fragment")
			later = fragment&0x1FFF != 0
			put(0x0800, uint16(0x45+options)<<8|uint16(want.TOS), 100, word.Draw(t, "ID"), fragment, 64<<8|uint16(want.Proto), 0)
			b = append(b, make([]byte, 8+4*options)...)
		}
		l4 := len(b)
		want.SrcPort, want.DstPort = word.Draw(t, "from"), rapid.SampledFrom([]uint16{4791, 4790, 80}).Draw(t, "to")
		put(want.SrcPort, want.DstPort, 20, 0)
		b = append(b, make([]byte, 12)...)
		b = b[:rapid.SampledFrom(append(ends, start, l4-1, l4, l4+7, l4+8, l4+19, l4+20)).Draw(t, "at hand")]

		var got Header
		if Parse(b, &got); len(b) < start { // some tag is cut off: what is behind it is not said
			if got.L3 != 0 || got.L4 != 0 || got.BTH != 0 || got.Proto != 0 {
				t.Fatalf("%+v of % x", got, b)
			}
			return
		}
		ports := len(b) >= l4+8 && !later && (want.Proto == 6 || want.Proto == 17)
		if want.Payload = start; len(b) >= l4 {
			want.L3 = start
		} else {
			want.TOS = 0
		}
		if len(b) < l4 || later {
			want.Proto = 0
		}
		switch {
		case !ports:
			want.SrcPort, want.DstPort = 0, 0
		case want.Proto == 17 && want.DstPort == 4791 && len(b) >= l4+20:
			want.BTH = l4 + 8
			fallthrough
		default:
			want.L4 = l4
		}
		if want.Hash = got.Hash; got != want {
			t.Fatalf("%+v\nwant %+v of % x", got, want, b)
		}
		if tci, ok := VLANTag(b); ok != (b[12] == 0x81) || ok && (tci>>13 != uint16(want.PCP) || tci&VLANID != uint16(b[14]&15)<<8|uint16(b[15])) {
			t.Fatalf("tag %04x, %v of % x", tci, ok, b)
		}
	})
}

func TestHashSpreads(t *testing.T) {
	const flows, paths = 1 << 16, 16
	var count [paths]int
	frame := bytes.Clone(goldenCNP)
	random := rand.New(rand.NewPCG(1, 2))
	for range flows {
		frame[14+15], frame[14+19] = byte(random.Uint32()), byte(random.Uint32())
		frame[34], frame[35] = byte(random.Uint32()), byte(random.Uint32())
		var h Header
		Parse(frame, &h)
		count[h.Hash%paths]++
	}
	for i, n := range count {
		if n < flows/paths*9/10 || n > flows/paths*11/10 {
			t.Errorf("path %d gets %d of %d flows", i, n, flows)
		}
	}
}

func TestMAC(t *testing.T) {
	m, err := ParseMAC("01:80:c2:00:00:01")
	if err != nil || !m.Multicast() || !m.LinkLocal() || m.String() != "01:80:c2:00:00:01" {
		t.Fatal(m, err)
	}
	for _, s := range []string{"", "1:2:3", "02:00:0a:00:00:00:00:01", "xx:00:00:00:00:00"} {
		if _, err := ParseMAC(s); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
	var b [6]byte
	m.Put(b[:])
	if MACAt(b[:]) != m || MAC(0x0180C2000010).LinkLocal() {
		t.Fatal(b)
	}
}

func TestNothingAllocates(t *testing.T) {
	frame := bytes.Clone(goldenCNP)
	var h Header
	if n := testing.AllocsPerRun(100, func() {
		Parse(frame, &h)
		SealICRC(frame[h.L3:], h.BTH-h.L3)
		SetECN(frame[h.L3:], CE)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(goldenCNP)
	f.Add(goldenCNP[:20])
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Header
		if !Parse(b, &h) {
			return
		}
		if h.BTH != 0 {
			BTH(b[h.BTH:]).Opcode()
			ICRCOK(b[h.L3:], h.BTH-h.L3)
		}
		if h.L3 != 0 {
			SetECN(b[h.L3:], CE)
			if ECN(b[h.L3:]) != CE {
				t.Fatal("mark lost")
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var h Header
	for b.Loop() {
		Parse(goldenCNP, &h)
	}
}

// SetDSCP changes nothing but the DSCP, and the IPv4 checksum with it.
func TestSetDSCP(t *testing.T) {
	for _, ecn := range []uint8{NotECT, ECT0, ECT1, CE} {
		for dscp := range uint8(64) {
			four := []byte{0x45, 46<<2 | ecn, 0, 40, 1, 2, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}
			SetIPv4Checksum(four)
			SetDSCP(four, dscp)
			if four[1] != dscp<<2|ecn || !IPv4ChecksumOK(four) {
				t.Fatalf("IPv4, DSCP %d, ECN %02b: % x", dscp, ecn, four)
			}
			for label := range byte(16) {
				six := make([]byte, IPv6Len)
				six[0], six[1] = 0x60|46>>2, 46&3<<6|ecn<<4|label
				SetDSCP(six, dscp)
				if got := six[0]<<4 | six[1]>>4; got != dscp<<2|ecn || six[0]>>4 != 6 || six[1]&15 != label {
					t.Fatalf("IPv6, DSCP %d, ECN %02b: % x", dscp, ecn, six[:2])
				}
			}
		}
	}
}

package wire

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
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
			six := make([]byte, IPv6Len)
			six[0], six[1] = 0x60|46>>2, 46&3<<6|ecn<<4|0x0A
			SetDSCP(six, dscp)
			if got := six[0]<<4 | six[1]>>4; got != dscp<<2|ecn || six[0]>>4 != 6 || six[1]&15 != 0x0A {
				t.Fatalf("IPv6, DSCP %d, ECN %02b: % x", dscp, ecn, six[:2])
			}
		}
	}
}

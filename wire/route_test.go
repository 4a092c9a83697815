package wire

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// One is taken off the time to live, and the checksum corrected as RFC 1624 has it, for every checksum there is,
// good or bad.
func TestDecrementTTL(t *testing.T) {
	ip := make([]byte, IPv4Len)
	ip[0], ip[8], ip[9] = 0x45, 64, ProtoUDP
	for sum := range 1 << 16 {
		slow := bytes.Clone(ip)
		slow[10], slow[11] = byte(sum>>8), byte(sum)
		quick := bytes.Clone(slow)
		slow[8]--
		Correct(slow[10:], 64<<8|ProtoUDP, 63<<8|ProtoUDP)
		if DecrementTTL(quick); !bytes.Equal(quick, slow) {
			t.Fatalf("checksum %04x:\n% x\n% x", sum, quick, slow)
		}
	}
}

// What is forwarded quickly is what is forwarded.
func TestForwardable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := make([]byte, 64)
		r := RoCE{Src: IPv4(10, 0, 0, 1), Dst: IPv4(10, 0, 1, 2), SrcPort: 5}
		six := rapid.Bool().Draw(t, "v6")
		if six {
			r.Src, _ = ParseIP("fd00::1")
			r.Dst, _ = ParseIP("fd00::2")
		}
		r.Encode(b, rapid.IntRange(0, 60).Draw(t, "payload"))
		ip := b[14:]
		ip[rapid.SampledFrom([]int{2, 3, 4, 5}).Draw(t, "length")] ^= rapid.SampledFrom([]byte{0, 0, 1, 0xFF}).Draw(t, "total")
		if six {
			ip[7] = rapid.SampledFrom([]byte{0, 1, 2, 64}).Draw(t, "hops")
			copy(ip[8:], rapid.SampledFrom([][]byte{{0xFD}, {0xFE, 0x80}, {0xFE, 0xC0}, {0xFF}, {0}}).Draw(t, "source"))
			if rapid.Bool().Draw(t, "low") {
				clear(ip[8:24])
				ip[23] = rapid.SampledFrom([]byte{0, 1, 2}).Draw(t, "last")
			}
		} else {
			ip[8] = rapid.SampledFrom([]byte{0, 1, 2, 64}).Draw(t, "ttl")
			copy(ip[12:], rapid.SampledFrom([][]byte{{10}, {0}, {127}, {169, 254}, {169, 253}, {223}, {224}, {255, 255, 255, 255}}).Draw(t, "source"))
			SetIPv4Checksum(ip)
		}
		ip[rapid.IntRange(0, 39).Draw(t, "at")] ^= rapid.SampledFrom([]byte{0, 0, 1}).Draw(t, "flip")
		length := rapid.IntRange(40, 50).Draw(t, "at hand")
		slow := HeaderOK(ip, length) && SourceOK(ip) && TTL(ip) > 1
		quick := slow
		switch {
		case ip[0] == 0x45:
			quick = Forwardable4((*[IPv4Len]byte)(ip), length)
		case ip[0]>>4 == 6:
			quick = Forwardable6((*[IPv6Len]byte)(ip), length)
		}
		if quick != slow {
			t.Fatalf("%v, want %v: % x", quick, slow, ip)
		}
	})
}

// Addresses that no packet on a network may come from (RFC 1812, 3927, 4291), and their neighbours.
func TestSources(t *testing.T) {
	for address, ok := range map[string]bool{
		"0.0.0.0": false, "0.1.2.3": false, "1.0.0.0": true, "126.255.255.255": true, "127.0.0.1": false, "127.255.255.255": false, "128.0.0.1": true,
		"169.253.255.255": true, "169.254.0.1": false, "169.255.0.0": true, "223.255.255.255": true, "224.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::2": true, "fe7f::1": true, "fe80::1": false, "febf::1": false, "fec0::1": true, "feff::1": true, "ff02::1": false, "2001:db8::1": true,
	} {
		src, err := ParseIP(address)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 64)
		r := RoCE{Src: src, Dst: src}
		if r.Encode(b, 0); SourceOK(b[14:]) != ok {
			t.Errorf("%s: %v", address, !ok)
		}
	}
}

func TestIPv6Routing(t *testing.T) {
	b := make([]byte, 100)
	dst, _ := ParseIP("fd00::2")
	src, _ := ParseIP("fd00::1")
	r := RoCE{Src: src, Dst: dst}
	bth := r.Encode(b, 100-62)
	BTH(b[bth:]).Encode(OpSendOnly, false, 1, false, 1)
	SealICRC(b[14:], bth-14)
	ip := b[14:]
	if !IPv6OK(ip, 86) || IPv6OK(ip, 85) || IPv6OK(ip[:39], 86) || TTL(ip) != 64 || Destination(ip).String() != "fd00::2" {
		t.Error("a header that is right, or one that is cut off")
	}
	if DecrementTTL(ip); TTL(ip) != 63 || !ICRCOK(ip, bth-14) {
		t.Error("the hop limit, or the invariant CRC")
	}
}

func TestVLANTag(t *testing.T) {
	plain := bytes.Clone(goldenCNP)
	b := append(make([]byte, VLANLen), plain...)
	PushVLANTag(b, 5<<13|42)
	if tci, ok := VLANTag(b); !ok || tci != 5<<13|42 || !bytes.Equal(b[:12], plain[:12]) || !bytes.Equal(b[16:], plain[12:]) {
		t.Fatalf("% x", b)
	}
	if PopVLANTag(b); !bytes.Equal(b[VLANLen:], plain) {
		t.Fatalf("% x", b)
	}
	if _, ok := VLANTag(plain); ok {
		t.Error("a frame without tag")
	}
	if _, ok := VLANTag([]byte{12: 0x81, 13: 0, 16: 0}); ok {
		t.Error("a frame that is cut off")
	}
}

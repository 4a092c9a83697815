package wire

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// The quick checks and changes of a router are the slow ones, for every checksum
// there is, good or bad.
func TestQuickRouteAgainstSlow(t *testing.T) {
	frame := make([]byte, 64)
	r := RoCE{DstMAC: 1, SrcMAC: 2, Src: IPv4(10, 0, 0, 1), Dst: IPv4(10, 0, 1, 2), TOS: 26<<2 | ECT0, SrcPort: 5}
	r.Encode(frame, 64-42)
	good := 0
	for sum := range 1 << 16 {
		slow := bytes.Clone(frame)
		slow[24], slow[25] = byte(sum>>8), byte(sum)
		q := (*Quick)(bytes.Clone(slow))
		ok := IPv4OK(slow[14:], 50)
		if q.Routable(64) != ok {
			t.Fatalf("checksum %04x: %v", sum, !ok)
		}
		if ok {
			good++
		}
		MAC(0x0200_1234_5678).Put(slow)
		MAC(0x0200_9ABC_DEF0).Put(slow[6:])
		DecrementTTL(slow[14:])
		if q.Route(0x0200_1234_5678, 0x0200_9ABC_DEF0); !bytes.Equal(q[:], slow[:QuickLen]) {
			t.Fatalf("checksum %04x:\n% x\n% x", sum, q[:], slow)
		}
		if ok && !IPv4ChecksumOK(slow[14:]) {
			t.Fatalf("checksum %04x is not kept", sum)
		}
	}
	if good != 1 {
		t.Errorf("%d checksums are good", good)
	}
}

func TestRoutableAgainstIPv4OK(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := make([]byte, 64)
		r := RoCE{Src: IPv4(10, 0, 0, 1), Dst: IPv4(10, 0, 1, 2), SrcPort: 5}
		r.Encode(b, rapid.IntRange(0, 60).Draw(t, "payload"))
		b[16+rapid.IntRange(0, 1).Draw(t, "high")] ^= rapid.SampledFrom([]byte{0, 0, 1, 0xFF}).Draw(t, "total")
		b[22] = rapid.Byte().Draw(t, "ttl")
		for i := 26; i < 34; i++ {
			b[i] = rapid.Byte().Draw(t, "address")
		}
		SetIPv4Checksum(b[14:])
		b[rapid.IntRange(24, 33).Draw(t, "at")] ^= rapid.SampledFrom([]byte{0, 0, 1}).Draw(t, "flip")
		length := rapid.IntRange(54, 64).Draw(t, "length")
		q := (*Quick)(b)
		if want := IPv4OK(b[14:], length-14) && TTL(b[14:]) > 1; q.Routable(length) != want {
			t.Fatalf("%v: % x", want, b)
		}
		if q.IPDst() != Destination(b[14:]) {
			t.Fatal(q.IPDst())
		}
	})
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
	SetVLANTag(b, 7)
	if tci, _ := VLANTag(b); tci != 7 {
		t.Fatal(tci)
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

package wire

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever Quick finds plain, Parse reads the same from it; and it finds plain what it says.
func TestQuickAgainstParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 64, 128).Draw(t, "bytes")
		if rapid.IntRange(0, 9).Draw(t, "random") > 0 {
			r := RoCE{DstMAC: MACAt(b), SrcMAC: MACAt(b[6:]), Src: IPv4(b[26], b[27], b[28], b[29]), Dst: IPv4(b[30], b[31], b[32], b[33]), TOS: b[15], SrcPort: 5}
			bth := r.Encode(b, 100)
			b[bth] = rapid.SampledFrom([]byte{OpCNP, OpSendMiddle, OpAcknowledge}).Draw(t, "opcode")
		}
		if rapid.IntRange(0, 3).Draw(t, "change") == 0 { // one of the fields that decide
			at := rapid.SampledFrom([]int{12, 13, 14, 20, 21, 23, 36, 37, 42}).Draw(t, "at")
			b[at] = rapid.SampledFrom([]byte{0, 6, 17, 0x20, 0x40, 0x46, 0x81, 0x86}).Draw(t, "to")
		}
		var h, same Header
		parse(b, &h)
		if Parse(b, &same); same != h {
			t.Fatalf("%+v, and the long way %+v", same, h)
		}
		if l3, bth := FindBTH(b); l3 != h.L3 || bth != h.BTH || FlowHash(b) != h.Hash {
			t.Fatalf("headers at %d and %d, hash %x; Parse says %+v", l3, bth, FlowHash(b), h)
		}
		tagged := append(append(append([]byte{}, b[:12]...), 0x22, 0xE9, 0, 7), b[12:]...) // what QCN's hosts send
		parse(tagged, &same)
		if l3, bth := FindBTH(tagged); l3 != same.L3 || bth != same.BTH || FlowHash(tagged) != same.Hash {
			t.Fatalf("behind a tag: headers at %d and %d, hash %x; Parse says %+v", l3, bth, FlowHash(tagged), same)
		}
		q := (*Headers)(b)
		if q.RoCE() != (q.Plain() && h.BTH != 0) {
			t.Fatalf("RoCE: %v, %+v", q.RoCE(), h)
		}
		ok := q.Plain()
		plain := h.EtherType == TypeIPv4 && h.L3 == EthernetLen && h.L4 == EthernetLen+IPv4Len && !h.Tagged &&
			b[20]&0x20 == 0 // more fragments: of a first fragment the ports do not count
		if ok != plain {
			t.Fatalf("%v, %+v", ok, h)
		}
		if !ok {
			return
		}
		if q.Dst() != h.Dst || q.Src() != h.Src || q.Hash() != h.Hash || q.TOS() != h.TOS {
			t.Fatalf("%v %v %x %x, Parse says %+v", q.Dst(), q.Src(), q.Hash(), q.TOS(), h)
		}
	})
}

// MarkPlain writes what SetECN writes, for every checksum there is, and says of which packets it can tell.
func TestMarkPlainAgainstSetECN(t *testing.T) {
	for ecn := NotECT + 1; ecn <= ECT0; ecn++ {
		for sum := range 1 << 16 {
			slow := [PlainLen]byte{0x45, 0xA8 | ecn, 10: byte(sum >> 8), 11: byte(sum)}
			quick := slow
			SetECN(slow[:], CE)
			if marked, ok := MarkPlain(&quick); quick != slow || !marked || !ok {
				t.Fatalf("% x, want % x", quick, slow)
			}
		}
	}
}

// A CNP is not marked, whatever its header is like; IsCNP says the same of every packet.
func TestCNPIsNotMarked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := make([]byte, 128)
		r := RoCE{Src: IPv4(10, 0, 0, 1), Dst: IPv4(10, 0, 0, 2), TOS: ECT0, SrcPort: 5}
		if rapid.Bool().Draw(t, "v6") {
			r.Src, _ = ParseIP("fd00::1")
			r.Dst, _ = ParseIP("fd00::2")
		}
		b[r.Encode(b, 40)] = rapid.SampledFrom([]byte{OpCNP, OpCNP, OpSendOnly}).Draw(t, "opcode")
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			b[14+rapid.IntRange(0, 50).Draw(t, "at")] ^= rapid.SampledFrom([]byte{1, 4, 0x20, 0x40}).Draw(t, "by")
		}
		var h Header
		Parse(b, &h)
		want := h.BTH != 0 && BTH(b[h.BTH:]).Opcode() == OpCNP
		if h.L3 != 0 && IsCNP(b[h.L3:]) != want {
			t.Fatalf("a CNP: %v, % x", want, b[14:80])
		}
		ip := (*[PlainLen]byte)(b[14:])
		if marked, ok := MarkPlain(ip); ok && marked == want || ok != (h.L3 != 0 && ip[0] == 0x45) {
			t.Fatalf("marked %v, %v, a CNP: %v, % x", marked, ok, want, b[14:80])
		}
	})
}

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
		q := (*Quick)(b)
		if q.RoCE() != (q.Plain() && h.BTH != 0) {
			t.Fatalf("RoCE: %v, %+v", q.RoCE(), h)
		}
		ok := q.Plain()
		plain := h.EtherType == TypeIPv4 && h.L3 == EthernetLen && h.L4 == EthernetLen+IPv4Len && !h.Tagged
		if ok != plain {
			t.Fatalf("%v, %+v", ok, h)
		}
		if !ok {
			return
		}
		cnp := h.BTH != 0 && BTH(b[h.BTH:]).Opcode() == OpCNP
		if q.Dst() != h.Dst || q.Src() != h.Src || q.Hash() != h.Hash || q.TOS() != h.TOS || q.CNP() != cnp {
			t.Fatalf("%v %v %x %x %v, Parse says %+v", q.Dst(), q.Src(), q.Hash(), q.TOS(), q.CNP(), h)
		}
	})
}

// SetCE writes what SetECN writes, for every checksum there is.
func TestSetCEAgainstSetECN(t *testing.T) {
	for _, first := range []byte{0x45, 0x60} {
		for ecn := NotECT + 1; ecn <= ECT0; ecn++ {
			for sum := range 1 << 16 {
				slow := [MarkLen]byte{first, 0xA8 | ecn, 10: byte(sum >> 8), 11: byte(sum)}
				if first == 0x60 {
					slow[1] = 0x0B | ecn<<4
				}
				quick := slow
				SetECN(slow[:], CE)
				if SetCE(&quick); quick != slow {
					t.Fatalf("% x, want % x", quick, slow)
				}
			}
		}
	}
}

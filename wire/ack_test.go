package wire

import (
	"bytes"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// What is learned from one acknowledgement makes others as they are made the long way,
// and takes them for right if and only if their ICRC is.
func TestAckHead(t *testing.T) {
	const echo = HeadersLen - BTHLen + 4 // the byte of FECN and BECN
	to := RoCE{DstMAC: 0x020000000001, SrcMAC: 0x020000000002, Src: IPv4(10, 0, 0, 2), Dst: IPv4(10, 0, 0, 1), TOS: 5 << 2, SrcPort: 0xC123}
	whole := func(psn uint32, syndrome uint8, msn uint32, fecn, becn bool, ext uint8, telemetry []byte) []byte {
		length := BTHLen + AETHLen + ExtensionsLen(ext) + ICRCLen
		b := make([]byte, RoCEMaxLen+length)
		at := to.Encode(b, length)
		bth := BTH(b[at:])
		bth.Encode(OpAcknowledge, false, 0x123456, false, psn)
		bth.SetECNEcho(fecn, becn)
		bth.SetExtensions(ext)
		AETH(b[at+BTHLen:]).Encode(syndrome, msn)
		copy(b[at+BTHLen+AETHLen:], telemetry)
		b = b[:at+length]
		SealICRC(b[EthernetLen:], at-EthernetLen)
		return b
	}
	var none AckHead
	for ext := range ExtINT | ExtPlace | ExtStamp {
		if none.Known(ext) {
			t.Errorf("nothing is enough to make an acknowledgement with extensions %x", ext)
		}
	}
	for ext := range (ExtINT | ExtPlace | ExtStamp) + 1 {
		if none.OK(whole(1, SyndromeACK, 0, false, false, ext, nil)) {
			t.Error("nothing is enough to check an acknowledgement")
		}
		var a AckHead
		a.Learn(whole(0xFFFFFE, SyndromeNAK, 3, true, true, ext, bytes.Repeat([]byte{0x5A}, INTLen+PlaceLen+StampLen)))
		for other := range (ExtINT | ExtPlace | ExtStamp) + 1 {
			if a.Known(other) != (other == ext) {
				t.Errorf("extensions %x are taken for %x", other, ext)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			psn, msn := rapid.Uint32Range(0, 1<<24-1).Draw(t, "psn"), rapid.Uint32Range(0, 1<<24-1).Draw(t, "msn")
			syndrome := rapid.Byte().Draw(t, "syndrome")
			fecn, becn := rapid.Bool().Draw(t, "fecn"), rapid.Bool().Draw(t, "becn")
			telemetry := [INTLen]byte(rapid.SliceOfN(rapid.Byte(), INTLen, INTLen).Draw(t, "telemetry"))
			cause := rapid.Uint32Range(0, 1<<24-1).Draw(t, "cause")
			stamp := [StampLen]byte(rapid.SliceOfN(rapid.Byte(), StampLen, StampLen).Draw(t, "stamp"))
			var rest []byte
			if ext&ExtINT != 0 {
				rest = append(rest, telemetry[:]...)
			}
			if ext&ExtPlace != 0 {
				rest = append(rest, PlaceMark, byte(cause>>16), byte(cause>>8), byte(cause))
			}
			if ext&ExtStamp != 0 {
				rest = append(rest, stamp[:]...)
			}
			want := whole(psn, syndrome, msn, fecn, becn, ext, rest)
			if len(want) != AckLen+ExtensionsLen(ext) {
				t.Fatalf("%d bytes", len(want))
			}
			got := make([]byte, len(want))
			if a.Put(got, psn, syndrome, msn, fecn, becn, &telemetry, cause, &stamp); !bytes.Equal(got, want) {
				t.Fatalf("made  % x\nwhole % x", got, want)
			}
			// What switches and routers change is not looked at.
			SetECN(got[EthernetLen:], CE)
			got[EthernetLen+8]--
			SetIPv4Checksum(got[EthernetLen:])
			if !a.OK(got) {
				t.Fatal("a right acknowledgement is refused")
			}
			if a.OK(got[:len(got)-1]) {
				t.Fatal("one that is cut short is taken")
			}
			at, bit := rapid.IntRange(EthernetLen, len(got)-1).Draw(t, "at"), rapid.IntRange(0, 7).Draw(t, "bit")
			got[at] ^= 1 << bit
			if right := ICRCOK(got[EthernetLen:], HeadersLen-BTHLen-EthernetLen); a.OK(got) != right && (at != echo || a.OK(got)) {
				t.Fatalf("bit %d of byte %d is wrong: taken for right: %v; by its ICRC: %v", bit, at, a.OK(got), right)
			}
		})
		if a.Forget(); a.OK(whole(1, SyndromeACK, 0, false, false, ext, nil)) || a.Known(ext) {
			t.Error("it still knows")
		}
	}
	if size := unsafe.Sizeof(none); size != 64 {
		t.Errorf("it has %d bytes, not a line of the cache", size)
	}
}

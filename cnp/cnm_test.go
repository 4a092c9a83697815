package cnp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/wire"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// The frames that a switch sampled: a packet of any kind, with each combination
// of tags.
const (
	sampledAddresses = "02 00 00 00 00 0b" + "02 00 00 00 00 0a"
	vlanTag          = "8100 600a" // priority 3, VLAN 10
	cnTag            = "22e9 1234"
	sampledPacket    = "0800 45 00 00 1c 00 00 00 00 40 11 00 00 0a000001 0a000002 0001 0002 0008 0000"
)

// Byte for byte: addresses, the tags, EtherType 22E7; then version, reserved
// bits and feedback (2), CPID (8), offset (2), delta (2), priority (2), the
// sampled frame's destination (6), no encapsulated octets (2); then padding to
// 60 bytes, to which the FCS adds four.
func TestCNMGolden(t *testing.T) {
	const (
		addresses = "02 00 00 00 00 0a" + "02 00 00 00 00 ff"
		message   = "22e7" + "002a" + "02000000 00ff0003" + "ff9c" + "0032" + "6000" + "02 00 00 00 00 0b" + "0000"
	)
	for _, tags := range []string{"", vlanTag, cnTag, vlanTag + cnTag} {
		sampled := unhex(sampledAddresses + tags + sampledPacket)
		want := unhex(addresses + tags + message)
		want = append(want, make([]byte, 60-len(want))...)
		var h wire.Header
		if !wire.Parse(sampled, &h) {
			t.Fatal("not parsed")
		}
		b := bytes.Repeat([]byte{0xEE}, MaxCNMLen) // a used buffer
		n := EncodeCNM(b, sampled, &h, 0x02_00_00_00_00_ff, CNM{QntzFb: 42, CPID: 0x02_00_00_00_00_ff_0003, QOffset: -100, QDelta: 50, Priority: 3})
		if !bytes.Equal(b[:n], want) {
			t.Errorf("tags %q:\ngot  % x\nwant % x", tags, b[:n], want)
		}
		if !bytes.Equal(sampled, unhex(sampledAddresses+tags+sampledPacket)) {
			t.Error("the sampled frame was changed")
		}
	}
}

func TestCNMRoundTrip(t *testing.T) {
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			address := func(label string) wire.MAC { return wire.MAC(rapid.Uint64Range(0, 1<<48-1).Draw(t, label)) }
			dst, src, switches := address("dst"), address("src"), address("switch")
			sampled := make([]byte, 12)
			dst.Put(sampled)
			src.Put(sampled[6:])
			vlan, tagged := rapid.Bool().Draw(t, "VLAN"), rapid.Bool().Draw(t, "CN-TAG")
			tci := rapid.SliceOfN(rapid.Byte(), 2, 2).Draw(t, "TCI")
			flow := rapid.SliceOfN(rapid.Byte(), 2, 2).Draw(t, "flow")
			want := CNM{
				QntzFb: rapid.Uint8Range(0, 63).Draw(t, "fb"), CPID: rapid.Uint64().Draw(t, "CPID"),
				QOffset: rapid.Int16().Draw(t, "offset"), QDelta: rapid.Int16().Draw(t, "delta"),
				Priority: rapid.Uint8Range(0, 7).Draw(t, "prio"), Dst: dst, Tagged: tagged,
			}
			if vlan {
				sampled = append(sampled, 0x81, 0, tci[0], tci[1])
			}
			if tagged {
				sampled = append(sampled, 0x22, 0xE9, flow[0], flow[1])
				want.FlowID = uint16(flow[0])<<8 | uint16(flow[1])
			}
			sampled = append(sampled, 0x08, 0)
			sampled = append(sampled, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "rest")...)
			var h wire.Header
			wire.Parse(sampled, &h)
			b := make([]byte, MaxCNMLen)
			n := EncodeCNM(b, sampled, &h, switches, want)
			if n != wire.MinFrameLen {
				t.Fatalf("%d bytes", n)
			}
			var back wire.Header
			if !wire.Parse(b[:n], &back) || back.Dst != src || back.Src != switches || back.EtherType != wire.TypeCNM || back.Tagged != vlan || back.PCP != h.PCP {
				t.Fatalf("%+v", back)
			}
			if vlan && !bytes.Equal(b[12:16], sampled[12:16]) {
				t.Fatalf("VLAN tag % x", b[12:16])
			}
			got, err := DecodeCNM(b[:n], &back)
			if err != nil || got != want {
				t.Fatalf("%+v, %v; want %+v", got, err, want)
			}
			// A message that was cut short is not read, whatever lies behind it.
			end := back.Payload + 24
			cut := rapid.IntRange(back.Payload, end-1).Draw(t, "cut")
			if _, err := DecodeCNM(b[:cut:cut], &back); !errors.Is(err, ErrShort) {
				t.Fatalf("%d of %d bytes: %v", cut, end, err)
			}
			if got, err := DecodeCNM(b[:end:end], &back); err != nil || got != want {
				t.Fatalf("without padding: %+v, %v", got, err)
			}
			if _, err := DecodeCNM(sampled, &h); !errors.Is(err, ErrOpcode) {
				t.Fatalf("a data frame is a message: %v", err)
			}
		})
	}
}

// Six bits of feedback and three of priority are all that a message has room for.
func TestCNMFieldsKeepToThemselves(t *testing.T) {
	sampled := unhex(sampledAddresses + sampledPacket)
	var h, back wire.Header
	wire.Parse(sampled, &h)
	b := make([]byte, MaxCNMLen)
	n := EncodeCNM(b, sampled, &h, 1, CNM{QntzFb: 63, Priority: 255})
	if !bytes.Equal(b[14:16], []byte{0x00, 0x3F}) || !bytes.Equal(b[28:30], []byte{0xE0, 0x00}) {
		t.Errorf("% x", b[14:30])
	}
	// A version or reserved bits that are not ours leave the feedback alone.
	b[14], b[15] = 0xFF, 0xC0|21
	b[29] = 0xFF
	wire.Parse(b[:n], &back)
	if m, err := DecodeCNM(b[:n], &back); err != nil || m.QntzFb != 21 || m.Priority != 7 {
		t.Errorf("%+v, %v", m, err)
	}
}

// Nothing that looks like a message does harm, and what is read as one can be
// written and read again.
func FuzzDecodeCNM(f *testing.F) {
	for _, tags := range []string{"", vlanTag, cnTag, vlanTag + cnTag} {
		sampled := unhex(sampledAddresses + tags + sampledPacket)
		var h wire.Header
		wire.Parse(sampled, &h)
		b := make([]byte, MaxCNMLen)
		n := EncodeCNM(b, sampled, &h, 0xff, CNM{QntzFb: 63, CPID: 1, QOffset: -1, QDelta: 1, Priority: 7})
		f.Add(b[:n])
		f.Add(b[:30])
		f.Add(sampled)
	}
	f.Add(unhex("02000000000a 0200000000ff 88a8 0001 8100 0002 22e9 0003 22e7"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h wire.Header
		if !wire.Parse(b, &h) {
			return
		}
		m, err := DecodeCNM(b, &h)
		if err != nil {
			return
		}
		// A frame that would cause this message.
		sampled := make([]byte, 12, 30)
		m.Dst.Put(sampled)
		h.Dst.Put(sampled[6:])
		if h.Tagged {
			sampled = append(sampled, 0x81, 0x00, b[14], b[15])
		}
		if m.Tagged {
			sampled = append(sampled, 0x22, 0xE9, byte(m.FlowID>>8), byte(m.FlowID))
		}
		sampled = append(sampled, 0x08, 0x00)
		var from, back wire.Header
		wire.Parse(sampled, &from)
		again := make([]byte, MaxCNMLen)
		n := EncodeCNM(again, sampled, &from, h.Src, m)
		if !wire.Parse(again[:n], &back) || back.Dst != h.Dst || back.Src != h.Src {
			t.Fatalf("%+v", back)
		}
		if got, err := DecodeCNM(again[:n], &back); err != nil || got != m {
			t.Fatalf("%+v, %v; want %+v", got, err, m)
		}
	})
}

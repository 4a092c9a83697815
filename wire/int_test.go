package wire

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// What is read is what was written, to the units of the encoding, at every rate
// from 1 to 800 Gbit/s.
func TestINTRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := make(INT, INTLen)
		var hops []INTHop
		for range rapid.IntRange(1, 7).Draw(t, "hops") {
			h := INTHop{
				Rate:    rapid.SampledFrom([]units.Rate{1, 10, 25, 40, 50, 100, 200, 400, 800}).Draw(t, "rate") * units.Gbps,
				Time:    units.Time(rapid.Int64Range(0, 1<<50).Draw(t, "time")),
				TxBytes: units.Size(rapid.Int64Range(0, 1<<40).Draw(t, "bytes")),
				Queue:   units.Size(rapid.Int64Range(0, 5_000_000).Draw(t, "queue")),
			}
			if !slices.Contains(INTRates(), h.Rate) {
				t.Fatal(h.Rate)
			}
			hops = append(hops, h)
			b.Push(h)
		}
		if b.Hops() != min(len(hops), INTHops) {
			t.Fatal(b.Hops())
		}
		for i := range b.Hops() {
			got, want := b.Hop(i), hops[i]
			scale := max(1, units.Size(want.Rate/(25*units.Gbps)))
			if got.Rate != want.Rate || want.Time%INTTimeWrap-got.Time >= units.Nanosecond || got.Time > want.Time%INTTimeWrap ||
				want.TxBytes%want.TxWrap()-got.TxBytes >= 128*scale || got.TxBytes > want.TxBytes%want.TxWrap() ||
				want.Queue-got.Queue >= 80*scale || got.Queue > want.Queue {
				t.Fatalf("%+v -> %+v", want, got)
			}
		}
	})
	if all := INTRates(); !slices.IsSorted(all) || all[0] != 10*units.Mbps || len(all) != 14 {
		t.Errorf("it can name %v", all)
	}
}

// Switches may write telemetry without breaking the invariant CRC.
func TestICRCLeavesTelemetryOut(t *testing.T) {
	for _, opcode := range []uint8{OpSendMiddle, OpAcknowledge} {
		b := make([]byte, 200)
		r := RoCE{DstMAC: 1, SrcMAC: 2, Src: IPv4(10, 0, 0, 1), Dst: IPv4(10, 0, 0, 2), TOS: 26<<2 | ECT0}
		bth := r.Encode(b, 200-42)
		BTH(b[bth:]).Encode(opcode, false, 5, false, 9)
		BTH(b[bth:]).SetExtensions(ExtINT)
		SealICRC(b[14:], bth-14)
		INTOf(b[14:], bth-14).Push(INTHop{Rate: 10 * units.Gbps, Time: 12345678, Queue: 800})
		if !ICRCOK(b[14:], bth-14) || INTOf(b[14:], bth-14).Hops() != 1 {
			t.Errorf("%#x: telemetry is covered", opcode)
		}
		b[len(b)-5] ^= 1
		if ICRCOK(b[14:], bth-14) {
			t.Errorf("%#x: the payload is not covered", opcode)
		}
	}
}

func TestExtensions(t *testing.T) {
	b := make(BTH, BTHLen)
	b.Encode(OpAcknowledge, true, 0x123456, false, 7)
	b.SetExtensions(ExtStamp)
	b.SetECNEcho(true, false)
	if b.Extensions() != ExtStamp || !b.FECN() || b.BECN() || b.DestQP() != 0x123456 || INTOf(b, 0) != nil {
		t.Fatalf("% x", b)
	}
}

func TestParseCNTag(t *testing.T) {
	frame := append([]byte{}, goldenCNP[:12]...)
	frame = append(frame, 0x81, 0x00, 3<<5, 10, 0x22, 0xE9, 0x12, 0x34)
	frame = append(frame, goldenCNP[12:]...)
	var h, plain Header
	if !Parse(frame, &h) || !Parse(goldenCNP, &plain) || !h.CNTagged || h.FlowID != 0x1234 || h.BTH != 50 || h.Payload != 22 || h.Hash != plain.Hash {
		t.Fatalf("%+v", h)
	}
	for n := range frame {
		Parse(frame[:n], &h)
	}
}

// The path is told apart by which ports sent the packet on, in whatever number, and says nothing of the hops.
func TestINTPath(t *testing.T) {
	path := func(ports ...MAC) uint16 {
		b := make(INT, INTLen)
		for _, p := range ports {
			b.Push(INTHop{Rate: units.Gbps})
			b.Via(p)
		}
		if b.Hops() != min(len(ports), INTHops) {
			t.Errorf("%v: %d hops", ports, b.Hops())
		}
		return b.Path()
	}
	if again := path(1, 2, 3); path() != 0 || path(1, 2, 3) != again || path(1, 2, 3) == path(1, 4, 3) || path(1, 2, 3, 4, 5, 6) == path(1, 2, 3, 4, 5, 7) {
		t.Error(path(1, 2, 3), path(1, 4, 3), path(1, 2, 3, 4, 5, 6), path(1, 2, 3, 4, 5, 7))
	}
	differ := map[uint16]bool{}
	for port := range MAC(256) {
		differ[path(0x0200_0000_0000+port)] = true
	}
	if len(differ) < 200 {
		t.Errorf("256 ports in a row have %d paths", len(differ))
	}
}

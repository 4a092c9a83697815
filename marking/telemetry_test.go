package marking

import (
	"testing"

	"photon/units"
	"photon/wire"
)

// A hop says what the port did before this frame and what all its queues hold,
// and a host reads it at every rate that a port may have.
func TestTelemetryHop(t *testing.T) {
	for _, rate := range []units.Rate{units.Gbps, 10 * units.Gbps, 25 * units.Gbps, 40 * units.Gbps, 100 * units.Gbps, 400 * units.Gbps} {
		var c Stamper = Telemetry{Link: rate}
		q := Queue{Bytes: 1, Frames: 1}
		if c.Dequeue(5*units.Microsecond, q, &Packet{Size: 1000}) != Unchanged {
			t.Error("marked")
		}
		c.Resume(5*units.Microsecond, q)
		want := wire.INTHop{Rate: rate, Time: 5 * units.Microsecond, TxBytes: 126_976, Queue: 64_000} // 128 B x 16 divide 126 976
		stamped := c.Stamp(want.Time, Port{Queued: 64_000, Sent: want.TxBytes})                       // whole units at 400 Gbit/s too
		if stamped != want {
			t.Errorf("%v: %+v", rate, stamped)
		}
		packet := make(wire.INT, wire.INTLen)
		packet.Push(stamped)
		if got := packet.Hop(0); packet.Hops() != 1 || got != want {
			t.Errorf("%v: %+v, want %+v", rate, got, want)
		}
	}
}

// Five switches, each of its own rate, on the way of one packet; a sixth finds no room.
func TestTelemetryPath(t *testing.T) {
	rates := []units.Rate{units.Gbps, 10 * units.Gbps, 40 * units.Gbps, 100 * units.Gbps, 10 * units.Gbps, units.Gbps}
	packet := make(wire.INT, wire.INTLen)
	for i, rate := range rates {
		packet.Push(Telemetry{Link: rate}.Stamp(units.Time(i)*units.Microsecond, Port{Queued: units.Size(i) * 3200, Sent: units.Size(i) * 5120}))
	}
	if packet.Hops() != wire.INTHops {
		t.Fatalf("%d hops", packet.Hops())
	}
	for i := range packet.Hops() {
		want := wire.INTHop{Rate: rates[i], Time: units.Time(i) * units.Microsecond, TxBytes: units.Size(i) * 5120, Queue: units.Size(i) * 3200}
		if got := packet.Hop(i); got != want {
			t.Errorf("hop %d: %+v, want %+v", i, got, want)
		}
	}
}

// Time and bytes wrap in the packet; their differences are right across the edge.
func TestTelemetryWraps(t *testing.T) {
	for _, rate := range []units.Rate{units.Gbps, 10 * units.Gbps, 40 * units.Gbps, 100 * units.Gbps} {
		c := Telemetry{Link: rate}
		wrap := wire.INTHop{Rate: rate}.TxWrap()
		packet := make(wire.INT, wire.INTLen)
		packet.Push(c.Stamp(wire.INTTimeWrap-units.Microsecond, Port{Sent: 7*wrap - 5120}))
		packet.Push(c.Stamp(wire.INTTimeWrap+units.Microsecond, Port{Sent: 7*wrap + 5120}))
		a, b := packet.Hop(0), packet.Hop(1)
		if span := (b.Time - a.Time + wire.INTTimeWrap) % wire.INTTimeWrap; span != 2*units.Microsecond {
			t.Errorf("%v: %v passed", rate, span)
		}
		if sent := (b.TxBytes - a.TxBytes + wrap) % wrap; sent != 10_240 {
			t.Errorf("%v: %v sent", rate, sent)
		}
	}
}

package daemon

import (
	"encoding/binary"
	"fmt"
	"net"
	"testing"
	"time"

	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/telemetry"
	"photon/units"
	"photon/wire"
)

// reloading is a world in which a reload happens while a snapshot is taken.
type reloading struct {
	*still
	reload func()
}

func (w *reloading) Devices() []dpdk.DeviceStats {
	if reload := w.reload; reload != nil {
		w.reload = nil
		reload()
	}
	return w.still.Devices()
}

// A snapshot never tells of one port what is another's.
func TestSnapshotWhilePortsChange(t *testing.T) {
	x := newLinked(t, "")
	x.daemon.world = &reloading{x.world, func() { x.setNames("sw0", "another") }}
	if s := x.snapshot(); s.Port(1) != "another" {
		t.Errorf("the counters of another port are those of %q", s.Port(1))
	}
}

// When the first frame was lost does not change because clocks drift; another port in the same place has lost nothing.
func TestFirstLossDoesNotMove(t *testing.T) {
	began := time.Unix(1_700_000_000, 0)
	var l firstLosses
	look := func(drift time.Duration, at ...units.Time) *telemetry.Snapshot {
		now := 5 * units.Second
		s := &telemetry.Snapshot{Now: now, Wall: began.Add(5*time.Second + drift), Ports: make([]string, len(at))}
		s.Stats.Ports = make([]fabric.PortStats, len(at))
		for i := range at {
			s.Ports[i] = fmt.Sprint("sw", i)
			for prio := range s.Stats.Ports[i].LostAt {
				s.Stats.Ports[i].LostAt[prio] = units.Never
			}
			s.Stats.Ports[i].LostAt[3] = at[i]
		}
		l.complete(s)
		return s
	}
	first := func(s *telemetry.Snapshot, port int, want time.Time) {
		t.Helper()
		if at, lost := s.FirstLoss(port, 3); !at.Equal(want) || lost == want.IsZero() {
			t.Errorf("port %d: %v, %v, want %v", port, at, lost, want)
		}
		if at, lost := s.FirstLoss(port, 2); lost {
			t.Errorf("port %d, another priority: %v", port, at)
		}
	}
	second := began.Add(time.Second)
	first(look(0, units.Never, units.Second), 1, second)
	s := look(time.Millisecond, 2*units.Second, units.Second)
	first(s, 1, second)
	first(s, 0, began.Add(2*time.Second+time.Millisecond))
	s = look(time.Minute, 2*units.Second, units.Second)
	first(s, 1, second)
	first(s, 0, began.Add(2*time.Second+time.Millisecond))
	first(look(time.Minute, units.Never, units.Second), 0, time.Time{})
	l.forget(1)
	first(look(0, units.Never, 3*units.Second), 1, began.Add(3*time.Second))
}

// The bytes of counters and the lengths of samples are of the same frames: with FCS, and MAC control frames are among
// both.
func TestCollectorCountsTheSameBytes(t *testing.T) {
	collector, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Close()
	const lines = "sflow: {collector: '%v', sampling: 1000000, polling: 1s}\npfc: {priorities: [3]}\n"
	x := newLinked(t, fmt.Sprintf(lines, collector.LocalAddr()))
	give := func(frame []byte) {
		f, _ := x.env.Alloc(len(frame))
		copy(x.env.Header(f), frame)
		x.sw.Receive(x.world.now, 0, []fabric.Frame{f})
	}
	data := make([]byte, 100)
	copy(data, []byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 7, 8, 0})
	for range 3 {
		give(data)
	}
	xoff := make([]byte, wire.MinFrameLen)
	copy(xoff, []byte{1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0x88, 8, 1, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 100})
	give(xoff)
	x.watchSamples(time.Unix(10, 0))
	b := make([]byte, 2000)
	n, err := collector.Read(b)
	// Behind 28 bytes of head: type, length, sequence, source, records; format, length, ifIndex, ifType, speed (8),
	// direction, status, octets (8), packets.
	if err != nil || n < 92 || binary.BigEndian.Uint32(b[28:]) != 2 || binary.BigEndian.Uint32(b[56:]) != 1 {
		t.Fatal(n, err, b[:n])
	}
	octets, packets := binary.BigEndian.Uint64(b[80:]), binary.BigEndian.Uint32(b[88:])
	if octets != 3*104+64 || packets != 4 {
		t.Errorf("%d bytes in %d frames, of three of 104 and one of 64", octets, packets)
	}
}

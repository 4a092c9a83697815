package daemon

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/lldp"
	"photon/units"
	"photon/wire"
)

func (w *still) Workers() int                         { return 1 }
func (w *still) CopyResidences(int, []dpdk.Residence) {}

// A storm is logged once, by its port and priority, and so is its end.
func TestStormsAreLogged(t *testing.T) {
	x := newLinked(t, "pfc: {watchdog: {detect: 2ms, restore: 2ms, action: alert}}\n")
	x.watchStorms()
	x.wait(3) // the peer pauses priority 3 for 3.3 ms
	lines := func(after units.Time) (said []string) {
		x.log.Reset()
		x.world.now += after
		var out [1]fabric.Frame
		x.sw.Transmit(x.world.now, 1, out[:])
		x.watchStorms()
		for _, l := range strings.Split(x.log.String(), "\n") {
			if strings.Contains(l, "port ") {
				said = append(said, l[strings.Index(l, "port "):])
			}
		}
		return said
	}
	const storm, end = "port sw1: its peer storms, priority 3 ", "port sw1: priority 3 is restored "
	for i, step := range []struct {
		after units.Time
		want  string
	}{
		{units.Millisecond, ""}, {2 * units.Millisecond, storm}, {0, ""},
		{units.Millisecond, ""}, {5 * units.Millisecond, end}, {0, ""},
	} {
		said := lines(step.after)
		if step.want == "" && len(said) > 0 || step.want != "" && (len(said) != 1 || !strings.HasPrefix(said[0], step.want)) {
			t.Errorf("step %d: %q, want %q", i, said, step.want)
		}
	}
}

// What a collector gets of a switch is what passed: samples with their ports, and of every port its counters.
func TestWhatACollectorGets(t *testing.T) {
	collector, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Close()
	x := newLinked(t, "sflow: {collector: '"+collector.LocalAddr().String()+"', sampling: 1, polling: 1s}\n")
	now := time.Unix(1, 0)
	watch := func() (d layers.SFlowDatagram) {
		now = now.Add(time.Second)
		x.watchSamples(now)
		b := make([]byte, 2000)
		n, err := collector.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.DecodeFromBytes(b[:n], gopacket.NilDecodeFeedback); err != nil {
			t.Fatal(err)
		}
		return d
	}
	watch()
	const frames, unknown, length = 5, 2, 100
	for i := range frames + unknown {
		f, _ := x.env.Alloc(length)
		copy(x.env.Header(f), []byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 7, 8, 0})
		if i >= frames { // not even an address
			f.Len = 9
		}
		x.sw.Receive(x.world.now, 0, []fabric.Frame{f})
	}
	var out [frames]fabric.Frame
	if n := x.sw.Transmit(x.world.now, 1, out[:]); n != frames {
		t.Fatalf("%d frames leave", n)
	}
	x.world.say(0, func(d *dpdk.DeviceStats) {
		d.RxErrors, d.RxMissed, d.RxNoBuffer, d.RxTooLong, d.RxSeveral = 3, 10, 200, 3000, 40000
	})
	x.world.say(1, func(d *dpdk.DeviceStats) { d.TxErrors, d.TxDropped, d.TxTooLong, d.LinkUp = 4, 5, 60, false })
	d := watch()
	sampled := 0
	for _, s := range d.FlowSamples {
		if s.InputInterface == 1 && s.SamplingRate == 1 {
			sampled++
		}
	}
	if sampled < frames || sampled != len(d.FlowSamples) {
		t.Errorf("%d of %d samples are of the port", sampled, len(d.FlowSamples))
	}
	ports := map[uint32]layers.SFlowGenericInterfaceCounters{}
	for _, s := range d.CounterSamples {
		for _, r := range s.Records {
			if c, ok := r.(layers.SFlowGenericInterfaceCounters); ok {
				ports[c.IfIndex] = c
			}
		}
	}
	in, to := ports[1], ports[2]
	if len(ports) != 2 || in.IfSpeed != 10e9 || in.IfStatus != 3 || in.IfInErrors != 3 ||
		in.IfInDiscards != unknown+43210 ||
		in.IfInUcastPkts != frames+unknown || in.IfInOctets != frames*(length+wire.FCSLen)+unknown*(9+wire.FCSLen) ||
		in.IfOutUcastPkts != 0 || in.IfOutOctets != 0 {
		t.Errorf("the port of %d frames says %+v", frames+unknown, in)
	}
	if to.IfOutUcastPkts != frames || to.IfOutOctets != frames*(length+wire.FCSLen) ||
		to.IfOutErrors != 4 || to.IfOutDiscards != 65 ||
		to.IfInUcastPkts != 0 || to.IfStatus != 1 {
		t.Errorf("the port that %d frames left by says %+v", frames, to)
	}
}

// A collector adds up whole frames, whatever they are: LLDP's and long ones of MAC control are longer than the least.
func TestCollectorGetsBytesOfFramesOfTheLink(t *testing.T) {
	collector, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Close()
	x := newLinked(t, "sflow: {collector: '"+collector.LocalAddr().String()+"', sampling: 1000000, polling: 1s}\n")
	info := lldp.Info{From: 0x020000000001, Port: "sw0", TTL: 121, SystemText: strings.Repeat("x", 200)}
	hello := info.Encode(0x020000000001)
	pause := append([]byte{1, 0x80, 0xC2, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0x88, 0x08, 1, 1}, make([]byte, 100)...)
	x.sw.Announce(x.world.now, 0, &dataplane.Announcement{Frame: hello})
	for _, b := range [][]byte{hello, pause} {
		f, _ := x.env.Alloc(len(b))
		copy(x.env.Bytes(&f), b)
		x.sw.Receive(x.world.now, 0, []fabric.Frame{f})
	}
	var out [2]fabric.Frame
	if n := x.sw.Transmit(x.world.now, 0, out[:]); n != 1 || int(out[0].Len) != len(hello) {
		t.Fatalf("%d frames leave", n)
	}
	x.watchSamples(time.Unix(1, 0))
	b, d := make([]byte, 2000), layers.SFlowDatagram{}
	n, err := collector.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.DecodeFromBytes(b[:n], gopacket.NilDecodeFeedback); err != nil {
		t.Fatal(err)
	}
	c := d.CounterSamples[0].Records[0].(layers.SFlowGenericInterfaceCounters)
	if c.IfIndex != 1 || c.IfInUcastPkts != 2 || int(c.IfInOctets) != len(hello)+len(pause)+2*wire.FCSLen ||
		c.IfOutUcastPkts != 1 || int(c.IfOutOctets) != len(hello)+wire.FCSLen {
		t.Errorf("frames of %d and %d bytes came, and one of %d left: %+v", len(hello), len(pause), len(hello), c)
	}
}

// Samples that come faster than they are taken are lost, and counted: none is both, and none is neither.
func TestLostSamplesAreCounted(t *testing.T) {
	x := newLinked(t, "sflow: {collector: '127.0.0.1:9', sampling: 1, polling: 0s}\n")
	now := time.Unix(1, 0)
	x.watchSamples(now)
	given := uint64(0)
	for round := range 4 {
		for range 1 + 100*round*round {
			f, _ := x.env.Alloc(100)
			copy(x.env.Header(f), []byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 7, 8, 0})
			x.sw.Receive(x.world.now, 0, []fabric.Frame{f})
			given++
		}
		now = now.Add(time.Second)
		x.watchSamples(now)
		if got := x.sflow(); got.Samples != given || got.Lost > given || round > 0 && got.Lost == 0 {
			t.Errorf("%d frames were sampled: %+v", given, got)
		}
	}
}

// lapping is a world whose clock is set back after so many looks at it.
type lapping struct {
	*still
	after int
	laps  uint64
	seen  []uint64 // laps at each look
}

func (w *lapping) Laps() uint64 { return w.laps }

func (w *lapping) DoBriefly(f func(units.Time)) {
	w.seen = append(w.seen, w.laps)
	f(w.now)
	if len(w.seen) == w.after {
		w.laps++
	}
}

// What is shown of the past is all of one lap of the clock, that of the snapshot, whenever the clock is set back.
func TestThePastIsOfOneLap(t *testing.T) {
	for after := range 8 {
		x := newLinked(t, "")
		w := &lapping{still: x.world, after: after}
		x.daemon.world = w
		p := x.past()
		ports := len(x.names())
		if len(p.Pauses) != ports || len(p.Events) != ports || len(p.Ended) != ports || len(p.Ever) != ports {
			t.Fatalf("%d ports, %+v", ports, p)
		}
		for _, laps := range w.seen[len(w.seen)-ports-1:] {
			if laps != p.Snapshot.Laps {
				t.Errorf("set back after look %d: the snapshot is of lap %d, and looks of %v", after, p.Snapshot.Laps, w.seen)
			}
		}
	}
}

package daemon

import (
	"strings"
	"testing"
	"time"

	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/lldp"
	"photon/units"
	"photon/wire"
)

// pluggable is a world in which ports come and go.
type pluggable struct{ *still }

func (pluggable) Claim(string, int) error     { return nil }
func (pluggable) Elsewhere(fabric.End) string { return "" }
func (pluggable) Disclaim(string)             {}
func (pluggable) Open(spec string, mtu int) (dpdk.Device, error) {
	return dpdk.Device{Spec: spec, Rate: 10 * units.Gbps, Up: true}, nil
}
func (pluggable) Discard(dpdk.Device)                                  {}
func (pluggable) Plug(fabric.End, int, dpdk.Device, fabric.Link) error { return nil }
func (pluggable) Unplug(fabric.End) (last dpdk.DeviceStats, err error) { return last, nil }

// neighboursAt are those that the switch knows behind a port.
func (x *linked) neighboursAt(port int) []lldp.Neighbour { return x.neighbours.table.At(port) }

// hears has a port receive the announcement of a neighbour.
func (x *linked) hears(port int, name string) {
	x.t.Helper()
	i := lldp.Info{From: 0x0200_0000_0077, Port: name, TTL: 120, SystemName: name}
	frame, ok := x.env.Alloc(lldp.MaxLen)
	if !ok {
		x.t.Fatal("no memory")
	}
	b := i.Encode(wire.MAC(0x0200_0000_0077))
	frame.Len = uint16(copy(x.env.Bytes(&frame), b))
	x.sw.Receive(x.world.now, port, []fabric.Frame{frame})
}

// A port is removed and another takes its place before the switch has looked again, as a script does it, with the same
// device or another: nothing is known there of the neighbour that the port before had, the new port greets its own,
// goes on to do so, and hears it.
func TestPortWithLLDPIsReplacedAtOnce(t *testing.T) {
	const ports = "ports:\n- device: net_null0\n- device: net_null1\n- device: net_null2\n"
	for _, device := range []string{"net_null1", "net_null7"} {
		x := newLinkedOf(t, ports+"rate: 10Gbps\nlldp: {interval: 30s}\n")
		x.setNames("net_null0", "net_null1", "net_null2")
		x.daemon.world = pluggable{x.world}
		look := func() { x.watchNeighbours(time.Now()) }
		look()
		x.announcedAt(1, 10*units.Second)
		x.hears(1, "old")
		look()
		if n := x.neighboursAt(1); len(n) != 1 {
			t.Fatalf("%d neighbours", len(n))
		}
		x.announcedAt(1, 10*units.Second)

		if _, err := x.RemovePort("net_null1"); err != nil {
			t.Fatal(err)
		}
		if _, err := x.AddPort(device, 0); err != nil {
			t.Fatal(err)
		}
		look()
		if n := x.neighboursAt(1); len(n) != 0 {
			t.Errorf("%s: a neighbour of the port before is still there: %+v", device, n)
		}
		if n := x.announcedAt(1, 10*units.Second); n != 4 {
			t.Errorf("%s: %d frames in the first seconds, not 4", device, n)
		}
		if n := x.announcedAt(1, 100*units.Second); n < 3 {
			t.Errorf("%s: %d frames in the 100 s after them", device, n)
		}
		x.hears(1, "new")
		look()
		if n := x.neighboursAt(1); len(n) != 1 || n[0].SystemName != "new" {
			t.Errorf("%s: its neighbours are %+v", device, n)
		}
	}
}

// A cable that is pulled and put into another peer between two looks is seen where the device counts it, and the
// neighbour of before is gone, as it is when a look finds the link down.
func TestFlapForgetsTheNeighbour(t *testing.T) {
	for _, flap := range []func(d *dpdk.DeviceStats){
		func(d *dpdk.DeviceStats) { d.Downs++ },
		func(d *dpdk.DeviceStats) { d.Downs += 3 },
		func(d *dpdk.DeviceStats) { d.Downs, d.LinkUp = d.Downs+1, false },
	} {
		x := newLinked(t, "lldp: {interval: 30s}\n")
		look := func() {
			x.watchLinks()
			x.watchNeighbours(time.Now())
		}
		look()
		x.hears(0, "other")
		x.hears(1, "old")
		look()
		x.world.say(1, flap)
		look()
		if n := x.neighboursAt(1); len(n) != 0 {
			t.Errorf("the neighbour of before is still there: %+v", n)
		}
		if n := x.neighboursAt(0); len(n) != 1 {
			t.Errorf("the other port has %d neighbours", len(n))
		}
		x.world.say(1, func(d *dpdk.DeviceStats) { d.LinkUp = true })
		look()
		x.hears(1, "new")
		look()
		look()
		if n := x.neighboursAt(1); len(n) != 1 || n[0].SystemName != "new" {
			t.Errorf("its neighbours are %+v", n)
		}
	}
}

// A port that comes under the name of one that lost frames of a lossless priority has lost none: the log begins anew
// with what it loses itself, and says when the first was.
func TestLossesOfAPortThatIsReplaced(t *testing.T) {
	const ports = "ports:\n- device: net_null0\n- device: net_null1\n- device: net_null2\n"
	x := newLinkedOf(t, ports+"rate: 10Gbps\npfc: {watchdog: {detect: 2ms, restore: 2s, action: drop}}\n")
	x.setNames("net_null0", "net_null1", "net_null2")
	x.daemon.world = pluggable{x.world}
	now := time.Unix(1000, 0)
	loses := func(frames int) string { // at the second port, in a storm
		give := func(port int, length int, head string) {
			f, _ := x.env.Alloc(length)
			copy(x.env.Header(f), head)
			x.sw.Receive(x.world.now, port, []fabric.Frame{f})
		}
		pause := "\x01\x80\xc2\x00\x00\x01\x02\x00\x00\x00\x00\x08\x88\x08\x01\x01\x00\x08" +
			strings.Repeat("\xff", 16)
		for range 2 { // for 3.3 ms each
			give(1, 60, pause)
			x.world.now += 3 * units.Millisecond
		}
		var out [fabric.MaxBurst]fabric.Frame
		x.sw.Transmit(x.world.now, 1, out[:])
		for range frames {
			give(0, 100, "\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x07\x08\x00\x45\x60")
		}
		x.log.Reset()
		now = now.Add(time.Minute)
		x.watchLosses(now)
		return x.log.String()
	}
	const first, more = "port net_null1: frames of lossless priority 3 were lost: ", "port net_null1: 3 more frames of lossless priority 3"
	if said := loses(5); !strings.Contains(said, first+"5 pfc_watchdog") {
		t.Errorf("of five frames the log says %q", said)
	}
	if said := loses(3); !strings.Contains(said, more) {
		t.Errorf("of three more the log says %q", said)
	}
	if _, err := x.RemovePort("net_null1"); err != nil {
		t.Fatal(err)
	}
	if _, err := x.AddPort("net_null1", 0); err != nil {
		t.Fatal(err)
	}
	if said := loses(20); !strings.Contains(said, first+"20 pfc_watchdog") {
		t.Errorf("of twenty of another port the log says %q", said)
	}
	if said := loses(3); !strings.Contains(said, more) {
		t.Errorf("of three more of that the log says %q", said)
	}
}

// Neighbours beyond those that a port keeps are not shown, and so not compared: the log says so, once until some go.
func TestTooManyNeighboursAreLogged(t *testing.T) {
	x := newLinked(t, "lldp: {interval: 30s}\n")
	now := time.Unix(1000, 0)
	x.watchNeighbours(now)
	said := func(names ...string) (lines int) {
		x.log.Reset()
		for _, name := range names {
			x.hears(1, name)
			x.watchNeighbours(now)
		}
		return strings.Count(x.log.String(), "port sw1: it keeps 8 neighbours")
	}
	for round := range 2 {
		if n := said("a", "b", "c", "d", "e", "f", "g", "h", "a"); n != 0 {
			t.Errorf("round %d: %d lines about eight neighbours", round, n)
		}
		if n := said("i", "j", "a", "i"); n != 1 || !x.said("i, port i, ") {
			t.Errorf("round %d: %d lines about the ninth: %s", round, n, &x.log)
		}
		if n := said("i", "j"); n != 0 {
			t.Errorf("round %d: %d lines more", round, n)
		}
		now = now.Add(3 * time.Minute) // all fall silent
		x.watchNeighbours(now)
	}
}

package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// still is a world that carries nothing; its devices say what a test has them say.
type still struct {
	dpdk.World
	sync.Mutex
	now     units.Time
	devices []dpdk.DeviceStats
	env     *fabric.Env        // of an agent
	rates   map[int]units.Rate // that the world was told
	tap     *fabric.Tap        // that the world has
}

func (w *still) Devices() []dpdk.DeviceStats {
	w.Lock()
	defer w.Unlock()
	return append([]dpdk.DeviceStats{}, w.devices...)
}

func (w *still) Do(f func(units.Time)) {
	w.Lock()
	defer w.Unlock()
	f(w.now)
}

func (w *still) DoBriefly(f func(units.Time)) { w.Do(f) }
func (w *still) SetUp(at fabric.End, up bool) (bool, error) {
	w.devices[at.Port].LinkUp = up
	return true, nil
}
func (w *still) Laps() uint64 { return 0 }
func (w *still) Idle() bool   { return true }
func (w *still) Started() <-chan struct{} {
	started := make(chan struct{})
	close(started)
	return started
}
func (w *still) SetRate(at fabric.End, rate units.Rate)         { w.rates[at.Port] = rate }
func (w *still) CopyPolls([]dpdk.Polls)                         {}
func (w *still) Pace() dpdk.Pace                                { return dpdk.Pace{} }
func (w *still) say(port int, change func(d *dpdk.DeviceStats)) { change(&w.devices[port]) }

// linked is a switch with two or three cards of 10 Gbit/s, between which nothing moves.
type linked struct {
	*daemon
	t     *testing.T
	log   bytes.Buffer
	env   *fabric.Env
	world *still
	file  string
}

func newLinked(t *testing.T, lines string) *linked {
	t.Helper()
	return newLinkedOf(t, portsOfCards+lines)
}

func newLinkedOf(t *testing.T, text string) *linked {
	t.Helper()
	x := &linked{t: t, daemon: &daemon{}, file: filepath.Join(t.TempDir(), "switch.yaml")}
	x.put(text)
	conf, err := config.ReadSwitch(x.file)
	if err != nil {
		t.Fatal(err)
	}
	devices := make([]dpdk.Device, dpdk.MaxPorts)
	ports := len(conf.Ports)
	x.setNames([]string{"sw0", "sw1", "sw2"}[:ports]...)
	x.rates = make([]units.Rate, len(devices))
	x.world = &still{now: units.Second, rates: map[int]units.Rate{}, devices: make([]dpdk.DeviceStats, ports)}
	for i := range x.world.devices {
		devices[i].Rate, devices[i].Up = 10*units.Gbps, true
		x.world.devices[i].Rate, x.world.devices[i].LinkUp = 10*units.Gbps, true
		x.world.devices[i].Port, x.rates[i] = i, 10*units.Gbps
	}
	conf.Start(conf.Options().Frames, config.Base(devices[0]))
	node, err := conf.Resolve(devices)
	if err != nil {
		t.Fatal(err)
	}
	x.env = fabric.NewEnv(fabric.NewHeaderPool(), dpdk.MaxPorts)
	s, err := dataplane.NewSwitch(node.Config, []*fabric.Env{x.env})
	if err != nil {
		t.Fatal(err)
	}
	d := x.daemon
	d.scheme, d.params, d.line = node.Scheme.Name, node.Params, node.Line
	d.log, d.world, d.node, d.sw, d.lossless = newLog(Options{Log: &x.log}), x.world, s, s, 1<<3
	d.loaded.conf, d.loaded.devices = conf, devices
	d.loaded.again = func() (*config.Switch, error) { return config.ReadSwitch(x.file) }
	x.watchLinks()
	return x
}

const portsOfCards = "ports:\n- device: 0000:03:00.0\n- device: 0000:03:00.1\nforwarding: {static: [{mac: '02:00:00:00:00:09', port: 1}]}\n"

func (x *linked) write(lines string) { x.put(portsOfCards + lines) }

func (x *linked) put(text string) {
	x.t.Helper()
	if err := os.WriteFile(x.file, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

// wait has frames wait at the second port, whose peer pauses it.
func (x *linked) wait(frames int) {
	pause := make([]byte, 60)
	copy(pause, []byte{1, 0x80, 0xC2, 0, 0, 1, 2, 0, 0, 0, 0, 8, 0x88, 8, 1, 1, 0, 8})
	pause[18+6], pause[18+7] = 0xFF, 0xFF
	data := append([]byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 7, 8, 0, 0x45, 26<<2 | wire.ECT0}, make([]byte, 984)...)
	give := func(port int, b []byte) {
		f, _ := x.env.Alloc(len(b))
		copy(x.env.Header(f), b)
		x.sw.Receive(x.world.now, port, []fabric.Frame{f})
	}
	give(1, pause)
	for range frames {
		give(0, data)
	}
	if n := x.sw.Queued(); n != frames {
		x.t.Fatalf("%d frames wait", n)
	}
}

func (x *linked) said(text string) bool { return strings.Contains(x.log.String(), text) }

// A link that went down and up between two looks has changed: what waits is for a peer
// that is not there any more, which paused us, and is counted.
func TestShortFlap(t *testing.T) {
	x := newLinked(t, "")
	x.wait(5)
	x.world.say(1, func(d *dpdk.DeviceStats) { d.Downs = 3 })
	x.watchLinks()
	st := x.sw.Stats(x.world.now)
	if n := st.Ports[1].Discards[fabric.DropLink][3]; n != 5 || x.sw.Queued() != 0 || x.sw.Forwarding().Down[1] {
		t.Errorf("%d frames discarded, %d wait, down %v", n, x.sw.Queued(), x.sw.Forwarding().Down[1])
	}
	if x.sw.Paused(1) != 0 {
		t.Error("the pause of the peer before lasts")
	}
	if got := x.links.counts(); got[1] != 6 || got[0] != 0 || !x.said("port sw1: link down and up again, 3 times") {
		t.Errorf("%d changes\n%s", got, &x.log)
	}
	x.watchLinks() // nothing happened since
	if got := x.links.counts(); got[1] != 6 {
		t.Errorf("%d changes", got)
	}
	// Down, which is one more; and then up, down, up, of which the first is not seen.
	for _, step := range []struct {
		downs   uint64
		up      bool
		changes uint64
	}{{4, false, 7}, {5, true, 10}, {6, false, 11}, {8, false, 15}, {8, true, 16}} {
		x.world.say(1, func(d *dpdk.DeviceStats) { d.Downs, d.LinkUp = step.downs, step.up })
		x.watchLinks()
		if got := x.links.counts()[1]; got != step.changes || x.sw.Forwarding().Down[1] == step.up {
			t.Errorf("%+v: %d changes, down %v", step, got, x.sw.Forwarding().Down[1])
		}
	}
}

// A card's link comes up with another rate: headroom, pace and pauses are that rate's,
// for a reload as well, and the first's when it is back.
func TestLinkOfAnotherRate(t *testing.T) {
	x := newLinked(t, "buffer: 20MB\n")
	headroom := func() units.Size { return x.sw.Buffer().Thresholds[1][3].Headroom }
	at := func(rate units.Rate) units.Size { _, h := x.loaded.conf.LinkAt(1, rate, x.sw.Cell()); return h }
	first := headroom()
	for _, rate := range []units.Rate{40 * units.Gbps, units.Gbps, 100 * units.Gbps} {
		x.world.say(1, func(d *dpdk.DeviceStats) { d.Rate, d.Downs = rate, d.Downs+1 })
		x.watchLinks()
		if headroom() != at(rate) || headroom() == first || x.world.rates[1] != rate || x.ratesInForce()[1] != rate {
			t.Errorf("%v: headroom %v, not %v; the world has %v, scrapes %v", rate, headroom(), at(rate), x.world.rates, x.ratesInForce())
		}
		if other := x.sw.Buffer().Thresholds[0][3].Headroom; other != first || len(x.world.rates) != 1 {
			t.Errorf("the other port has headroom %v and rates are %v", other, x.world.rates)
		}
	}
	before := headroom()
	x.write("buffer: 20MB\npfc: {response: 50us}\n")
	if _, err := x.reload(); err != nil {
		t.Fatal(err)
	}
	if headroom() != at(100*units.Gbps) || headroom() >= before {
		t.Errorf("headroom %v after a reload, %v before, to be %v", headroom(), before, at(100*units.Gbps))
	}
	x.world.say(1, func(d *dpdk.DeviceStats) { d.Rate, d.LinkUp = 0, false }) // a card knows no rate without link
	x.watchLinks()
	x.world.say(1, func(d *dpdk.DeviceStats) { d.Rate, d.LinkUp = 10*units.Gbps, true })
	x.watchLinks()
	if headroom() != at(10*units.Gbps) || x.world.rates[1] != 10*units.Gbps {
		t.Errorf("headroom %v at the first rate, %v", headroom(), x.world.rates)
	}
	x.write("buffer: 20MB\n")
	if _, err := x.reload(); err != nil {
		t.Fatal(err)
	}
	if headroom() != first {
		t.Errorf("headroom %v is not the first, %v", headroom(), first)
	}
}

// Packets cannot tell of a link whose rate has no number in them. At the start it is refused; of one that comes up with
// such a rate later, the log says so.
func TestLinkOfARateWithoutNumber(t *testing.T) {
	const line = "port sw1: scheme hpcc: telemetry cannot name a link's rate of 30Gbps"
	for scheme, said := range map[string]bool{"hpcc": true, "pcn": false} {
		x := newLinked(t, "buffer: 20MB\nscheme: {name: "+scheme+"}\n")
		for _, rate := range []units.Rate{25 * units.Gbps, 30 * units.Gbps} {
			if x.said(line) {
				t.Errorf("%s: before it is so\n%s", scheme, x.log.String())
			}
			x.world.say(1, func(d *dpdk.DeviceStats) { d.Rate = rate })
			x.watchLinks()
		}
		if x.said(line) != said || x.world.rates[1] != 30*units.Gbps {
			t.Errorf("%s, %v:\n%s", scheme, x.world.rates, x.log.String())
		}
	}
}

// A rate that was configured stays, and one for which the buffer has no room is logged once.
func TestLinkOfAnotherRateThatCannotBe(t *testing.T) {
	x := newLinked(t, "rate: 10Gbps\n")
	x.world.say(1, func(d *dpdk.DeviceStats) { d.Rate = units.Gbps })
	x.watchLinks()
	if len(x.world.rates) != 0 {
		t.Errorf("the world has %v", x.world.rates)
	}
	x = newLinked(t, "buffer: 2MB\n")
	first := x.sw.Buffer().Thresholds[1][3].Headroom
	x.world.say(1, func(d *dpdk.DeviceStats) { d.Rate = 400 * units.Gbps })
	for range 3 {
		x.watchLinks()
	}
	if x.world.rates[1] != 400*units.Gbps || x.sw.Buffer().Thresholds[1][3].Headroom != first {
		t.Errorf("%v, headroom %v, not %v", x.world.rates, x.sw.Buffer().Thresholds[1][3].Headroom, first)
	}
	if n := strings.Count(x.log.String(), "lossless frames may be lost when its peer is paused"); n != 1 {
		t.Errorf("%d lines\n%s", n, &x.log)
	}
}

// A link that goes down while a switch drains is seen: what waits for it is gone, and
// the switch ends; a link of another rate does not end the pause of the peers.
func TestLinkGoesDownInADrain(t *testing.T) {
	x := newLinked(t, "buffer: 20MB\n")
	x.wait(5)
	drained := make(chan struct{})
	go func() { defer close(drained); x.drain() }()
	for ending := false; !ending; {
		x.loaded.Lock()
		ending = x.loaded.ending
		x.loaded.Unlock()
	}
	x.world.Do(func(units.Time) {
		x.world.say(0, func(d *dpdk.DeviceStats) { d.Rate = 25 * units.Gbps })
		x.world.say(1, func(d *dpdk.DeviceStats) { d.LinkUp = false })
	})
	x.watchLinks()
	<-drained
	if !x.said("drained") || x.said("still queued") {
		t.Errorf("%s", &x.log)
	}
	burst := make([]fabric.Frame, 8)
	x.world.now += units.Millisecond
	paused := false
	for i := range x.sw.Transmit(x.world.now, 0, burst) {
		var p pfc.Frame
		paused = paused || p.Decode(x.env.Bytes(&burst[i])) == nil && p.Quanta[3] > 0
	}
	if !paused {
		t.Error("the peer of the port whose rate changed is not paused any more")
	}
}

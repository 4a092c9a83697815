//go:build dpdk

package dpdk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"photon/agent"
	"photon/dataplane"
	"photon/fabric"
	"photon/internal/testnet"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

func TestFrameLayout(t *testing.T) {
	var f fabric.Frame
	want := []uintptr{
		unsafe.Offsetof(f.Ref), unsafe.Offsetof(f.Digest), unsafe.Offsetof(f.Len), unsafe.Offsetof(f.Off),
		unsafe.Offsetof(f.In), unsafe.Offsetof(f.Prio), unsafe.Offsetof(f.Flag),
	}
	if size, offsets := layout(); size != unsafe.Sizeof(f) || !slices.Equal(offsets, want) {
		t.Fatalf("C has %d %v, Go has %d %v", size, offsets, unsafe.Sizeof(f), want)
	}
}

const rate = 10 * units.Gbps

func newWorld(t *testing.T, o Options) World {
	t.Helper()
	o.FrameSize = FrameSize(9216) // the first world makes the buffers of all
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if n := freeFrames(); n != eal.frames {
			t.Errorf("%d of %d frame buffers are missing", eal.frames-n, eal.frames)
		}
	})
	return w
}

func addHost(t *testing.T, w World, i int, link fabric.Link) (*agent.Host, int) {
	t.Helper()
	return addHostWith(t, w, i, link, 1000)
}

func addHostWith(t *testing.T, w World, i int, link fabric.Link, payload int) (*agent.Host, int) {
	t.Helper()
	s, err := scheme.Get("pcn")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := s.Build(scheme.Network{Line: link.Rate}, nil)
	if err != nil {
		t.Fatal(err)
	}
	envs := w.NewEnvs(1)
	h, err := agent.New(agent.Config{
		MAC: wire.MAC(0x020000000000 + i), IP: wire.IPv4(10, 0, 0, byte(i)), Link: link, Lossless: 1 << 3, DSCP: dataplane.DefaultDSCP(),
		DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48, Carry: parts.Carry, Payload: payload, AckTimeout: units.Second, Senders: 4, Receivers: 4, Age: units.Second,
		NP: parts.NP(4), NewRP: parts.RP,
	}, envs[0])
	if err != nil {
		t.Fatal(err)
	}
	return h, w.Add(fmt.Sprintf("H%d", i), h, envs, []int{0})
}

// Two hosts on one cable: a flow ends when the arithmetic says it does, to the
// width of a poll, and every frame is accounted for.
func TestCable(t *testing.T) {
	w := newWorld(t, Options{Dilation: 20})
	link := fabric.Link{Rate: rate, Delay: 100 * units.Microsecond}
	a, na := addHost(t, w, 1, link)
	_, nb := addHost(t, w, 2, link)
	if err := w.Connect(fabric.End{Node: na}, fabric.End{Node: nb}, link); err != nil {
		t.Fatal(err)
	}
	var samples int
	w.Every(100*units.Microsecond, func(units.Time) { samples++ })
	if _, err := a.AddFlow(0, agent.FlowSpec{Peer: wire.IPv4(10, 0, 0, 2), PeerMAC: 0x020000000002, QP: 9, Size: units.MB}); err != nil {
		t.Fatal(err)
	}
	for _, until := range []units.Time{500 * units.Microsecond, 2 * units.Millisecond} { // a world goes on where it stopped
		if err := w.Run(context.Background(), until); err != nil {
			t.Fatal(err)
		}
		if err := w.Audit(); err != nil {
			t.Fatal(err)
		}
	}
	done := a.TakeResults()
	if len(done) != 1 {
		t.Fatalf("%d flows ended", len(done))
	}
	want := 1000*rate.Serialize(1082) + rate.Serialize(86) + 2*link.Delay
	if got := done[0].FCT(); got < want-5*units.Microsecond || got > want+5*units.Microsecond {
		t.Errorf("flow completion time %v, want %v", got, want)
	}
	if samples != 20 || w.Now() != 2*units.Millisecond {
		t.Errorf("%d samples until %v", samples, w.Now())
	}
	t.Logf("%+v, flow completion time %v, want %v", w.Pace(), done[0].FCT(), want)
}

// A function of another goroutine runs between two rounds, also if the world
// has stopped meanwhile.
func TestDo(t *testing.T) {
	w := newWorld(t, Options{Workers: 2, Cores: []int{0, 0}})
	link := fabric.Link{Rate: rate, Delay: units.Microsecond}
	_, na := addHost(t, w, 1, link)
	_, nb := addHost(t, w, 2, link)
	if err := w.Connect(fabric.End{Node: na}, fabric.End{Node: nb}, link); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	<-w.Started()
	last := units.Time(-1)
	look := func() {
		w.Do(func(now units.Time) {
			if now < last {
				t.Errorf("time went from %v to %v", last, now)
			}
			last = now
		})
	}
	for range 1000 {
		look()
	}
	cancel()
	for stopped := false; !stopped; {
		look()
		select {
		case err := <-ended:
			if stopped = true; err == nil {
				t.Error("the context's error is lost")
			}
		default:
		}
	}
	var after units.Time
	if w.Do(func(now units.Time) { after = now }); after != w.Now() || after == 0 {
		t.Errorf("%v after the end, %v", after, w.Now())
	}
}

func TestBadDevices(t *testing.T) {
	w := newWorld(t, Options{})
	for spec, want := range map[string]string{
		"net_af_packet7":                                              `port net_af_packet7: it needs the interface it sits on (write it like net_af_packet7,iface=sw0)`,
		"net_af_packet7,iface=nowhere0":                               "port net_af_packet7,iface=nowhere0: there is no network interface \"nowhere0\" (`ip link` lists them)",
		"net_tap7,iface=sixteenletterssx":                             "port net_tap7,iface=sixteenletterssx: iface=sixteenletterssx: the kernel's names of interfaces have at most 15 characters",
		"net_af_packet7,iface=lo,qpairs=2":                            `port net_af_packet7,iface=lo,qpairs=2: qpairs=2: photon polls one queue of a port (leave it out)`,
		"net_af_packet7,iface=lo,framesz=1024":                        `port net_af_packet7,iface=lo,framesz=1024: framesz=1024: frames of mtu 1500 take 1628 bytes (leave it out)`,
		"net_pcap7,rx_pcap=/nowhere":                                  "port net_pcap7,rx_pcap=/nowhere: DPDK cannot open it: Operation not permitted: open_single_rx_pcap(): Couldn't open /nowhere: /nowhere: No such file or directory",
		"net_vhost7,iface=/nowhere/a":                                 "port net_vhost7,iface=/nowhere/a: there is no folder /nowhere for its socket",
		"net_memif7,role=server,socket-abstract=no,socket=/nowhere/a": "port net_memif7,role=server,socket-abstract=no,socket=/nowhere/a: there is no folder /nowhere for its socket",
		"net_bogus0": "port net_bogus0: there is no driver for such a device (net_af_packet0, net_tap0, net_memif0 and net_vhost0 have one)",
	} {
		if _, err := w.Open(spec, 1500); err == nil || err.Error() != want {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// A device that takes no long frames is refused; so are frames longer than the buffers.
func TestMTUThatDoesNotFit(t *testing.T) {
	w := newWorld(t, Options{})
	n := testnet.New(t, "mtu")
	err := n.Do(func() error { _, err := w.Open("net_tap7,iface=t7", 9000); return err })
	if want := "port net_tap7,iface=t7: it takes no frames of mtu 9000, but of 1500 at most"; err == nil || err.Error() != want {
		t.Error(err)
	}
	if _, err := w.Open("net_null7", 9217+1024); err == nil || err.Error() != "port net_null7: frames of mtu 10241 do not fit in buffers of 10240 bytes" {
		t.Error(err)
	}
	testnet.Veth(t, n, "e0", n, "e1")
	n.Run(t, "ip", "link", "set", "e1", "mtu", "9000")
	err = n.Do(func() error { _, err := w.Open("net_af_packet8,iface=e0", 9000); return err })
	if err != nil {
		t.Error(err)
	}
	if out := n.Run(t, "ip", "link", "show", "e0"); !strings.Contains(out, "mtu 9000") {
		t.Error(out)
	}
	err = n.Do(func() error { _, err := w.Open("net_af_packet9,iface=lo", 70_000); return err })
	if err == nil {
		t.Error("an MTU that no interface has")
	}
}

// Frames of 9000 bytes through a switch, all on cables: each flow ends, and every
// frame is accounted for.
func TestJumboFramesOnCables(t *testing.T) {
	w := newWorld(t, Options{Dilation: 20})
	link := fabric.Link{Rate: rate, Delay: units.Microsecond}
	c := dataplane.SwitchConfig{MTU: 9000, Buffer: 8 * units.MB, Tail: units.MB, Classes: dataplane.DefaultClasses(), Lossless: 1 << 3}
	c.PFC[3] = pfc.Thresholds{XOFF: 500 * units.KB, XON: 400 * units.KB, Headroom: 500 * units.KB}
	for i := range 2 {
		c.Ports = append(c.Ports, dataplane.PortConfig{MAC: wire.MAC(100 + i), Link: link})
		c.Static = append(c.Static, dataplane.StaticEntry{MAC: wire.MAC(0x020000000001 + i), Ports: []uint16{uint16(i)}})
	}
	envs := w.NewEnvs(2)
	sw, err := dataplane.NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	id := w.Add("switch", sw, envs, []int{0, 0})
	var hosts [2]*agent.Host
	for i := range hosts {
		var n int
		hosts[i], n = addHostWith(t, w, i+1, link, 8956) // 9000 with IP, UDP, BTH and ICRC
		if err := w.Connect(fabric.End{Node: n}, fabric.End{Node: id, Port: i}, link); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := hosts[0].AddFlow(0, agent.FlowSpec{Peer: wire.IPv4(10, 0, 0, 2), PeerMAC: 0x020000000002, QP: 9, Size: 100 * 8956}); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(context.Background(), 3*units.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := w.Audit(); err != nil {
		t.Fatal(err)
	}
	st := sw.Stats(w.Now()).Ports[1]
	if done := hosts[0].TakeResults(); len(done) != 1 || st.TxFrames[3] != 100 || st.TxBytes[3] != 100*9014 {
		t.Errorf("%d flows ended, %d frames of %d bytes", len(done), st.TxFrames[3], st.TxBytes[3])
	}
}

// A core that is not there is named.
func TestCoreThatIsNotThere(t *testing.T) {
	_, err := New(Options{Cores: []int{1 << 20}})
	if err == nil || err.Error() != "core 1048576: this machine has none of that number" {
		t.Error(err)
	}
}

//go:build dpdk

package dpdk

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
	"unsafe"

	"photon/agent"
	"photon/dataplane"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

func TestFrameLayout(t *testing.T) {
	var f dataplane.Frame
	want := []uintptr{
		unsafe.Offsetof(f.Ref), unsafe.Offsetof(f.Hash), unsafe.Offsetof(f.Len), unsafe.Offsetof(f.Off),
		unsafe.Offsetof(f.In), unsafe.Offsetof(f.Prio), unsafe.Offsetof(f.L3), unsafe.Offsetof(f.Flag),
	}
	if size, offsets := layout(); size != unsafe.Sizeof(f) || !slices.Equal(offsets, want) {
		t.Fatalf("C has %d %v, Go has %d %v", size, offsets, unsafe.Sizeof(f), want)
	}
}

const rate = 10 * units.Gbps

func newWorld(t *testing.T, o Options) World {
	t.Helper()
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

func addHost(t *testing.T, w World, i int, link dataplane.Link) (*agent.Host, int) {
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
		DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48, Carry: parts.Carry, Payload: 1000, AckTimeout: units.Second, Senders: 4, Receivers: 4, Age: units.Second,
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
	link := dataplane.Link{Rate: rate, Delay: 100 * units.Microsecond}
	a, na := addHost(t, w, 1, link)
	_, nb := addHost(t, w, 2, link)
	if err := w.Connect(dataplane.End{Node: na}, dataplane.End{Node: nb}, link); err != nil {
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
	link := dataplane.Link{Rate: rate, Delay: units.Microsecond}
	_, na := addHost(t, w, 1, link)
	_, nb := addHost(t, w, 2, link)
	if err := w.Connect(dataplane.End{Node: na}, dataplane.End{Node: nb}, link); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	last := units.Time(-1)
	for ctx.Err() == nil {
		w.Do(func(now units.Time) {
			if now < last {
				t.Errorf("time went from %v to %v", last, now)
			}
			last = now
		})
	}
	if err := <-ended; err == nil {
		t.Error("the context's error is lost")
	}
	if w.Do(func(now units.Time) { last = now }); last != w.Now() || last == 0 {
		t.Errorf("%v after the end, %v", last, w.Now())
	}
}

func TestBadDevices(t *testing.T) {
	w := newWorld(t, Options{})
	for spec, want := range map[string]string{
		"net_af_packet7":                `port net_af_packet7: it needs the interface it sits on (write it like net_af_packet7,iface=sw0)`,
		"net_af_packet7,iface=nowhere0": "port net_af_packet7,iface=nowhere0: there is no network interface \"nowhere0\" (`ip link` lists them)",
		"net_bogus0":                    "port net_bogus0: DPDK cannot open it: Bad address (the EAL argument --log-level=*:debug shows why)",
	} {
		if _, err := w.Open(spec, 1500); err == nil || err.Error() != want {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

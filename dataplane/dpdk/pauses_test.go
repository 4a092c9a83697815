//go:build dpdk

package dpdk

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"photon/fabric"
	"photon/internal/testnet"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// talker is a node of one port that says XOFF now and then, and listens for those of others.
type talker struct {
	env    *fabric.Env
	mac    wire.MAC
	say    bool
	xoffs  map[wire.MAC]int // XOFFs, by whom
	rx, tx uint64
}

func (n *talker) Receive(_ units.Time, _ int, burst []fabric.Frame) {
	for _, f := range burst {
		b := n.env.Bytes(&f)
		var p pfc.Frame
		if n.rx++; wire.MACAt(b) == pfc.Destination && p.Decode(b) == nil && p.Enable == 1<<3 && p.Quanta[3] == 1234 {
			n.xoffs[wire.MACAt(b[6:])]++
		}
		n.env.Free(f)
	}
}

func (n *talker) Transmit(_ units.Time, _ int, burst []fabric.Frame) int {
	if !n.say {
		return 0
	}
	n.say = false
	f, ok := n.env.Alloc(pfc.FrameLen)
	if !ok {
		return 0
	}
	copy(n.env.Bytes(&f), xoffOf(n.mac))
	burst[0] = f
	n.tx++
	return 1
}

func (n *talker) Next(now units.Time, _ int) units.Time {
	if n.say {
		return now
	}
	return units.Never
}

func (n *talker) Stats(units.Time) (s fabric.Stats) {
	s.Ports = make([]fabric.PortStats, 1)
	s.Ports[0].RxControl, s.Ports[0].TxControl = n.rx, n.tx
	return s
}
func (n *talker) Audit() error { return nil }
func (n *talker) Close()       {}

func xoffOf(from wire.MAC) []byte {
	p := pfc.Frame{Enable: 1 << 3}
	p.Quanta[3] = 1234
	b := make([]byte, pfc.FrameLen)
	p.Encode(b, from)
	return b
}

// To a virtual device of any kind PFC frames are frames as any other: they arrive at the node, whoever is at the other end,
// and no warning is logged.
func TestPausesPassVirtualDevices(t *testing.T) {
	near, far := testnet.New(t, "near"), testnet.New(t, "far")
	testnet.Veth(t, near, "eth0", far, "eth0")
	w := newWorld(t, Options{})
	dir := t.TempDir()
	memif, vhost := ",socket-abstract=no,socket="+filepath.Join(dir, "memif"), filepath.Join(dir, "vhost")
	specs := []string{
		"net_af_packet0,iface=eth0", "net_tap0,iface=t0", "net_memif0,role=server" + memif, "net_memif1,role=client" + memif,
		"net_vhost0,iface=" + vhost, "net_virtio_user0,path=" + vhost, "net_ring0", "net_null0",
	}
	peer := map[int]int{2: 3, 3: 2, 4: 5, 5: 4, 6: 6} // a ring is its own
	var nodes []*talker
	for i, spec := range specs {
		var d Device
		if err := near.Do(func() (err error) { d, err = w.Open(spec, 1500); return err }); err != nil {
			t.Fatal(err)
		}
		want := FlowControlNotNeeded
		if isTap(spec) { // its driver takes orders
			want = FlowControlOff
		}
		if d.FlowControl != want || d.Driver == "" || d.Trouble() != "" {
			t.Errorf("%s: driver %q, flow control %v, %s", spec, d.Driver, d.FlowControl, d.Trouble())
		}
		if (d.Ring > 0) != (isTap(spec) || isAFPacket(spec)) { // what waits there is dropped when it is full; the others hold back
			t.Errorf("%s: %d frames wait in it", spec, d.Ring)
		}
		envs := w.NewEnvs(1)
		n := &talker{env: envs[0], mac: wire.MAC(0x020000000100 + i), xoffs: map[wire.MAC]int{}}
		nodes = append(nodes, n)
		if err := w.Attach(fabric.End{Node: w.Add(spec, n, envs, []int{0})}, d, fabric.Link{Rate: rate}); err != nil {
			t.Fatal(err)
		}
	}
	near.Run(t, "ip", "link", "set", "t0", "up")
	w.Every(5*units.Millisecond, func(now units.Time) {
		for i, n := range nodes {
			if _, ok := peer[i]; ok {
				n.say = true
				n.env.Wake(0, now)
			}
		}
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	kernel := []*testnet.Socket{far.Open(t, "eth0"), near.Open(t, "t0")}
	const stranger = wire.MAC(0x020000000099)
	missing := func() (which []string) {
		for _, s := range kernel {
			s.Send(xoffOf(stranger))
		}
		w.Do(func(units.Time) {
			for i, spec := range specs {
				from := stranger
				if p, ok := peer[i]; ok {
					from = nodes[p].mac
				} else if i >= len(kernel) {
					continue // nothing comes out of net_null but what it makes up
				}
				if nodes[i].xoffs[from] == 0 {
					which = append(which, spec)
				}
			}
		})
		return which
	}
	deadline := time.Now().Add(time.Minute)
	for which := missing(); which != nil; which = missing() {
		if time.Now().After(deadline) {
			t.Errorf("no XOFF arrived at %v", which)
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	<-ended
}

//go:build dpdk

package dpdk

import (
	"context"
	"fmt"
	"testing"

	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// fedSwitch is a switch on rings, where what a port sends comes back to it. It also sends bursts of frames that it
// never received, through the first two ports.
type fedSwitch struct {
	*dataplane.Switch
	env  *fabric.Env
	left [2]int // frames that are to be sent so
}

func (n *fedSwitch) Transmit(now units.Time, port int, burst []fabric.Frame) (filled int) {
	for port < len(n.left) && n.left[port] > 0 && filled < len(burst) {
		if !n.env.AllocAt(&burst[filled], 100) {
			break
		}
		b := n.env.Bytes(&burst[filled])
		clear(b)
		wire.MAC(0x020000000002).Put(b)
		wire.MAC(0x020000000001).Put(b[6:])
		b[12], b[14], b[15] = 8, 0x45, 26<<2 // IPv4, DSCP 26
		filled++
		n.left[port]--
	}
	if filled > 0 {
		return filled
	}
	return n.Switch.Transmit(now, port, burst)
}

// What a round brings through two ports for a third leaves in that round: nothing waits, so that no congestion point
// sees a queue where there is no congestion.
func TestPortSendsWhatTwoPortsBring(t *testing.T) {
	w := newWorld(t, Options{})
	c := dataplane.SwitchConfig{
		MTU: 1500, Buffer: 8 * units.MB, Tail: units.MB,
		Classes: dataplane.DefaultClasses(), Lossless: 1 << 3,
	}
	c.PFC[3] = pfc.Thresholds{XOFF: units.MB, XON: units.MB, Headroom: 500 * units.KB}
	for i := range 3 {
		c.Ports = append(c.Ports, dataplane.PortConfig{MAC: wire.MAC(100 + i)})
	}
	c.Static = []dataplane.StaticEntry{{MAC: 0x020000000002, Ports: []uint16{2}}}
	envs := w.NewEnvs(3)
	sw, err := dataplane.NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	n := &fedSwitch{Switch: sw, env: envs[0]}
	id := w.Add("switch", n, envs, []int{0, 0, 0})
	for i := range 3 {
		d, err := w.Open(fmt.Sprintf("net_ring%d", i), 1500)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Attach(fabric.End{Node: id, Port: i}, d, fabric.Link{}); err != nil {
			t.Fatal(err)
		}
	}
	frames := 0
	// The first of all finds no action in the cache, and is queued.
	for _, burst := range []int{1, fabric.MaxBurst, 20, fabric.MaxBurst} {
		n.left = [2]int{burst, burst}
		frames += 2 * burst
		n.env.Wake(0, w.Now())
		n.env.Wake(1, w.Now())
		if err := w.Run(context.Background(), w.Now()+10*units.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	st := sw.Stats(w.Now()).Ports[2]
	sent, back, waited := st.TxFrames[3], st.Discards[fabric.DropNoPort][3], st.QueuePeak[3]
	if sent != uint64(frames) || back != sent || waited > 200 {
		t.Errorf("%d frames of %d sent, %d came back, and %v waited", sent, frames, back, waited)
	}
	if err := sw.Audit(); err != nil {
		t.Error(err)
	}
}

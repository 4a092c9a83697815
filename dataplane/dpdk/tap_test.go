//go:build dpdk

package dpdk

import (
	"context"
	"testing"
	"time"

	"photon/fabric"
	"photon/internal/testnet"
	"photon/units"
)

// offers is a node of one port that sends frames of these lengths.
type offers struct {
	talker
	lengths []int
}

func (n *offers) Transmit(_ units.Time, _ int, burst []fabric.Frame) (filled int) {
	for ; filled < len(burst) && len(n.lengths) > 0; filled++ {
		f, ok := n.env.Alloc(n.lengths[0])
		if !ok {
			return filled
		}
		b := n.env.Bytes(&f)
		clear(b)
		b[0], b[6], b[12], b[13] = 2, 2, 0x88, 0xB5
		burst[filled], n.lengths = f, n.lengths[1:]
	}
	return filled
}

func (n *offers) Next(now units.Time, _ int) units.Time {
	if len(n.lengths) > 0 {
		return now
	}
	return units.Never
}

// A tap refuses for good what is longer than its interface takes, and everything while the interface is down. That is
// dropped and counted, and what is behind it goes on.
func TestTapRefusesAndGoesOn(t *testing.T) {
	n := testnet.New(t, "tap")
	w := newWorld(t, Options{Sleep: 20 * units.Microsecond})
	var device Device
	if err := n.Do(func() (err error) { device, err = w.Open("net_tap3,iface=t3", 1000); return err }); err != nil {
		t.Fatal(err)
	}
	n.Run(t, "ip", "link", "set", "t3", "up")
	envs := w.NewEnvs(1)
	node := &offers{talker: talker{env: envs[0]}}
	if err := w.Attach(fabric.End{Node: w.Add("tap", node, envs, []int{0}), Port: 0}, device, fabric.Link{Rate: 10 * units.Gbps}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	sent := func(want, dropped uint64) {
		t.Helper()
		var s DeviceStats
		for deadline := time.Now().Add(time.Minute); s.TxFrames != want || s.TxDropped != dropped; time.Sleep(5 * time.Millisecond) {
			if s = w.Devices()[0]; time.Now().After(deadline) {
				t.Fatalf("%d sent and %d dropped, want %d and %d", s.TxFrames, s.TxDropped, want, dropped)
			}
		}
		if s.TxErrors != 0 { // each frame is lost once
			t.Errorf("%d tries to send frames that were dropped are errors, too", s.TxErrors)
		}
	}
	offer := func(lengths ...int) {
		w.DoBriefly(func(units.Time) { node.lengths = lengths; envs[0].Wake(0, 0) })
	}
	offer(60, 1014, 1400, 60, 1400, 1400, 60)
	sent(4, 3)
	n.Run(t, "ip", "link", "set", "t3", "down")
	before := make([]int, 300)
	for i := range before {
		before[i] = 60
	}
	offer(before...)
	sent(4, 303)
	n.Run(t, "ip", "link", "set", "t3", "up")
	offer(60)
	sent(5, 303)
	stop()
	<-ended
}

// A tap is refused by name where there is another interface of its name; one that was made for it is taken.
func TestTapWhereAnInterfaceIs(t *testing.T) {
	w := newWorld(t, Options{})
	n := testnet.New(t, "taken")
	n.Run(t, "ip", "tuntap", "add", "mode", "tap", "multi_queue", "name", "own")
	open := func(spec string) error {
		return n.Do(func() error { _, err := w.Open(spec, 1500); return err })
	}
	const want = "port net_tap5,iface=lo: there is an interface lo already, and it is no tap: " +
		"name another one, which photon makes"
	if err := open("net_tap5,iface=lo"); err == nil || err.Error() != want {
		t.Error(err)
	}
	for _, spec := range []string{"net_tap5,iface=own", "net_tap6,iface=new"} {
		if err := open(spec); err != nil {
			t.Error(err)
		}
	}
}

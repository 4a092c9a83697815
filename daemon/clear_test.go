package daemon

import (
	"testing"

	"photon/fabric"
	"photon/impair"
	"photon/units"
)

// Watermarks begin anew also in a switch some of whose ports are impaired, or were once.
func TestClearWatermarksOfAnImpairedSwitch(t *testing.T) {
	x := newLinked(t, "")
	n := impair.New(x.sw, []*fabric.Env{x.env}, make([]int, len(x.rates)), nil, x.sw.Priority)
	x.impaired, x.node = n, n
	most := func() int64 { return int64(x.sw.Stats(x.world.now).Ports[1].QueuePeak[3]) }
	x.wait(20)
	x.world.now += units.Second // the pause has ended
	burst := make([]fabric.Frame, 32)
	for _, f := range burst[:x.sw.Transmit(x.world.now, 1, burst)] {
		x.env.Free(f)
	}
	if most() < 20_000 {
		t.Fatalf("20 frames of 1000 B waited, and %d bytes are the most", most())
	}
	if said, err := x.clearWatermarks("sw1"); err != nil {
		t.Fatalf("%q, %v", said, err)
	}
	if most() != 0 {
		t.Errorf("%d bytes are the most in a queue that is empty since", most())
	}
}

package remote

import (
	"context"
	"testing"
	"time"

	"photon/fabric"
)

// Frames that are on their way while counters are read, one node after the other, are not lost: neither those of the
// run before, nor what waits in queues at the end of this one.
func TestWhatIsOnItsWayIsNotLost(t *testing.T) {
	t.Parallel()
	b := &bed{}
	left := 40 // frames, of which one moves whenever a node is asked
	b.asked = func() {
		h0, s0, h2 := b.nodes["H0"], b.nodes["S0"], b.nodes["H2"]
		if left == 0 || h2 == nil {
			return
		}
		left--
		h0.info.Stats.Ports[0].TxFrames[3]++
		s0.info.Stats.Ports[0].RxFrames[3]++
		s0.info.Stats.Ports[2].TxFrames[3]++
		h2.info.Stats.Ports[0].RxFrames[3]++
	}
	r := over(t, b)
	left = 40
	n, err := r.Read(context.Background())
	if err != nil || n == nil {
		t.Fatal(err)
	}
	if lost, hops := r.Lost(); lost != 0 || hops != 80 || r.FirstLoss() != "" {
		t.Errorf("%d lost of %d hops, %q", lost, hops, r.FirstLoss())
	}
}

// Where others' frames never rest, none of them is taken for a loss, and the report says that some may be.
func TestOthersSendForEver(t *testing.T) {
	t.Parallel()
	b := &bed{}
	b.asked = func() {
		if h2 := b.nodes["H2"]; h2 != nil {
			b.nodes["S0"].info.Stats.Ports[2].TxFrames[3]++
			h2.info.Stats.Ports[0].RxFrames[3]++
		}
	}
	r, err := started(t, b)
	if err != nil {
		t.Fatal(err)
	}

	r.drainTime = time.Millisecond
	if err := r.Run(context.Background(), func(float64) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(context.Background()); err != nil {
		t.Fatal(err)
	}
	const want = "frames of lossless priorities still moved 1ms after the end: " +
		"whether some did not arrive at the other end of their link is not known"
	if lost, _ := r.Lost(); lost != 0 || r.FirstLoss() != "" || len(r.notes) != 1 || r.notes[0] != want {
		t.Errorf("%d lost, %q, %q", lost, r.FirstLoss(), r.notes)
	}
}

// A switch that ran before has sent notifications and discarded frames of other runs, of which a report says nothing.
// It says how many frames of lossy priorities this one has lost.
func TestCountersOfEarlierRuns(t *testing.T) {
	t.Parallel()
	b := &bed{set: func(name string, f *fake) {
		if name == "S0" {
			p := &f.info.Stats.Ports[2]
			p.Discards[fabric.DropTail][6], p.Discards[fabric.DropUnknown][6] = 50, 60
			p.CNMs[3], p.CNPs[3], p.Discards[fabric.DropUnknown][3] = 100, 200, 300
		}
	}}
	r := over(t, b)
	b.nodes["S0"].info.Stats.Ports[2].CNPs[3] += 7
	b.nodes["S0"].info.Stats.Ports[2].Discards[fabric.DropTail][6] += 4
	b.nodes["S0"].info.Stats.Ports[2].Discards[fabric.DropIngress][6] += 2
	n, err := r.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if lossy := n.Discarded(); lossy != 6 { // acknowledgements, for example
		t.Errorf("%d frames of lossy priorities discarded", lossy)
	}
	i, _ := r.plan.Find("S0")
	p := n.Switches[i].Stats(0).Ports[2]
	if p.CNMs[3] != 0 || p.CNPs[3] != 7 || p.Discards[fabric.DropUnknown][3] != 0 {
		t.Errorf("%d CNMs, %d CNPs, %d discarded", p.CNMs[3], p.CNPs[3], p.Discards[fabric.DropUnknown][3])
	}
}

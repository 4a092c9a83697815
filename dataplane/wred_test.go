package dataplane

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// curve is the probability that RED's curve has for a queue.
func curve(p marking.WREDParams, queued int) float64 {
	switch q := units.Size(queued); {
	case q <= p.Kmin:
		return 0
	case q > p.Kmax:
		return 1
	}
	return p.Pmax * float64(units.Size(queued)-p.Kmin) / float64(p.Kmax-p.Kmin)
}

// draws are events of known probabilities.
type draws struct {
	happened              int
	expected, uncertainty float64
	impossible            bool // one with probability 0 happened, or one with 1 did not
}

func (d *draws) add(p float64, happened bool) {
	if happened {
		d.happened++
	}
	d.expected += p
	d.uncertainty += p * (1 - p)
	d.impossible = d.impossible || happened && p == 0 || !happened && p == 1
}

// right reports whether so many happen, but for one case in a million.
func (d *draws) right() bool {
	return !d.impossible && math.Abs(float64(d.happened)-d.expected) <= 5*math.Sqrt(d.uncertainty)+5
}

// Whatever the curve and the queue: ECN-capable frames are marked as they leave a queue of lossy frames as often as the
// curve says of the queue that they leave behind, and others dropped as they come, of the queue that they find.
func TestWREDFollowsItsCurve(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var p marking.WREDParams
		p.Kmin = units.Size(rapid.IntRange(0, 50_000).Draw(rt, "Kmin"))
		p.Kmax = p.Kmin + units.Size(rapid.IntRange(1, 60_000).Draw(rt, "Kmax"))
		p.Pmax = rapid.Float64Range(0, 1).Draw(rt, "Pmax")
		p.NoECN = rapid.IntRange(0, 4).Draw(rt, "ECN") == 4
		p.NoDrop = !p.NoECN && rapid.IntRange(0, 4).Draw(rt, "drop") == 4
		c := config(2)
		c.Tail = units.MB
		c.Ports[1].Queues[0].WRED = p
		r := newRig(t, c)
		r.together = rapid.Bool().Draw(rt, "together")
		var marked, dropped draws
		deep := rapid.IntRange(0, 100_000).Draw(rt, "queue")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		var ecns []uint8 // of what waits
		for range 4000 {
			queued := int(r.sw.QueueBytes(1, 0))
			ecn := uint8(random.IntN(4))
			r.in(0, packet(0, 1, 0, ecn), 64+random.IntN(1400))
			taken := int(r.sw.QueueBytes(1, 0)) > queued
			if capable := ecn != wire.NotECT; capable && !p.NoECN || !capable && p.NoDrop {
				if !taken {
					rt.Fatalf("a frame with ECN %d is dropped at %d bytes", ecn, queued)
				}
			} else {
				dropped.add(curve(p, queued), !taken)
			}
			if taken {
				ecns = append(ecns, ecn)
			}
			for int(r.sw.QueueBytes(1, 0)) > deep {
				b := r.out(1, 1)[0]
				is, was := wire.ECN(b[wire.EthernetLen:]), ecns[0]
				ecns = ecns[1:]
				if p.NoECN || was == wire.NotECT || was == wire.CE {
					if is != was {
						rt.Fatalf("ECN %d becomes %d", was, is)
					}
					continue
				}
				marked.add(curve(p, int(r.sw.QueueBytes(1, 0))), is == wire.CE)
			}
		}
		if !marked.right() || !dropped.right() {
			rt.Errorf("marked %d, the curve says %.1f; dropped %d, the curve says %.1f", marked.happened, marked.expected, dropped.happened, dropped.expected)
		}
		st := r.stats(1)
		if st.Discards[fabric.DropWRED][0] != uint64(dropped.happened) || st.Marked[0] != uint64(marked.happened) {
			rt.Errorf("counted are %d drops and %d marks, not %d and %d", st.Discards[fabric.DropWRED][0], st.Marked[0], dropped.happened, marked.happened)
		}
		for len(r.out(1, 32)) > 0 {
		}
		r.audit()
	})
}

// A reload that leaves a queue's WRED as it is leaves its draws as they are: what is dropped after it is what would
// have been without it. One that changes it has the new curve at once.
func TestReloadOfWRED(t *testing.T) {
	c := config(2)
	c.Tail = units.MB
	half := marking.WREDParams{REDParams: marking.REDParams{Kmin: 0, Kmax: units.MB, Pmax: 1}}
	c.Ports[1].Queues[0].WRED = half
	var taken [2][]bool
	for i := range taken {
		r := newRig(t, c)
		for n := range 600 {
			if n == 300 && i == 1 {
				next := c
				next.Ports = slices.Clone(c.Ports)
				next.Age += units.Second
				next.Ports[1].Queues[1].WRED = half
				r.reload(next)
			}
			was := r.sw.QueueBytes(1, 0)
			r.in(0, packet(0, 1, 0, wire.NotECT), 1400)
			taken[i] = append(taken[i], r.sw.QueueBytes(1, 0) > was)
		}
		next := c
		next.Ports = slices.Clone(c.Ports)
		next.Ports[1].Queues[0].WRED.Kmax = 1
		r.reload(next)
		was := r.sw.QueueBytes(1, 0)
		if r.in(0, packet(0, 1, 0, wire.NotECT), 1400); was == 0 || r.sw.QueueBytes(1, 0) != was {
			t.Errorf("a frame is taken above the new Kmax, at %v", was)
		}
	}
	if !slices.Equal(taken[0], taken[1]) {
		t.Error("other frames are dropped after a reload that changes nothing of the queue's WRED")
	}
}

// What the switch itself says is not dropped early: its error finds a queue in which any other frame would be dropped.
func TestOwnFramesAreNotDroppedEarly(t *testing.T) {
	c := routerConfig()
	c.Router.ICMP = ICMP{Rate: 1_000_000, Burst: 100, DSCP: 0}
	c.Ports[0].Queues[0].WRED = marking.WREDParams{REDParams: marking.REDParams{Kmin: 0, Kmax: 1}}
	r := newRig(t, c)
	for range 2 {
		r.in(1, packet(1, 0, 0, wire.NotECT), 100)
	}
	r.in(0, expired(0, 120), 120)
	waiting, dropped := r.stats(0).QueueFrames[0], r.discarded(fabric.DropWRED)
	if waiting != 2 || dropped != 1 {
		t.Errorf("%d frames wait, %d are dropped by WRED; want a frame and the error, and one", waiting, dropped)
	}
}

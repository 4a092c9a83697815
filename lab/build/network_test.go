package build

import (
	"fmt"
	"testing"

	"photon/units"
)

// The clocks of two nodes tick at other times, and those of one node with another seed; with the same seed they are the
// same.
func TestSeedsDrawClocks(t *testing.T) {
	seen := map[int64]bool{}
	for seed := range uint64(20) {
		for node := range 50 {
			at := clock(seed, node)
			if at != clock(seed, node) {
				t.Fatalf("seed %d, node %d: two clocks", seed, node)
			}
			if seen[int64(at)] {
				t.Errorf("seed %d, node %d: a clock that another has", seed, node)
			}
			seen[int64(at)] = true
		}
	}
}

// What hosts send is the bytes of their packets on the wire. A frame of data arrives as often as its way has links, and nothing else counts: acknowledgements have another priority.
func TestHopsAreLinksOfWays(t *testing.T) {
	const packets = 100
	n, _ := ranTraining(t, fmt.Sprintf(trainingStar, 3)+"flows:\n"+
		"  - {name: a, from: H0, to: H1, size: 400KB}\n  - {name: b, from: H1, to: H2, size: 400KB}\n", 1, units.Millisecond)
	if lost, hops := n.Lost(); !n.Flows[0].Done || !n.Flows[1].Done || lost != 0 || hops != 2*2*packets {
		t.Errorf("%d lost, %d arrivals at the ends of links", lost, hops)
	}
	// Ethernet, IPv4, UDP, BTH, ICRC and FCS; preamble and gap.
	if got := n.DataSent(); got != 2*packets*(4000+14+20+8+12+4+4+20) {
		t.Errorf("%d bytes were sent", got)
	}
}

// A loss says where, why, how much, and when it was first, if that is known.
func TestLossesSayWhen(t *testing.T) {
	l := Loss{Node: "S1", Port: 2, Priority: 3, Reason: "headroom", Frames: 7, At: 5 * units.Microsecond}
	const want = "S1, port 2, priority 3: 7 frames (headroom)"
	if got := l.String(); got != want+", the first at 5us" {
		t.Error(got)
	}
	if l.At = units.Never; l.String() != want {
		t.Error(l)
	}
}

package build

import (
	"fmt"
	"slices"
	"testing"

	"photon/fabric"
	"photon/impair"
	"photon/lab/experiment"
	"photon/sim"
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

// With another seed switches mark other frames, even where nothing else is drawn: flows start together, and clocks have
// no part in the scheme. With the same seed they mark the same.
func TestSeedsDrawMarks(t *testing.T) {
	const text = `
id: test/marks
title: three senders
duration: 2ms
topology: {kind: star, hosts: 4}
parameters:
  {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB,
   buffer: 12MB, start_phase: 0s}
flows: [{name: all, from: H0..H2, to: H3}]
schemes: [dcqcn]
measure: {sample: 10us}
`
	e, err := experiment.Parse("marks.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	trace := func(seed uint64) uint64 {
		w := sim.New()
		n, err := Build(e, w, e.Schemes[0], seed, Observer{})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Schedule(e); err != nil {
			t.Fatal(err)
		}
		if err := w.Run(t.Context(), e.Duration); err != nil {
			t.Fatal(err)
		}
		hash, _ := w.Hash()
		return hash
	}
	if one, again, other := trace(1), trace(1), trace(2); one != again || one == other {
		t.Errorf("seed 1: %x, again %x; seed 2: %x", one, again, other)
	}
}

// What hosts send is the bytes of their packets on the wire. A frame of data arrives as often as its way has links, and
// nothing else counts: acknowledgements have another priority.
func TestHopsAreLinksOfWays(t *testing.T) {
	const packets = 100
	text := fmt.Sprintf(trainingStar, 3) + "flows:\n" +
		"  - {name: a, from: H0, to: H1, size: 400KB}\n  - {name: b, from: H1, to: H2, size: 400KB}\n"
	n, _ := ranTraining(t, text, 1, units.Millisecond)
	if lost, hops := n.Lost(); !n.Flows.At(0).Done || !n.Flows.At(1).Done || lost != 0 || hops != 2*2*packets {
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

// The priority of a frame is its code point's, eight of them to each; without one it is the lowest, and frames between
// MACs have none.
func TestPriorityOfAFrame(t *testing.T) {
	ethernet := func(kind uint16, body ...byte) []byte {
		return append([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, byte(kind >> 8), byte(kind)}, body...)
	}
	ip4 := func(dscp byte) []byte {
		return ethernet(0x0800, 0x45, dscp<<2|1, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
			0, 1, 0, 2, 0, 26, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	ip6 := append(ethernet(0x86DD, 0x60|26>>2, 26<<6&0xFF, 0, 0, 0, 8, 17, 64), make([]byte, 40)...)
	for name, c := range map[string]struct {
		frame []byte
		want  int
	}{
		"DSCP 0": {ip4(0), 0}, "DSCP 26": {ip4(26), 3}, "DSCP 48": {ip4(48), 6}, "DSCP 63": {ip4(63), 7},
		"IPv6, DSCP 26": {ip6, 3}, "ARP": {ethernet(0x0806, make([]byte, 46)...), 0},
		"PFC": {ethernet(0x8808, append([]byte{1, 1}, make([]byte, 44)...)...), -1}, "half a header": {ip4(26)[:9], -1},
	} {
		if got := Priority(c.frame); got != c.want {
			t.Errorf("%s: priority %d, not %d", name, got, c.want)
		}
	}
}

// What is no loss of a network: packets without a flow where flows are stopped; those and packets out of order where
// paths change or frames overtake each other; what a link took with it; and what follows from impairments.
func TestWhatIsExcused(t *testing.T) {
	for name, c := range map[string]struct {
		n    *Network
		want []fabric.Reason
	}{
		"nothing": {&Network{}, nil}, "stopped flows": {&Network{stops: true}, []fabric.Reason{fabric.DropUnknown}},
		"several paths": {&Network{overtakes: true}, []fabric.Reason{fabric.DropUnknown, fabric.DropSequence}},
		"a failed link": {&Network{failed: true}, []fabric.Reason{
			fabric.DropUnknown, fabric.DropSequence, fabric.DropLink, fabric.DropNoPort}},
		"impairments": {&Network{impaired: map[int]map[int]impair.Spec{1: nil}}, []fabric.Reason{fabric.DropUnknown,
			fabric.DropSequence, fabric.DropLink, fabric.DropNoPort, fabric.DropBadICRC, fabric.DropHeadroom}},
	} {
		excused := c.n.excused()
		for why := range fabric.Reasons {
			if excused[why] != slices.Contains(c.want, why) {
				t.Errorf("%s: %v is excused: %v", name, why, excused[why])
			}
		}
	}
}

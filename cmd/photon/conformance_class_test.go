//go:build dpdk && conformance

package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"photon/wire"
)

// queuedFrames has h0 pause its port, and h1 send it frames. The order in which they leave after the pause shows their queues.
func queuedFrames(t *testing.T, lines string, frames [][]byte) (o *operated, order func() [][]byte) {
	t.Helper()
	o = operate(t, "rate: 2Mbps\npfc: {priorities: []}\n"+lines)
	o.control(0, pauseAll(0, 65535))
	for _, b := range frames {
		o.hosts[1].Send(b)
	}
	o.receivedUntilSentinel(1, 2, noFrame)
	return o, func() (got [][]byte) {
		t.Helper()
		o.control(0, pauseAll(0, 0))
		o.until("all frames have come", func() bool {
			got = append(got, o.hosts[0].Collect(10*time.Millisecond, tests)...)
			return len(got) >= len(frames)
		})
		return got
	}
}

// byPriority compares what has come with what was sent, in strict order of what priority says of a frame.
func byPriority(t *testing.T, sent, got [][]byte, priority func(b []byte) int) {
	t.Helper()
	want := slices.Clone(sent)
	slices.SortStableFunc(want, func(a, b []byte) int { return priority(b) - priority(a) })
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%d frames come, expected %d, or in another order:", len(got), len(want))
		for i, b := range got {
			t.Logf("%d: DSCP %d, % x", i, dscpOf(b), b[12:18])
		}
	}
}

// everyDSCP is a frame of each, but for the two by which frames of the test are told, in no order.
func everyDSCP(to int) (frames [][]byte) {
	for i := range 64 {
		if d := uint8(i * 37 % 64); d > 1 {
			frames = append(frames, udp(1, to, d, 100, uint32(i)))
		}
	}
	return frames
}

// shares is how many of the first frames are of a DSCP.
func shares(got [][]byte, first int, dscp uint8) int { return count(got[:first], dscp) }

// taught compares the class for which h1 is stopped with what a map says, for frames that it sends to a port which stands.
func taught(lines string, class int, frame func(number uint32) []byte) func(*testing.T) {
	return func(t *testing.T) {
		o := operate(t, slow+"pfc: {priorities: [3, 4], xoff: 20KB, headroom: 100KB}\n"+lines)
		o.stops(0, 3, 4)
		o.hosts[1].Flush()
		for n := range uint32(25) {
			o.hosts[1].Send(frame(n))
		}
		o.receivedUntilSentinel(1, 2, noFrame)
		received := o.receivedUntilSentinel(2, 1, isControl)
		for p := range 8 {
			if n := len(pfcOf(received, p)); (n > 0) != (p == class) {
				t.Errorf("%d XOFFs for class %d", n, p)
			}
		}
	}
}

func classRows() []conformanceRow {
	return []conformanceRow{
		{
			name: "qos-dscp-queue", source: sai + "testQosSaiDscpQueueMapping; tests/qos/test_qos_dscp_mapping.py",
			asserts: "Frames of 62 DSCPs leave by the queues of the default map, DSCP/8: when a stopped port may send again, strictly by priority, and in each in the order in which they came.",
			check: func(t *testing.T) {
				sent := everyDSCP(0)
				_, order := queuedFrames(t, "", sent)
				byPriority(t, sent, order(), func(b []byte) int { return int(dscpOf(b)) / 8 })
			},
		},
		{
			name: "qos-dscp-map", source: "SONiC tests/qos/test_qos_dscp_mapping.py, a map of one's own",
			asserts: "The same with a map that turns the priorities round.",
			check: func(t *testing.T) {
				lines := "dscp_to_priority: {"
				for d := range 64 {
					lines += fmt.Sprintf("%d: %d, ", d, 7-d/8)
				}
				sent := everyDSCP(0)
				_, order := queuedFrames(t, lines+"}\n", sent)
				byPriority(t, sent, order(), func(b []byte) int { return 7 - int(dscpOf(b))/8 })
			},
		},
		{
			name: "qos-dscp-pg", source: sai + "testQosSaiDscpToPgMapping",
			asserts: "A sender of a DSCP that is mapped to a lossless priority is stopped for the class of this priority, and for no other.",
			check:   taught("dscp_to_priority: {10: 4}\n", 4, func(n uint32) []byte { return udp(1, 0, 10, 1000, n) }),
		},
		{
			name: "qos-dot1p-queue", source: sai + "testQosSaiDot1pQueueMapping",
			asserts: "With `trust: pcp` tagged frames leave by the queues that their code points are mapped to, whatever their DSCP is.",
			check: func(t *testing.T) {
				queue := [8]int{1, 0, 2, 3, 4, 5, 7, 6}
				lines := "trust: pcp\npcp_to_priority: {0: 1, 1: 0, 6: 7, 7: 6}\n"
				var sent [][]byte
				for i := range 48 {
					sent = append(sent, tagged(udp(1, 0, uint8(8*(i%3)+10), 100, uint32(i)), 0x8100, i*5%8, 0))
				}
				_, order := queuedFrames(t, lines, sent)
				byPriority(t, sent, order(), func(b []byte) int {
					tci, _ := wire.VLANTag(b)
					return queue[tci>>13]
				})
			},
		},
		{
			name: "qos-dot1p-pg", source: sai + "testQosSaiDot1pPgMapping",
			asserts: "With `trust: pcp` a sender of a code point that is mapped to a lossless priority is stopped for its class, and for no other.",
			check: taught("trust: pcp\npcp_to_priority: {5: 3}\n", 3, func(n uint32) []byte {
				return tagged(udp(1, 0, 40, 996, n), 0x8100, 5, 0)
			}),
		},
		{
			name: "qos-dwrr", source: sai + "testQosSaiDwrr; " + snappi + "dataplane/test_qos_dwrr.py",
			asserts: "Two queues with weights 1 and 3 that both have frames leave 1 to 3, within a turn of each.",
			check: func(t *testing.T) {
				_, order := queuedFrames(t, "weights: {1: 1, 2: 3}\n", alternating())
				if n := shares(order(), 40, 8); n < 8 || n > 12 {
					t.Errorf("%d of the first 40 frames are of the queue with weight 1 of 4", n)
				}
			},
		},
		{
			name: "qos-dwrr-change", source: sai + "testQosSaiDwrrWeightChange",
			asserts: "Weights that are changed while the switch runs and frames wait are those by which they leave; none is lost.",
			check: func(t *testing.T) {
				const lines = "rate: 2Mbps\npfc: {priorities: []}\n"
				o, order := queuedFrames(t, "weights: {1: 1, 2: 3}\n", alternating())
				o.reloads(lines + "weights: {1: 1, 2: 1}\n")
				if n := shares(order(), 40, 8); n < 18 || n > 22 {
					t.Errorf("%d of the first 40 frames are of a queue with half of the weight", n)
				}
			},
		},
		{
			name: "qos-strict", source: "SONiC tests/qos/test_qos_strict_priority.py; Linux sch_ets.sh",
			asserts: "A strict queue leaves before all queues with weights.",
			check: func(t *testing.T) {
				sent := alternating()
				for n := range uint32(20) {
					sent = append(sent, udp(1, 0, 40, 1000, n))
				}
				_, order := queuedFrames(t, "weights: {1: 1, 2: 3}\n", sent)
				wants(t, "of the first 20 frames are of the strict queue", shares(order(), 20, 40), 20)
			},
		},
		{
			name: "qos-dscp-kept", source: "SONiC tests/qos/test_qos_dscp_mapping.py, the DSCP of what leaves",
			asserts: "A bridge leaves the DSCP, and all else of a packet, as it was, for each DSCP.",
			check: func(t *testing.T) {
				o := operate(t, "pfc: {priorities: []}\n")
				sent := everyDSCP(0)
				for _, b := range sent {
					o.hosts[1].Send(b)
				}
				got := o.receivedUntilSentinel(1, 0, tests)
				for _, list := range [][][]byte{sent, got} {
					slices.SortFunc(list, slices.Compare)
				}
				if !slices.EqualFunc(sent, got, slices.Equal) {
					t.Errorf("%d frames of %d arrive, or not as they were", len(got), len(sent))
				}
			},
		},
	}
}

// alternating is sixty frames of each of priorities 1 and 2, in turns.
func alternating() (frames [][]byte) {
	for n := range uint32(60) {
		frames = append(frames, udp(1, 0, 8, 1000, n), udp(1, 0, 16, 1000, n))
	}
	return frames
}

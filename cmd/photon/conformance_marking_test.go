//go:build dpdk && conformance

package main

import (
	"bytes"
	"testing"

	"photon/telemetry/show"
	"photon/wire"
)

// Lines of a configuration that have everything marked in a queue of more than ten frames of 1000 bytes, of a lossless
// and of a lossy priority.
const (
	markLossless = "scheme: {name: dcqcn, params: {kmin: 10KB, kmax: 10KB, pmax: 1, min_rate: 1Mbps}}\n"
	markLossy    = "queues: {1: {wred: {kmin: 10KB, kmax: 10KB, pmax: 1}}}\n"
)

// marked are the frames with CE.
func marked(frames [][]byte) (n int) {
	for _, b := range frames {
		if b[15]&3 == wire.CE {
			n++
		}
	}
	return n
}

// queued has 20 frames wait behind a pause of h0, ends it, and returns them as they arrive.
func queued(t *testing.T, lines string, frame func(number uint32) []byte) (*operated, [][]byte) {
	t.Helper()
	var sent [][]byte
	for n := range uint32(20) {
		sent = append(sent, frame(n))
	}
	o, order := queuedFrames(t, lines, sent)
	return o, order()
}

// egress holds the marks of 20 frames of 1000 bytes to those of a queue that is looked at as they leave.
func egress(t *testing.T, got [][]byte) {
	t.Helper()
	if len(got) != 20 {
		t.Fatalf("%d frames", len(got))
	}
	wants(t, "the first is marked", marked(got[:1]), 1)
	wants(t, "the last is marked", marked(got[19:]), 0)
	if n := marked(got); n != 9 || marked(got[:9]) != 9 {
		t.Errorf("%d are marked; nine leave more than 10 KB behind them", n)
	}
}

func markingRows() []conformanceRow {
	return []conformanceRow{
		{
			name: "ecn-dequeue", source: snappi + "ecn/test_dequeue_ecn_with_snappi.py; docs/testplan/ECN_test.md, lossless queue",
			asserts: "A lossless queue marks by what is in it when a frame leaves, not when it comes: of those that waited the first is marked, the last is not.",
			check: func(t *testing.T) {
				o := operate(t, slow+"pfc: {priorities: [3]}\n"+markLossless)
				o.stops(0, 3)
				o.sends(1, 0, 20, 1000, 26)
				o.receivedUntilSentinel(1, 2, noFrame)
				o.resumes(0, 3)
				egress(t, o.arrives(0, 20))
			},
		},
		{
			name: "ecn-dequeue-lossy", source: "SONiC docs/testplan/ECN_test.md, lossy queue",
			asserts: "The same of a lossy queue with WRED.",
			check: func(t *testing.T) {
				_, got := queued(t, markLossy, func(n uint32) []byte { return udp(1, 0, 8, 1000, n) })
				egress(t, got)
			},
		},
		{
			name: "ecn-accuracy", source: snappi + "ecn/test_red_accuracy_with_snappi.py; Linux sch_red.sh",
			asserts: "Between Kmin and Kmax as many frames are marked, and not capable of it dropped, as the curve says, within 4.5 standard errors at each length of the queue.",
			check:   func(t *testing.T) { redAccuracy(t, 20) },
		},
		{
			name: "ecn-capable-kept", source: "Linux sch_red.sh, ECN",
			asserts: "Frames that are capable of ECN are marked and none of them is dropped.",
			check: func(t *testing.T) {
				o, got := queued(t, "metrics: 127.0.0.1:9464\n"+markLossy, func(n uint32) []byte { return udp(1, 0, 8, 1000, n) })
				wants(t, "frames", len(got), 20)
				wants(t, "drops", o.discards("wred"), 0)
			},
		},
		{
			name: "ecn-not-capable", source: "Linux sch_red.sh, ECN of a frame that cannot carry it",
			asserts: "Frames that are not capable of ECN are dropped early where others are marked, and never marked.",
			check: func(t *testing.T) {
				o := operate(t, slow+"metrics: 127.0.0.1:9464\npfc: {priorities: []}\n"+markLossy)
				o.control(0, pauseAll(0, 65535))
				for n := range uint32(20) {
					o.hosts[1].Send(changed(udp(1, 0, 8, 1000, n), func(b []byte) { b[15] &^= 3; setChecksum(b) }))
				}
				o.receivedUntilSentinel(1, 2, noFrame)
				o.control(0, pauseAll(0, 0))
				got := o.receivedUntilSentinel(1, 0, tests)
				wants(t, "marked", marked(got), 0)
				wants(t, "dropped", o.discards("wred"), float64(20-len(got)))
				if len(got) < 10 || len(got) > 11 {
					t.Errorf("%d frames arrive; those that find 10 KB or less are kept", len(got))
				}
			},
		},
		{
			name: "ecn-nodrop", source: "Linux sch_red.sh, ECN with nodrop",
			asserts: "With `drop: false` frames that are not capable of ECN are left to the queue's limit, unmarked.",
			check: func(t *testing.T) {
				_, got := queued(t, "queues: {1: {wred: {kmin: 10KB, kmax: 10KB, pmax: 1, drop: false}}}\n", func(n uint32) []byte {
					return changed(udp(1, 0, 8, 1000, n), func(b []byte) { b[15] &^= 3; setChecksum(b) })
				})
				wants(t, "frames", len(got), 20)
				wants(t, "marked", marked(got), 0)
			},
		},
		{
			name: "ecn-field", source: "IETF RFC 3168 section 5; SONiC docs/testplan/ECN-ACL-Marking-test-plan.md",
			asserts: "Marking changes ECT(0) and ECT(1) to CE and the checksum with it, and nothing else; CE stays; IPv6 the same.",
			check: func(t *testing.T) {
				kinds := [][]byte{udp(1, 0, 8, 1000, 0), changed(udp(1, 0, 8, 1000, 1), func(b []byte) { b[15] ^= 3; setChecksum(b) }), changed(udp(1, 0, 8, 1000, 2), func(b []byte) { b[15] |= 3; setChecksum(b) })}
				six := make([]byte, 1000)
				r := wire.RoCE{DstMAC: mac(0), SrcMAC: mac(1), Src: wire.IP{0: 0xFD, 15: 2}, Dst: wire.IP{0: 0xFD, 15: 1}, TOS: 8<<2 | wire.ECT0, SrcPort: 4000}
				r.Encode(six, 1000-wire.EthernetLen-wire.IPv6Len-wire.UDPLen)
				six[56], six[57] = 0x30, 0x39
				kinds = append(kinds, six)
				_, got := queued(t, markLossy, func(n uint32) []byte { return kinds[n%4] })
				for i, b := range got[:8] {
					row := reads(t, [][]byte{b}, "ip.dsfield.ecn", "ip.dsfield.dscp", "ip.checksum.status", "ipv6.tclass.ecn", "ipv6.tclass.dscp")
					want := "3 8 2  " // tshark does not check sums unless it is told to
					if i%4 == 3 {
						want = "   3 8"
					}
					wants(t, "tshark reads", row, want)
					at := kinds[i%4]
					if i%4 < 3 {
						if !wire.IPv4ChecksumOK(b[14:]) {
							t.Errorf("frame %d: the checksum is wrong", i)
						}
						if !bytes.Equal(b[:15], at[:15]) || !bytes.Equal(b[16:24], at[16:24]) || !bytes.Equal(b[26:], at[26:]) {
							t.Errorf("frame %d has changed: % x", i, b[:42])
						}
					} else if !bytes.Equal(b[:15], at[:15]) || !bytes.Equal(b[16:], at[16:]) {
						t.Errorf("frame %d has changed: % x", i, b[:62])
					}
				}
			},
		},
		{
			name: "ecn-counters", source: "SONiC docs/testplan/ECN_test.md, counters of WRED and ECN",
			asserts: "The marks that a receiver sees are those that the switch counts, of the port and priority.",
			check: func(t *testing.T) {
				o, got := queued(t, "metrics: 127.0.0.1:9464\n"+markLossy, func(n uint32) []byte { return udp(1, 0, 8, 1000, n) })
				var m show.Marking
				o.show("marking", &m)
				wants(t, "photon show marking", int(m.Ports[0].Marked[1]), marked(got))
				wants(t, "all ports and priorities", sum(o.process.metrics(), "photon_queue_ecn_marked_packets_total"), float64(marked(got)))
			},
		},
	}
}

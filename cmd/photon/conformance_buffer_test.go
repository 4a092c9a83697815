//go:build dpdk && conformance

package main

import (
	"slices"
	"testing"
	"time"

	"photon/telemetry/show"
)

const sai = "SONiC tests/qos/test_qos_sai.py, "

// bufferLines has XOFF at 20 frames of 1000 bytes, XON at 12, and headroom for 30.
const bufferLines = slow + "metrics: 127.0.0.1:9464\npfc: {priorities: [3, 4], xoff: 20KB, xon: 12KB, headroom: 30KB}\n"

// filled has h0 and h2 stop priority 3, so that what h1 sends them stays in the switch.
func filled(t *testing.T) *operated {
	t.Helper()
	o := operate(t, bufferLines)
	o.stops(0, 3)
	o.stops(2, 3)
	o.hosts[1].Flush()
	return o
}

func bufferRows() []conformanceRow {
	return []conformanceRow{
		{
			name: "qos-xoff", source: sai + "testQosSaiPfcXoffLimit",
			asserts: "Up to the XOFF threshold of its ingress queue a sender hears nothing; beyond it, XOFF.",
			check: func(t *testing.T) {
				o := filled(t)
				o.sends(1, 0, 20, 1000, 26)
				wants(t, "PFC frames at the threshold", len(o.pausesReceived(1, 3)), 0)
				o.sends(1, 0, 2, 1000, 26)
				if q := o.pausesReceived(1, 3); len(q) == 0 || q[0] == 0 {
					t.Errorf("beyond it: %v", q)
				}
				wants(t, "PFC frames of the other class", len(o.pausesReceived(1, 4)), 0)
			},
		},
		{
			name: "qos-xon", source: sai + "testQosSaiPfcXonLimit",
			asserts: "When its ingress queue has drained to the XON threshold, and no sooner, the sender may send again.",
			check: func(t *testing.T) {
				o := filled(t)
				o.sends(1, 0, 10, 1000, 26)
				o.sends(1, 2, 15, 1000, 26)
				if q := o.pausesReceived(1, 3); len(q) == 0 || q[len(q)-1] == 0 {
					t.Fatalf("of 25 KB: %v", q)
				}
				o.resumes(2, 3)
				o.arrives(2, 15)
				var q []uint16
				o.until("an XON at 10 KB", func() bool { q = append(q, o.pausesReceived(1, 3)...); return slices.Contains(q, 0) })
			},
		},
		{
			name: "qos-xon-hysteresis", source: sai + "XON hysteresis",
			asserts: "Between the thresholds nothing is said: no XON on the way down, no XOFF on the way up.",
			check: func(t *testing.T) {
				o := filled(t)
				o.sends(1, 0, 16, 1000, 26)
				o.sends(1, 2, 9, 1000, 26)
				if q := o.pausesReceived(1, 3); len(q) == 0 || q[len(q)-1] == 0 {
					t.Fatalf("of 25 KB: %v", q)
				}
				o.resumes(2, 3)
				o.arrives(2, 9)
				if slices.Contains(o.pausesReceived(1, 3), 0) {
					t.Error("an XON at 16 KB, on the way down")
				}
				o.resumes(0, 3)
				o.arrives(0, 16)
				o.until("an XON", func() bool { return slices.Contains(o.pausesReceived(1, 3), 0) })
				o.stops(0, 3)
				o.sends(1, 0, 16, 1000, 26)
				wants(t, "PFC frames at 16 KB, on the way up", len(o.pausesReceived(1, 3)), 0)
			},
		},
		{
			name: "qos-headroom", source: sai + "testQosSaiPfcXoffLimit, what follows the XOFF",
			asserts: "What arrives after the XOFF, as much as the headroom is, arrives at its destination, all of it and in order.",
			check: func(t *testing.T) {
				o := filled(t)
				o.sends(1, 0, 48, 1000, 26)
				o.receivedUntilSentinel(1, 3, noFrame)
				o.resumes(0, 3)
				for i, b := range o.arrives(0, 48) {
					wants(t, "number", int(b[45]), i)
				}
				wants(t, "discards", o.discards("headroom"), 0)
			},
		},
		{
			name: "qos-pg-drop", source: sai + "testQosSaiPGDrop",
			asserts: "Beyond XOFF and headroom frames are dropped and counted, at the port and priority that overran; all others arrive.",
			check: func(t *testing.T) {
				o := filled(t)
				o.sends(1, 0, 60, 1000, 26)
				o.sends(1, 0, 5, 1000, 34)
				o.sends(3, 0, 5, 1000, 26)
				o.receivedUntilSentinel(3, 1, noFrame)
				wants(t, "frames of another priority", len(o.receivedUntilSentinel(1, 0, isUDP(34))), 5)
				lost := sum(o.process.metrics(), "photon_port_discards_total", `port="sw1"`, `priority="3"`, `reason="headroom"`)
				if lost < 8 || lost > 12 || o.discards("headroom") != lost {
					t.Errorf("%v of 60 frames are dropped at sw1, %v at all ports; there is room for 50", lost, o.discards("headroom"))
				}
				o.resumes(0, 3)
				wants(t, "frames that arrive", len(o.arrives(0, 65-int(lost)))+len(o.receivedUntilSentinel(1, 0, isUDP(26))), 65-int(lost))
			},
		},
		{
			name: "qos-pg-watermark", source: sai + "testQosSaiPgSharedWatermark and testQosSaiPgHeadroomWatermark",
			asserts: "The watermark of an ingress queue is the most that was in it, below XOFF and in the headroom, and stays when it drains.",
			check: func(t *testing.T) {
				o := filled(t)
				peak := func() int64 {
					o.receivedUntilSentinel(1, 3, noFrame)
					var b show.Buffer
					o.show("buffer", &b)
					return b.Ports[1].Watermark[3]
				}
				o.sends(1, 0, 15, 1000, 26)
				wants(t, "below XOFF", peak(), 15_000)
				o.sends(1, 0, 20, 1000, 26)
				wants(t, "in the headroom", peak(), 35_000)
				o.resumes(0, 3)
				o.arrives(0, 35)
				wants(t, "after it", peak(), 35_000)
			},
		},
		{
			name: "qos-headroom-pool", source: sai + "testQosSaiHeadroomPoolSize and testQosSaiHeadroomPoolWatermark",
			asserts: "Headroom that ports share is as much as the pool, its watermark the most that was used; beyond it frames are lost, and their sender is paused.",
			check: func(t *testing.T) {
				o := operate(t, slow+"metrics: 127.0.0.1:9464\npfc: {priorities: [3], xoff: 10KB, headroom: 20KB, headroom_pool: 25KB}\n")
				o.stops(0, 3)
				o.hosts[2].Flush()
				var b show.Buffer
				pool := func() show.BufferPool { o.show("buffer", &b); return b.Pools[1] }
				o.sends(1, 0, 25, 1000, 26)
				o.until("15 KB used by the first", func() bool { return pool().Used == 15_000 })
				o.sends(2, 0, 25, 1000, 26)
				o.until("as much as the pool is", func() bool { return pool().Used == 25_000 && o.discards("headroom") == 5 })
				wants(t, "watermark", *pool().Watermark, 25_000)
				if q := o.pausesReceived(2, 3); len(q) == 0 || q[0] == 0 {
					t.Errorf("the second is told %v", q)
				}
				o.resumes(0, 3)
				o.arrives(0, 45)
				o.until("nothing used", func() bool { return pool().Used == 0 })
				wants(t, "watermark after it", *pool().Watermark, 25_000)
			},
		},
		{
			name: "qos-queue-watermark", source: sai + "testQosSaiQSharedWatermark",
			asserts: "The watermark of an egress queue, lossless and lossy, is the most bytes that waited in it.",
			check: func(t *testing.T) {
				o := operate(t, slow+"pfc: {priorities: []}\n")
				o.control(0, pauseAll(0, 65535))
				o.sends(1, 0, 12, 1000, 26, 8)
				o.receivedUntilSentinel(1, 2, noFrame)
				var q show.Queues
				o.show("queues", &q)
				wants(t, "of priority 3", q.Ports[0].Watermark[3], 12_000)
				wants(t, "of priority 1", q.Ports[0].Watermark[1], 12_000)
			},
		},
		{
			name: "qos-lossy-queue", source: sai + "testQosSaiLossyQueue",
			asserts: "A lossy queue takes frames up to its limit, no PFC is sent for it, and what is beyond is dropped and counted.",
			check: func(t *testing.T) {
				o := operate(t, slow+"metrics: 127.0.0.1:9464\nlossy_queue: 20KB\npfc: {priorities: []}\n")
				o.hosts[1].Flush()
				o.control(0, pauseAll(0, 65535))
				o.sends(1, 0, 30, 1000, 8)
				wants(t, "PFC frames", len(o.pausesReceived(1, 1)), 0)
				wants(t, "tail drops", o.discards("tail_drop"), 10)
				o.control(0, pauseAll(0, 0))
				wants(t, "frames that arrive", len(o.receivedUntilSentinel(1, 0, tests)), 20)
			},
		},
		{
			name: "qos-lossy-no-pfc", source: snappi + "dataplane/test_lossy_queue_congestion_no_pfc.py",
			asserts: "Lossy congestion drops lossy frames alone: no PFC is sent, and all lossless frames arrive.",
			check: func(t *testing.T) {
				o := operate(t, "rate: 10Mbps\nmetrics: 127.0.0.1:9464\nlossy_queue: 20KB\npfc: {priorities: [3], xoff: 100KB, headroom: 100KB}\n")
				o.hosts[1].Flush()
				for range 10 {
					o.sends(1, 0, 40, 1000, 8)
					o.sends(1, 0, 5, 1000, 26)
					o.receivedUntilSentinel(1, 2, noFrame)
				}
				got := o.receivedUntilSentinel(1, 0, tests)
				o.until("all lossless ones have come", func() bool {
					got = append(got, o.hosts[0].Collect(10*time.Millisecond, tests)...)
					return count(got, 26) >= 50
				})
				if lossy := count(got, 8); lossy == 400 || lossy < 20 || o.discards("tail_drop") == 0 {
					t.Errorf("%d of 400 lossy frames arrive, %v are counted as dropped", lossy, o.discards("tail_drop"))
				}
				wants(t, "lossless frames", count(got, 26), 50)
				wants(t, "PFC frames", len(pfcOf(o.receivedUntilSentinel(0, 1, isControl), 1)), 0)
				wants(t, "lossless drops", sum(o.process.metrics(), "photon_port_discards_total", `priority="3"`), 0)
			},
		},
	}
}

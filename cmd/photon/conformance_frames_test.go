//go:build dpdk && conformance

package main

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"photon/pfc"
	"photon/telemetry/show"
	"photon/units"
)

// congested has h0 stop priority 3, and h1 send more for it than XOFF, so that h1 is told to stop.
func congested(t *testing.T, lines string) (o *operated, xoff []byte) {
	t.Helper()
	o = operate(t, slow+lines)
	o.stops(0, 3)
	o.hosts[1].Flush()
	o.sends(1, 0, 30, 1000, 26)
	o.until("h1 is told to stop", func() bool {
		for _, b := range o.hosts[1].Collect(10*time.Millisecond, isControl) {
			xoff = b
			return true
		}
		return false
	})
	return o, xoff
}

const tight = "pfc: {xoff: 20KB, xon: 10KB, headroom: 200KB}\n"

// pfcFields are those that tshark reads of a PFC frame.
var pfcFields = []string{"eth.dst", "eth.type", "macc.opcode", "macc.cbfc.enbv", "macc.cbfc.pause_time.c0", "macc.cbfc.pause_time.c3", "macc.cbfc.pause_time.c7", "frame.len"}

// ignored has a host say something that stops nothing and goes nowhere: ten frames of each priority arrive.
func ignored(change func(frame []byte) []byte) func(*testing.T) {
	return func(t *testing.T) {
		o := operate(t, lossless)
		for _, h := range o.hosts {
			h.Flush()
		}
		o.hosts[0].Send(change(pfcFrame(0, 0xFF, pfc.MaxQuanta)))
		o.receivedUntilSentinel(0, 1, noFrame)
		o.sends(1, 0, 10, 200, 26, 34, 8)
		if n := len(o.receivedUntilSentinel(1, 0, tests)); n != 30 {
			t.Errorf("%d frames of 30 arrive", n)
		}
		o.nowhere(0)
	}
}

// nowhere sees to it that no other host has received MAC control, tagged or not.
func (o *operated) nowhere(from int) {
	o.t.Helper()
	for to := range o.hosts {
		if to == from {
			continue
		}
		if b := o.receivedUntilSentinel(from, to, func(b []byte) bool { return bytes.Contains(b[12:min(len(b), 22)], []byte{0x88, 0x08}) }); len(b) > 0 {
			o.t.Errorf("h%d receives % x", to, b[0])
		}
	}
}

func frameRows() []conformanceRow {
	const q36, pause = "IEEE 802.1Q clause 36 (802.1Qbb)", "IEEE 802.3 clause 31"
	return []conformanceRow{
		{
			name: "frame-xoff", source: q36 + ", IEEE 802.3 annex 31D",
			asserts: "XOFF: 64 octets with FCS, untagged, to 01-80-C2-00-00-01 from the port's own address, EtherType 8808, opcode 0101; " +
				"its class alone in the vector, whose high octet is zero; times of other classes and padding zero.",
			check: func(t *testing.T) {
				o, b := congested(t, tight)
				want := "01:80:c2:00:00:01 0x8808 0x0101 0x0008 0 65535 0 60"
				wants(t, "tshark reads", reads(t, [][]byte{b}, pfcFields...), want)
				own := strings.TrimSpace(o.sw.Run(t, "cat", "/sys/class/net/sw1/address"))
				wants(t, "its source", reads(t, [][]byte{b}, "eth.src"), own)
				rest := bytes.Clone(b[18:])
				binary.BigEndian.PutUint16(rest[2*3:], 0)
				wants(t, "what else is in it is zero", bytes.Count(rest, []byte{0}), len(rest))
			},
		},
		{
			name: "frame-xon", source: q36 + ", clause 36.1.3.2",
			asserts: "When the congestion is over, a frame of the same form with time zero for its class lets the peer go, and for no other.",
			check: func(t *testing.T) {
				o, _ := congested(t, tight)
				o.resumes(0, 3)
				o.arrives(0, 30)
				var last []byte
				for _, b := range o.receivedUntilSentinel(0, 1, isControl) {
					last = b
				}
				if last == nil {
					t.Fatal("h1 hears nothing")
				}
				wants(t, "tshark reads", reads(t, [][]byte{last}, pfcFields...), "01:80:c2:00:00:01 0x8808 0x0101 0x0008 0 0 0 60")
			},
		},
		{
			name: "frame-refresh", source: q36 + ", the timers of clause 36.1.3.3",
			asserts: "As long as the congestion lasts, XOFF is said again before its time is over, and no XON in between.",
			check: func(t *testing.T) {
				o, _ := congested(t, "pfc: {xoff: 20KB, headroom: 200KB, pause: 100ms}\n")
				var quanta []uint16
				o.until("five more", func() bool {
					quanta = append(quanta, pfcOf(o.hosts[1].Collect(10*time.Millisecond, isControl), 3)...)
					return len(quanta) >= 5
				})
				for _, q := range quanta {
					if d := pfc.Duration(q, units.Mbps); d < 100*units.Millisecond || d > 101*units.Millisecond {
						t.Errorf("an XOFF of %d quanta, which is %v", q, d)
					}
				}
			},
		},
		{
			name: "frame-overtakes", source: q36 + ": MAC control is paused by nothing",
			asserts: "A port that its peer has stopped in all lossless priorities still tells this peer to stop.",
			check: func(t *testing.T) {
				o := operate(t, slow+tight)
				o.stops(0, 3)
				o.stops(1, 3)
				o.hosts[1].Flush()
				o.sends(1, 0, 30, 1000, 26)
				o.until("h1 is told to stop", func() bool {
					return len(pfcOf(o.hosts[1].Collect(10*time.Millisecond, isControl), 3)) > 0
				})
			},
		},
		{
			name: "frame-timer", source: q36 + ", IEEE 802.3 annex 31B.2",
			asserts: "A pause without XON ends by itself, and not before its time: a quantum is 512 bit times of the link.",
			check: func(t *testing.T) {
				o := operate(t, lossless)
				const quanta = 2000
				begin := time.Now()
				o.control(0, pfcFrame(0, 1<<3, quanta))
				o.sends(1, 0, 1, 200, 26)
				o.arrives(0, 1)
				if took, least := time.Since(begin), pfc.Duration(quanta, units.Mbps).Duration(); took < least {
					t.Errorf("the frame waits for %v, expected %v at least", took, least)
				}
			},
		},
		{
			name: "frame-newer", source: q36 + ": the newest frame counts",
			asserts: "A shorter time takes the place of a longer one that still runs.",
			check: func(t *testing.T) {
				o := operate(t, "rate: 100Kbps\nscheme: {name: none}\npfc: {priorities: [3, 4]}\n") // 65535 quanta are 335 s
				o.control(0, pfcFrame(0, 1<<3, pfc.MaxQuanta))
				o.sends(1, 0, 1, 200, 26)
				wants(t, "frames before", len(o.receivedUntilSentinel(1, 0, tests)), 0)
				o.control(0, pfcFrame(0, 1<<3, 100))
				o.arrives(0, 1)
				var h show.Pauses
				o.show("pfc history", &h)
				if len(h.Pauses) != 1 || h.Pauses[0].Seconds > 300 || h.Pauses[0].Lasts {
					t.Errorf("%+v", h.Pauses)
				}
			},
		},
		{
			name: "frame-xon-idle", source: q36,
			asserts: "An XON for what is not paused changes nothing.",
			check:   paused(lossless, pfcFrame(0, 0xFF, 0), pfcFrame(0, 0xFF, 0), 10, 10, 10),
		},
		{
			name: "frame-disabled-class", source: q36 + ", class-enable vector",
			asserts: "A time for a class whose bit in the vector is not set pauses nothing, and ends no pause.",
			check: func(t *testing.T) {
				o := operate(t, lossless)
				o.stops(0, 4)
				o.control(0, changed(pfcFrame(0, 0, pfc.MaxQuanta), func(b []byte) { b[18+2*4], b[19+2*4] = 0, 0 }))
				o.sends(1, 0, 10, 200, 26, 34)
				got := o.receivedUntilSentinel(1, 0, tests)
				wants(t, "frames of priority 3", count(got, 26), 10)
				wants(t, "frames of priority 4", count(got, 34), 0)
			},
		},
		{
			name: "frame-reserved-vector", source: snappi + "dataplane/test_malformed_pfc_frame_handling.py, reserved class vector",
			asserts: "Bits of the reserved octet of the vector pause nothing, and such a frame is not forwarded.",
			check:   ignored(func(b []byte) []byte { b[16], b[17] = 0xFF, 0; return b }),
		},
		{
			name: "frame-opcode", source: snappi + "dataplane/test_malformed_pfc_frame_handling.py, invalid opcode; " + pause,
			asserts: "MAC control of an unknown opcode pauses nothing, and is not forwarded.",
			check:   ignored(func(b []byte) []byte { b[14], b[15] = 0x00, 0xFF; return b }),
		},
		{
			name: "frame-truncated", source: snappi + "dataplane/test_malformed_pfc_frame_handling.py, truncated; " + pause + ".4",
			asserts: "A MAC control frame that is shorter than the least frame pauses nothing, and is not forwarded.",
			check:   ignored(func(b []byte) []byte { return b[:36] }),
		},
		{
			name: "frame-padding", source: pause + ".4",
			asserts: "What is in the padding of a PFC frame, and more of it than there must be, does not matter.",
			check: paused(lossless, append(changed(pfcFrame(0, 1<<3, pfc.MaxQuanta), func(b []byte) { copy(b[34:], bytes.Repeat([]byte{0xA5}, 26)) }), make([]byte, 64)...),
				pfcFrame(0, 1<<3, 0), 0, 10, 10),
		},
		{
			name: "frame-tagged", source: pause + ": MAC control carries no VLAN tag",
			asserts: "A PFC frame behind a tag pauses nothing, and is not forwarded.",
			check:   ignored(func(b []byte) []byte { return tagged(b, 0x8100, 7, 0) }),
		},
		{
			name: "frame-unicast", source: q36 + ", clause 36.1.3.3: the destination is the group address",
			asserts: "A PFC frame for the address of another host pauses nothing, and does not reach that host.",
			check:   ignored(func(b []byte) []byte { mac(1).Put(b); return b }),
		},
		{
			name: "frame-terminates", source: pause + ", IEEE 802.1Q clause 8.6.3",
			asserts: "PFC and PAUSE frames end at the port that receives them: no other host hears of them.",
			check: func(t *testing.T) {
				o := operate(t, lossless)
				for _, h := range o.hosts {
					h.Flush()
				}
				o.stops(0, 3)
				o.control(0, pauseAll(0, pfc.MaxQuanta))
				o.nowhere(0)
			},
		},
		{
			name: "pause-no-pfc", source: "IEEE 802.3 annex 31B",
			asserts: "At a port that has no PFC an 802.3x PAUSE stops all priorities until time zero comes.",
			check: func(t *testing.T) {
				o := operate(t, slow+"pfc: {priorities: []}\n")
				o.control(0, pauseAll(0, pfc.MaxQuanta))
				o.sends(1, 0, 10, 200, 26, 34, 8)
				o.receivedUntilSentinel(1, 2, noFrame)
				wants(t, "frames while paused", len(o.hosts[0].Collect(50*time.Millisecond, tests)), 0)
				o.control(0, pauseAll(0, 0))
				wants(t, "frames", len(o.receivedUntilSentinel(1, 0, tests)), 30)
			},
		},
	}
}

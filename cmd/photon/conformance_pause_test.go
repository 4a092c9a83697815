//go:build dpdk && conformance

package main

import (
	"testing"
	"time"

	"photon/pfc"
)

const (
	lossless = slow + "pfc: {priorities: [3, 4]}\n"
	snappi   = "SONiC tests/snappi_tests/"
)

// paused has h1 send ten frames of priorities 3, 4 and 1 to h0 after h0 has said something, and h0 receive so many
// of each; when h0 takes it back, it has ten of each.
func paused(lines string, say, takeBack []byte, want ...int) func(*testing.T) {
	return func(t *testing.T) {
		o := operate(t, lines)
		o.control(0, say)
		o.sends(1, 0, 10, 200, 26, 34, 8)
		got := o.receivedUntilSentinel(1, 0, tests)
		for i, dscp := range []uint8{26, 34, 8} {
			if n := count(got, dscp); n != want[i] {
				t.Errorf("DSCP %d: %d frames arrive, expected %d", dscp, n, want[i])
			}
		}
		o.control(0, takeBack)
		o.until("the others have come", func() bool {
			got = append(got, o.hosts[0].Collect(10*time.Millisecond, tests)...)
			return len(got) >= 30
		})
		if got = append(got, o.receivedUntilSentinel(1, 0, tests)...); len(got) != 30 {
			t.Errorf("%d frames arrive of 30", len(got))
		}
	}
}

func pauseRows() []conformanceRow {
	return []conformanceRow{
		{
			name: "pfc-lossless-one", source: snappi + "pfc/test_pfc_pause_lossless_with_snappi.py, single lossless priority",
			asserts: "An XOFF of one lossless priority stops it; another lossless and a lossy one lose nothing. XON brings what waited.",
			check:   paused(lossless, pfcFrame(0, 1<<3, pfc.MaxQuanta), pfcFrame(0, 1<<3, 0), 0, 10, 10),
		},
		{
			name: "pfc-lossless-all", source: snappi + "pfc/test_pfc_pause_lossless_with_snappi.py, several lossless priorities",
			asserts: "An XOFF of both lossless priorities stops both; a lossy one loses nothing. XON brings what waited.",
			check:   paused(lossless, pfcFrame(0, 3<<3, pfc.MaxQuanta), pfcFrame(0, 3<<3, 0), 0, 0, 10),
		},
		{
			name: "pfc-lossy", source: snappi + "pfc/test_pfc_pause_lossy_with_snappi.py",
			asserts: "XOFFs of the six lossy priorities stop nothing.",
			check:   paused(lossless, pfcFrame(0, 0xFF&^(3<<3), pfc.MaxQuanta), pfcFrame(0, 0xFF, 0), 10, 10, 10),
		},
		{
			name: "pfc-global", source: "SONiC docs/pfc/GLOBAL_PAUSE_README.md; " + snappi + "dataplane/test_global_pause_dut_ignore.py",
			asserts: "An 802.3x PAUSE stops nothing at a port that has PFC.",
			check:   paused(lossless, pauseAll(0, pfc.MaxQuanta), pauseAll(0, 0), 10, 10, 10),
		},
		{
			name: "pfc-other-port", source: snappi + "dataplane/test_pfc_unaffected_pause_storm.py",
			asserts: "While one port is paused in both lossless priorities, the same priorities to another port lose nothing.",
			check: func(t *testing.T) {
				o := operate(t, lossless)
				o.stops(0, 3, 4)
				o.sends(1, 0, 10, 200, 26, 34)
				o.sends(1, 2, 10, 200, 26, 34)
				wants(t, "frames at h0", len(o.receivedUntilSentinel(1, 0, tests)), 0)
				wants(t, "frames at h2", len(o.receivedUntilSentinel(1, 2, tests)), 20)
			},
		},
		{
			name: "pfc-rx-counters", source: "SONiC tests/qos/test_pfc_counters.py, pause",
			asserts: "Ten XOFFs for each of the eight priorities are ten in the receive counter of each.",
			check:   counted(func(p int) []byte { return pfcFrame(0, 1<<p, pfc.MaxQuanta) }, 10),
		},
		{
			name: "pfc-rx-counters-xon", source: "SONiC tests/qos/test_pfc_counters.py, unpause",
			asserts: "Ten XONs for each of the eight priorities are ten in the receive counter of each.",
			check:   counted(func(p int) []byte { return pfcFrame(0, 1<<p, 0) }, 10),
		},
		{
			name: "pfc-rx-counters-global", source: "SONiC tests/qos/test_pfc_counters.py, global pause and unpause",
			asserts: "802.3x PAUSE frames, with and without a time, are in no PFC counter.",
			check: counted(func(p int) []byte {
				return pauseAll(0, uint16(p%2)*pfc.MaxQuanta)
			}, 0),
		},
		{
			name: "pfc-not-a-drop", source: "SONiC tests/pfcwd/test_xon_not_counted.py",
			asserts: "PFC frames, those that enable no class among them, are in no discard counter of the port.",
			check: func(t *testing.T) {
				o := operate(t, lossless)
				for range 100 {
					o.hosts[0].Send(pfcFrame(0, 0, pfc.MaxQuanta))
					o.hosts[0].Send(pfcFrame(0, 3<<3, pfc.MaxQuanta))
				}
				o.resumes(0, 3, 4)
				o.receivedUntilSentinel(0, 1, noFrame)
				wants(t, "discards", sum(o.process.metrics(), "photon_port_discards_total", `port="sw0"`), 0)
			},
		},
	}
}

// counted sends ten frames for each priority to a port, and compares with its counters.
func counted(frame func(priority int) []byte, want uint64) func(*testing.T) {
	return func(t *testing.T) {
		o := operate(t, lossless)
		for p := range pfc.Classes {
			for range 9 {
				o.hosts[0].Send(frame(p))
			}
			o.control(0, frame(p))
		}
		o.control(0, pfcFrame(0, 0, 0))
		for p := range pfc.Classes {
			is := sum(o.process.metrics(), "photon_pfc_rx_frames_total", `port="sw0"`, `priority="`+string(rune('0'+p))+`"`)
			if is != float64(want) {
				t.Errorf("priority %d: %v frames counted, expected %d", p, is, want)
			}
		}
	}
}

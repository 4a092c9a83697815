package top_test

import (
	"fmt"

	"photon/telemetry/live"
	"photon/telemetry/top"
)

// Two looks at a node, a second apart, become rates, of bits on the wire: 24 bytes
// a frame more than are counted.
func ExampleCompare() {
	at := func(seconds float64, frames uint64) *live.Node {
		p := live.Port{Port: "sw0", Up: true, Lossless: 1 << 3}
		p.RxPackets[3], p.RxBytes[3], p.TxPaused[3] = frames, 1000*frames, seconds/4
		return &live.Node{Node: "sw", Now: seconds, Ports: []live.Port{p}}
	}
	r := top.Compare(at(1, 1_000_000), at(2, 2_000_000)).Rows[3]
	fmt.Printf("%s, priority %d: %.3f Gbit/s; its peer was paused for %.0f %% of the time\n", r.Port, r.Priority, r.Rx/1e9, 100*r.TxPaused)
	// Output:
	// sw0, priority 3: 8.192 Gbit/s; its peer was paused for 25 % of the time
}

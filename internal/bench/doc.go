// Command bench measures how many frames a core forwards: photon's switch with
// its whole pipeline on, beside what people would use instead (dpdk-testpmd and
// Open vSwitch on DPDK), on the same virtual devices. `make bench-forwarding`
// runs it; docs/performance/switch.md says what it found.
//
// All contestants of a case are started, stand still, and take turns: each runs
// for a moment, several times over, so that what disturbs the machine disturbs
// all. A rate is the frames transmitted per second of processor time of the
// contestant's polling thread, which on a machine of one's own is the wall's. A
// ratio is the median of those of the rounds: virtual machines have hours, and
// seconds, in which they are a third slower, and the turns of a round share them.
//
// # What each of them saw
//
// net_null hands out buffers as the last user left them. For photon every one
// is filled with a valid RoCEv2 packet before the start: 256 flows, 64 hosts,
// lossless priority, ECN-capable. Behind every port stands a peer (peers.go)
// that gives an arriving frame addresses which belong there, the destinations
// dealt out in turn over the other ports, and takes the mark off that it got on
// its last way; photon's bill includes that work. Its addresses are learned. At
// the end every frame received was transmitted, nothing was flooded or
// discarded, and the accounts of buffer and ports agree.
//
// testpmd and Open vSwitch get empty buffers from net_null, all zeros: testpmd
// does not look, Open vSwitch sees one flow. On net_ring testpmd sends its own
// frames around, Open vSwitch those of photon, 256 flows. Both forward between
// pairs of ports: Open vSwitch has one bridge for each pair, NORMAL action, and
// learns no addresses, since a frame that returns to a ring would move its
// source; so it floods, to one port.
package main

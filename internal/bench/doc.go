// Command bench measures how many frames a core forwards: photon's switch with
// its whole pipeline on, beside what people would use instead (dpdk-testpmd and
// Open vSwitch on DPDK), on the same virtual devices. `make bench-forwarding`
// runs it; docs/performance/switch.md says what it found.
//
// kinds.go has the kinds of frames, and what the switch has to do with each.
//
// # Turns
//
// All contestants of a case are started, stand still, and take turns (turn.go): each
// runs for a moment, several times over, so that what disturbs the machine disturbs
// all. A rate is the frames received per second of processor time of the contestant's
// polling thread, which on a machine of one's own is the wall's; with two workers it
// is twice the slower one's. Both are read while the contestant stands still. At the end as
// many frames must have left as came in. A ratio is the median of those of the rounds:
// virtual machines have hours, and seconds, in which they are a third slower, and the
// turns of a round share them.
//
// # What each of them is fed
//
// net_null hands out buffers as the last user left them, and a ring what was sent into
// it. So a small library, feed.c, is preloaded into every contestant. It puts a callback
// on each receive queue that is started, which gives every frame received its first 64
// bytes and its length anew, from 64 templates of each port that frames.go makes: several
// hosts and flows, the destinations dealt out in turn over the other ports, tags, times to
// live and ECN fields as before the switch changed them. Before and after a burst of them
// it reads the time stamp counter, when all stores are done. That time, feed_ns per frame,
// is taken out of everybody's. What stays in is what the callback does beside it, a call and
// two fences per burst.
//
// The feed also has every port hear a broadcast of each host behind it before the first turn,
// so that who learns addresses knows them, and puts the frames into rings. After the last
// turn it shows some frames as they left each port of a ring, and photon's and Open vSwitch's
// must be what the kind asks for.
//
// # How they are set up
//
// Photon is a switch with the configuration that a user would write for the kind
// (testCase.configuration), but for the emulated rate of virtual devices; in the end
// none of its frames was discarded or flooded, no pause was sent, and its audit passes.
// Open vSwitch has one bridge, which learns; access ports and trunks; or OpenFlow rules that
// do what a router does. testpmd forwards between pairs of ports, whatever the frames are,
// and looks at no more of them than the Ethernet addresses that it swaps or writes.
package main

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
//
// # RFC 2544 and 8239
//
// With -rfc2544 (`make bench-rfc2544`) frames come from a process of their own, generator.c, which has a core, and
// the contestant another. Between them is net_memif: a net_ring device is of one process, unless others are its
// secondary ones, which cannot be without huge pages. While a contestant has its turn the others stand still; what
// is printed are medians of some rounds. Frames are UDP in a lossy class, from one host to another; what the device
// of the generator takes no more counts as lost. Throughput is found by bisection, to 1 %, without loss (NDR) and
// with 0.5 % (PDR): a rate is carried if one trial of three is. Latencies are from before a burst is handed to the
// generator's device until it comes back, at parts of the NDR, in buckets 3 % wide. Bursts are sent as fast as the
// generator can. All of it is by the wall's clock: what else runs on the machine is in it, and takes more from a
// contestant that polls without rest than from one that sleeps.
//
// Then two ports send 0.4 of the NDR each: one of them to a port of which the generator takes no more than 0.3 of the
// NDR, the other in turns there and to a port that is free, the victim (RFC 8239, section 6: head-of-line blocking). The
// frames are first lossy, then of a priority with PFC, whose pauses the generator obeys. testpmd has no part in that:
// it sends what comes to a port to its neighbour.
//
// The files, in the order in which a measurement passes them:
//
//	main.go                                  flags, cases, the result file
//	kinds.go, frames.go                      what a switch has to do; the frames for it
//	process.go, turn.go                      contestants stand still, and take turns
//	photon.go, child.go, nochild.go          this switch, in a process of its own (not in a build without DPDK)
//	testpmd.go, ovs.go                       the others
//	feed.go                                  what feed.c shows them
//	generator.go, rfc2544.go, throughput.go  with -rfc2544: what sends; what is measured; how it is searched for
//	table.go                                 what is printed
package main

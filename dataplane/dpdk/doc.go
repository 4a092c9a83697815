// Package dpdk is the world on DPDK: it carries frames through DPDK ports and
// takes its time from the processor's time stamp counter. Ports are network
// cards (82599-class is the reference), virtual devices (net_af_packet,
// net_tap, net_memif, net_null, net_ring), or the ends of cables between nodes
// of this process, which are queues of ring devices.
//
// Each worker is one pinned goroutine that polls its ports, and never waits for
// another thread (pin.go). A round crosses into C once, for all its receive and
// transmit bursts. What the world does to
// a frame between a node and a device:
//
//	node → Transmit → [emulated link: serialisation, delay] → transmit burst
//	receive burst → Receive → node
//
// On cables and virtual devices the link is emulated: the port takes a frame
// when the link is free, and hands it over when it would arrive. With a dilation
// of K every clock of the world runs K times slower than the wall.
//
// A world whose nodes are all in this process is closed: nothing outside sees
// its clock. There the clock never advances between two rounds by more than
// 16 bytes take on the fastest link, nor by more than 100 ns: a stall of the
// machine stops the whole world instead of its links only, and nobody acts so
// late that schemes would notice. How much was stretched is reported.
//
// The package is the only one that uses cgo, and only with the build tag dpdk.
// Without it, New says how to get such a build.
//
// The files, in the order in which a world passes them:
//
//	types.go, spec.go                 options and counters; names of devices
//	arguments.go, ring.go             what devices can be told; the kernel's rings of packet sockets
//	eal.go                            DPDK is started, once a process
//	nodpdk.go                         what there is without it
//	device.go, descriptors.go         a device is opened, with rings as long as its link asks for
//	netdev.go, memif.go               the kernel's interface below it, with afpacket.c; net_memif
//	flowcontrol.go                    what a device does with pauses
//	numa.go                           whether a card and its worker are on one NUMA node
//	world.go, plug.go                 nodes, cables and ports; ports that come and go while it runs
//	begin.go                          what waited before the first poll is discarded
//	worker.go, pin.go                 rounds of one core; why they are never interrupted
//	clock.go, rebase.go               the time; the clock is set back
//	polls.go, residence.go            what is measured: gaps between polls; how long frames are in a switch
package dpdk

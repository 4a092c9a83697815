// Package dataplane is the switch: a fabric.Node, which the simulator (package sim) and DPDK (package dataplane/dpdk)
// run alike.
//
// # The life of a frame in the switch
//
// Every frame takes the same stages, in both worlds: up to 64 together where a world delivers bursts, one
// where it delivers one. The files stand in the order in which a frame meets them:
//
//	receive.go   Receive takes a burst from a wire through the next six
//	parse.go     what decides where a frame goes is read into a key
//	act.go       the key's action is looked up: port, priority, what is done to its tag
//	match.go     both for the frames of a burst
//	rewrite.go   tags, equal paths and routes: what the action says of the headers is done
//	admit.go     is there room in the buffer?
//	enqueue.go   past the queues of the egress port if nothing waits there, else behind what waits (queue.go)
//
//	transmit.go  Transmit fills a burst for a wire: PFC frames first, then what waits
//	schedule.go  which priority is next: strict ones, then by weight
//	mark.go      the congestion point judges what leaves
//
// Where a world knows ahead what arrives within a span of time (fabric.Span), take.go takes all of it through these
// stages, and nothing is called at the instants in between: ports catch up when something comes for them
// (span_ports.go). If what happens at one port may concern another, inorder.go handles one event after the other.
//
// A key that is not known is resolved by slow code, which remembers the action: resolve.go, with packages fdb
// (addresses) and neighbour (next hops), vlan.go, static.go, flood.go, route.go, neighbour.go (stations.go), router.go
// and icmp.go. With several workers a frame for another worker's port is handed over between enqueue and transmit
// (handover.go). The accounts of the buffer are in package pfc.
//
// What operators do to a running switch is in links.go, reload.go, places.go (ports that come and go), watchdog.go and
// deadlock.go; what they see in audit.go, show.go and events.go.
//
// Frames of one ingress port and priority stay in order. Nothing is locked and nothing is
// allocated per frame.
//
// The switch, besides the life of a frame:
//
//	config.go, switch.go                   its configuration; the switch, its ports and workers
//	ports.go                               which priority a port gives a frame, and what a reload changes of that
//	limits.go, wred.go                     limits of lossy queues
//	shaper.go                              token buckets
//	flowcontrol.go, credits.go, refuse.go  both flow controls; credits; what a port does not take
//	paths.go                               how equal paths are chosen
//	notify.go                              CNMs and CNPs that a congestion point sends
//	announce.go, sample.go                 LLDP frames; samples for sFlow
//	scratch.go                             memory that is needed during a call
//	fdb_dump.go                            the forwarding database, for readers
//	match_amd64.go, match_other.go         match.go in assembly, and where there is none
//	rebase.go                              the clock is set back
package dataplane

// Package dataplane holds what every node and every world agree on (Frame,
// Node, Env, Link) and the switch.
//
// A Node sits on wires: a switch or a host. It owns its mechanisms and knows
// nothing of what carries its frames. A world carries frames between the ports
// of nodes and owns the clock: the simulator (package sim) and DPDK (package
// dataplane/dpdk) run the same nodes.
//
// # The life of a frame in the switch
//
// The functions stand in this order in the files:
//
//	switch_receive.go   Receive → parse → MAC control is consumed here (PFC)
//	                          → classify → VLAN (vlan.go) → look up in fdb.go
//	                          → flood (flood.go), route (route.go) or forward
//	                          → tag as the egress port wants it → admit to the buffer → hand over
//	switch_transmit.go  Transmit → take over from other workers → PFC frames
//	                          → strict priority among what is not paused
//	                          → release the buffer → congestion point → mark
//
// Plain IPv4 packets take the same steps a burst at a time, in quick_receive.go and
// quick_transmit.go; quick_pairs.go remembers where the frames of two addresses go.
//
// Frames of one ingress port and priority stay in order. With several workers a
// port belongs to one of them; a frame for another worker's port crosses a ring
// with one producer and one consumer. Nothing is locked and nothing is
// allocated per frame.
package dataplane

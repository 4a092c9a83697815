// Package fabric is what nodes and worlds agree on.
//
// A Node sits on wires: a switch (package dataplane), or a host or a NIC (package agent). It owns its mechanisms and
// knows nothing of what carries its frames. A World carries frames between the ports of nodes and owns the clock: the
// simulator (package sim) and DPDK (package dataplane/dpdk) run the same nodes, and import none of them. A third world
// implements World and makes one Env per worker (NewEnvs). For each node it calls Receive with what has arrived, sends
// what the node has put into exits (Env.UsedExits), and calls Transmit when Next has said, or sooner if Env.Wake did.
//
//	node.go                 Node, and what a node may do besides
//	world.go                World
//	env.go, pool.go         what a world gives a node; frame buffers
//	frame.go, digest.go     Frame; a sum over its bytes, for traces
//	link.go, flight.go      a cable, and what is on its way through it
//	span.go                 a node that is told ahead all that arrives within a span of time
//	stats.go, nic_stats.go  what a node counts
//	tap.go                  copies of frames, for captures
package fabric

// Package sim is the world in virtual time: a discrete-event simulator that carries frames between nodes,
// deterministically. A run is a function of its nodes and links, and its trace hash says whether two runs were the same.
//
// Events are arrivals of frames, and calls of a port's Transmit. The events of one node are handled in the order of
// time; at one instant arrivals come before transmissions, and ports in the order of their numbers. So the order does
// not depend on when an event was scheduled. A port that an arrival wakes sends without an event of its own if no other
// event of its node is at that instant: its own would have been the next. Events of different nodes have no order but
// that of cause and effect.
//
// A switch may be handed all that arrives within a window at once (span.go): what happens is the same.
//
// There is no queue of all events. Nodes are visited one after the other, each for a window of time in which it cannot
// hear of the others (window.go). A world may be divided into parts that run on several processors; what happens is the
// same (parallel.go).
//
// The files, in the order in which a run passes them:
//
//	world.go     the world, and the parts that it consists of
//	network.go   nodes are added and joined
//	port.go      one end of a link, and how long a frame takes
//	run.go       time passes: windows and samplers in turn
//	sampler.go   functions that look at the nodes at regular instants
//	window.go    the nodes of a part are visited for a window
//	sides.go     where every link joins two sides these take turns, in windows of two delays
//	visit.go     the events of one node in a window, in their order (order.go)
//	span.go      a switch that can takes all arrivals of a window at once
//	events.go    an arrival, a transmission
//	flight.go    frames on their way to a port
//	workers.go   a node that several workers share
//	trace.go     the hash of all arrivals
//	watch.go     frames for those who capture them
//	audit.go     whether all frames are accounted for
//
// And, of a world in several parts:
//
//	assign.go      which nodes belong together
//	partition.go   parts are made, and the channels between them
//	parallel.go    parts run on a processor each, round after round; interleave.go: on one
//	round.go       what parts tell each other at the barrier between two rounds
//	barrier.go     where they wait for each other; panic.go: if the code of a node ends one of them
//	portions.go    what samplers have them do meanwhile
//	verdict.go     whether they go on, decided at a barrier
//	exchange.go    frames and clocks that pass between parts within a round, by a pipe (pipe.go)
//	balance.go     nodes move from busy parts to idle ones
package sim

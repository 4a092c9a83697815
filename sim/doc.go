// Package sim is the world in virtual time: it carries frames between nodes,
// deterministically, in one goroutine or a few (split.go). A run is a function
// of its nodes and links; its trace hash says whether two runs were the same.
//
// Events are the arrivals of frames and, of each port, the next call of its node's
// Transmit. Those at one node happen in the order of time, and at one instant in a fixed
// order: arrivals before transmissions, ports by their numbers. So no event's place
// depends on when it was scheduled. A port that an arrival wakes sends without an
// event of its own if nothing else happens at its node at that instant: it would have
// been the next. What happens at different nodes is in no order but that of cause and
// effect: no frame leaves before it came (visit.go).
//
// The files, in the order in which a run passes them:
//
//	world.go     nodes, links, and Run of a world in one part
//	flight.go    frames on their way to a port
//	visit.go     the events of a node within a window
//	crew.go      a node of several workers, in one goroutine
//	split.go     division of a world into parts, balance.go moves nodes between them
//	windows.go   parts run from meeting to meeting, in parallel or interleaved
//	exchange.go  what a part shares with the others, through pipe.go
//	watch.go     frames for those who capture them
//	trace.go     the hash of all that happened
package sim

// Package telemetry is what a running switch or agent tells of itself: a snapshot of
// its counters, and a survey of its flows. Rooms below it make something of them:
// show (tables), live (what a view that moves needs, and a page), metrics (Prometheus),
// top (a terminal); admin answers for them on a socket, to which client is the other end.
//
// The files, in the order in which they build on each other:
//
//	snapshot.go  all counters of one instant
//	flows.go     flows of an agent
//	past.go      what happened
package telemetry

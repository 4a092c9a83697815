// Package build makes a network of an experiment in a world: its nodes, cables and flows, and what happens to
// them on the way. It measures nothing.
//
// The files, in the order in which an experiment passes them:
//
//	network.go           nodes, cables and flows in a world
//	host.go              a host and a switch, as measurements see them
//	flows.go             the flows by their numbers; those that are forgotten in a short form
//	addwhendue.go        flows of a workload are added shortly before they start
//	waits.go             flows that wait for others
//	events.go, links.go  what happens on the way; links that fail or change
//	observe.go           pauses and queues are reported as they change
//	losses.go            what lossless priorities lost
//	panic.go             the error of code that panicked
package build
